"""Which contact forces are determined by the motion, and what verdicts say of those that are not."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Rigid,
    SpatialBody,
    TorsionSpring,
    simulate,
)
from nonsmooth.trust import Undetermined, undetermined_forces
from nonsmooth.trust.uniqueness import force_changes
from nonsmooth_problems import block_on_incline, slide_in_guide, slider_crank_revolute, slider_crank_translational


def table(feet: int, friction: float, push: float = 0.0) -> Model:
    """A plate of 1 kg on so many feet in a row, pushed aside with so many N."""
    model = Model([Ground(), PlanarBody("plate", mass=1.0, inertia=0.1, position=(0.0, 0.1))])
    for k in range(feet):
        law = Rigid(restitution=0.0, friction=friction)
        at = (-0.5 + k / (feet - 1), -0.1)
        model.add(PointPlane(f"foot{k}", "ground", "plate", at_b=at, contact=law))
    model.add(Gravity(acceleration=(push, -9.81)))
    return model


STEPPERS = pytest.mark.parametrize(
    ("stepper", "dt"),
    [(MoreauJean(), 1e-3), (GaussQP(), 1e-3), (GaussQP(), Landing(1e-6, 1e-3)), (GeneralizedAlpha(), 1e-3)],
    ids=["MoreauJean", "GaussQP", "GaussQP landing", "GeneralizedAlpha"],
)


@STEPPERS
@pytest.mark.parametrize(
    ("feet", "friction", "push", "forces", "normal"),
    some(
        [
            (2, 0.0, 0.0, 0, 0),  # two equations, two forces
            (3, 0.0, 0.0, 1, 1),  # a table with a foot too many
            (2, 0.5, 0.0, 1, 0),  # its feet may pull against each other
            (3, 0.5, 0.0, 3, 1),  # six forces, three equations
            (2, 0.5, 9.0, 0, 0),  # it slides: friction follows from the slip
            (3, 0.5, 9.0, 1, 1),
        ],
        5,
    ),
)
def test_feet_of_a_table(stepper, dt, feet, friction, push, forces, normal):
    """Forces minus equations of balance, whichever of the possible forces the stepper has chosen."""
    run = simulate(table(feet, friction, push).build(), stepper, t_end=0.01, dt=dt)
    found = undetermined_forces(run)
    assert np.all(found.forces[1:] == forces) and np.all(found.normal[1:] == normal)
    assert bool(found.text) == (forces > 0)


def test_cones_limit_what_forces_can_be():
    """Pushed as hard as friction can bear, both feet bear all they can: nothing is left to choose."""
    run = simulate(table(2, 0.5, 0.5 * 9.81 * (1 - 1e-13)).build(), GaussQP(), t_end=0.005, dt=1e-3)
    assert np.max(np.abs(run.v.array)) < 1e-12  # it sticks
    assert not undetermined_forces(run).forces.any()


def test_a_block_that_stops():
    """Sliding down its corners' friction is known, at rest it is not."""
    run = simulate(block_on_incline().build(), EventDriven(), t_end=1.0)
    found, sliding = undetermined_forces(run), np.abs(run.v["block.x"]) > 1e-3
    assert not found.forces[sliding].any() and not found.normal.any()
    assert np.all(found.forces[-10:] == 1)
    assert run.verdict.kind == "accurate" and run.verdict.not_unique == np.count_nonzero(found.forces)
    assert "friction of sticking contacts is not unique" in run.verdict.text


def test_a_verdict_does_not_mention_a_single_step_among_thousands():
    """The slider-crank has 16000 steps with contact; in one of them friction is not unique."""
    run = simulate(slider_crank_translational().build(), t_end=0.2)
    found = undetermined_forces(run)
    assert found.rare and run.verdict.kind == "accurate" and "not unique" not in run.verdict.text
    assert run.verdict.not_unique == np.count_nonzero(found.forces)


