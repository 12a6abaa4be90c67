"""A clamped flexible beam that is released and impacts on a stop under its tip."""

from __future__ import annotations

from dataclasses import asdict
from functools import lru_cache
from typing import Any

import casadi as ca
import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.flexible.beam import Material, Rectangle, beam
from nonsmooth.flexible.modes import Modes
from nonsmooth.flexible.reduction import modes
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.normal.hysteresis import LankaraniNikravesh
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground
from nonsmooth.model.contacts import PointPlane
from nonsmooth.model.flexible_bodies import PlanarFlexibleBody
from nonsmooth.model.joints import Fixed
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.robot_data import numbers

__all__ = ["COMPLIANT", "RIGID", "beam_on_stop"]

ORIGINS = {
    "length": Provenance(0.3, "m", "assumed", "a steel strip"),
    "thickness": Provenance(5e-3, "m", "assumed", "a steel strip", "in the plane of motion"),
    "width": Provenance(20e-3, "m", "assumed", "a steel strip"),
    "youngs": Provenance(2.1e11, "Pa", "assumed", "steel"),
    "density": Provenance(7850.0, "kg/m^3", "assumed", "steel"),
    "damping": Provenance(0.005, "-", "assumed", "a clamped steel strip", "damping ratio of every mode"),
    "deflection": Provenance(3e-3, "m", "assumed", "1 % of the length", "of the tip, upwards, at the start"),
    "gap": Provenance(0.0, "m", "assumed", "the straight beam touches the stop"),
    "restitution": Provenance(0.0, "-", "assumed", "what rebounds is due to the modes", "0.9 in COMPLIANT"),
    "friction": Provenance(0.0, "-", "assumed", "a smooth stop"),
    "stiffness": Provenance(1e8, "N/m^1.5", "assumed", "a rounded steel stop; COMPLIANT only"),
}
VALUE = numbers(ORIGINS)
#: rigid contact, Newton's restitution zero
RIGID = Rigid(restitution=VALUE["restitution"], friction=VALUE["friction"])
COMPLIANT = Compliant(LankaraniNikravesh(stiffness=VALUE["stiffness"], restitution=0.9))

PANELS = (
    ("Height of the tip", "mm", (("gap", "stop", "gap of the stop"),)),
    ("Impulse of the stop so far", "N s", (("impulse", "stop", "stop"),)),
    ("Force of the stop without impacts", "N", (("lam_N", "stop", "stop"),)),
    ("Moment of the clamp without impacts", "N m", (("reaction", "clamp.torque", "clamp"),)),
)


@lru_cache(maxsize=8)
def strip(elements: int) -> Modes:
    """All modes in the plane of the strip's finite elements, three for each of them."""
    steel = Material(VALUE["youngs"], VALUE["youngs"] / 2.6, VALUE["density"])
    shape = beam(
        (0.0, 0.0, 0.0), (VALUE["length"], 0.0, 0.0), section=Rectangle(VALUE["thickness"], VALUE["width"]),
        material=steel, elements=elements, names={"clamp": 0.0, "tip": 1.0},
    )  # fmt: skip
    ends = ["clamp", "tip"]
    return modes(shape, interface=ends, keep=shape.count - 12, damping=VALUE["damping"]).in_plane()


def _deflected(found: Modes, deflection: float) -> dict[str, Any]:
    """State of rest under a transverse force that deflects the tip by this distance [m], clamped at the origin."""
    clamp, tip = found.node("clamp"), found.node("tip")
    Phi, Psi = found.translations, found.rotations
    # a force F = 1 at the tip, and at the clamp -F and the moment -F L that balance it
    load = Phi[tip, 1] - Phi[clamp, 1] - VALUE["length"] * Psi[clamp, 2]
    eta = load / found.frequencies**2
    eta *= deflection / (load @ eta)
    bent = PlanarFlexibleBody("beam", found, deformation=eta)
    q, v = bent.start()
    placement, turned = bent.node_placement("clamp", ca.SX(q), ca.SX(v))
    (x, y), angle = (np.array(ca.evalf(one)).ravel() for one in (placement.position, turned))
    c, s = np.cos(angle[0]), np.sin(angle[0])
    return {"position": (float(-c * x - s * y), float(s * x - c * y)), "angle": float(-angle[0]), "deformation": eta}


@problem(
    tags=("planar", "flexible", "impact", "joints", "compliant"),
    t_end=0.03,
    source="Textbook problem; every value is assumed",
    parameters=ORIGINS,
    panels=PANELS,
)
def beam_on_stop(
    contact: Rigid | Compliant = RIGID,
    elements: int = 4,
    deflection: float = VALUE["deflection"],
    gap: float = VALUE["gap"],
) -> Model:
    """Clamped steel strip that is released with a deflected tip, which then impacts on a stop.

    With rigid contact each impact excites all modes, and the first impulse decreases with their number, as does the
    effective mass of the tip: the beam impacts repeatedly until the waves have decayed. The sum of the impulses
    converges. With compliant contact every quantity converges.

    Parameters
    ----------
    contact : Rigid or Compliant
        Of tip and stop: `RIGID` (e = 0) by default, or `COMPLIANT`.
    elements : int, 1 to 100
        Finite elements along the strip, of which all modes are kept, three for each.
    deflection : [m]
        Of the tip at the start, upwards, under a force that vanishes at t = 0.
    gap : [m]
        Between the straight beam and the stop, < 0 for a stop that keeps the beam bent; must exceed minus the
        deflection.

    Raises
    ------
    InputError
        For another number of elements, or a start that is not above the stop.

    >>> beam_on_stop().build()
    System('beam on a stop': 15 velocities, 3 constraints, 1 contacts, 40 parameters)
    """
    if not 1 <= elements <= 100:
        raise InputError(f"beam-on-stop takes 1 to 100 elements, got {elements!r}.")
    if not deflection + gap > 0.0:
        raise InputError(f"deflection + gap must be positive, got {deflection:g} m and {gap:g} m.")
    origins = {name: asdict(origin) for name, origin in ORIGINS.items()}
    known = {f"stop.{name}": origins[name] for name in ("restitution", "friction", "stiffness")}
    model = Model(name="beam on a stop", provenance=known, silence=["no-gravity"])
    model.add(Ground())
    found, half = strip(elements), VALUE["thickness"] / 2
    bent = model.add(PlanarFlexibleBody("beam", found, **_deflected(found, deflection)))
    model.add(Fixed("clamp", "ground", bent.node("clamp")))
    model.add(
        PointPlane(
            "stop",
            "ground",
            bent.node("tip"),
            at_a=(VALUE["length"], -half - gap),
            at_b=(0.0, -half),
            contact=contact,
            size=abs(deflection + gap),
        )  # fmt: skip
    )
    return model
