"""Which tests are run: without options, with ``--all``, or by name; loops in a test, and what is compiled."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import entries
import pytest
from loops import each

from nonsmooth.compile import machine, objects
from nonsmooth.compile.records.schema import Shape

CASES = """
import pytest
from loops import some

@pytest.mark.parametrize("case", some(range(10), 3))
def test_table(case):
    pass

@pytest.mark.slow
@pytest.mark.parametrize("case", range(3))
def test_slow(case):
    pass

@pytest.mark.parametrize("case", range(3))
def test_other(case):
    pass
"""


def copy_conftest(folder: Path) -> None:
    for name in ("conftest.py", "loops.py", "variants.py"):
        shutil.copy(Path(__file__).parent / name, folder)


EVERY = {"table": list(range(10)), "slow": [0, 1, 2], "other": [0, 1, 2]}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "cases"),
    [
        ([], {"table": [0, 3, 6, 9], "other": [0, 1, 2]}),
        (["--all"], EVERY),
        (["-m", "slow"], {"table": [1, 2, 4, 5, 7, 8], "slow": [0, 1, 2]}),
        (["test_a.py::test_slow", "test_b.py::test_slow[1]"], {"slow": [0, 1, 2, 1]}),
        (["test_a.py::test_table[4]", "test_b.py::test_table[6]"], {"table": [4, 6]}),
        (
            ["--slow=2/2", "test_a.py", "test_b.py"],
            {"table": [0, 3, 6, 9, *range(10)], "slow": [0, 1, 2], "other": [0, 1, 2, 0, 1, 2]},
        ),
    ],
)
def test_slow_tests_are_run_on_request(options: list[str], cases: dict[str, list[int]], tmp_path: Path):
    copy_conftest(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  slow\npythonpath = .", encoding="utf-8")
    for name in ("test_a.py", "test_b.py"):
        (tmp_path / name).write_text(CASES, encoding="utf-8")
    processes = [] if options else ["-n", "2"]
    command = [sys.executable, "-m", "pytest", "-v", "-p", "no:cacheprovider", *processes, *options]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    of_process = r"^\[(gw\d)\].* PASSED (\w+)\.py::test_(\w+)\[(\d)\]"
    passed = re.findall(of_process if processes else r"^()(\w+)\.py::test_(\w+)\[(\d)\] PASSED", shown, re.M)
    once = 1 if any(".py" in option for option in options) else 2  # both files have all cases
    found = {test: sorted(int(case) for *_, kind, case in passed if kind == test) for *_, test, _ in passed}
    assert found == {test: sorted(numbers * once) for test, numbers in cases.items()}
    for name in ("test_a", "test_b"):
        assert len({process for process, file, *_ in passed if file == name}) == 1


TEXTS_OF_TESTS = """
def package_is_current():
    return {current}

def compile_kernels(*, tell):
    pass

def compile_texts(*, everything, tell):
    tell(f"compiling, everything: {{everything}}")
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "current", "compiling"),
    [([], True, []), ([], False, ["False"]), (["--all"], True, ["True"]), (["test_one.py"], False, [])],
)
def test_texts_are_compiled_before_the_tests(
    options: list[str], current: bool, compiling: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of slow tests with these, others where the package is stale; a file that is named compiles its own."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    copy_conftest(tmp_path)
    (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = .", encoding="utf-8")
    (tmp_path / "test_one.py").write_text("def test_one():\n    pass\n", encoding="utf-8")
    (tmp_path / "entries.py").write_text(TEXTS_OF_TESTS.format(current=current), encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *options]
    shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
    assert re.findall(r"compiling, everything: (\w+)", shown) == compiling and "1 passed" in shown, shown


PERTURBED = """
import pickle
import numpy
import pytest
from nonsmooth import Ground, Model, PlanarBody, PointPlane, Rigid

def built():
    contact = PointPlane("floor", "ground", "ball", contact=Rigid(restitution=1.0, friction=0.0))
    return Model([Ground(), PlanarBody("ball", mass=0.3, inertia=0.7), contact], silence=["no-gravity"]).build()

def test_perturbed():
    found = built()
    mass, inertia = found.parameters["ball.mass"] / 0.3 - 1.0, found.parameters["ball.inertia"] / 0.7 - 1.0
    assert mass != inertia and 0.0 < max(abs(mass), abs(inertia)) < 1e-14
    assert 0.0 <= 1.0 - found.parameters["floor.restitution"] < 1e-14 and found.parameters["floor.friction"] == 0.0
    assert built().parameters == pickle.loads(pickle.dumps(found)).parameters == found.parameters
    print("mass", found.parameters["ball.mass"].hex())

@pytest.mark.exact("compares numbers as given")
def test_exact():
    assert built().parameters["ball.mass"] == 0.3
"""


def test_last_bits_are_perturbed_as_the_environment_asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By seed, and where NumPy warns of its own variables, of which it is no error."""
    copy_conftest(tmp_path)
    root = Path(__file__).resolve().parents[1]
    shutil.copy(root / "pyproject.toml", tmp_path)
    (tmp_path / "test_built.py").write_text(PERTURBED, encoding="utf-8")
    monkeypatch.setenv("NPY_DISABLE_CPU_FEATURES", "AVX2,FMA3,NONE_SUCH")
    command = [sys.executable, "-m", "pytest", "-s", "-p", "no:cacheprovider", "test_built.py"]
    masses = []
    for seed in ("7", "7", "8"):
        monkeypatch.setenv("NONSMOOTH_TEST_JITTER", seed)
        shown = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout
        assert "2 passed" in shown and f"variant: NONSMOOTH_TEST_JITTER={seed}" in shown, shown
        masses += re.findall(r"mass (\S+)", shown)
    assert len(masses) == 3 and masses[0] == masses[1] != masses[2]


def test_a_loop_lists_all_values_that_fail() -> None:
    @each("number", range(5))
    def small(number: int, most: int) -> None:
        assert number <= most, "too large"

    small(most=4)
    with pytest.raises(AssertionError, match=r"(?s)2 of 5 fail:\n3: AssertionError: too large.*\n4: "):
        small(most=2)
    with pytest.raises(AssertionError, match="no word is tested"):
        each("word", [])(lambda word: None)()


@pytest.mark.slow
def test_texts_are_compiled_by_processes_that_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What comes with the package is not compiled, nor what was compiled before, and this process compiles nothing."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(entries, "SHAPES", ())
    monkeypatch.setattr(entries, "TEXTS", {Shape(2, 1, 1): ("observation",), Shape(2, 2): ("observation",)})
    monkeypatch.setattr(entries, "comes_along", lambda text, shape: shape == Shape(2, 2))
    told: list[str] = []
    monkeypatch.setattr(objects, "compiled_text", lambda *_: pytest.fail("compiled by the process of the tests"))
    for _ in range(2):
        entries.compile_texts(everything=True, tell=told.append)
    assert told == ["compiling 1 texts of schemes, some minutes, once"]
    assert len(list(machine.cache_folder().glob("*.o"))) == 1