@pytest.mark.parametrize(("some", "rare"), [(0, True), (1, True), (9, True), (10, False), (2000, False)])
def test_rare_is_less_than_a_thousandth_of_the_steps_with_contact(some, rare):
    forces = (np.arange(20001) < some).astype(int)
    assert Undetermined(forces, 0 * forces, contact=10000).rare == rare


@pytest.mark.parametrize(("gap", "restitution", "told"), [(0.0, 1.0, True), (1e-6, 1.0, False), (0.0, 0.0, False)])
def test_an_impact_that_a_closed_contact_passes_on_is_told(gap, restitution, told):
    """Two balls fall together: apart by 1 um the small one is thrown up with 11.7 instead of 4.4 m/s."""
    law = Rigid(restitution=restitution, friction=0.0)
    big = PlanarBody("big", mass=0.6, inertia=1e-3, position=(0.0, 0.13))
    small = PlanarBody("small", mass=0.06, inertia=1e-5, position=(0.0, 0.283 + gap))
    run = simulate(
        Model([
            Ground(), big, small, Gravity(acceleration=(0.0, -9.81)),
            CirclePlane("floor", "ground", big, radius=0.12, contact=law),
            CircleCircle("between", big, small, radius_a=0.12, radius_b=0.033, contact=law),
        ]).build(), t_end=0.06,
    )  # fmt: skip
    assert run.verdict.kind == "accurate"
    assert ('1 impact passed on by closed contacts, first by "between"' in run.verdict.text) == told


def test_one_contact_at_a_time_is_determined():
    assert not undetermined_forces(simulate(slider_crank_revolute().build(), EventDriven(), t_end=0.006)).forces.any()


def test_in_space_too():
    """A prism that slides in a guide on more corners than it needs."""
    found = undetermined_forces(simulate(slide_in_guide().build(), MoreauJean(), t_end=0.02, dt=1e-3))
    assert np.all(found.normal[1:] > 0)


@STEPPERS
def test_forces_that_may_differ_are_no_error(stepper, dt):
    """Where a finer run shares the load of five feet otherwise, both are right: the force between table and floor is
    compared, which is unique."""
    run = simulate(table(5, 0.5, 3.0).build(), stepper, t_end=0.02, dt=dt, check=True)
    assert run.verdict.position <= 1e-10 and run.verdict.force <= 1e-2 and run.verdict.kind == "accurate"
    steps = len(run.t) - 1
    assert run.verdict.not_unique == steps >= 20
    assert f"load among contacts is not unique in {steps} of {steps} steps" in run.verdict.text


