"""Solvers of the step problems. Settings are frozen dataclasses; `setup` creates a session.

===================  ==================================================================================================
`pivoting`           `ActiveSet`, default of all that has a QP; `Lemke`; `ModeEnumeration`: LCPs, friction in the plane
`semismooth_newton`  `SemismoothNewton`, default with friction; `SmoothingNewton`, its fallback in space
`first_order`        `ProjectedGaussSeidel`, `Admm`: many contacts
`external`           `Osqp`, `CasadiQP`, `Conic` (Clarabel): QPs; the last one also LCPs and friction, as a cross-check
`ipopt`              `IpoptMPCC`: interior point on a relaxation of an MPCC, then polished
`chain`              `Chain`: one after the other, until a solution is accepted
`initial_value`      `Radau`, `Dop853`, ...: smooth phases of compliant contact, by SciPy and SUNDIALS
===================  ==================================================================================================

Solvers of QPs alone solve friction in sequences, see `tangent_planes`. Names are imported when they are used, and a
solver's library when its session is made.
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
from nonsmooth.settings import kebab, shown

if TYPE_CHECKING:
    from nonsmooth.programs import Solver
    from nonsmooth.solvers.chain import Chain
    from nonsmooth.solvers.external import CasadiQP, Conic, Osqp
    from nonsmooth.solvers.first_order import Admm, ProjectedGaussSeidel
    from nonsmooth.solvers.initial_value import Bdf, Cvodes, Dop853, Lsoda, Radau
    from nonsmooth.solvers.ipopt import IpoptMPCC
    from nonsmooth.solvers.pivoting import ActiveSet, Lemke, ModeEnumeration
    from nonsmooth.solvers.semismooth_newton import SemismoothNewton, SmoothingNewton

__all__ = [
    "ActiveSet", "Admm", "Bdf", "CasadiQP", "Chain", "Conic", "Cvodes", "Dop853", "IpoptMPCC", "Lemke", "Lsoda",
    "ModeEnumeration", "Osqp", "ProjectedGaussSeidel", "Radau", "SemismoothNewton", "SmoothingNewton", "available",
    "by_name", "names",
]  # fmt: skip

#: modules of several classes; another class is in a module of its own name
_FILES = {
    "external": ("CasadiQP", "Conic", "Osqp"),
    "first_order": ("Admm", "ProjectedGaussSeidel"),
    "initial_value": ("Bdf", "Cvodes", "Dop853", "Lsoda", "Radau"),
    "ipopt": ("IpoptMPCC",),
    "pivoting": ("ActiveSet", "Lemke", "ModeEnumeration"),
    "semismooth_newton": ("SemismoothNewton", "SmoothingNewton"),
}
_MODULES = {name: kebab(name).replace("-", "_") for name in __all__ if name[0].isupper()}
_MODULES |= {name: module for module, names in _FILES.items() for name in names}
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

    InputError if there is none; the message lists all.

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
    raise InputError(f"There is no solver {shown(name)}.{hint} Solvers: {', '.join(names())}.")


def available() -> list[tuple[str, str | None, str]]:
    """(solver, version of its library or None, what is missing) for each solver; no large library is imported.

    "Missing" is an empty string if the solver can be used. A solver without a row of its own needs NumPy alone.
    """
    libraries: dict[str, tuple[str, ...]] = {"active-set": ("numba",)}
    libraries |= {"osqp": ("osqp", "scipy"), "conic": ("clarabel", "cvxpy")}
    compiled = ("semismooth-newton", "smoothing-newton", "lemke", "mode-enumeration", "projected-gauss-seidel")
    libraries |= dict.fromkeys(compiled, ("numba",)) | {"admm": ("numpy",)}
    libraries |= dict.fromkeys(("radau", "dop853", "bdf", "lsoda"), ("scipy",))
    import casadi as ca  # plugins are queried one by one, since loading HiGHS would break cvxpy's

    plugins = {"daqp": ca.has_conic("daqp"), "qrqp": ca.has_conic("qrqp"), "cvodes": ca.has_integrator("cvodes")}
    plugins |= {"ipopt-mpcc": ca.has_nlpsol("ipopt"), "ipopt-mpcc (ccopt)": ca.has_nlpsol("ccopt")}
    others = {name: ("numpy",) for name in names() if name not in {*libraries, *plugins, "casadi-qp"}}
    rows: list[tuple[str, str | None, str]] = []
    for name, packages in [*libraries.items(), *dict.fromkeys(plugins, ("casadi",)).items(), *others.items()]:
        missing = [package for package in packages if importlib.util.find_spec(package) is None]
        words = f"pip install {' '.join(missing)}" if missing else ""
        if not plugins.get(name, True):
            words = "this build of casadi cannot load its library"
        rows.append((name, None if words else importlib.metadata.version(packages[0]), words))
    return rows
