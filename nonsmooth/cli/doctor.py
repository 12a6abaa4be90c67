"""`nonsmooth doctor`: installed versions, available solvers, missing and optional libraries and the consequences."""

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
    "loky": "studies run in one process, --executor 1",
    "pydantic": "TOML files cannot be read; mechanisms in Python can",
    "cloudpickle": "studies run in one process, --executor 1",
    "threadpoolctl": "no mechanism with more than 32 velocities can be simulated",
    "typer": "no command line",
    "rich": "no command line",
}
# What the extras are for; those of developers are in CONTRIBUTING.md.
EXTRAS = {
    "dask": "studies on a cluster",
    "sensitivity": "sensitivity",
    "reliability": "failure_probability",
    "video": "MP4 without ffmpeg",
    "notebook": "sliders in notebooks",
    "robots": "MJCF and URDF files",
    "bench": "benchmarks",
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

    try:
        lines = metadata.requires("nonsmooth") or []
    except metadata.PackageNotFoundError:
        lines = []
    # libraries that the installed package declares, with their bounds and the extra to which they belong
    pattern = re.compile(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*([<>=!~][^;]*)?(?:;.*extra == ['\"](\w+)['\"])?")
    found = (pattern.match(line) for line in lines)
    declared = [(match[1].lower(), (match[2] or "").strip(), match[3] or "") for match in found if match]
    versions = table_of("package", "version", "needs", "without it")
    versions.add_row("nonsmooth", __version__)
    versions.add_row("python", platform.python_version(), ">=3.11")
    needs = {name: bound for name, bound, extra in declared if not extra}
    for package, cost in COST.items():
        version = _version(package)
        versions.add_row(package, version or "missing", needs.get(package, ""), "" if version else cost)
    table = table_of("solver", "version", "missing", "without it")
    for name, known, missing in solvers.available():
        table.add_row(name, known or "-", missing, COST_OF_SOLVER.get(name, "") if missing else "")
    optional = table_of("optional", "version", "is for", "is installed by")
    for package, _, extra in declared:
        if extra in EXTRAS:
            version = _version(package)
            install = "" if version else f'pip install "nonsmooth[{extra}]"'
            optional.add_row(package, version or "-", EXTRAS[extra], install)
    show(versions, "", table, "", optional)


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None
