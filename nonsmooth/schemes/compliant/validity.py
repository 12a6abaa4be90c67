"""Laws outside their range of validity: one warning for each contact and limit."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import ValidityWarning
from nonsmooth.laws.base import Limit
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.system import System

__all__ = ["Validity"]

UNITS = {"approach": "m/s", "force": "N", "depth": "m"}


class Validity:
    """The limits of a system's compliant laws at given parameters; those on numbers are checked immediately.

    Parameters
    ----------
    system : System
    p : (np,) parameters
    k : (nk,) constants of the laws
    """

    def __init__(self, system: System, p: Array, k: Array) -> None:
        self._limits: dict[tuple[int, str], list[Limit]] = {}
        self._warned: set[tuple[str, Limit]] = set()
        self._contacts: list[tuple[str, Compliant]] = []
        if system.compliance is None:
            return
        values = dict(zip(system.parameters, p.tolist(), strict=True))
        gaps = system.contact_elements
        for i, (contact, law, places) in enumerate(
            zip(gaps, system.compliance.laws, system.compliance.constants, strict=True)
        ):
            numbers = {label: values[f"{contact.name}.{label}"] for label in contact.numbers()}
            known = SimpleNamespace(**numbers, **_missing(contact.geometry(SimpleNamespace(**numbers)), numbers))
            constants = SimpleNamespace(**{name: float(k[place]) for name, place in places.items()})
            self._contacts.append((contact.name, law))
            for limit in law.limits(known, constants):
                if limit.quantity in UNITS:
                    self._limits.setdefault((i, limit.quantity), []).append(limit)
                elif limit.exceeded(numbers[limit.quantity]):
                    self._warn(i, limit, numbers[limit.quantity])

    def check(self, gap: int, quantity: str, value: float) -> None:
        """Warn if the approach velocity, force or depth of a gap leaves its range."""
        for limit in self._limits.get((gap, quantity), ()):
            if limit.exceeded(value):
                self._warn(gap, limit, value)

    def _warn(self, gap: int, limit: Limit, value: float) -> None:
        name, law = self._contacts[gap]
        if (name, limit) in self._warned:
            return
        self._warned.add((name, limit))
        unit = UNITS.get(limit.quantity, "")
        reason = f"; {limit.reason}" if limit.reason else ""
        warnings.warn(
            f'Contact "{name}": {type(law.normal).__name__} is meant for {limit}, and has {limit.quantity} = '
            f"{value:.4g}{' ' if unit else ''}{unit}{reason}.",
            ValidityWarning,
            stacklevel=2,
        )


def _missing(geometry: dict[str, float], numbers: dict[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in geometry.items() if name not in numbers}
