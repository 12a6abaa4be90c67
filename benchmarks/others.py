"""P1 in Siconos and in Exudyn, if an interpreter on this machine has them: cost and penetration for comparison.

They may be installed in other environments (Debian's Siconos requires an older NumPy), so each runs in a separate
process with the first interpreter that can import it: this one, then each `python3` on PATH and in /usr/bin.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

__all__ = ["timings"]

PROGRAMS = {
    "Siconos, Moreau-Jean, LCP": ("siconos.kernel", "siconos_models.py"),
    "Exudyn, generalized-alpha, k = 2.5e9 N/m": ("exudyn", "exudyn_models.py"),
}
DT, STEPS = 1e-5, 10_000


def timings() -> dict[str, Any]:
    """Rows, the slowest of the three cases each, and a note for each program that is absent or fails."""
    rows, notes = [], []
    for title, (module, script) in PROGRAMS.items():
        interpreter = next((path for path in _interpreters() if _has(path, module)), None)
        if interpreter is None:
            notes.append(f"{module.split('.')[0].capitalize()} is not installed: no row for it.")
            continue
        command = [interpreter, str(Path(__file__).with_name(script)), str(DT), str(STEPS)]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            notes.append(f"{title} failed: {reason}")
            continue
        cases = json.loads(done.stdout.strip().splitlines()[-1])
        worst = {name: max(case[name] for case in cases) for name in ("ns_per_step", "violation", "error")}
        rows.append({"what": f"slider-rod, {title}, worst case", "dt": DT} | worst)
    return {"rows": rows, "notes": notes}


def _interpreters() -> list[str]:
    found = [sys.executable, shutil.which("python3"), "/usr/bin/python3"]
    return list(dict.fromkeys(path for path in found if path and Path(path).exists()))


def _has(interpreter: str, module: str) -> bool:
    return subprocess.run([interpreter, "-c", f"import {module}"], capture_output=True).returncode == 0
