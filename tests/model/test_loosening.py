"""Joints with clearance in place of ideal ones, and back."""

from __future__ import annotations

import numpy as np
import pytest
from robot_files import body, mjcf

from nonsmooth import (
    Cylindrical,
    Fixed,
    Gravity,
    Ground,
    InputError,
    Model,
    ModelError,
    MoreauJean,
    PlanarBody,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    SpatialBody,
    Spherical,
    loosen,
    read_robot,
    simulate,
    tighten,
)  # fmt: skip
from nonsmooth.laws import Flores
from nonsmooth.laws.compliant import Compliant

LAW = {"restitution": 0.5, "friction": 0.1}
CONTACT = Rigid(**LAW)


def slider_crank(**turned: float) -> Model:
    return Model(
        [
            Ground(),
            PlanarBody("crank", 0.2, 1e-4, position=(0.025, 0.0), velocity=(0.0, 3.75), angular_velocity=150.0),
            PlanarBody("rod", 0.3, 4e-4, position=(0.11, 0.0), velocity=(0.0, 3.75), angular_velocity=-62.5),
            PlanarBody("slider", 0.4, 1e-4, position=(0.17, 0.0)),
            Revolute("main", "ground", "crank", at_b=(-0.025, 0.0)),
            Revolute("big_end", "crank", "rod", at_a=(0.025, 0.0), at_b=(-0.06, 0.0)),
            Revolute("pin", "rod", "slider", at_a=(0.06, 0.0)), Prismatic("slide", "ground", "slider", **turned),
            Gravity(acceleration=(0.0, -9.81)),
        ],
        name="slider-crank", silence=["size"],
    )  # fmt: skip


def spatial(element: object) -> Model:
    return Model([Ground(), SpatialBody("arm", 1.0, (1e-3, 2e-3, 2e-3)), element])


def described(model: Model) -> list[object]:
    return [element.describe() for element in model.elements]


@pytest.mark.exact("compares runs of two mechanisms to the bit")
def test_a_pin_becomes_the_clearance_that_one_would_write() -> None:
    ideal = slider_crank()
    before = described(ideal)
    loose = loosen(ideal, "pin", clearance="20 um", radius=0.01, **LAW)
    pin = RevoluteClearance("pin", "rod", "slider", at_a=(0.06, 0.0), clearance=2e-5, radius=0.01, contact=CONTACT)
    hand = Model(pin if one.name == "pin" else one for one in ideal.elements)
    assert described(loose) == described(hand)
    assert (loose.name, loose.silence, described(ideal)) == (ideal.name, ideal.silence, before)
    assert described(tighten(loose)) == before
    runs = [simulate(one.build(), MoreauJean(), t_end=1e-3, dt=1e-5) for one in (loose, hand)]
    assert np.array_equal(runs[0].end.q, runs[1].end.q) and len(runs[0].impacts)


def test_patterns_loosen_all_that_they_match_and_has_a_counterpart() -> None:
    loose = loosen(
        slider_crank(), "*", fit="20 H7/g6", length=0.03, contact=Compliant(Flores(stiffness=1e9, restitution=0.5))
    )
    kinds = [type(one).__name__ for one in loose.elements[4:8]]
    assert kinds == ["RevoluteClearance"] * 3 + ["PrismaticClearance"]
    system = loose.build()
    assert (system.ng, system.nc) == (0, 7)
    gaps = system.true_gaps(system.start.q, system.parameter_values)
    assert np.allclose(gaps, 1.2e-5, rtol=0.0, atol=1e-15)  # centred, to round-off
    assert [type(one).__name__ for one in tighten(loose, "b*").elements[4:7]] == [
        "RevoluteClearance", "Revolute", "RevoluteClearance",
    ]  # fmt: skip
    assert loosen(slider_crank(), "[mp]*", clearance=1e-5, radius=0.01, **LAW).build().nc == 2


@pytest.mark.parametrize(("joint", "sizes", "count"), [
    (Revolute("j", "ground", "arm", at_a=(0, 0, 0), axis_a=(0, 1, 2), axis_b=(0, 1, 2)), {"length": 0.02}, 10),
    (Spherical("j", "ground", "arm"), {}, 1),
    (Cylindrical("j", "ground", "arm", axis_a=(1, 0, 0), axis_b=(1, 0, 0)), {"length": 0.02}, 2),
    (Prismatic("j", "ground", "arm", axis_a=(1, 2, 0.5)), {"length": 0.02}, 16),
])  # fmt: skip
def test_joints_in_space_start_centred(joint: object, sizes: dict[str, float], count: int) -> None:
    system = loosen(spatial(joint), "j", fit="20 H7/g6", **sizes, **LAW).build()
    gaps = system.true_gaps(system.start.q, system.parameter_values)
    assert gaps.size == count and np.allclose(gaps, 1.2e-5, rtol=0.0, atol=1e-15)
    ideal = tighten(loosen(spatial(joint), "j", fit="20 H7/g6", **sizes, **LAW)).build()
    assert ideal.ng == spatial(joint).build().ng


