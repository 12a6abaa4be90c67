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
    """CasADi functions of all contacts together, which do not distinguish open from closed contacts.

    ``coefficients(p)`` constants k of the laws, once per run; ``forces(depth, rate, approach, slip, bristles, stiction,
    k)`` with depth >= 0 [m], rate closing > 0 [m/s], approach > 0 [m/s], each (nc,), slip (nt,) [m/s], bristles (nz,)
    and stiction (nt,) [N] gives normal forces (nc,), forces on the second bodies along the tangents (nt,), the elastic
    part of the normal forces (nc,) [N], and the rates of the bristles (nz,). In space nt = 2 nc, and each bristle state
    is a vector of two components on the tangents; their rates are those of tangents that do not spin.

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
    forces: ca.Function
    laws: tuple[Compliant, ...]
    bristles: tuple[str, ...]
    owner: NDArray[np.intp]
    constants: tuple[Mapping[str, int], ...]

    @property
    def holds(self) -> bool:
        """Whether a law requires the stiction force."""
        return any(law.friction is not None and law.friction.holds for law in self.laws)


def compliance(
    contacts: list[Contact], functions: ElementFunctions, p: ca.SX, symbols: Mapping[str, ca.SX]
) -> Compliance | None:
    """The compliance of the contacts of a model, or None if one of them is rigid."""
    tangents = functions.dimension - 1
    gaps = [(contact, name) for contact in contacts for name in contact.gap_names()]
    laws = [contact.contact for contact, _ in gaps if isinstance(contact.contact, Compliant)]
    if not gaps or len(laws) < len(gaps):
        return None
    depth, rate, approach = (ca.SX.sym(name, len(gaps)) for name in ("depth", "rate", "approach"))
    slip, stiction = (ca.SX.sym(name, tangents * len(gaps)) for name in ("slip", "stiction"))
    states = [(i, f"{name}.{state}") for i, ((_, name), law) in enumerate(zip(gaps, laws, strict=True))
              for state in law.states(tangents)]  # fmt: skip
    bristles = ca.SX.sym("bristles", len(states))
    values, starts, constants = [], {}, []
    size = 0
    for contact in contacts:
        column = functions.coefficients(contact)(local_parameters(contact, symbols))
        values.append(column)
        starts[contact.name] = size
        size += column.numel()
    k = ca.SX.sym("k", size)
    columns: list[list[ca.SX]] = [[], [], [], []]
    first = 0
    for i, ((contact, _), law) in enumerate(zip(gaps, laws, strict=True)):
        start, count = starts[contact.name], len(functions.constants(contact))
        constants.append({name: start + j for j, name in enumerate(functions.constants(contact))})
        last, along = first + len(law.states(tangents)), slice(tangents * i, tangents * (i + 1))
        arguments = (
            depth[i],
            rate[i],
            approach[i],
            slip[along],
            bristles[first:last],
            stiction[along],
            k[start : start + count],
        )
        for column, value in zip(columns, functions.compliance(contact)(*arguments), strict=True):
            column.append(value)
        first = last
    inputs = [depth, rate, approach, slip, bristles, stiction, k]
    names = ["depth", "rate", "approach", "slip", "bristles", "stiction", "k"]
    outputs = ["F_N", "F_T", "F_elastic", "bristle_rates"]
    return Compliance(
        coefficients=ca.Function("coefficients", [p], [ca.vertcat(*values)], ["p"], ["k"]),
        forces=ca.Function("forces", inputs, [ca.vertcat(*column) for column in columns], names, outputs),
        laws=tuple(laws),
        bristles=tuple(name for _, name in states),
        owner=np.array([i for i, _ in states], dtype=np.intp),
        constants=tuple(constants),
    )
