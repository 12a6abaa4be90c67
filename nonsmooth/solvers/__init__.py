"""Who answers: one algorithm, one file. Settings are frozen dataclasses; `setup` makes a session that does the work.

=================  ======================  ===============================================================
`ActiveSet`        LCP, QP, MPCC           exact, microseconds; the default of everything that has a QP
`IpoptMPCC`        MPCC                    interior point on a relaxation, then polished
`Osqp`             QP                      operator splitting, warm-started
`CasadiQP`         QP                      DAQP or qrqp through CasADi
`Conic`            QP, symmetric LCP       Clarabel through cvxpy, a cross-check
`Chain`            any                     one after the other, until the program certifies an answer
=================  ======================  ===============================================================

Names are imported when they are used, and a solver's library when its session is made.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import importlib.util
import re
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from nonsmooth.exceptions import InputError

if TYPE_CHECKING:
    from nonsmooth.programs import Solver
    from nonsmooth.solvers.active_set import ActiveSet
    from nonsmooth.solvers.casadi_qp import CasadiQP
    from nonsmooth.solvers.chain import Chain
    from nonsmooth.solvers.conic import Conic
    from nonsmooth.solvers.ipopt import IpoptMPCC
    from nonsmooth.solvers.osqp import Osqp

__all__ = ["ActiveSet", "CasadiQP", "Chain", "Conic", "IpoptMPCC", "Osqp", "available", "by_name"]

_MODULES = {
    "ActiveSet": "active_set",
    "CasadiQP": "casadi_qp",
    "Chain": "chain",
    "Conic": "conic",
    "IpoptMPCC": "ipopt",
    "Osqp": "osqp",
}
_PLUGINS = ("daqp", "qrqp")


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def by_name(name: str) -> Callable[..., Solver]:
    """The class of that name in kebab case, for the command line; "daqp" and "qrqp" are CasadiQP with that plugin.

    Raises
    ------
    InputError
        If there is none; the message lists all.

    Examples
    --------
    >>> by_name("active-set")()
    ActiveSet(max_iterations=2000)
    """
    classes = {_kebab(cls): cls for cls in _MODULES if cls != "Chain"}
    if name in classes:
        return __getattr__(classes[name])
    if name in _PLUGINS:
        return partial(__getattr__("CasadiQP"), plugin=name)
    names = [*classes, *_PLUGINS]
    near = difflib.get_close_matches(name, names, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"There is no solver {name!r}.{hint} Solvers: {', '.join(names)}.")


def available() -> list[tuple[str, str | None, str]]:
    """(solver, version of its library or None, what is missing) for each solver; nothing heavy is imported.

    "Missing" is an empty string where the solver can be used.
    """
    rows = [
        _row("active-set", ["numba"]),
        _row("osqp", ["osqp", "scipy"]),
        _row("conic", ["clarabel", "cvxpy"]),
    ]
    import casadi as ca  # plugins are asked for one by one: loading HiGHS would break cvxpy's

    plugins = [("daqp", ca.has_conic("daqp")), ("qrqp", ca.has_conic("qrqp"))]
    plugins += [("ipopt-mpcc", ca.has_nlpsol("ipopt")), ("ipopt-mpcc (ccopt)", ca.has_nlpsol("ccopt"))]
    for name, loads in plugins:
        missing = "" if loads else "this build of casadi cannot load its library"
        rows.append((name, importlib.metadata.version("casadi") if loads else None, missing))
    return rows


def _row(name: str, packages: list[str]) -> tuple[str, str | None, str]:
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        return name, None, f"pip install {' '.join(missing)}"
    return name, importlib.metadata.version(packages[0]), ""


def _kebab(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", name).lower()
