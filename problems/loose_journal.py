"""A journal that rests in a bearing with radial and axial clearance, under a load off its middle."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import inf

import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.bodies import Ground, SpatialBody
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.forces import Gravity, PointForce
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem
from nonsmooth_problems.samples import Array, Sample, Side, times

__all__ = ["RestingJournal", "loose_journal"]

ROUGH = Rigid(restitution=0.0, friction=0.1)
MASS, RADIUS, LENGTH, GRAVITY = 0.5, 0.01, 0.04, 9.81
#: homogeneous cylinder about x and across it
INERTIA = (MASS * RADIUS**2 / 2.0, *(2 * [MASS * (3.0 * RADIUS**2 + LENGTH**2) / 12.0]))
POINTS = 4

ORIGINS = {
    "load": Provenance(50.0, "N", "assumed", "ten times the weight"),
    "eccentricity": Provenance(0.005, "m", "assumed", "a quarter of the way to the front end"),
    "clearance": Provenance(1e-4, "m", "assumed", "a hundredth of the radius"),
    "axial_clearance": Provenance(2e-4, "m", "assumed", "twice the radial one"),
    "journal.mass": Provenance(MASS, "kg", "assumed", "journal with what it carries"),
    "journal.inertia_xx": Provenance(INERTIA[0], "kg m^2", "assumed", "homogeneous cylinder"),
    "bearing.radius": Provenance(RADIUS, "m", "assumed", "round value"),
    "bearing.length": Provenance(LENGTH, "m", "assumed", "twice the diameter"),
    "gravity.acceleration_z": Provenance(-GRAVITY, "m/s^2", "assumed", "standard value"),
    "restitution": Provenance(0.0, "-", "assumed", "no impacts"),
    "friction": Provenance(0.1, "-", "assumed", "no influence at rest"),
}

PANELS = (
    ("Forces of the two ends", "N", tuple(("lam_N", f"bearing.radial_{end}", end) for end in ("back", "front"))),
    ("Centre of the journal", "mm", (("q", "journal.y", "y"), ("q", "journal.z", "z"))),
    ("Gaps at a collar", "mm", tuple(("gap", f"bearing.axial_back_{i}", f"back {i}") for i in range(1, POINTS + 1))),
)  # fmt: skip


@dataclass(frozen=True)
class RestingJournal:
    """The journal at rest: with the weight G in the middle and the load P at the eccentricity d towards the front,

    ``N_front = G/2 + P (1/2 + d/L)`` and ``N_back = G/2 + P (1/2 - d/L)``, both positive for
    abs(d) < L/2 (1 + G/P). The collars are not touched.

    >>> [round(force, 6) for force in RestingJournal(50.0, 0.005, 2e-4).forces]
    [21.2025, 33.7025]
    """

    load: float
    eccentricity: float
    axial_clearance: float
    clearance: float = 1e-4

    @property
    def events(self) -> Array:
        """Nothing happens: no times."""
        return np.zeros(0)

    @property
    def forces(self) -> tuple[float, float]:
        """Of the back and the front end [N]."""
        half, share = MASS * GRAVITY / 2.0, self.eccentricity / LENGTH
        return half + self.load * (0.5 - share), half + self.load * (0.5 + share)

    def sample(self, t: ArrayLike, side: Side = "right") -> Sample:
        """Everything at the times `t`: always the same, but impulses."""
        time: Array = times(t, side)
        none = np.zeros_like(time)
        q = dict.fromkeys((f"journal.{label}" for label in ("x", "y", "z", "qw", "qx", "qy", "qz")), none)
        rims = [f"bearing.axial_{end}_{i}" for end in ("back", "front") for i in range(1, POINTS + 1)]
        ends = dict(zip(("bearing.radial_back", "bearing.radial_front"), self.forces, strict=True))
        return Sample(
            t=time,
            q=q | {"journal.z": none - self.clearance, "journal.qw": none + 1.0},
            v=dict.fromkeys((f"journal.{label}" for label in ("x", "y", "z", "wx", "wy", "wz")), none),
            gap=dict.fromkeys(ends, none) | dict.fromkeys(rims, none + self.axial_clearance),
            lam_N={end: none + force for end, force in ends.items()} | dict.fromkeys(rims, none),
            impulse={end: time * force for end, force in ends.items()} | dict.fromkeys(rims, none),
        )


def _check(load: float, eccentricity: float, clearance: float, axial_clearance: float) -> None:
    if not 0.0 <= load < inf:
        raise InputError(f"load must be a number >= 0 in N, got {load!r}.")
    for name, value in (("clearance", clearance), ("axial_clearance", axial_clearance)):
        if not 0.0 < value < RADIUS:
            raise InputError(f"{name} must lie between 0 and the radius, {RADIUS:g} m, got {value!r}.")
    if not load * abs(eccentricity) < LENGTH / 2.0 * (load + MASS * GRAVITY):
        reach = LENGTH / 2.0 * (1.0 + MASS * GRAVITY / load)
        raise InputError(
            f"eccentricity must be less than {reach:.6g} m at this load, beyond which the journal tilts, "
            f"got {eccentricity!r}."
        )


def _exact(
    contact: Rigid = ROUGH, load: float = 50.0, eccentricity: float = 0.005, clearance: float = 1e-4,
    axial_clearance: float = 2e-4,
) -> RestingJournal:  # fmt: skip
    _check(load, eccentricity, clearance, axial_clearance)
    return RestingJournal(load, eccentricity, axial_clearance, clearance)


@problem(
    tags=("spatial", "revolute", "clearance", "statics", "exact"),
    t_end=0.05,
    source="Textbook problem",
    parameters=ORIGINS,
    panels=PANELS,
    exact=_exact,
)
def loose_journal(
    contact: Rigid | Compliant = ROUGH, load: float = 50.0, eccentricity: float = 0.005, clearance: float = 1e-4,
    axial_clearance: float = 2e-4,
) -> Model:  # fmt: skip
    """Journal at rest at the bottom of a bearing with clearance, under its weight and a load off its middle.

    It touches along its lowest line, modelled by the circles at the two ends; their forces follow from statics. The
    collars, four points on each rim, stay open.

    Parameters
    ----------
    contact : Rigid or Compliant
        Plastic with friction 0.1 by default. A compliant journal first moves to its static penetration.
    load : [N], >= 0
        Downwards, in addition to the weight.
    eccentricity : [m]
        Of the load from the middle towards the front end, below L/2 (1 + weight/load).
    clearance, axial_clearance : [m], in (0, 0.01)
        Radial, and axial on each side.

    Raises
    ------
    InputError
        For a number out of range.

    >>> loose_journal().build()
    System('loose journal': 6 velocities, 0 constraints, 10 contacts, 32 parameters)
    """
    _check(load, eccentricity, clearance, axial_clearance)
    known = {key: asdict(one) for key, one in ORIGINS.items() if "." in key}
    own = ("clearance", "axial_clearance", "restitution", "friction")
    known |= {f"bearing.{key}": asdict(ORIGINS[key]) for key in own}
    model = Model(name="loose journal", provenance=known)
    model.add(Ground())
    model.add(SpatialBody("journal", mass=MASS, inertia=INERTIA, position=(0.0, 0.0, -clearance)))
    axis = (1.0, 0.0, 0.0)
    model.add(
        RevoluteClearance(
            "bearing", "ground", "journal", axis_a=axis, axis_b=axis, clearance=clearance, radius=RADIUS, length=LENGTH,
            axial_clearance=axial_clearance, points=POINTS, contact=contact,
        )
    )  # fmt: skip
    model.add(PointForce("load", "journal", force=(0.0, 0.0, -load), at=(eccentricity, 0.0, 0.0)))
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    return model
