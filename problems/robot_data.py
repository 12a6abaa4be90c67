"""Common base of problems of parallel robots: numbers with their origins, contact laws by name, platform measures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant, FrictionLaw
from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.registry import Measure, Provenance
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.step.control import ErrorControl

__all__ = ["COMPLIANT", "ERROR_PANELS", "contact_law", "inertias", "numbers", "origins_of", "platform_errors"]

Origins = Mapping[str, Provenance]

#: stepper and step of runs with compliant contact
COMPLIANT = (CompliantDae(), ErrorControl(rtol=1e-6, atol=1e-8, dt_min=1e-6, dt_max=1e-2))
#: panels of a case, compared with the ideal twin
ERROR_PANELS = (
    ("Position error", "mm", "error", tuple(("q", f"platform.{axis}", axis) for axis in "xyz")),
    ("Velocity error", "m/s", "error", tuple(("v", f"platform.{axis}", axis) for axis in "xyz")),
)


def numbers(origins: Origins) -> dict[str, float]:
    """The values that are numbers, by name."""
    return {name: float(origin.value) for name, origin in origins.items() if not isinstance(origin.value, str)}


def inertias(origins: Origins, kinds: Iterable[str]) -> dict[str, tuple[float, ...]]:
    """Principal moments [kg m^2] of each kind of body, which are written as words with commas."""
    return {kind: tuple(float(word) for word in str(origins[f"{kind}.inertia"].value).split(",")) for kind in kinds}


def contact_law(
    contact: Rigid | Compliant | str, *, restitution: float, friction: float, stiffness: float, sliding: FrictionLaw,
    others: tuple[str, ...] = (),
) -> Rigid | Compliant:  # fmt: skip
    """A law as it is; "rigid"; or "compliant", Lankarani and Nikravesh's law with `sliding`, where there is friction.

    Raises
    ------
    InputError
        For another word; the message names `others` too, further accepted words.
    """
    if not isinstance(contact, str):
        return contact
    if contact == "rigid":
        return Rigid(restitution=restitution, friction=friction)
    if contact != "compliant":
        words = ", ".join(f'"{word}"' for word in ("rigid", "compliant", *others))
        raise InputError(f"contact must be {words} or a law, got {contact!r}.")
    normal = LankaraniNikravesh(stiffness=stiffness, exponent=1.5, restitution=restitution)
    return Compliant(normal, sliding) if friction > 0.0 else Compliant(normal)


def origins_of(
    origins: Origins, bodies: Iterable[str], joints: Iterable[str] = (), labels: Mapping[str, str] | None = None
) -> dict[str, dict[str, Any]]:
    """Provenance of the parameters of a system.

    Parameters
    ----------
    bodies
        Names of bodies, those of a kind with a number behind it; each has a mass and three moments.
    joints, labels
        Names of clearances, and for each of their parameters the name of its origin.
    """
    found = {}
    for body in bodies:
        kind = body.rstrip("0123456789")
        found[f"{body}.mass"] = origins[f"{kind}.mass"]
        found |= {f"{body}.inertia_{axes}": origins[f"{kind}.inertia"] for axes in ("xx", "yy", "zz")}
    found |= {f"{joint}.{label}": origins[name] for joint in joints for label, name in (labels or {}).items()}
    return {name: asdict(origin) for name, origin in found.items()}


def platform_errors(*, window: float | None = None) -> tuple[Measure, ...]:
    """Errors of place and velocity of the platform along x, y, z; of acceleration too, in means over a window [s]."""
    kinds: list[tuple[str, str, str, float | None]] = [("position", "q", "mm", None), ("velocity", "v", "m/s", None)]
    if window is not None:
        kinds.append(("acceleration", "a", "m/s^2", window))
    return tuple(
        Measure(f"{what} error, {axis}", unit, (kind, f"platform.{axis}"), of="error", window=length)
        for what, kind, unit, length in kinds
        for axis in "xyz"
    )
