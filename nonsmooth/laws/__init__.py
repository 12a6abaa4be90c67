"""Contact laws: functions of scalars, independent of geometry.

All can be imported from here. They are defined in the folders `normal` and `friction`, one file per family; every
public class derived from `NormalLaw` or `FrictionLaw` is a law, except bases, whose names end in ``Law``.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import pkgutil
import re
from typing import TYPE_CHECKING, Any, Literal, get_args

from nonsmooth.exceptions import InputError
from nonsmooth.settings import shown

if TYPE_CHECKING:
    from nonsmooth.laws.compliant import FrictionLaw, NormalLaw

Kind = Literal["normal", "friction"]
#: public names other than those of laws, by their modules
_OTHERS = {
    "base": ("Expression", "Law", "Limit"),
    "compliant": ("Compliant", "FrictionLaw", "NormalLaw", "length"),
    "rigid": ("INCREMENTAL", "LAWS", "Rigid"),
    "friction.regularised": ("SlipLaw",),
    "friction.sticking": ("BristleLaw",),
    "normal.cylindrical": ("LogarithmicLaw",),
    "normal.elastic": ("DampedLaw", "ElasticLaw", "Material", "MaterialPair", "contact_modulus", "slowest_wave"),
    "normal.fractal": ("fractal_surface",),
    "normal.hysteresis": ("HysteresisLaw", "exact_chi"),
}


def by_name(name: str, kind: Kind | None = None) -> type[NormalLaw] | type[FrictionLaw]:
    """The law of a name in kebab case; InputError, which names the nearest, if there is none."""
    known = {key: law for each in ((kind,) if kind else get_args(Kind)) for key, law in _laws(each).items()}
    if isinstance(name, str) and name in known:
        return known[name]
    close = difflib.get_close_matches(name.lower() if isinstance(name, str) else "", known, n=3, cutoff=0.5)
    hint = f"Did you mean {' or '.join(close)}?" if close else f"There are {', '.join(sorted(known))}."
    raise InputError(f"There is no {f'{kind} ' if kind else ''}law {shown(name)}. {hint}")


def names(kind: Kind) -> tuple[str, ...]:
    """Names of all laws of a kind, "normal" or "friction", in kebab case, sorted; InputError for another kind."""
    return tuple(sorted(_laws(kind)))


@functools.cache
def _laws(kind: Kind) -> dict[str, Any]:
    """All laws of a kind by name."""
    from nonsmooth.laws.compliant import FrictionLaw, NormalLaw

    if kind not in get_args(Kind):
        raise InputError(f'Laws are of kind "normal" or "friction", got {shown(kind)}.')
    base, folder = NormalLaw if kind == "normal" else FrictionLaw, importlib.import_module(f"{__name__}.{kind}")
    found = {}
    for each in pkgutil.iter_modules(folder.__path__):
        module = importlib.import_module(f"{folder.__name__}.{each.name}")
        for name, value in vars(module).items():
            own = isinstance(value, type) and value.__module__ == module.__name__
            if own and issubclass(value, base) and not name.startswith("_") and not name.endswith("Law"):
                # HuntCrossley -> hunt-crossley, BrownMcPhee -> brown-mcphee, ESDU78035 -> esdu78035
                found[re.sub(r"(?<=[a-z0-9])(?<!Mc)(?=[A-Z])", "-", name).lower()] = value
    return found


@functools.cache
def _exports() -> dict[str, str]:
    """Module of each public name."""
    found = {name: f"{__name__}.{module}" for module, names in _OTHERS.items() for name in names}
    return found | {law.__name__: law.__module__ for kind in get_args(Kind) for law in _laws(kind).values()}


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return sorted(_exports())
    if name.startswith("_") or name not in _exports():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_exports()[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_exports()})
