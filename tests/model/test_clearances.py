"""Gaps against geometry that is computed another way."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nonsmooth import Ground, InputError, Model, ModelError, PlanarBody, PrismaticClearance, RevoluteClearance, Rigid
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import System

SMOOTH = Rigid(restitution=0.0, friction=0.0)
#: two roundings of the walls' distance from the centre line, half a height of 0.05 m and a clearance of 0.03 to 0.05 m
ROUNDED = 3e-17
GAPS = ("left_lower", "left_upper", "right_lower", "right_upper")


def turned(angle: float, vector: tuple[float, float] | Array) -> Array:
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s], [s, c]]) @ np.asarray(vector)


def slider_in_guide(**changes: object) -> System:
    """Two bodies, guide and slider, in that order; the start is centred and aligned if `direction` is 0."""
    numbers = {"length": 0.2, "height": 0.1, "clearance": 0.03} | changes
    bodies = [PlanarBody(name, mass=1.0, inertia=0.1) for name in ("guide", "slider")]
    return Model([*bodies, PrismaticClearance("joint", *bodies, contact=SMOOTH, **numbers)]).build()


def gaps(system: System, q: list[float] | Array) -> dict[str, float]:
    values = system.numeric.g_N(q, system.parameter_values)[0]
    return {name.rpartition(".")[2]: float(value) for name, value in zip(system.contact_names, values, strict=True)}


# PrismaticClearance: a rectangle between two walls


def test_corners_of_a_tilted_slider_slip_by_their_own_arms() -> None:
    """By the rotation alone a corner at (x, y) moves along the guide with -(x sin + y cos) of the tilt."""
    system, tilt = slider_in_guide(), 0.2
    rates = system.numeric.W_T(np.array([0.0, 0.0, 0.0, 0.05, 0.01, tilt]), system.parameter_values)[0][5]
    corners = [(-0.1, -0.05), (-0.1, 0.05), (0.1, -0.05), (0.1, 0.05)]
    assert rates == pytest.approx([-(x * np.sin(tilt) + y * np.cos(tilt)) for x, y in corners], abs=1e-14)


def test_a_journal_is_as_curved_as_its_effective_radius_says() -> None:
    """A ball of 1 / (1/r - 1/(r + c)) on a plane: laws of Hertz's kind take that radius."""
    joint = RevoluteClearance("pin", "a", "b", clearance=1e-3, radius=0.01, contact=SMOOTH)
    found = joint.geometry(SimpleNamespace(radius=0.01, clearance=1e-3))
    assert found["effective_radius"] == pytest.approx(1 / (1 / 0.01 - 1 / 0.011), rel=1e-13)


@pytest.mark.parametrize("height", [0.0, 0.1])
@pytest.mark.parametrize("direction", [0.0, 0.25, -0.5])
def test_prismatic_gaps_are_distances_of_the_corners_from_the_walls(height: float, direction: float) -> None:
    a, c, at_guide, at_slider = 0.1, 0.3, (0.4, -0.2), (0.01, 0.02)
    system = slider_in_guide(
        length=2 * a, height=height, clearance=c, direction=direction, at_guide=at_guide,
        at_slider=tuple(np.add(at_guide, (0.05, 0.03))),
    )  # fmt: skip
    system_parameters = system.parameter_vector({"joint.at_slider_x": at_slider[0], "joint.at_slider_y": at_slider[1]})
    random = np.random.default_rng(3)
    for _ in range(20):
        guide_position, slider_position = random.uniform(-1, 1, 2), random.uniform(-1, 1, 2)
        guide_angle = random.uniform(-7, 7)
        slider_angle = guide_angle + direction + random.uniform(-1.5, 1.5)  # lower corners are lower up to 90 degrees
        normal = turned(guide_angle + direction, (0.0, 1.0))
        centre_line = guide_position + turned(guide_angle, at_guide)
        expected = {}
        for end, x in (("left", -a), ("right", a)):
            for side, y in (("lower", -height / 2), ("upper", height / 2)):
                corner = slider_position + turned(slider_angle, np.add(at_slider, (x, y)))
                above_centre_line = float(normal @ (corner - centre_line))
                room = height / 2 + c
                expected[f"{end}_{side}"] = room + above_centre_line if side == "lower" else room - above_centre_line
        q = np.array([*guide_position, guide_angle, *slider_position, slider_angle])
        got = system.numeric.g_N(q, system_parameters)[0]
        # lengths of the order of 1 m, a dozen operations of 1e-16 each
        assert got == pytest.approx([expected[gap] for gap in GAPS], abs=5e-15)
        assert system.numeric.distance(q, system_parameters)[0] == pytest.approx(got, abs=0.0)


