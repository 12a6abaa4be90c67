"""What `Model.add` and `Model.build` refuse, each message with the name, the value and the remedy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Fixed,
    Gravity,
    Ground,
    InputError,
    Model,
    ModelError,
    PlanarBody,
    PointForce,
    Prismatic,
    PrismaticClearance,
    Revolute,
    RevoluteClearance,
    Rigid,
    SpatialBody,
    Spring,
    Torque,
)

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


def test_only_elements_are_added() -> None:
    with pytest.raises(ModelError, match="Model.add takes a body, joint, driver, clearance or force, got 'slider'"):
        Model().add("slider")


def test_a_model_has_a_body() -> None:
    refuse([], "The model has no body; add a PlanarBody or a SpatialBody")
    refuse([Ground()], "The model has no body")


def test_a_model_has_one_ground() -> None:
    refuse([Ground("floor"), Ground("wall"), disk()], "A model has one ground, got 2: floor, wall; keep one of them")


def test_a_body_that_is_named_is_in_the_model() -> None:
    message = 'Revolute "pin": the body "rod" is not in the model; add it with model.add.*Bodies so far: ground, disk'
    refuse([Ground(), disk(), Revolute("pin", "disk", "rod")], message)
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
    # the centre 0.5 mm up, turned by 0.05: the right end 5 mm + 0.5 mm up, less the play of 1 mm, and round sin(0.05)
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


def test_a_velocity_that_tears_a_joint_is_named() -> None:
    pin = Revolute("pin", "ground", "disk")
    refuse([Ground(), disk(velocity=(0.0, 0.3)), pin], 'The constraint "pin.y" moves at 0.3 m/s at the start; correct')


def test_a_run_may_go_on_from_where_implicit_euler_left_the_joints() -> None:
    """Implicit Euler closes joints in position, so that their rates at the end of a step are of the order of dt."""
    from nonsmooth import GaussQP, simulate

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


def test_two_pins_at_one_place_are_redundant_and_the_later_is_named() -> None:
    message = (
        '2 of 4 constraints are redundant at the start: "second.x", "second.y". "second.x" follows from "first". '
        "Remove it, replace a joint by one with fewer rows, or start elsewhere"
    )
    refuse([Ground(), disk(), Revolute("first", "ground", "disk"), Revolute("second", "ground", "disk")], message)


def test_a_weld_beside_a_pin_is_redundant() -> None:
    joints = [Revolute("pin", "ground", "disk"), Fixed("weld", "ground", "disk")]
    refuse([Ground(), disk(), *joints], '2 of 5 constraints are redundant at the start: "weld.x", "weld.y"')


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
    refuse(
        parallelogram(3),
        '1 of 12 constraints are redundant at the start: "head2.y".*follows from "foot0" and "head0" and',
    )


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
    refuse(
        [Ground(), crank, rod, slider, *chain, weld], 'constraints are redundant at the start: .*"weld.y", "weld.angle"'
    )


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
