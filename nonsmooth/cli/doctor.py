"""`nonsmooth doctor`: installed versions, available solvers, missing libraries and the consequences."""

from __future__ import annotations

import platform
import re
from importlib import metadata

from nonsmooth.cli.report import show, table_of

# Consequences of missing libraries; each is a dependency, so that a full installation has all.
COST = {
    "numpy": "nothing works without it",
    "scipy": "nothing works without it",
    "casadi": "no model can be built",
    "numba": "the active-set solver is missing, and with it the fast path of every stepper",
    "osqp": "the solver osqp is missing; active-set solves the same programs",
    "cvxpy": "the solver conic is missing: no independent cross-check",
    "clarabel": "the solver conic is missing: no independent cross-check",
    "xarray": "no to_dataset()",
    "h5netcdf": "trajectories can be neither saved nor loaded",
    "h5py": "trajectories can be neither saved nor loaded",
    "matplotlib": "no figures",
    "loky": "studies run in one process, --workers 1",
    "pydantic": "TOML files cannot be read; mechanisms in Python can",
    "cloudpickle": "studies run in one process, --workers 1",
    "typer": "no command line",
    "rich": "no command line",
}
COST_OF_SOLVER = {
    "active-set": "gauss-qp needs --solver osqp or conic",
    "osqp": "active-set solves the same programs",
    "conic": "no independent cross-check",
    "daqp": "active-set solves the same programs",
    "qrqp": "active-set solves the same programs",
    "ipopt-mpcc": "gauss-mpcc needs --solver active-set",
    "ipopt-mpcc (ccopt)": "nothing: the plugin ipopt solves the same programs",
}


def doctor() -> None:
    """Show versions, available solvers, missing ones and the consequences."""
    from nonsmooth import __version__, solvers

    versions = table_of("package", "version", "needs", "without it")
    versions.add_row("nonsmooth", __version__)
    versions.add_row("python", platform.python_version(), ">=3.11")
    needs = _needs()
    for package, cost in COST.items():
        version = _version(package)
        versions.add_row(package, version or "missing", needs.get(package, ""), "" if version else cost)
    table = table_of("solver", "version", "missing", "without it")
    for name, found, missing in solvers.available():
        table.add_row(name, found or "-", missing, COST_OF_SOLVER.get(name, "") if missing else "")
    show(versions, "", table)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _needs() -> dict[str, str]:
    """Lower bounds that the installed package declares."""
    try:
        declared = metadata.requires("nonsmooth") or []
    except metadata.PackageNotFoundError:
        return {}
    pattern = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*([<>=!~][^;]*)")
    found = (pattern.match(line) for line in declared if "extra ==" not in line)
    return {match[1].lower(): match[2].strip() for match in found if match}