def test_prismatic_gaps_of_the_centred_slider_are_the_clearance_on_all_four_sides() -> None:
    system = slider_in_guide(clearance=0.03)
    assert system.contact_names == tuple(f"joint.{gap}" for gap in GAPS)
    clearance = system.parameters["joint.clearance"]
    assert clearance == pytest.approx(0.03, rel=1e-13)
    assert gaps(system, np.zeros(6)) == pytest.approx(dict.fromkeys(GAPS, clearance), abs=ROUNDED, rel=0.0)


def test_a_slider_that_lies_on_the_lower_wall_closes_the_lower_gaps() -> None:
    system = slider_in_guide(clearance=0.03)
    c = system.parameters["joint.clearance"]
    expected = {"left_lower": 0, "left_upper": 2 * c, "right_lower": 0, "right_upper": 2 * c}
    assert gaps(system, [0, 0, 0, 0, -c, 0]) == pytest.approx(expected, abs=ROUNDED, rel=0.0)


def test_a_slider_turned_counter_clockwise_has_its_right_end_up_and_its_left_end_down() -> None:
    system = slider_in_guide(height=0.0, length=0.2, clearance=0.03)
    c, half = system.parameters["joint.clearance"], system.parameters["joint.length"] / 2
    # half length 0.1 m times sine 0.3: both diagonal gaps close at asin(c/a), the limit of the angle for height 0
    expected = {"left_lower": 0, "left_upper": 2 * c, "right_lower": 2 * c, "right_upper": 0}
    assert gaps(system, [0, 0, 0, 0, 0, np.arcsin(c / half)]) == pytest.approx(expected, abs=1e-16)


@pytest.mark.parametrize("angle", [0.0, 1.0, np.pi / 2, np.pi, -2.5, 20.0])
def test_prismatic_gaps_turn_with_the_guide(angle: float) -> None:
    system = slider_in_guide(at_guide=(0.3, 0.1), at_slider=(0.3, 0.1))
    here = np.array([0.0, 0.0, 0.0, 0.02, 0.01, 0.05])
    moved = np.concatenate([turned(angle, here[:2]) + 1.0, [angle], turned(angle, here[3:5]) + 1.0, [angle + here[5]]])
    assert gaps(system, moved) == pytest.approx(gaps(system, here), abs=5e-15)  # lengths of 1 m, round-off


def test_sliding_along_the_guide_changes_no_gap() -> None:
    direction = 0.4
    system = slider_in_guide(direction=direction, clearance=0.1)
    along = np.array([0.0, 0.0, 0.0, *(0.7 * turned(direction, (1.0, 0.0))), direction])
    assert gaps(system, along) == pytest.approx(dict.fromkeys(GAPS, 0.1), abs=1e-14)


# RevoluteClearance: a journal in a bearing


def journal_in_bearing(clearance: float = 0.02) -> System:
    bodies = [PlanarBody(name, mass=1.0, inertia=0.1) for name in ("bearing", "journal")]
    return Model([*bodies, RevoluteClearance("pin", *bodies, clearance=clearance, contact=SMOOTH)]).build()


def test_a_single_gap_has_the_name_of_its_joint() -> None:
    assert journal_in_bearing().contact_names == ("pin",)


@pytest.mark.parametrize("direction", np.linspace(0.0, 2 * np.pi, 7))
def test_revolute_gap_and_true_gap_vanish_together_with_the_same_slope(direction: float) -> None:
    system = journal_in_bearing(0.02)
    n, p, c = system.numeric, system.parameter_values, system.parameters["pin.clearance"]
    outward = np.array([np.cos(direction), np.sin(direction)])
    touching = np.concatenate([np.zeros(3), c * outward, [0.3]])
    # half a dozen roundings of 0.02 m, of 1.7e-18 m each
    assert n.g_N(touching, p)[0] == pytest.approx([0.0], abs=1e-17)
    assert n.distance(touching, p)[0] == pytest.approx([0.0], abs=1e-17)

    v = np.concatenate([np.zeros(3), outward, [0.0]])  # 1 m/s outward: both gaps shrink at 1 m/s
    assert n.W_N(touching, p)[0].T @ v == pytest.approx([-1.0], abs=1e-13)
    width = 1e-6  # central difference of |e|, exact but for round-off 1e-18/1e-6 here
    ahead, behind = (n.distance(touching + s * v, p)[0] for s in (width, -width))
    assert (ahead - behind) / (2 * width) == pytest.approx([-1.0], abs=1e-10)


