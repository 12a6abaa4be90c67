"""Time discretisation: settings of schemes, whose texts are in `schemes`.

==================  ==================================================================================
`CompliantDae`      compliant contact, by an integrator with error control
`EventDriven`       high order between events that are located to round-off
`GaussMPCC`         each step one complementarity program; with `Landing` its length is an unknown
`GaussQP`           each step a short sequence of convex programs
`GeneralizedAlpha`  second order away from impacts; contacts and joints at position and velocity level
`MoreauJean`        velocity-level steps with restitution and friction
==================  ==================================================================================
"""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from nonsmooth.exceptions import InputError
from nonsmooth.settings import kebab

if TYPE_CHECKING:
    from nonsmooth.steppers.compliant import CompliantDae
    from nonsmooth.steppers.event_driven import EventDriven
    from nonsmooth.steppers.gauss_mpcc import GaussMPCC
    from nonsmooth.steppers.gauss_qp import GaussQP
    from nonsmooth.steppers.generalized_alpha import GeneralizedAlpha
    from nonsmooth.steppers.moreau_jean import MoreauJean

__all__ = ["CompliantDae", "EventDriven", "GaussMPCC", "GaussQP", "GeneralizedAlpha", "MoreauJean", "by_name", "names"]

_MODULES = {
    "CompliantDae": "compliant",
    "EventDriven": "event_driven",
    "GaussMPCC": "gauss_mpcc",
    "GaussQP": "gauss_qp",
    "GeneralizedAlpha": "generalized_alpha",
    "MoreauJean": "moreau_jean",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def names() -> tuple[str, ...]:
    """Names of the steppers on the command line."""
    return tuple(map(kebab, _MODULES))


def by_name(name: str) -> Any:
    """The stepper class of a command-line name.

    Raises
    ------
    InputError
        If there is none, with the list of those that exist.

    >>> by_name("gauss-qp").__name__
    'GaussQP'
    """
    classes = {kebab(cls): cls for cls in _MODULES}
    if name not in classes:
        near = difflib.get_close_matches(str(name), classes, n=1)
        hint = f'Did you mean "{near[0]}"? ' if near else ""
        raise InputError(f'Unknown stepper "{name}". {hint}Choose one of {", ".join(classes)}.')
    return __getattr__(classes[name])
