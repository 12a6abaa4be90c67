"""Andrews' squeezing mechanism: seven bodies with one degree of freedom, the oldest benchmark of multibody programs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from math import cos, sin

from nonsmooth.model.bodies import Ground, PlanarBody
from nonsmooth.model.forces import Spring, Torque
from nonsmooth.model.joints import Revolute
from nonsmooth.model.model import Model
from nonsmooth.model.registry import Provenance, problem

__all__ = ["andrews_squeezer", "squeezer"]

SOURCE = (
    "Mazzia, Magherini: Test Set for Initial Value Problem Solvers, release 2.4 (2008), problem Andrews' squeezing "
    "mechanism; Schiehlen (ed.): Multibody Systems Handbook (1990)"
)
TABLE = "Test Set, Andrews' squeezing mechanism, parameters"
START = "Test Set, consistent initial values"

MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
LENGTHS = {
    "xa": -0.06934, "ya": -0.00227, "xb": -0.03635, "yb": 0.03273, "xc": 0.014, "yc": 0.072, "d": 0.028, "da": 0.0115,
    "e": 0.02, "ea": 0.01421, "rr": 0.007, "ra": 0.00092, "ss": 0.035, "sa": 0.01874, "sb": 0.01043, "sc": 0.018,
    "sd": 0.02, "ta": 0.02308, "tb": 0.00916, "u": 0.04, "ua": 0.01228, "ub": 0.00449, "zf": 0.02, "zt": 0.04,
    "fa": 0.01421,
}  # fmt: skip
ANGLES = {
    "beta": -0.0617138900142764496,
    "Theta": 0.0,
    "gamma": 0.455279819163070380,
    "Phi": 0.222668390165885885,
    "delta": 0.487364979543842550,
    "Omega": -0.222668390165885885,
    "epsilon": 1.23054744454982120,
}
#: the bodies connected at E, in addition to K2, the neighbour of K1
PINS = ("k3", "k4", "k6")
#: pivot of each body: a point of the ground, or the far end of another body
HELD = {
    "k1": ("ground", (0.0, 0.0)),
    "k2": ("k1", (0.0, 0.0)),
    "k3": ("ground", (LENGTHS["xb"], LENGTHS["yb"])),
    "k5": ("ground", (LENGTHS["xa"], LENGTHS["ya"])),
    "k4": ("k5", (0.0, 0.0)),
    "k7": ("ground", (LENGTHS["xa"], LENGTHS["ya"])),
    "k6": ("k7", (0.0, 0.0)),
}

ORIGINS = {
    **{f"k{i}.mass": Provenance(m, "kg", "given", TABLE, f"m{i}") for i, m in enumerate(MASSES, 1)},
    **{f"k{i}.inertia": Provenance(J, "kg m^2", "given", TABLE, f"I{i}") for i, J in enumerate(INERTIAS, 1)},
    **{name: Provenance(length, "m", "given", TABLE) for name, length in LENGTHS.items()},
    **{name: Provenance(angle, "rad", "given", START) for name, angle in ANGLES.items()},
    "spring.stiffness": Provenance(4530.0, "N/m", "given", TABLE, "c0"),
    "spring.free_length": Provenance(0.07785, "m", "given", TABLE, "l0"),
    "drive.torque": Provenance(0.033, "N m", "given", TABLE, "mom, on K1"),
    "gravity": Provenance(0.0, "m/s^2", "given", TABLE),
    "velocities": Provenance(0.0, "rad/s", "given", START),
}

PANELS = (
    ("Angles of K3, K5, K7", "deg", tuple(("q", f"k{i}.angle", f"K{i}") for i in (3, 5, 7))),
    ("Angle of K1", "deg", (("q", "k1.angle", "K1"),)),
    ("Angular velocities", "rad/s", tuple(("v", f"k{i}.angle", f"K{i}") for i in (1, 2, 4, 6))),
    (
        "Forces on K2, means over steps",
        "N",
        tuple(("reaction", f"k2-{pin}.{axis}", f"{pin.upper()}, {axis}") for pin in PINS for axis in "xy"),
    ),
)


Vector = tuple[float, float]


def _plus(*vectors: Vector) -> Vector:
    return sum(x for x, _ in vectors), sum(y for _, y in vectors)


def _turned(at: Vector, angle: float) -> Vector:
    """A point of a body's frame in directions of the ground."""
    return at[0] * cos(angle) - at[1] * sin(angle), at[0] * sin(angle) + at[1] * cos(angle)


