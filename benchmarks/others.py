"""P1 in Siconos and in Exudyn, and S2 in Siconos, if an interpreter on this machine has them, for comparison.

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

__all__ = ["siconos_chain", "timings"]

PROGRAMS = {
    "Siconos, Moreau-Jean, LCP": ("siconos.kernel", "siconos_models.py"),
    "Exudyn, generalized-alpha, k = 2.5e9 N/m": ("exudyn", "exudyn_models.py"),
}
DT, STEPS = 1e-5, 10_000


def timings() -> dict[str, Any]:
    """Rows, the slowest of the three cases each, and a note for each program that is absent or fails."""
    rows, notes = [], []
    for title, (module, script) in PROGRAMS.items():
        done = _run(module, script, str(DT), str(STEPS))
        if done is None:
            notes.append(f"{module.split('.')[0].capitalize()} is not installed: no row for it.")
            continue
        if done.returncode:
            reason = (done.stderr.strip().splitlines() or ["no message"])[-1]
            notes.append(f"{title} failed: {reason}")
            continue
        cases = json.loads(done.stdout.strip().splitlines()[-1])
        worst = {name: max(case[name] for case in cases) for name in ("ns_per_step", "violation", "error")}
        rows.append({"what": f"slider-rod, {title}, worst case", "dt": DT} | worst)
    return {"rows": rows, "notes": notes}


def siconos_chain(**numbers: Any) -> dict[str, Any] | None:
    """Microseconds per step and position of the last link, see `siconos_space`; None without Siconos."""
    done = _run("siconos.kernel", "siconos_space.py", json.dumps(numbers))
    if done is None:
        return None
    done.check_returncode()
    found: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    return found


def _run(module: str, script: str, *arguments: str) -> subprocess.CompletedProcess[str] | None:
    """A script beside this one, run by the first interpreter that has the module; None without one."""
    interpreter = next((path for path in _interpreters() if _has(path, module)), None)
    if interpreter is None:
        return None
    command = [interpreter, str(Path(__file__).with_name(script)), *arguments]
    return subprocess.run(command, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "1"})


def _interpreters() -> list[str]:
    found = [sys.executable, shutil.which("python3"), "/usr/bin/python3"]
    return list(dict.fromkeys(path for path in found if path and Path(path).exists()))


def _has(interpreter: str, module: str) -> bool:
    return subprocess.run([interpreter, "-c", f"import {module}"], capture_output=True).returncode == 0
