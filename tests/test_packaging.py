"""The installed package: one place, complete, typed, light to import, and as the README says."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
from loops import each

import nonsmooth
import nonsmooth_problems

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = {"nonsmooth": nonsmooth, "problems": nonsmooth_problems}
README = (ROOT / "README.md").read_text(encoding="utf-8")


def installed(folder: str) -> Path:
    return Path(inspect.getfile(PACKAGES[folder])).parent


def modules(folder: Path) -> dict[str, str]:
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in folder.rglob("*.py")}


def fresh_process(script: str) -> str:
    """What a script prints, run where the checkout is not on the path."""
    command = [sys.executable, "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=True, cwd=ROOT / "tests").stdout.strip()


def test_both_packages_come_from_one_place() -> None:
    assert installed("nonsmooth").parent == installed("problems").parent


@pytest.mark.parametrize("folder", PACKAGES)
def test_what_is_installed_is_what_stands_here(folder: str) -> None:
    here, there = modules(ROOT / folder), modules(installed(folder))
    assert set(there) == set(here)
    assert [name for name in here if here[name] != there[name]] == [], "install again: the sources have changed since"


def test_machine_code_is_installed() -> None:
    here, there = (
        {path.name: path.read_bytes() for path in (root / "compile" / "shipped").glob("*.xz")}
        for root in (ROOT / "nonsmooth", installed("nonsmooth"))
    )
    assert here == there, "install again: machine code has been made since"


@pytest.mark.parametrize("folder", PACKAGES)
def test_types_are_shipped(folder: str) -> None:
    assert (installed(folder) / "py.typed").is_file()


def test_version_and_entry_points() -> None:
    assert metadata.version("nonsmooth") == nonsmooth.__version__
    (command,) = metadata.entry_points(group="console_scripts", name="nonsmooth")
    assert command.value == "nonsmooth.cli:main"
    (problems,) = metadata.entry_points(group="nonsmooth.problems", name="builtin")
    assert problems.load() is nonsmooth_problems


def test_import_loads_no_library() -> None:
    script = "import sys; import nonsmooth; print(*{name.partition('.')[0] for name in sys.modules})"
    loaded = fresh_process(script).split()
    assert not {"numpy", "scipy", "casadi", "numba", "matplotlib", "xarray", "typer", "rich", "pydantic"} & set(loaded)


@each("name", nonsmooth.__all__)
def test_every_exported_name_is_there(name: str) -> None:
    assert getattr(nonsmooth, name).__name__ == name
    assert name in dir(nonsmooth)


def test_unknown_name() -> None:
    with pytest.raises(AttributeError, match="NoSuchStepper"):
        nonsmooth.NoSuchStepper  # noqa: B018


def test_readme_script(capsys: pytest.CaptureFixture[str]) -> None:
    script = re.search(r"```python\n(.*?)```", README, re.S)
    assert script is not None
    names: dict[str, object] = {}
    exec(compile(script[1], "README.md", "exec"), names)
    printed = capsys.readouterr().out
    stated = re.search(r"```text\n(.*?)```", README, re.S)
    # the end of the verdict, how well peak forces agree, is round-off
    assert stated is not None and printed.rpartition(",")[0].rpartition(",")[0] in stated[1]
    # Without clearance the exact force at the start is 2718.710472 N (tests/problems/test_slider_crank_revolute.py).
    assert "2719 N without clearance" in printed and len(script[1].strip().splitlines()) <= 12