def _bodies(of: Mapping[str, float]) -> dict[str, float]:
    """Of the bodies K1 to K7, from the Test Set's angles or their rates: Theta, Phi and Omega count from others."""
    return {
        "k1": of["beta"],
        "k2": of["beta"] + of["Theta"],
        "k3": of["gamma"],
        "k4": of["Phi"] + of["delta"],
        "k5": of["delta"],
        "k6": of["Omega"] + of["epsilon"],
        "k7": of["epsilon"],
    }


def squeezer(angles: Mapping[str, float], rates: Mapping[str, float]) -> Model:
    """The mechanism at given angles [rad] with given rates [rad/s], by the Test Set's names."""
    n, turn, spin = LENGTHS, _bodies(angles), _bodies(rates)
    # points in the frames of the bodies, whose origins are the centres of mass
    root = {"k1": (-n["ra"], 0.0), "k2": (n["da"], 0.0), "k3": (-n["sb"], n["sa"]), "k4": (0.0, n["e"] - n["ea"]),
            "k5": (-n["ta"], -n["tb"]), "k6": (n["fa"] - n["zf"], 0.0), "k7": (n["ub"], n["ua"])}  # fmt: skip
    reach = {"k1": (n["rr"], 0.0), "k2": (-n["d"], 0.0), "k3": (0.0, -n["ss"]), "k4": (0.0, -n["e"]),
             "k5": (n["zt"], 0.0), "k6": (n["zf"], 0.0), "k7": (0.0, -n["u"])}  # fmt: skip
    tip = {body: _plus(root[body], along) for body, along in reach.items()}
    corner = _plus(root["k3"], (n["sd"], -n["sc"]))
    model = Model(
        name="Andrews squeezing mechanism", provenance={key: asdict(o) for key, o in ORIGINS.items() if "." in key},
        silence=["no-gravity"],
    )  # fmt: skip
    model.add(Ground())
    ends: dict[str, tuple[Vector, Vector]] = {}
    for body, (inner, support) in HELD.items():
        place, velocity = ends.get(inner, (support, (0.0, 0.0)))

        def moving(arm: Vector, rate: float = spin[body]) -> Vector:
            return -rate * arm[1], rate * arm[0]

        middle, whole = (_turned(arm, turn[body]) for arm in ((-root[body][0], -root[body][1]), reach[body]))
        ends[body] = _plus(place, whole), _plus(velocity, moving(whole))
        mass, inertia = (float(ORIGINS[f"{body}.{label}"].value) for label in ("mass", "inertia"))
        model.add(
            PlanarBody(
                body, mass=mass, inertia=inertia, position=_plus(place, middle), angle=turn[body],
                velocity=_plus(velocity, moving(middle)), angular_velocity=spin[body],
            )
        )  # fmt: skip
        model.add(Revolute(f"{inner}-{body}", inner, body, at_a=tip.get(inner, support), at_b=root[body]))
    for body in PINS:
        model.add(Revolute(f"k2-{body}", "k2", body, at_a=tip["k2"], at_b=tip[body]))
    stiffness, free_length = (float(ORIGINS[f"spring.{label}"].value) for label in ("stiffness", "free_length"))
    hook = (n["xc"], n["yc"])
    model.add(Spring("spring", "ground", "k3", at_a=hook, at_b=corner, stiffness=stiffness, free_length=free_length))
    model.add(Torque("drive", "k1", torque=float(ORIGINS["drive.torque"].value)))
    return model


@problem(
    tags=("planar", "revolute", "spring", "closed loop", "benchmark"),
    t_end=0.03,
    source=SOURCE,
    parameters=ORIGINS,
    panels=PANELS,
)
def andrews_squeezer() -> Model:
    """Andrews' squeezing mechanism: K1 rotates under a constant torque and moves K2, to whose end three arms connect.

    K3 turns about B, with a spring from C to its corner D; K4 hangs on K5, K6 on K7, and both of these turn about A.
    Within the 0.03 s of the benchmark K1 turns two and a half times and reaches 1140 rad/s. The angles of the bodies
    are the Test Set's beta, beta + Theta, gamma, Phi + delta, delta, Omega + epsilon, epsilon. Its multipliers are the
    forces of K2 on K3 (lambda 1, 2), on K4 (3, 4) and on K6 (5, 6), along x and y: the reactions of ``k2-k3``,
    ``k2-k4`` and ``k2-k6`` on their second bodies, which `Trajectory.instant` gives.

    >>> andrews_squeezer().build()
    System('Andrews squeezing mechanism': 21 velocities, 20 constraints, 0 contacts, 61 parameters)
    """
    return squeezer(ANGLES, dict.fromkeys(ANGLES, 0.0))
