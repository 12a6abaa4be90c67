"""The import direction of the package: who may know whom, and what is imported only where it is used."""

from __future__ import annotations

import ast
import functools
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from loops import each

ROOT = Path(__file__).resolve().parent.parent
OURS = {"nonsmooth": ROOT / "nonsmooth", "nonsmooth_problems": ROOT / "problems"}

# Part of the package -> the parts that it may import. Everything may import those in FREE.
MAY_IMPORT = {
    "exceptions": set(),
    "moved": set(),
    "settings": {"exceptions"},
    "quantities": {"exceptions", "settings"},
    "progress": {"exceptions", "quantities"},
    "compile": {"exceptions", "progress"},
    "files": set(),
    "laws": set(),
    "flexible": set(),
    "model": {"flexible", "laws"},
    "robots": {"model", "laws"},
    "programs": set(),
    "solvers": {"programs"},
    "step": {"model", "laws", "programs"},
    "engine": {"step", "model", "laws", "programs", "solvers"},
    "schemes": {"engine", "step", "model", "laws", "programs", "solvers"},
    "steppers": {"schemes"},
    "trajectory": {"engine", "model", "programs", "schemes", "solvers", "step"},
    "diagnostics": {"trajectory", "model"},
    "trust": {"trajectory", "diagnostics", "schemes", "solvers", "step", "model"},
    "run": {"engine", "trust", "schemes", "solvers", "trajectory", "step", "model", "laws"},
    "derivatives": {"run", "trajectory", "schemes", "step", "model", "laws"},
    # names and settings of what runs a model
    "declarative": {"flexible", "model", "laws", "steppers", "solvers", "step"},
    "studies": {
        "run", "diagnostics", "schemes", "solvers", "steppers", "step", "trajectory", "trust", "model", "laws",
    },
    "identification": {"model", "laws", "run", "step", "studies", "trajectory"},
    "plots": {"trajectory", "diagnostics", "studies", "identification", "model", "flexible"},
    "report": {"trajectory", "diagnostics", "plots", "model", "laws", "run", "solvers", "steppers", "step"},
    # facts of problems are measured by runs, whose parts are imported where they are used
    "problems": {
        "flexible", "model", "laws", "identification", "run", "engine", "schemes", "steppers", "solvers", "step",
        "diagnostics", "trajectory",
    },
}  # fmt: skip
FREE = {"compile", "exceptions", "files", "progress", "quantities", "settings"}
EVERYTHING = {"__main__", "cli", "nonsmooth"}
SLOW_TO_IMPORT = {
    "anywidget",
    "clarabel",
    "cvxpy",
    "h5netcdf",
    "h5py",
    "matplotlib",
    "mujoco",
    "osqp",
    "pydantic",
    "rich",
    "typer",
    "xarray",
}
#: part -> slow libraries that it is made of; the part itself is imported where it is used
MADE_OF = {"cli": {"rich", "typer"}, "declarative": {"pydantic"}}
UNHELPFUL_NAMES = {"common", "core", "helpers", "manager", "misc", "utils"}

FILES = sorted(path for folder in OURS.values() for path in folder.rglob("*.py"))


def identify(path: Path) -> str:
    return str(path.relative_to(ROOT))


def part_of(path: Path) -> str:
    """The part that a file belongs to: its folder or module directly below the package."""
    if path.is_relative_to(OURS["nonsmooth_problems"]):
        return "problems"
    return path.relative_to(OURS["nonsmooth"]).with_suffix("").parts[0].replace("__init__", "nonsmooth")


@functools.cache
def imports_of(path: Path, *, when_loaded: bool = False) -> frozenset[str]:
    """Full names of the modules and names that a file imports, type checking aside."""
    return frozenset(_imports(path, when_loaded))


