"""A brick that tips over the edge of a step and tumbles down the others: corners on steps, and edges on its faces."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.contacts import PointBox
from nonsmooth.model.forces import Gravity
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem

__all__ = ["brick_on_steps"]

ROUGH = Rigid(restitution=0.0, friction=0.8)
MASS, GRAVITY, WIDTH, HEIGHT = 2.0, 9.81, 0.2, 0.1
INERTIA = MASS * (WIDTH**2 + HEIGHT**2) / 12
OVERHANG = 0.02
#: of the steps: how many there are below the first one, tread, riser, and length of the first and the last one [m]
STEPS, TREAD, RISER, LANDING = 3, 0.25, 0.1, 1.0
#: by name of a corner of the brick its place, in halves of the sides
CORNERS = {"low_left": (-1, -1), "low_right": (1, -1), "high_right": (1, 1), "high_left": (-1, 1)}

ORIGINS = {
    "overhang": Provenance(OVERHANG, "m", "assumed", "centre of the brick beyond the edge at the start"),
    "brick.mass": Provenance(MASS, "kg", "assumed", "no influence on the motion"),
    "brick.inertia": Provenance(INERTIA, "kg m^2", "assumed", "homogeneous brick of 200 mm by 100 mm"),
    "edge1.restitution": Provenance(0.0, "-", "assumed", "of all contacts: the brick does not bounce"),
    "edge1.friction": Provenance(0.8, "-", "assumed", "of all contacts: the brick tips before it slips"),
    "gravity.acceleration_y": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
}

PANELS = (
    ("Position of the brick", "m", (("q", "brick.x", "along the steps"), ("q", "brick.y", "upwards"))),
    ("Angle", "deg", (("q", "brick.angle", "brick"),)),
    ("Normal force", "N", (("lam_N", "edge1", "first edge"), ("lam_N", "low_right2", "corner on the second step"))),
)


@problem(
    tags=("planar", "friction", "impacts"), t_end=1.2, source="Textbook problem", parameters=ORIGINS, panels=PANELS
)
def brick_on_steps(contact: Rigid | Compliant = ROUGH, overhang: float = OVERHANG) -> Model:
    """Brick whose centre lies beyond the edge of the first of four steps: it tips over, slips and tumbles down.

    Each corner of the brick meets each step, a rectangle, and the edge of each step meets the brick. While it sticks to
    the first edge it is a pendulum about it.

    Parameters
    ----------
    contact : Rigid or Compliant
        Of all contacts; by default restitution 0, friction 0.8.
    overhang : [m], in (-0.1, 0.1)
        Of the brick's centre beyond the edge; at rest if negative.

    Raises
    ------
    InputError
        For an overhang out of range.

    >>> brick_on_steps().build()
    System('Brick on steps': 3 velocities, 0 constraints, 19 contacts, 213 parameters)
    """
    if not (isfinite(overhang) and abs(overhang) < WIDTH / 2):
        raise InputError(f"overhang must lie between -{WIDTH / 2:g} and {WIDTH / 2:g} m, got {overhang!r}.")
    known = {name: asdict(origin) for name, origin in ORIGINS.items() if "." in name}
    model = Model(name="Brick on steps", provenance=known)
    ground = model.add(Ground("ground"))
    brick = model.add(PlanarBody("brick", mass=MASS, inertia=INERTIA, position=(overhang, HEIGHT / 2)))
    edge = 0.0
    for step in range(1, STEPS + 2):
        length, top = TREAD if 1 < step <= STEPS else LANDING, -(step - 1) * RISER
        left, edge = (-length, 0.0) if step == 1 else (edge, edge + length)
        for name, (across, up) in CORNERS.items():
            model.add(
                PointBox(
                    f"{name}{step}", ground, brick, width=length, height=RISER, contact=contact,
                    at_a=(left + length / 2, top - RISER / 2), at_b=(across * WIDTH / 2, up * HEIGHT / 2),
                )
            )  # fmt: skip
        if step <= STEPS:
            model.add(
                PointBox(f"edge{step}", brick, ground, width=WIDTH, height=HEIGHT, at_b=(edge, top), contact=contact)
            )
    model.add(Gravity(acceleration=(0.0, -GRAVITY)))
    return model
