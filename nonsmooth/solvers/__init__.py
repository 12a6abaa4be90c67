"""Solvers of the step problems, one algorithm per file. Settings are frozen dataclasses; `setup` creates a session.

======================  ====================================  ==================================================
`ActiveSet`             LCP, QP, MPCC, friction in the plane  exact, microseconds; default of all that has a QP
`IpoptMPCC`             MPCC                                  interior point on a relaxation, then polished
`Osqp`                  QP                                    operator splitting, warm-started
`CasadiQP`              QP                                    DAQP or qrqp through CasADi
`Conic`                 QP, symmetric LCP, friction, ConeQP   Clarabel, a cross-check
`SemismoothNewton`      LCP, friction                         a few Newton steps; the default with friction
`SmoothingNewton`       friction in space                     a smoothed path; the fallback in space
`Lemke`                 LCP, friction in the plane            pivots along a finite path; the fallback
`ModeEnumeration`       small LCP, friction in the plane      enumeration of all contact modes
`ProjectedGaussSeidel`  LCP, QP, friction                     one contact after the other, linear convergence
`Admm`                  friction, ConeQP                      splitting on cones, for many contacts in space
`Chain`                 any                                   one after the other, until a solution is accepted
`Radau`, `Dop853`, ...  smooth phases of compliant contact    integrators of SciPy and SUNDIALS: `initial_value`
======================  ====================================  ==================================================

"Friction" is `FrictionContact`, in the plane and in space unless said otherwise. Solvers of QPs alone solve it in
sequences, see `tangent_planes`.
Names are imported when they are used, and a solver's library when its session is made.
"""

from __future__ import annotations

import difflib
import importlib
import importlib.metadata
import importlib.util
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from nonsmooth.exceptions import InputError
from nonsmooth.settings import kebab

if TYPE_CHECKING:
    from nonsmooth.programs import Solver
    from nonsmooth.solvers.active_set import ActiveSet
    from nonsmooth.solvers.admm import Admm
    from nonsmooth.solvers.casadi_qp import CasadiQP
    from nonsmooth.solvers.chain import Chain
    from nonsmooth.solvers.conic import Conic
    from nonsmooth.solvers.initial_value import Bdf, Cvodes, Dop853, Lsoda, Radau
    from nonsmooth.solvers.ipopt import IpoptMPCC
    from nonsmooth.solvers.lemke import Lemke
    from nonsmooth.solvers.mode_enumeration import ModeEnumeration
    from nonsmooth.solvers.osqp import Osqp
    from nonsmooth.solvers.projected_gauss_seidel import ProjectedGaussSeidel
    from nonsmooth.solvers.semismooth_newton import SemismoothNewton
    from nonsmooth.solvers.smoothing_newton import SmoothingNewton

__all__ = [
    "ActiveSet",
    "Admm",
    "Bdf",
    "CasadiQP",
    "Chain",
    "Conic",
    "Cvodes",
    "Dop853",
    "IpoptMPCC",
    "Lemke",
    "Lsoda",
    "ModeEnumeration",
    "Osqp",
    "ProjectedGaussSeidel",
    "Radau",
    "SemismoothNewton",
    "SmoothingNewton",
    "available",
    "by_name",
    "names",
]

#: modules that are not named after their class
_FILES = {"IpoptMPCC": "ipopt"} | dict.fromkeys(("Bdf", "Cvodes", "Dop853", "Lsoda", "Radau"), "initial_value")
_MODULES = {name: _FILES.get(name, kebab(name).replace("-", "_")) for name in __all__ if name[0].isupper()}
_PLUGINS = ("daqp", "qrqp")


#: of an integrator that there was
NO_IDAS = (
    "There is no Idas any more: it integrated the same accelerations as Cvodes(), with joints reduced to index 1, by "
    "formulas of the same family; take Cvodes()."
)


def __getattr__(name: str) -> Any:
    if name == "Idas":
        raise ImportError(NO_IDAS)
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES})


def names() -> tuple[str, ...]:
    """Names of the solvers on the command line."""
    return (*(kebab(name) for name in _MODULES if name != "Chain"), *_PLUGINS)


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
    classes = {kebab(cls): cls for cls in _MODULES if cls != "Chain"}
    if name in classes:
        return __getattr__(classes[name])
    if name in _PLUGINS:
        return partial(__getattr__("CasadiQP"), plugin=name)
    if name == "idas":
        raise InputError(NO_IDAS)
    near = difflib.get_close_matches(name, names(), n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    raise InputError(f"There is no solver {name!r}.{hint} Solvers: {', '.join(names())}.")


def available() -> list[tuple[str, str | None, str]]:
    """(solver, version of its library or None, what is missing) for each solver; no large library is imported.

    "Missing" is an empty string if the solver can be used. A solver without a row of its own needs NumPy alone.
    """
    rows = [
        _row("active-set", ["numba"]),
        _row("osqp", ["osqp", "scipy"]),
        _row("conic", ["clarabel", "cvxpy"]),
        _row("semismooth-newton", ["numba"]),
        _row("smoothing-newton", ["numba"]),
        _row("lemke", ["numba"]),
        _row("mode-enumeration", ["numba"]),
        _row("projected-gauss-seidel", ["numba"]),
        _row("admm", ["numpy"]),
        *(_row(name, ["scipy"]) for name in ("radau", "dop853", "bdf", "lsoda")),
    ]
    import casadi as ca  # plugins are queried one by one, since loading HiGHS would break cvxpy's

    plugins = [("daqp", ca.has_conic("daqp")), ("qrqp", ca.has_conic("qrqp"))]
    plugins.append(("cvodes", ca.has_integrator("cvodes")))
    plugins += [("ipopt-mpcc", ca.has_nlpsol("ipopt")), ("ipopt-mpcc (ccopt)", ca.has_nlpsol("ccopt"))]
    for name, loads in plugins:
        missing = "" if loads else "this build of casadi cannot load its library"
        rows.append((name, importlib.metadata.version("casadi") if loads else None, missing))
    listed = {name for name, _, _ in rows} | {"casadi-qp"}  # which is listed by its plugins
    return rows + [_row(name, ["numpy"]) for name in names() if name not in listed]


def _row(name: str, packages: list[str]) -> tuple[str, str | None, str]:
    missing = [package for package in packages if importlib.util.find_spec(package) is None]
    if missing:
        return name, None, f"pip install {' '.join(missing)}"
    return name, importlib.metadata.version(packages[0]), ""