def _imports(path: Path, when_loaded: bool) -> Iterator[str]:
    pending: list[ast.AST] = [ast.parse(path.read_text(encoding="utf-8"))]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            pending.extend(node.orelse)
        elif when_loaded and isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            continue
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{identify(path)}: relative import; write the full name"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        else:
            pending.extend(ast.iter_child_nodes(node))


def part_imported(name: str) -> str | None:
    """The part of ours that an imported name belongs to, or None."""
    from nonsmooth import _MODULE_OF

    package, _, rest = name.partition(".")
    if package == "nonsmooth_problems":
        return "problems"
    if package != "nonsmooth":
        return None
    first = rest.split(".")[0]
    return _MODULE_OF[first].split(".")[1] if first in _MODULE_OF else first or "nonsmooth"


@each("path", [path for path in FILES if part_of(path) not in EVERYTHING])
def test_imports_follow_the_table(path: Path) -> None:
    part = part_of(path)
    assert part in MAY_IMPORT, f"{part} is a new part: say in MAY_IMPORT what it may import"
    ground = {"exceptions", "moved", "settings", "quantities", "progress", "compile"}
    allowed = MAY_IMPORT[part] | {part} | (set() if part in ground else FREE)
    known = {name for name in imports_of(path) if part_imported(name) not in allowed | {None}}
    wrong = ", ".join(sorted(known))
    assert not wrong, f"{identify(path)} ({part}) imports {wrong}; allowed are {', '.join(sorted(allowed))}"


def test_only_the_command_line_and_pages_import_plots() -> None:
    users = {part_of(path) for path in FILES if any(part_imported(name) == "plots" for name in imports_of(path))}
    assert users <= {"cli", "plots", "report"}


@each("path", FILES)
def test_slow_libraries_are_imported_where_they_are_used(path: Path) -> None:
    loaded = {name.split(".")[0] for name in imports_of(path, when_loaded=True)}
    assert not loaded & (SLOW_TO_IMPORT - MADE_OF.get(part_of(path), set()))


def test_runs_whose_code_is_compiled_load_no_text() -> None:
    """Neither numba nor SciPy's solvers, which take half a second: what engines and texts share stands with the
    schemas."""
    script = (
        "import importlib, pkgutil, sys, nonsmooth.engine as engine, nonsmooth.trust\n"
        "for one in pkgutil.iter_modules(engine.__path__):\n"
        "    importlib.import_module(f'nonsmooth.engine.{one.name}')\n"
        "print(*{'numba', 'scipy.integrate', 'scipy.optimize'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_the_table_has_no_cycle() -> None:
    settled: set[str] = set()
    while len(settled) < len(MAY_IMPORT):
        ready = {part for part, below in MAY_IMPORT.items() if part not in settled and below <= settled}
        assert ready, f"cycle among {sorted(set(MAY_IMPORT) - settled)}"
        settled |= ready


def test_every_folder_is_a_package() -> None:
    folders = {path.parent for path in FILES}
    assert not [identify(folder) for folder in folders if not (folder / "__init__.py").is_file()]


def test_names_say_what_is_inside() -> None:
    assert not [identify(path) for path in FILES if UNHELPFUL_NAMES & set(path.relative_to(ROOT).with_suffix("").parts)]


def test_no_circle_of_modules():
    """Also not by imports within functions and for type checking."""
    names = {".".join(["nonsmooth", *path.relative_to(OURS["nonsmooth"]).with_suffix("").parts]): path for path in FILES
             if path.is_relative_to(OURS["nonsmooth"])}  # fmt: skip
    files = {name.removesuffix(".__init__"): path for name, path in names.items()}
    graph: dict[str, set[str]] = {}
    for name, path in files.items():
        found = set()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                full = [f"{node.module}.{alias.name}" for alias in node.names]
                found |= {one if one in files else str(node.module) for one in full}
            elif isinstance(node, ast.Import):
                found |= {alias.name for alias in node.names}
        graph[name] = (found & files.keys()) - {name}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))