def test_a_turned_slide_in_space_keeps_its_axis() -> None:
    """The body is turned by 120 degrees about (1, 1, 1), so that its own y axis lies along the guide's z axis."""
    half = (0.5, 0.5, 0.5, 0.5)
    arm = SpatialBody("arm", 1.0, (1e-3, 2e-3, 2e-3), quaternion=half)
    slide = Prismatic("j", "ground", "arm", axis_a=(0, 0, 1), quaternion=half)
    loose = loosen(Model([Ground(), arm, slide]), "j", clearance=1e-5, length=0.02, height=0.01, width=0.02, **LAW)
    assert np.allclose(loose.elements[-1].axis_slider, (0, 1, 0), atol=1e-15)
    system = loose.build()
    assert np.allclose(system.true_gaps(system.start.q, system.parameter_values), 1e-5, rtol=0.0, atol=1e-15)


WRONG = [
    (("pin",), LAW, "takes one of fit"),
    (("pin",), {"fit": "20 H7/g6", "clearance": 1e-5, **LAW}, "takes one of fit"),
    (("pin",), {"fit": "20 H7/p6", **LAW}, "can interfere"),
    (("pin",), {"fit": "0.12 ±3e-5", **LAW}, "fit must be one of ISO 286"),
    (("pin",), {"fit": 1e-5, **LAW}, "fit must be one of ISO 286"),
    (("pin",), {"fit": "20 H7/g6", "friction": 0.1}, "both restitution= and friction="),
    (("pin",), {"fit": "20 H7/g6", "contact": CONTACT, "friction": 0.1}, "not both"),
    (("pin",), {"clearance": 1e-5, **LAW}, "friction 0.1 acts on the journal's surface"),
    (("pin",), {"clearance": -1e-5, "radius": 0.01, **LAW}, "clearance must be"),
    (("pim",), {"fit": "20 H7/g6", **LAW}, 'There is no joint "pim".* Did you mean pin'),
    (("crank",), {"fit": "20 H7/g6", **LAW}, '"crank" is a PlanarBody'),
    (("z*",), {"fit": "20 H7/g6", **LAW}, "There are main, big_end, pin, slide"),
    (("slide",), {"fit": "20 H7/g6", **LAW}, '"slide": with clearance it needs length'),
    ((7,), {"fit": "20 H7/g6", **LAW}, "pattern must be a name"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "sizes", "what"), WRONG, ids=[what for *_, what in WRONG])
def test_what_cannot_be_loosened_is_said_in_one_sentence(pattern, sizes, what) -> None:
    with pytest.raises(InputError, match=what):
        loosen(slider_crank(), *pattern, **sizes)


def test_joints_without_counterpart() -> None:
    with pytest.raises(InputError, match='"j" is a Fixed; what is replaced is a Revolute or Prismatic'):
        loosen(spatial(Fixed("j", "ground", "arm", quaternion=(1, 0, 0, 0))), "j", fit="20 H7/g6", **LAW)
    hinge = Revolute("j", "ground", "arm", axis_a=(0, 0, 1), axis_b=(0, 0, 1))
    with pytest.raises(ModelError, match="needs length and radius"):
        loosen(spatial(hinge), "j", clearance=1e-5, **LAW)
    with pytest.raises(ModelError, match="turn the frame of the slider"):
        loosen(slider_crank(angle=0.0, direction=np.pi / 2), "slide", fit="20 H7/g6", length=0.03, **LAW)
    with pytest.raises(InputError, match="There is no joint"):
        tighten(slider_crank())
    with pytest.raises(InputError, match="before it is built, got System"):
        tighten(slider_crank().build())  # type: ignore[arg-type]


def test_an_imported_arm_with_a_loose_elbow(tmp_path) -> None:
    """The tip leaves that of the ideal arm by no more than a few clearances, and the journal its bearing not at all."""
    pytest.importorskip("mujoco")
    bar = '<geom type="capsule" fromto="0 0 0 .3 0 0" size=".02"/>'
    fore = body("fore", '<joint name="elbow" axis="0 1 0"/>', place='pos=".3 0 0"', geom=bar)
    option = '<option><flag contact="disable"/></option>'
    path = tmp_path / "arm.xml"
    path.write_text(mjcf(body("upper", '<joint name="shoulder" axis="0 1 0"/>', fore, geom=bar), option))
    ideal = read_robot(path)
    loose = loosen(ideal, "elbow", fit="20 H7/g6", length=0.02, **LAW)
    runs = [simulate(one.build(), MoreauJean(), t_end=0.02, dt=1e-5) for one in (ideal, loose)]
    tips = [np.array([run.q[f"fore.{x}"][-1] for x in "xyz"]) for run in runs]
    assert 1e-6 < np.linalg.norm(tips[1] - tips[0]) < 1e-4
    assert runs[1].certificate.gap_violation < 1e-7 and len(runs[1].impacts)
    assert described(tighten(loose)) == described(ideal)