@pytest.mark.parametrize("share", [0.0, 0.3, 0.9, 1.1])
def test_revolute_gap_differs_from_the_true_gap_by_its_square_over_two_clearances(share: float) -> None:
    c = 0.02
    system = journal_in_bearing(c)
    q = np.array([0.1, 0.2, 0.0, 0.1, 0.2 + share * c, 0.0])
    true = system.true_gaps(q, system.parameter_values)[0]
    assert true == pytest.approx([(1 - share) * c], abs=1e-16)
    assert system.numeric.g_N(q, system.parameter_values)[0] == pytest.approx(true - true**2 / (2 * c), abs=1e-16)


def test_revolute_gap_is_smooth_where_the_centres_coincide() -> None:
    system = journal_in_bearing()
    assert np.all(system.numeric.W_N(np.zeros(6), system.parameter_values)[0] == 0.0)


# The law, and what a clearance refuses


def test_the_law_of_each_gap_is_read_from_the_parameters() -> None:
    guide, slider = Ground("guide"), PlanarBody("slider", mass=1.0, inertia=0.1)
    pin = RevoluteClearance(
        "pin", guide, slider, clearance=2e-3, radius=0.01, contact=Rigid(restitution=0.5, friction=0.2)
    )
    joint = PrismaticClearance("joint", guide, slider, length=0.2, clearance=1e-3, contact=SMOOTH)
    system = Model([guide, slider, pin, joint]).build()
    restitution, friction, _, scale = system.numeric.contact_law(system.parameter_vector({"joint.restitution": 0.7}))
    built = system.parameters
    assert restitution.tolist() == [built["pin.restitution"], 0.7, 0.7, 0.7, 0.7]
    assert friction.tolist() == [built["pin.friction"], 0.0, 0.0, 0.0, 0.0]
    assert scale.tolist() == [built["pin.clearance"]] + [built["joint.clearance"]] * 4
    numbers = [built[f"pin.{name}"] for name in ("restitution", "friction", "clearance")]
    assert numbers == pytest.approx([0.5, 0.2, 2e-3], rel=1e-13)


def test_a_changed_clearance_changes_the_gaps_and_rebuilds_nothing() -> None:
    system = slider_in_guide(clearance=0.03)
    function = system.g_N
    wider = system.parameter_vector({"joint.clearance": 0.05})
    assert system.numeric.g_N(np.zeros(6), wider)[0] == pytest.approx([0.05] * 4, abs=ROUNDED, rel=0.0)
    before = dict.fromkeys(GAPS, system.parameters["joint.clearance"])
    assert system.g_N is function and gaps(system, np.zeros(6)) == pytest.approx(before, abs=ROUNDED, rel=0.0)


@pytest.mark.parametrize("clearance", [0.0, -1e-3, np.nan, np.inf])
def test_clearance_must_be_positive(clearance: float) -> None:
    with pytest.raises(ModelError, match=r'RevoluteClearance "pin": clearance must be a positive number \[m\], got'):
        RevoluteClearance("pin", "a", "b", clearance=clearance, contact=SMOOTH)


def test_friction_in_a_revolute_clearance_needs_the_radius() -> None:
    rough = Rigid(restitution=0.0, friction=0.1)
    with pytest.raises(ModelError, match='RevoluteClearance "pin": friction 0.1 acts on the journal.*give its radius'):
        RevoluteClearance("pin", "a", "b", clearance=1e-3, contact=rough)
    with pytest.raises(InputError, match="friction 0.1 acts on the journal"):
        journal_in_bearing().parameter_vector({"pin.friction": 0.1})


def test_the_contact_must_be_a_law() -> None:
    with pytest.raises(ModelError, match=r'"pin": contact must be a law, as Rigid\(.*\), got 0\.5'):
        RevoluteClearance("pin", "a", "b", clearance=1e-3, contact=0.5)
