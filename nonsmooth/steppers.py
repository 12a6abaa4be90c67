"""Time discretisation: settings of schemes, whose texts are in `schemes`."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING, Any

from nonsmooth.exceptions import InputError
from nonsmooth.settings import kebab

if TYPE_CHECKING:
    from nonsmooth.schemes.compliant.settings import CompliantDae
    from nonsmooth.schemes.event_driven.settings import EventDriven
    from nonsmooth.schemes.gauss.gauss_mpcc import GaussMPCC
    from nonsmooth.schemes.gauss.gauss_qp import GaussQP
    from nonsmooth.schemes.generalized_alpha.settings import GeneralizedAlpha
    from nonsmooth.schemes.moreau_jean.settings import MoreauJean

__all__ = ["CompliantDae", "EventDriven", "GaussMPCC", "GaussQP", "GeneralizedAlpha", "MoreauJean", "by_name", "names"]

#: `moved` finds modules of this name
__path__: list[str] = []
_MODULES = {
    "CompliantDae": "compliant.settings",
    "EventDriven": "event_driven.settings",
    "GaussMPCC": "gauss.gauss_mpcc",
    "GaussQP": "gauss.gauss_qp",
    "GeneralizedAlpha": "generalized_alpha.settings",
    "MoreauJean": "moreau_jean.settings",
}


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        from importlib import import_module

        return getattr(import_module(f"nonsmooth.schemes.{_MODULES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def names() -> tuple[str, ...]:
    """Names of the steppers on the command line."""
    return tuple(map(kebab, _MODULES))


def by_name(name: str) -> Any:
    """The stepper class of a command-line name; InputError if there is none, with the list of those that exist."""
    classes = {kebab(cls): cls for cls in _MODULES}
    if name not in classes:
        near = difflib.get_close_matches(str(name), classes, n=1)
        hint = f'Did you mean "{near[0]}"? ' if near else ""
        raise InputError(f'Unknown stepper "{name}". {hint}Choose one of {", ".join(classes)}.')
    return __getattr__(classes[name])