def test_a_single_contact_in_space_is_determined():
    """A ball that sticks on one point: eight edges of its friction cone, three forces, none of them free."""
    law = Rigid(restitution=0.0, friction=5.0)
    ball = SpatialBody("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), position=(0.0, 0.0, 0.1), velocity=(0.1, 0.0, 0.0))
    foot = PointPlane("foot", "ground", "ball", at_b=(0.0, 0.0, -0.1), normal=(0.0, 0.0, 1.0), contact=law)
    spring = TorsionSpring("spring", "ground", "ball", stiffness=10.0, axis_a=(0.0, 1.0, 0.0))
    model = Model([Ground(), ball, foot, Gravity(acceleration=(0.0, 0.0, -9.81)), spring])
    run = simulate(model.build(), GaussQP(), t_end=0.05, dt=1e-3)
    assert np.count_nonzero(run.lam_N["foot"]) > 40 and not undetermined_forces(run).forces.any()


def body_on_feet(rng: np.random.Generator, dimension: int):
    """Effects, edges and forces of contacts of one body at points of a grid, often more than it needs."""
    inertia = rng.uniform(0.2, 5.0, 1 if dimension == 2 else 3)
    metric = np.diag(np.sqrt(np.concatenate([np.ones(dimension), inertia])))
    wide, effects, edges, forces = dimension, [], [], []
    count = int(rng.integers(1, 6))
    for k in range(count):
        point = rng.integers(-2, 3, dimension).astype(float)
        axes = np.roll(np.eye(dimension), int(rng.integers(dimension)), axis=0) * rng.choice(
            [-1.0, 1.0], (dimension, 1)
        )
        arms = [point[0] * a[1] - point[1] * a[0] if dimension == 2 else np.cross(point, a) for a in axes]
        effects.append(np.linalg.inv(metric) @ np.array([np.append(a, r) for a, r in zip(axes, arms, strict=True)]).T)
        mu, angle = rng.choice([0.0, 0.4]), 2 * np.pi * np.arange(8) / 8 + 0.1
        drags = [[1.0], [-1.0]] if dimension == 2 else np.column_stack([np.cos(angle), np.sin(angle)])
        if mu == 0.0 or rng.random() < 0.3:  # it slips
            drags = drags[:1]
        own = np.zeros((wide * count, len(drags)))
        own[wide * k] = 1.0
        own[wide * k + 1 : wide * (k + 1)] = mu * np.array(drags).T
        edges.append(own)
        forces.append(own @ (rng.uniform(0.1, 2.0, len(drags)) * (rng.random(len(drags)) < 0.6)))
    D = np.concatenate(effects, axis=1)
    lengths = np.linalg.norm(D, axis=0)
    return D / lengths, lengths[:, None] * np.concatenate(edges, axis=1), lengths * np.sum(forces, axis=0)


def dimension_by_extremes(effects, edges, forces):
    """Dimension of the set of forces: linear programs walk to its ends along directions not found yet.

    A set of more dimensions than found has an extent along almost every other direction: two without end the search.
    """
    from scipy.optimize import linprog

    found, without = np.zeros((0, len(forces))), 0
    for axis in np.random.default_rng(0).normal(size=(len(forces) + 2, len(forces))):
        axis = axis - found.T @ (found @ axis)
        if np.linalg.norm(axis) < 1e-9:
            break
        axis /= np.linalg.norm(axis)
        ends = []
        for sign in (1.0, -1.0):
            program = linprog(
                sign * axis @ edges, A_eq=effects @ edges, b_eq=effects @ forces, bounds=(0.0, 100.0),
                options={"primal_feasibility_tolerance": 1e-10},
            )  # fmt: skip
            assert program.status == 0
            ends.append(edges @ program.x)
        change = ends[1] - ends[0]
        change -= found.T @ (found @ change)
        if np.linalg.norm(change) > 1e-6:
            found = np.vstack([found, change / np.linalg.norm(change)])
        elif (without := without + 1) == 2:
            break
    return len(found)


@pytest.mark.parametrize("dimension", [2, 3])
def test_changes_are_those_that_linear_programs_find(dimension):
    """Feet of one body at random points of a grid, sticking, slipping, smooth, some of them without force."""
    rng, met = np.random.default_rng(dimension), set()
    for _ in range(40):
        effects, edges, forces = body_on_feet(rng, dimension)
        if np.max(np.abs(forces)) == 0.0:
            continue
        changes = force_changes(effects, edges, forces)
        assert changes.shape[1] == dimension_by_extremes(effects, edges, forces)
        assert np.linalg.norm(effects @ changes) < 1e-8
        met.add(changes.shape[1])
    assert {0, 1, 2, 3} <= met


def test_loads_that_only_hold_each_other_up_are_none():
    """Of the changes without effect that keep four of these feet pressed, one lifts a foot unless another pulls: with
    the tolerances that HiGHS has by default its program seems to have no solution."""
    rng = np.random.default_rng(103)
    for _ in range(359):
        effects, edges, forces = body_on_feet(rng, 3)
    assert force_changes(effects, edges, forces).shape[1] == dimension_by_extremes(effects, edges, forces) == 1


def test_units_do_not_decide():
    """The same feet with forces in other units: 1 N, 1e-9 N, 1e9 N."""
    effects, edges, forces = body_on_feet(np.random.default_rng(3), 3)
    numbers = {force_changes(effects, edges, scale * forces).shape[1] for scale in (1.0, 1e-9, 1e9)}
    assert len(numbers) == 1
