"""How the suite is run: samples of tests with many cases, and files that stay in one process."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CASES = """
import pytest

@pytest.mark.sampled(3)
@pytest.mark.parametrize("case", range(10))
def test_case(case):
    pass

@pytest.mark.parametrize("case", range(3))
def test_other(case):
    pass
"""


@pytest.mark.parametrize(("options", "cases"), [([], [0, 3, 6, 9]), (["--all"], list(range(10)))])
def test_one_case_in_so_many_is_run_and_all_of_them_on_request(options: list[str], cases: list[int], tmp_path: Path):
    shutil.copy(Path(__file__).parent / "conftest.py", tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = sampled", encoding="utf-8")
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(CASES, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-v", "-n", "2", "-p", "no:cacheprovider", *options]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    for name in ("test_a.py", "test_b.py"):
        passed = re.findall(rf"^\[(gw\d)\].* PASSED {name}::(\w+)\[(\d)\]", shown, re.M)
        assert len({process for process, _, _ in passed}) == 1
        assert sorted(int(case) for _, test, case in passed if test == "test_case") == cases
        assert sum(test == "test_other" for _, test, _ in passed) == 3
