"""What `Model.add` and `Model.build` refuse, each message with the name, the value and the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    Fixed,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    ModelError,
    MoreauJean,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Prismatic,
    PrismaticClearance,
    Revolute,
    RevoluteClearance,
    Rigid,
    SpatialBody,
    SphericalClearance,
    Spring,
    Torque,
    Trajectory,
    read_model,
    simulate,
    write_model,
)
from nonsmooth.model.redundancy import Redundant
from nonsmooth.model.system import System

SMOOTH = Rigid(restitution=0.0, friction=0.0)


def disk(name: str = "disk", **start: Any) -> PlanarBody:
    return PlanarBody(name, mass=1.0, inertia=0.1, **start)


def top(name: str = "top") -> SpatialBody:
    return SpatialBody(name, mass=1.0, inertia=(0.1, 0.1, 0.1))


def refuse(elements: list[Any], message: str, **options: Any) -> None:
    with pytest.raises(ModelError, match=message):
        Model(elements).build(**options)


# Names and references


def test_a_name_is_given_once() -> None:
    model = Model([Ground(), disk("it")])
    with pytest.raises(ModelError, match='The name "it" is taken by a PlanarBody; give the Gravity another name'):
        model.add(Gravity("it", acceleration=(0.0, -9.81)))


def test_a_name_can_be_written() -> None:
    with pytest.raises(InputError, match="a non-empty word without dots, got .*x00"):
        PlanarBody("\0", mass=1.0, inertia=1.0)


def test_only_elements_are_added() -> None:
    with pytest.raises(
        ModelError, match="Model.add takes a body, joint, driver, clearance, force or shape, got 'slider'"
    ):
        Model().add("slider")


def test_a_model_has_a_body() -> None:
    refuse([], "The model has no body; add a PlanarBody or a SpatialBody")
    refuse([Ground()], "The model has no body")


def test_a_model_has_one_ground() -> None:
    refuse([Ground("floor"), Ground("wall"), disk()], "A model has one ground, got 2: floor, wall; keep one of them")


def test_a_body_that_is_named_is_in_the_model() -> None:
    message = 'Revolute "pin": the body "rod" is not in the model. Add it with model.add.*Bodies so far: ground, disk'
    refuse([Ground(), disk(), Revolute("pin", "disk", "rod")], message)
    refuse([Ground(), disk(), Revolute("pin", "dsk", "ground")], '"dsk" is not in the model. Did you mean "disk"')
    refuse([Ground(), disk(), Revolute("pin", "dsik", "ground")], 'Did you mean "disk"')
    refuse([disk(), Revolute("pin", "ground", "disk")], 'Revolute "pin": the body "ground" is not in the model')
    refuse(
        [disk(), PointForce("push", "rod", force=(1.0, 0.0))], 'PointForce "push": the body "rod" is not in the model'
    )


def test_a_body_of_another_model_is_not_in_this_one() -> None:
    stranger = disk("rod")
    refuse(
        [Ground(), disk(), Revolute("pin", "ground", stranger)], 'Revolute "pin": the body "rod" is not in the model'
    )


def test_a_body_of_another_model_with_a_name_of_this_one_is_told_apart() -> None:
    message = (
        'Revolute "pin": its "disk" is another object than the PlanarBody "disk" of the model; pass what model.add'
    )
    refuse([Ground(), disk(), Revolute("pin", "ground", disk())], message)


def test_what_is_joined_is_a_body() -> None:
    push = PointForce("push", "disk", force=(1.0, 0.0))
    refuse(
        [Ground(), disk(), push, Revolute("pin", "ground", "push")],
        '"pin": "push" is a PointForce, not a body; name a body',
    )
    with pytest.raises(ModelError, match='Revolute "pin": b must be a body or the name of one, got None'):
        Revolute("pin", "ground", None)


def test_a_body_is_not_joined_to_itself() -> None:
    for element in (
        Revolute("it", "disk", "disk"),
        Spring("it", "disk", "disk", stiffness=1.0),
        RevoluteClearance("it", "disk", "disk", clearance=1e-3, contact=SMOOTH),
    ):
        refuse(
            [Ground(), disk(), element], f'{type(element).__name__} "it": it joins "disk" to itself; name two bodies'
        )


def test_the_ground_takes_no_load() -> None:
    for load in (PointForce("it", "floor", force=(1.0, 0.0)), Torque("it", "floor", torque=1.0)):
        message = f'{type(load).__name__} "it": it acts on the ground "floor", which cannot move; name a body'
        refuse([Ground("floor"), disk(), load], message)


@pytest.mark.exact("compares a force to the bit")
def test_a_spring_may_end_on_the_ground() -> None:
    spring = Spring("it", "ground", "disk", stiffness=2.0)
    system = Model([Ground(), disk(position=(1.0, 0.0)), spring]).build()
    assert system.numeric.h(0.0, system.start.q, np.zeros(3), system.parameter_values)[0].tolist() == [-2.0, 0.0, 0.0]


def test_elements_may_be_added_in_any_order() -> None:
    model = Model([Revolute("pin", "ground", "disk"), Gravity(acceleration=(0.0, -9.81)), disk(), Ground()])
    assert model.build().names.constraints == ("pin.x", "pin.y")


# Plane and space


def test_plane_and_space_are_not_mixed() -> None:
    refuse(
        [disk(), top()], 'SpatialBody "top": it is spatial, but the model is planar by its first body; a model is one'
    )
    refuse([top(), disk()], 'PlanarBody "disk": it is planar, but the model is spatial by its first body')


@pytest.mark.parametrize(
    "element",
    [
        Revolute("it", "ground", "top"),
        Prismatic("it", "ground", "top"),
        RevoluteClearance("it", "ground", "top", clearance=1e-3, contact=SMOOTH),
        PrismaticClearance("it", "ground", "top", length=0.1, clearance=1e-3, contact=SMOOTH),
    ],
    ids=lambda element: type(element).__name__,
)
def test_planar_joints_do_not_join_spatial_bodies(element: Any) -> None:
    refuse([Ground(), top(), element], f'{type(element).__name__} "it": it is planar, but the model is spatial')


def test_points_have_one_component_per_dimension() -> None:
    for at in ((0.1,), (0.1, 0.2, 0.3)):
        message = rf'Revolute "pin": at_b takes 2 components in a planar model, got \({at[0]}'
        refuse([Ground(), disk(), Revolute("pin", "ground", "disk", at_b=at)], message)
    with pytest.raises(ModelError, match=r'Revolute "pin": at_b must be a tuple of components.*\[m\], got 0.1'):
        Revolute("pin", "ground", "disk", at_b=0.1)


# The start: overlap, open joints, velocities


def test_an_overlap_is_named_with_its_amount() -> None:
    pin = RevoluteClearance("pin", "ground", "disk", clearance=1e-3, contact=SMOOTH)
    message = 'The contact "pin" overlaps by 0.0005 m at the start; move the bodies apart or enlarge the clearance'
    refuse([Ground(), disk(position=(0.0, 1.5e-3)), pin], message)


def test_the_worst_overlap_is_named() -> None:
    guide = PrismaticClearance("guide", "ground", "disk", length=0.2, clearance=1e-3, contact=SMOOTH)
    # the centre 0.5 mm up, turned by 0.05: the right end 5 mm + 0.5 mm up, less the clearance (1 mm), about sin(0.05)
    overlap = 0.1 * np.sin(0.05) + 0.5e-3 - 1e-3
    refuse(
        [Ground(), disk(position=(0.0, 0.5e-3), angle=0.05), guide], f'"guide.right_upper" overlaps by {overlap:.6g} m'
    )


def test_a_closed_contact_is_no_overlap() -> None:
    pin = RevoluteClearance("pin", "ground", "disk", clearance=1e-5, contact=SMOOTH)
    touching = 1e-5 * np.array([np.cos(0.7), np.sin(0.7)])  # on the bearing but for round-off
    assert Model([Ground(), disk(position=tuple(touching)), pin]).build().nc == 1


def test_an_open_joint_is_named_with_its_misfit() -> None:
    pin = Revolute("pin", "ground", "disk")
    message = (
        r'The constraint "pin.y" is open by 0.02 m at the start; correct the start, or let build\(assemble=True\) do so'
    )
    refuse([Ground(), disk(position=(0.01, 0.02)), pin], message)


def test_a_start_is_closed_with_journals_in_the_middle() -> None:
    """Joints alone could be closed by a journal that leaves its bearing."""
    pin, slot = (
        Revolute("pin", "ground", "arm"),
        RevoluteClearance("slot", "disk", "arm", clearance=1e-4, contact=SMOOTH),
    )
    arm = PlanarBody("arm", mass=1.0, inertia=1e-3, position=(0.01, 0.02))
    message = r'"pin.y" is open by 0.02 m at the start; correct the start, or let build\(assemble="centred"\) do so'
    refuse([Ground(), disk(), arm, pin, slot], message)


def test_an_angle_in_degrees_is_told_where_it_opens_a_joint() -> None:
    pin = Revolute("pin", "ground", "disk", at_b=(-0.1, 0.0))
    refuse(
        [Ground(), disk(position=(0.1, 0.0), angle=45.0), pin], 'is open by .* Also, body "disk" has the angle 45 rad'
    )


def test_a_velocity_that_tears_a_joint_is_named() -> None:
    pin = Revolute("pin", "ground", "disk")
    refuse([Ground(), disk(velocity=(0.0, 0.3)), pin], 'The constraint "pin.y" moves at 0.3 m/s at the start; correct')


def test_a_run_may_go_on_from_where_implicit_euler_left_the_joints() -> None:
    """Implicit Euler closes joints in position, so that their rates at the end of a step are of the order of dt."""
    pendulum = disk(position=(0.5, 0.0))
    pin = Revolute("pin", "ground", pendulum, at_b=(-0.5, 0.0))
    system = Model([Ground(), pendulum, pin, Gravity(acceleration=(0.0, -9.81))]).build()
    whole = simulate(system, GaussQP(), t_end=0.2, dt=0.05)
    part = simulate(system, GaussQP(), t_end=0.1, dt=0.05)
    rest = simulate(system, GaussQP(), t_end=0.2, dt=0.05, state=part.end)
    assert np.array_equal(rest.end.q, whole.end.q) and np.array_equal(rest.end.v, whole.end.v)
    with pytest.raises(InputError, match='"pin.[xy]" moves at'):
        torn = system.state(velocities={"disk.x": 0.1, "disk.y": 0.1})
        simulate(system, GaussQP(), t_end=0.1, dt=0.05, state=torn)


# Redundant constraints


def hanging(speed: float = 0.0) -> System:
    pin = RevoluteClearance(
        "pin", "ground", "disk", clearance=1e-3, contact=Rigid(restitution=0.0, friction=0.1), radius=0.01
    )
    falling = disk(position=(0.0, -0.9e-3), velocity=(speed, 0.0))
    return Model([Ground(), falling, pin, Gravity(acceleration=(0.0, -9.81))]).build()


@pytest.mark.parametrize(
    ("stepper", "dt"),
    [
        (EventDriven(), ErrorControl(1e-8)),
        (GaussQP(), Landing(1e-6, 1e-3)),
        (MoreauJean(), 1e-4),
        (GeneralizedAlpha(), 1e-4),
    ],
)
def test_a_run_does_not_go_on_with_a_clearance_that_is_too_small(stepper: Any, dt: Any, tmp_path: Path) -> None:
    """At the end the journal lies at the bottom; surfaces that overlap by a little are those of a closed contact."""
    system = hanging()
    run = simulate(system, stepper, t_end=0.02, dt=dt)
    assert run.gap["pin"][-1] == pytest.approx(0.0, abs=5e-6)  # it falls 4 um in a step of 0.1 ms
    run.save(tmp_path / "run.nc")
    for end in (run.end, Trajectory.load(tmp_path / "run.nc").end):
        for fits in ({}, {"pin.friction": 0.5}, {"pin.clearance": 0.97e-3}, {"pin.clearance": 2e-3}):
            simulate(system, stepper, t_end=0.021, dt=dt, state=end, parameters=fits)
        with pytest.raises(ModelError, match=r'"pin" overlaps by 0.000[45]\d* m at the start: its gap was .* enlarge'):
            simulate(system, stepper, t_end=0.021, dt=dt, state=end, parameters={"pin.clearance": 0.5e-3})


def test_a_run_goes_on_from_whatever_overlap_it_leaves() -> None:
    """Steps are far too long, as the verdict says."""
    system = hanging(speed=0.5)
    whole = simulate(system, MoreauJean(), t_end=0.02, dt=1e-3)
    assert np.min(whole.gap["pin"][10]) < -1e-4  # a tenth of the clearance
    part = simulate(system, MoreauJean(), t_end=0.01, dt=1e-3)
    same = {"pin.friction": system.parameters["pin.friction"]}
    rest = simulate(system, MoreauJean(), t_end=0.02, dt=1e-3, state=part.end, parameters=same)
    assert np.array_equal(rest.end.q, whole.end.q)


def named(elements: list[Any]) -> list[str]:
    """The sentences about redundant constraints."""
    return [str(row) for row in Model(elements).build().redundant]


def test_a_pin_pair_has_no_redundant_row() -> None:
    assert Model([Ground(), disk(), Revolute("first", "ground", "disk")]).build().redundant == ()


def test_two_pins_at_one_place_are_redundant_and_the_later_is_named() -> None:
    elements = [Ground(), disk(), Revolute("first", "ground", "disk"), Revolute("second", "ground", "disk")]
    assert named(elements) == ['"second.x" follows from "first"', '"second.y" follows from "first"']
    assert Model(elements).build().redundant[1] == Redundant("second.y", ("first.y",))


def test_a_weld_beside_a_pin_is_redundant() -> None:
    joints = [Revolute("pin", "ground", "disk"), Fixed("weld", "ground", "disk")]
    assert named([Ground(), disk(), *joints]) == ['"weld.x" follows from "pin"', '"weld.y" follows from "pin"']


def test_a_body_welded_twice() -> None:
    """The second weld, to another point, adds nothing: 3 of 6 rows."""
    welds = [
        Fixed(name, "ground", "disk", at_a=(x, 0.0), at_b=(x, 0.0)) for name, x in (("left", -1.0), ("right", 1.0))
    ]
    found = Model([Ground(), disk(), *welds]).build().redundant
    assert [row.name for row in found] == ["right.x", "right.y", "right.angle"]
    assert found[1].follows_from == ("left.y", "left.angle")


def test_two_guides_of_one_direction() -> None:
    guides = [Prismatic(name, "ground", "disk", at_a=(x, 0.0), at_b=(x, 0.0)) for name, x in (("a", 0.0), ("b", 0.3))]
    assert named([Ground(), disk(), *guides]) == ['"b.normal" follows from "a"', '"b.angle" follows from "a"']


def parallelogram(cranks: int) -> list[Any]:
    """A table of 2 m on parallel cranks of 1 m: with three of them one constraint too many."""
    elements: list[Any] = [Ground(), disk("table", position=(1.0, 1.0))]
    for i, x in enumerate((0.0, 2.0, 1.0)[:cranks]):
        crank = disk(f"crank{i}", position=(x, 0.5), angle=np.pi / 2)
        elements += [
            crank,
            Revolute(f"foot{i}", "ground", crank, at_a=(x, 0.0), at_b=(-0.5, 0.0)),
            Revolute(f"head{i}", crank, "table", at_a=(0.5, 0.0), at_b=(x - 1.0, 0.0)),
        ]
    return elements


def test_a_parallelogram_with_a_third_crank_has_one_constraint_too_many() -> None:
    assert Model(parallelogram(2)).build().ng == 8
    assert Model(parallelogram(2)).build().redundant == ()
    (only,) = Model(parallelogram(3)).build().redundant
    assert only.name == "head2.y"  # the table is held level by the first two
    assert {name.partition(".")[0] for name in only.follows_from} == {"foot0", "head0", "foot1", "head1", "foot2"}


def test_typed_coordinates_of_ten_digits_do_not_hide_a_redundant_row() -> None:
    """Joints count as closed to 1e-9 m; three cranks at 2 rad, rounded so, are still parallel."""
    elements: list[Any] = [Ground(), disk("table", position=(round(1 + np.cos(2.0), 10), round(np.sin(2.0), 10)))]
    for i, x in enumerate((0.0, 2.0, 1.0)):
        middle = (round(x + 0.5 * np.cos(2.0), 10), round(0.5 * np.sin(2.0), 10))
        crank = disk(f"crank{i}", position=middle, angle=2.0)
        foot = Revolute(f"foot{i}", "ground", crank, at_a=(x, 0.0), at_b=(-0.5, 0.0))
        elements += [crank, foot, Revolute(f"head{i}", crank, "table", at_a=(0.5, 0.0), at_b=(x - 1.0, 0.0))]
    assert len(Model(elements).build().redundant) == 1


def turning(name: str, speed: float) -> PrescribedMotion:
    return PrescribedMotion(name, "ground", "disk", coordinate="angle", motion=lambda t: speed * t)


@pytest.mark.parametrize("assemble", [False, True])
def test_two_motors_that_disagree_are_both_named(assemble: bool) -> None:
    message = (
        'Constraints contradict each other at the start: "second.angle" follows from "first", but their prescribed '
        "motions differ by 2 rad/s; let them agree, or remove one"
    )
    refuse([Ground(), disk(), turning("first", 5.0), turning("second", 7.0)], message, assemble=assemble)


def test_two_motors_that_agree_are_redundant() -> None:
    model = Model([Ground(), disk(), turning("first", 5.0), turning("second", 5.0)])
    system = model.build(assemble=True)
    assert system.start.v.tolist() == pytest.approx([0.0, 0.0, 5.0], abs=1e-14)  # round-off
    assert [str(row) for row in system.redundant] == ['"second.angle" follows from "first"']


def toggle(base: float) -> Model:
    """Two bars of 1 m, joined by a knee, over a base; stretched out, on 2 m, two rows pull along one line."""
    foot, end = np.zeros(2), np.array([base, 0.0])
    knee = np.array([base / 2, np.sqrt(1 - base**2 / 4)])
    slope = float(np.arctan2(knee[1], knee[0]))
    return Model(
        [
            Ground(),
            disk("left", position=tuple((foot + knee) / 2), angle=slope),
            disk("right", position=tuple((knee + end) / 2), angle=-slope),
            Revolute("foot", "ground", "left", at_b=(-0.5, 0.0)),
            Revolute("knee", "left", "right", at_a=(0.5, 0.0), at_b=(-0.5, 0.0)),
            Revolute("end", "right", "ground", at_a=(0.5, 0.0), at_b=(base, 0.0)),
        ]
    )


def test_a_start_that_alone_is_singular_is_named_as_well() -> None:
    assert [str(row) for row in toggle(2.0).build().redundant] == ['"end.x" follows from "foot" and "knee"']


def test_a_run_from_a_singular_position_of_a_regular_system_is_refused() -> None:
    system = toggle(1.6).build()
    assert system.redundant == ()
    stretched = toggle(2.0).build().start
    message = '1 of 6 constraints are redundant at this start, though none is where the system was built: "end.x" foll'
    with pytest.raises(ModelError, match=message):
        simulate(system, GaussQP(), t_end=0.1, dt=0.05, state=stretched, parameters={"end.at_b_x": 2.0})


def swinging(cranks: int, angle: float = 1.0) -> Model:
    """The parallelogram at an angle, under gravity."""
    elements = [Ground(), disk("table", position=(1.0 + np.cos(angle), np.sin(angle)))]
    for i, x in enumerate((0.0, 2.0, 1.0)[:cranks]):
        middle = (x + 0.5 * np.cos(angle), 0.5 * np.sin(angle))
        crank = PlanarBody(f"crank{i}", mass=3.0 / cranks, inertia=0.3 / cranks, position=middle, angle=angle)
        foot = Revolute(f"foot{i}", "ground", crank, at_a=(x, 0.0), at_b=(-0.5, 0.0))
        elements += [crank, foot, Revolute(f"head{i}", crank, "table", at_a=(0.5, 0.0), at_b=(x - 1.0, 0.0))]
    return Model([*elements, Gravity(acceleration=(0.0, -9.81))])


def test_a_parallelogram_on_three_cranks_moves_as_one_on_two_of_the_same_mass() -> None:
    """All cranks turn alike, so that only their total mass and inertia matter."""
    two, three = (simulate(swinging(n).build(), GaussQP(), t_end=0.3, dt=1e-3) for n in (2, 3))
    assert two.end.q[1] < np.sin(1.0) - 0.1  # it fell
    # both solve the same implicit Euler steps; they differ by the certificate of a step, 1e-9, of the velocities
    assert three.end.q[:3] == pytest.approx(two.end.q[:3], abs=1e-9)


def test_a_slider_crank_welded_on_top_of_its_slide_is_redundant() -> None:
    crank, rod = disk("crank", position=(0.5, 0.0)), disk("rod", position=(2.0, 0.0))
    slider = disk("slider", position=(3.0, 0.0))
    chain = [
        Revolute("main", "ground", crank, at_b=(-0.5, 0.0)),
        Revolute("big_end", crank, rod, at_a=(0.5, 0.0), at_b=(-1.0, 0.0)),
        Revolute("small_end", rod, slider, at_a=(1.0, 0.0)),
        Prismatic("slide", "ground", slider),
    ]
    # 9 coordinates, 8 constraints; at the stretched position, too, the crank may still turn
    assert Model([Ground(), crank, rod, slider, *chain]).build().ng == 8
    weld = Fixed("weld", "ground", slider, at_a=(3.0, 0.0))
    found = named([Ground(), crank, rod, slider, *chain, weld])
    # stretched out, the chain holds the slider along x as well: of the weld no row is new
    assert [sentence.partition(" ")[0] for sentence in found][-2:] == ['"weld.y"', '"weld.angle"']


def test_independence_does_not_depend_on_units_or_masses() -> None:
    """A watch and a crane: lengths of 1e-4 m and 10 m, masses of 1e-9 kg and 1e5 kg, are as independent as any."""
    for size, mass in ((1e-4, 1e-9), (10.0, 1e5)):
        bodies = [
            PlanarBody(f"link{i}", mass=mass, inertia=mass * size**2 / 12, position=((i + 0.5) * size, 0.0))
            for i in range(4)
        ]
        bodies_before = ["ground", *bodies]
        pins = [
            Revolute(f"pin{i}", bodies_before[i], bodies[i], at_a=(size / 2 if i else 0.0, 0.0), at_b=(-size / 2, 0.0))
            for i in range(4)
        ]
        assert Model([Ground(), *bodies, *pins]).build().ng == 8


def test_a_loose_joint_that_overlaps_is_told_of_the_remedy_which_a_file_keeps(tmp_path):
    ground, contact = Ground(), Rigid(restitution=0.5, friction=0.0)
    rod = SpatialBody("rod", mass=1.0, inertia=(1e-3, 1e-3, 1e-3), position=(0.1, 0.002, 0.0))
    ball = SphericalClearance("ball", ground, rod, at_b=(-0.1, 0.0, 0.0), clearance=1e-4, contact=contact)
    model = Model([ground, rod, ball])
    for assemble in (False, True):
        with pytest.raises(ModelError, match=r'"ball" overlaps by 0\.0019 m .* or let build\(assemble="centred"\)'):
            model.build(assemble=assemble)
    start = model.build(assemble="centred").start
    write_model(model, tmp_path / "rod.toml")
    np.testing.assert_array_equal(read_model(tmp_path / "rod.toml").build().start.q, start.q)


def test_forms_of_vectors_and_how_to_run_are_shown():
    with pytest.raises(ModelError, match=r"acceleration must be a tuple .* as \(0\.0, -9\.81\), got 9\.81"):
        Gravity(acceleration=9.81)
    with pytest.raises(ModelError, match=r"inertia must be a tuple .* as \(Jxx, Jyy, Jzz\) or \(Jxx"):
        SpatialBody("body", mass=1.0, inertia=np.eye(3))
    with pytest.raises(AttributeError, match=r"no attribute 'simulate'; run it by simulate\(model\.build\(\)"):
        Model([]).simulate  # noqa: B018
