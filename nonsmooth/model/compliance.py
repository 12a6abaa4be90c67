"""The compliant contacts of a mechanism: surfaces that may overlap, and the forces between them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.assembly import ElementFunctions, local_parameters
from nonsmooth.model.contacts import Contact

__all__ = ["Compliance", "compliance"]


@dataclass(frozen=True, eq=False)
class Compliance:
    """The laws of all contacts together; ``coefficients(p)``, a CasADi function, gives their constants k, once per run.

    In space each bristle state is a vector of two components on the tangents.

    Parameters
    ----------
    laws
        Of each gap (nc,).
    bristles
        Name of each bristle state (nz,), ``"contact.state"``; in space ``"contact.state_1"`` and ``_2``.
    owner
        Index of the gap that each bristle state belongs to (nz,).
    constants
        For each gap, where its constants stand in k, by name.
    """

    coefficients: ca.Function
    laws: tuple[Compliant, ...]
    bristles: tuple[str, ...]
    owner: NDArray[np.intp]
    constants: tuple[Mapping[str, int], ...]


def compliance(
    contacts: list[Contact], functions: ElementFunctions, p: ca.SX, symbols: Mapping[str, ca.SX]
) -> Compliance | None:
    """The compliance of the contacts of a model, or None if one of them is rigid."""
    tangents = functions.dimension - 1
    gaps = [(contact, name) for contact in contacts for name in contact.gap_names()]
    laws = [contact.contact for contact, _ in gaps if isinstance(contact.contact, Compliant)]
    if not gaps or len(laws) < len(gaps):
        return None
    states = [(i, f"{name}.{state}") for i, ((_, name), law) in enumerate(zip(gaps, laws, strict=True))
              for state in law.states(tangents)]  # fmt: skip
    values, starts, constants = [], {}, []
    size = 0
    for contact in contacts:
        column = functions.coefficients(contact)(local_parameters(contact, symbols))
        values.append(column)
        starts[contact.name] = size
        size += column.numel()
    for contact, _ in gaps:
        start = starts[contact.name]
        constants.append({name: start + j for j, name in enumerate(functions.constants(contact))})
    return Compliance(
        coefficients=ca.Function("coefficients", [p], [ca.vertcat(*values)], ["p"], ["k"]),
        laws=tuple(laws),
        bristles=tuple(name for _, name in states),
        owner=np.array([i for i, _ in states], dtype=np.intp),
        constants=tuple(constants),
    )
