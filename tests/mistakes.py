"""Mistakes in the package, drawn by seed over its syntax trees, and whether its tests find them.

``python tests/mistakes.py [family ..] [--count 8] [--seed 1] [--all]`` makes each mistake, of the kinds of `mutants`,
in a copy of the tree and runs the tests of its family there until one fails. Mistakes in schemes are compiled for it,
which takes minutes each. What is not found is printed, and is the exit status: it may be equivalent, which a reader
decides.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mutants import Change

ROOT = Path(__file__).resolve().parent.parent
#: family -> sources, and the tests that are run
FAMILIES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "laws": (("laws/**/*.py",), ("laws", "physics", "test_citations.py")),
    "joints": (("model/*joints.py", "model/*clearances.py", "model/drivers.py"), ("model", "declarative")),
    "files": (("files/*.py", "trajectory/*.py"), ("test_files.py", "test_hostile_files.py", "trajectory")),
    "cli": (
        ("cli/*.py",),
        ("cli", "test_cli.py", "test_cli_studies.py", "test_units_everywhere.py", "studies", "report", "test_docs.py"),
    ),
    "schemes": (("schemes/*/*.py", "step/*.py"), ("schemes", "steppers", "physics", "test_reference.py")),
}
#: seconds after which the tests of one mistake are ended, which counts as found: it does not end
PATIENCE = 1800


def sites(family: str) -> list[tuple[Path, int]]:
    """Files of a family, below the package, and numbers of the mistakes that they can have."""
    found = []
    for path in sorted(path for one in FAMILIES[family][0] for path in (ROOT / "nonsmooth").glob(one)):
        counter = Change()
        counter.visit(ast.parse(path.read_text(encoding="utf-8")))
        found += [(path.relative_to(ROOT), number) for number in range(counter.count)]
    return found


def mistaken(path: Path, number: int) -> tuple[str, str]:
    """The source with a mistake, and what it is."""
    change = Change(number)
    tree = change.visit(copy.deepcopy(ast.parse((ROOT / path).read_text(encoding="utf-8"))))
    return ast.unparse(ast.fix_missing_locations(tree)), change.what


def is_found(folder: Path, family: str, options: list[str]) -> bool:
    """Whether a test fails in a copy of the tree."""
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "numba")}
    tests = [str(folder / "tests" / one) for one in FAMILIES[family][1]]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, *tests]
    try:
        done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        return True
    if done.returncode > 2:  # neither a test that fails nor one that cannot be imported
        raise RuntimeError(done.stdout.decode()[-2000:] + done.stderr.decode()[-2000:])
    return done.returncode > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("families", nargs="*", choices=[*FAMILIES, []], default=[])
    parser.add_argument("--count", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="with slow tests and all cases")
    given = parser.parse_args()
    missed = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "tree"
        hidden = shutil.ignore_patterns(".git", "__pycache__", "build", ".*_cache", "*.egg-info")
        shutil.copytree(ROOT, folder, ignore=hidden)
        for family in given.families or FAMILIES:
            for path, number in random.Random(f"{family} {given.seed}").sample(sites(family), given.count):
                source, what = mistaken(path, number)
                kept = (folder / path).read_text(encoding="utf-8")
                (folder / path).write_text(source, encoding="utf-8")
                found = is_found(folder, family, ["--all"] * given.all)
                (folder / path).write_text(kept, encoding="utf-8")
                missed += not found
                print(f"{'found' if found else 'MISSED'}  {path}  {what}", flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
