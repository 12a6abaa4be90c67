"""Spatial problems S1 to S4 and two parallel robots, with reference solutions of their motions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from benchmarks import mujoco_space, space_references
from nonsmooth import (
    BoxPlane,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Model,
    MoreauJean,
    Rigid,
    SpatialBody,
    SphericalClearance,
)
from nonsmooth_problems import polishing_robot, six_rss, slide_in_guide, socket_pendulum, spatial_slider_crank
from nonsmooth_problems.slide_in_guide import end_force, end_forces, wall_twist

__all__ = ["LINKS", "SpaceProblem", "cube", "space_problems", "spatial_chain", "swing"]

#: links of the chains
LINKS = (16, 64)
#: length, mass and inertia of a link, clearance, radius of the balls
LENGTH, MASS, CLEARANCE, BALL = 0.1, 0.1, 1e-4, 0.01
INERTIA = (MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 12, MASS * LENGTH**2 / 120)
GRAVITY = 9.81
#: of the random velocities of the links' lower ends, and their standard deviation [m/s]
SEED, SIDEWAYS = 0, 0.05
#: half edge of the cube, and middle of the y at which it comes to rest in programs that distribute its friction in
#: different ways, .0488 to .0510 m, and half of their range
HALF, REST, RANGE = 0.1, 0.0499, 0.0011


@dataclass(frozen=True)
class SpaceProblem:
    """One line of the tables.

    Parameters
    ----------
    key, title : its name
    system : () -> System
    dt : [s]
    steps : of a run that is timed
    whole : steps of the run whose penetration and end are shown
    result : (run, row) -> the quantities that are compared
    error : of these, one number; None if there is no reference
    compared_at, compared : row that is compared, and description of the comparison
    expected : bound of the error
    mujoco : (dt) -> its MuJoCo model, None if there is none
    siconos : numbers of `others.siconos_chain` without step size and steps; None where there is no such model
    size : links
    stepper
    """

    key: str
    title: str
    system: Callable[[], Any]
    dt: float
    steps: int
    whole: int
    compared_at: int
    result: Callable[[Any, int], Any] | None = None
    error: Callable[[Any], float] | None = None
    compared: str = ""
    expected: float = 0.0
    mujoco: Callable[[float], mujoco_space.Run] | None = None
    siconos: dict[str, Any] | None = None
    size: int = 1
    stepper: Any = MoreauJean()


def space_problems(links: tuple[int, ...] = LINKS) -> Iterator[SpaceProblem]:
    """All of them, in order."""
    yield from _pendulums()
    for n in links:
        yield from _chains(n)
    yield from _slider_cranks()
    yield from _slides()
    yield from _cubes()
    yield from _robots()
    yield from _by_implicit_euler(links)
    yield from _by_generalised_alpha(links)


def _distance(reference: Callable[[], Any]) -> Callable[[Any], float]:
    """Largest difference from a reference."""
    return lambda found: float(np.max(np.abs(np.asarray(found) - reference())))


def _position(body: str) -> Callable[[Any, int], Any]:
    return lambda run, row: np.array([run.q[f"{body}.{axis}"][row] for axis in "xyz"])


def _contact(friction: float) -> Rigid:
    return Rigid(restitution=0.0, friction=friction)


# ---- S1: a rod with a ball in a socket


def _pendulums() -> Iterator[SpaceProblem]:
    @functools.cache
    def exact() -> Any:
        sample = socket_pendulum.exact().sample(0.02)
        return np.array([float(sample.q[f"rod.{axis}"]) for axis in "xyz"])

    for friction, dt, share in ((0.0, 1e-4, 1.0), (0.0, 1e-5, 1.0), (0.1, 1e-5, 1.0)):
        smooth = friction == 0.0
        yield SpaceProblem(
            key=f"S1_{friction:g}_{dt:g}",
            title=f"S1, rod in a socket, mu = {friction:g}",
            system=functools.partial(_pendulum, friction),
            dt=dt,
            steps=5_000,
            whole=round(share / dt),
            compared_at=round(0.02 / dt),
            result=_position("rod") if smooth else None,
            error=_distance(exact) if smooth else None,
            compared="rod at 0.02 s, from exact motion [m]" if smooth else "",
            expected=0.2 * dt,  # first order
            mujoco=mujoco_space.pendulum if smooth else None,
        )


@functools.cache
def _pendulum(friction: float) -> Any:
    return socket_pendulum(contact=_contact(friction)).build()


# ---- S2: a chain of such joints


def swing(n: int) -> Any:
    """Velocities (n + 1, 3) of the joints [m/s]: the first is at rest, the others move sideways at random."""
    sideways = np.random.default_rng(SEED).normal(0.0, SIDEWAYS, (n, 2))
    return np.vstack([np.zeros(3), np.column_stack([sideways, np.zeros(n)])])


def spatial_chain(n: int, friction: float = 0.0) -> Model:
    """`n` links that hang from balls in sockets, in contact; their lower ends have random lateral velocities."""
    velocities = swing(n)
    model = Model(name=f"chain of {n} balls in sockets")
    model.add(Ground())
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    half = LENGTH / 2
    above, at_above = "ground", (0.0, 0.0, 0.0)
    for i in range(1, n + 1):
        (upper, lower), link = velocities[i - 1 : i + 1], f"link{i}"
        x, y, _ = (lower - upper) / LENGTH
        model.add(
            SpatialBody(
                link,
                mass=MASS,
                inertia=INERTIA,
                position=(0.0, 0.0, -(i * CLEARANCE + (i - 0.5) * LENGTH)),
                velocity=tuple(map(float, (upper + lower) / 2)),  # type: ignore[arg-type]
                angular_velocity=(float(y), -float(x), 0.0),
            )
        )
        ends: dict[str, Any] = {"at_a": at_above, "at_b": (0.0, 0.0, half)}
        contact = _contact(friction)
        model.add(
            SphericalClearance(f"joint{i}", above, link, clearance=CLEARANCE, radius=BALL, contact=contact, **ends)
        )
        above, at_above = link, (0.0, 0.0, -half)
    return model


def _chains(n: int) -> Iterator[SpaceProblem]:
    time = 0.01

    @functools.cache
    def reference() -> Any:
        return space_references.hanging_chain(swing(n), LENGTH, MASS, INERTIA[0], CLEARANCE, GRAVITY, time)

    for friction, dt in ((0.0, 1e-4), (0.0, 1e-5), (0.1, 1e-4), (0.1, 1e-5)):
        smooth, steps = friction == 0.0, round(time / dt)
        yield SpaceProblem(
            key=f"S2_{n}_{friction:g}_{dt:g}",
            title=f"S2, chain, N = {n}, mu = {friction:g}",
            system=functools.partial(_chain, n, friction),
            dt=dt,
            steps=steps,
            whole=steps,
            compared_at=round(time / dt),
            result=_position(f"link{n}") if smooth else None,
            error=_distance(reference) if smooth else None,
            compared=f"last link at {time:g} s, from massless links [m]" if smooth else "",
            expected=0.2 * dt,  # first order
            mujoco=functools.partial(mujoco_space.chain, velocities=swing(n)) if smooth else None,
            siconos=None if smooth else _siconos(n, friction),
            size=n,
        )


def _siconos(n: int, friction: float) -> dict[str, Any]:
    """Numbers of the same chain in Siconos, whose solver is one for friction."""
    return {
        "velocities": swing(n).tolist(), "length": LENGTH, "mass": MASS, "inertia": INERTIA, "clearance": CLEARANCE,
        "radius": BALL, "friction": friction, "gravity": GRAVITY,
    }  # fmt: skip


@functools.lru_cache(maxsize=2)
def _chain(n: int, friction: float) -> Any:
    return spatial_chain(n, friction).build()


# ---- S3: a spatial slider-crank


def _slider_cranks() -> Iterator[SpaceProblem]:
    @functools.cache
    def reference() -> float:
        return space_references.slider_crank(0.1)

    common: dict[str, Any] = {"dt": 1e-4, "steps": 1000, "whole": 1000, "compared_at": 1000}
    yield SpaceProblem(
        key="S3_ideal",
        title="S3, RSSP, ideal",
        system=functools.partial(_slider_crank, False),
        result=lambda run, row: run.q["slider.y"][row],
        error=_distance(reference),
        compared="slider at 0.1 s, from one coordinate [m]",
        expected=1e-6,
        mujoco=functools.partial(mujoco_space.slider_crank, loose=False),
        **common,
    )
    yield SpaceProblem(
        key="S3_loose",
        title="S3, RSSP, clearance 0.1 mm, mu = 0",
        system=functools.partial(_slider_crank, True),
        mujoco=functools.partial(mujoco_space.slider_crank, loose=True),
        **common,
    )


@functools.cache
def _slider_crank(loose: bool) -> Any:
    return spatial_slider_crank(_contact(0.0) if loose else None, case="rssp").build()


# ---- S3b: a slide in a rectangular guide


def _slides() -> Iterator[SpaceProblem]:
    for friction in (0.0, 0.1, 0.3):

        def forces(run: Any, row: int, friction: float = friction) -> Any:
            """Forces [N] of the ends of the walls, and those required by statics."""
            known = end_forces(friction, twist=float(wall_twist(run)[row]))
            return np.array([[end_force(*key)(run)[row], force] for key, force in known.items()])

        yield SpaceProblem(
            key=f"S3b_{friction:g}",
            title=f"S3b, slide, 16 gaps, mu = {friction:g}",
            system=functools.partial(_slide, friction),
            dt=1e-4,
            steps=1000,
            whole=1000,
            compared_at=1000,
            result=forces,
            error=lambda pairs: float(np.max(np.abs(pairs[:, 0] / pairs[:, 1] - 1.0))),
            compared="forces of the walls' ends, from statics [-]",
            expected=1e-6,
        )


@functools.cache
def _slide(friction: float) -> Any:
    return slide_in_guide(contact=_contact(friction)).build()


# ---- S4: a cube on a plane


def cube(tumbling: bool, friction: float = 0.3) -> Model:
    """Cube of half edge 0.1 m and 1 kg that slides on a plane, or falls on it, by its eight corners."""
    model = Model(name="cube")
    model.add(Ground())
    model.add(Gravity(acceleration=(0.0, 0.0, -GRAVITY)))
    model.add(
        SpatialBody(
            "cube",
            mass=1.0,
            inertia=((2 * HALF) ** 2 / 6,) * 3,
            position=(0.0, 0.0, 0.4 if tumbling else HALF),
            velocity=(1.0, 0.3, 0.0),
            angular_velocity=(3.0, 2.0, 1.0) if tumbling else (0.0, 0.0, 2.0),
        )
    )
    edges, contact = (2 * HALF,) * 3, _contact(friction)
    model.add(BoxPlane("floor", "ground", "cube", edges=edges, normal=(0.0, 0.0, 1.0), size=HALF, contact=contact))
    return model


def _cubes() -> Iterator[SpaceProblem]:
    for tumbling in (False, True):
        yield SpaceProblem(
            key=f"S4_{'tumbling' if tumbling else 'sliding'}",
            title=f"S4, cube, {'tumbling' if tumbling else 'sliding'}",
            system=functools.partial(_cube, tumbling),
            dt=1e-3,
            steps=600,
            whole=600,
            compared_at=600,
            result=None if tumbling else lambda run, row: run.q["cube.y"][row],
            error=None if tumbling else _distance(lambda: REST),
            compared="" if tumbling else f"y at rest, from {REST:g} m [m]",
            expected=RANGE,
        )


@functools.cache
def _cube(tumbling: bool) -> Any:
    return cube(tumbling).build()


# ---- robots


def _robots() -> Iterator[SpaceProblem]:
    for key, title, model in (
        ("six_rss", "6-RSS robot, 12 balls", six_rss),
        ("polishing", "polishing robot, 16 gaps", polishing_robot),
    ):
        yield SpaceProblem(
            key=key,
            title=title,
            system=functools.cache(lambda model=model: model().build()),
            dt=1e-4,
            steps=1000,
            whole=1000,
            compared_at=1000,
        )


# ---- implicit Euler, plastic by construction


#: which of the problems are run by it too
EULER = ("S1_0_0.0001", "S1_0.1_1e-05", "S2_16_0_0.0001", "S3_ideal", "S3_loose", "S3b_0.1", "S4_tumbling")


def _by_implicit_euler(links: tuple[int, ...]) -> Iterator[SpaceProblem]:
    """Some of the problems again, and the robots without restitution."""
    chains = (problem for n in links for problem in _chains(n))
    problems = [*_pendulums(), *chains, *_slider_cranks(), *_slides(), *_cubes()]
    plastic = {
        "six_rss": functools.cache(lambda: six_rss(restitution=0.0).build()),
        "polishing": functools.cache(lambda: polishing_robot(restitution=0.0).build()),
    }
    for problem in problems:
        if problem.key in EULER:
            yield replace(
                problem, key=f"{problem.key}_euler", title=f"{problem.title}, GaussQP", stepper=GaussQP(),
                expected=max(problem.expected, 2.0 * problem.dt),  # of first order
                mujoco=None, siconos=None,
            )  # fmt: skip
    for problem in _robots():
        yield replace(
            problem, key=f"{problem.key}_euler", title=f"{problem.title}, e = 0, GaussQP", stepper=GaussQP(),
            system=plastic[problem.key],
        )  # fmt: skip


# ---- generalised alpha


#: which of the problems are run by it too
ALPHA = ("S1_0_0.0001", "S1_0.1_1e-05", "S2_16_0_0.0001", "S3_ideal", "S3_loose", "S3b_0.1", "six_rss", "polishing")


def _by_generalised_alpha(links: tuple[int, ...]) -> Iterator[SpaceProblem]:
    """Some of the problems again."""
    chains = (problem for n in links for problem in _chains(n))
    for problem in (*_pendulums(), *chains, *_slider_cranks(), *_slides(), *_robots()):
        if problem.key in ALPHA:
            yield replace(
                problem, key=f"{problem.key}_alpha", title=f"{problem.title}, GeneralizedAlpha",
                stepper=GeneralizedAlpha(), steps=min(problem.steps, 1000),
                mujoco=None, siconos=None,
            )  # fmt: skip
