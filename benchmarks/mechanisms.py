"""The problems P1 to P4: the library's model, the hand-written limit of each, and the final value that is compared."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np

from benchmarks import limits
from nonsmooth import ErrorControl, EventDriven, GaussQP, GeneralizedAlpha, Landing, MoreauJean, Rigid, simulate
from nonsmooth_problems import chain, slider_crank_revolute, slider_crank_translational, slider_rod

__all__ = ["CHAINS", "Problem", "problems"]

CHAINS = (1, 4, 16, 64, 256, 1024, 4096)
#: by number of links, steps of a chain that are enough to be timed
CHAIN_STEPS = {1: 5000, 4: 5000, 16: 2000, 64: 500, 256: 200, 1024: 100, 4096: 40}

# m, J, half length, clearance, force, g
SLIDER_ROD = (5.0, 8e-4, 0.01, 1e-5, 50.0)
# l1, l2, half length, half height, clearance, m1, m2, m3, J1, J2, J3, g, e, mu, omega1, omega2
SLIDER_CRANK = np.array(
    [0.153, 0.306, 0.05, 0.025, 1e-3, 0.038, 0.038, 0.076, 7.4e-5, 5.9e-4, 2.7e-6, 9.81, 0.4, 0.01, 150.0, -75.0]
)
#: crank's angle at 0.2 s, event-driven in quadruple precision
SLIDER_CRANK_TRUTH = 18.083678652340582
# r, l, rod's mass and inertia, slider's mass, clearance, e, speed of the crank
PLAY_IN_PIN = (0.05, 0.12, 0.21, 2.5e-4, 0.14, 0.5e-3, 0.9, 5000 * pi / 30)
# half a link, mass, inertia, clearance, g
LINK = (0.05, 0.1, 0.1 * 0.1**2 / 12, 0.5e-3, 9.81)


@dataclass(frozen=True)
class Problem:
    """One line of the table.

    Parameters
    ----------
    key, part : its name, and P1 to P4
    system : () -> System
    stepper, dt, steps : of the run
    result, compared : the final value that is compared, and its description
    limit : (dt, steps) -> the same number and the deepest penetration [m]; None where there is no such loop
    agrees : permissible difference between the limit's number and the library's
    reference : () -> the number, from another source
    compared_at : number of steps after which it is taken, if not at the end
    mujoco : options of its MuJoCo model, None where there is none
    same_model : whether MuJoCo's number can be compared
    size : links
    """

    key: str
    part: str
    title: str
    system: Callable[[], Any]
    stepper: Any
    dt: Any
    steps: int
    result: Callable[[Any], float]
    compared: str
    limit: Callable[[float, int], tuple[float, float]] | None = None
    agrees: float = 1e-9
    reference: Callable[[], float] | None = None
    compared_at: int | None = None
    mujoco: dict[str, Any] | None = None
    same_model: bool = True
    size: int = 1
    t_end: float | None = None

    @property
    def seconds(self) -> float:
        """Simulated time of a timed run."""
        return self.steps * float(self.dt) if self.t_end is None else self.t_end


def problems(parts: tuple[str, ...], chains: tuple[int, ...] = CHAINS) -> Iterator[Problem]:
    """The problems of the requested parts, in order."""
    if "P1" in parts:
        yield from _slider_rods()
    if "P2" in parts:
        yield from _slider_crank_translational()
    if "P3" in parts:
        yield from _slider_crank_revolute()
    if "P4" in parts:
        yield from _chains(chains)


def _slider_rods() -> Iterator[Problem]:
    for name, stepper, loop in (
        ("gauss", GaussQP(), limits.slider_rod_euler),
        ("moreau_jean", MoreauJean(), limits.slider_rod_moreau),
    ):
        for case, offset, g, height in ((1, 0.0, 9.81, -1e-5), (2, 0.5e-3, 9.81, -1e-5), (3, 10e-3, 0.0, 0.0)):

            def limit(dt: float, steps: int, loop: Any = loop, offset: float = offset, g: float = g) -> Any:
                return loop(*SLIDER_ROD, offset, g, dt, steps)[1], np.nan

            yield Problem(
                key=f"P1_{name}_{case}",
                part="P1",
                title=f"slider-rod {case}, {type(stepper).__name__}",
                system=functools.partial(_slider_rod, case),
                stepper=stepper,
                dt=1e-5,
                steps=10_000,
                result=lambda run: float(run.q["slider.y"][-1]),
                compared="height of the slider [m]",
                limit=limit,
                agrees=1e-15,
                reference=lambda height=height: height,  # type: ignore[misc]
                mujoco={"case": case},
            )


@functools.cache
def _slider_rod(case: int) -> Any:
    return slider_rod(case=case).build()


def _slider_crank_translational() -> Iterator[Problem]:
    def limit(dt: float, steps: int) -> tuple[float, float]:
        end, lost = limits.slider_crank_translational(SLIDER_CRANK, dt, steps)
        if lost:
            raise RuntimeError(f"the limit of P2 found no mode in {lost} steps.")
        return end[0], np.nan

    common: dict[str, Any] = {
        "part": "P2",
        "system": _guide,
        "result": lambda run: float(run.q["crank.angle"][-1]),
        "compared": "angle of the crank at 0.2 s [rad]",
        "reference": lambda: SLIDER_CRANK_TRUTH,
    }
    for key, joints in (("P2", "midpoint"), ("P2_rattle", "rattle")):
        yield Problem(
            key=key,
            title=f'slider-crank, guide, MoreauJean, joints="{joints}"',
            stepper=MoreauJean(joints=joints),
            dt=1e-5,
            steps=20_000,
            limit=limit,
            agrees=5e-3,
            mujoco={},
            same_model=False,
            **common,
        )
    yield Problem(
        key="P2_landing",
        title="slider-crank, guide, GaussQP, Landing(1e-6, 1e-4)",
        stepper=GaussQP(),
        dt=Landing(1e-6, 1e-4),
        steps=2000,
        t_end=0.2,
        **common,
    )
    yield Problem(
        key="P2_alpha",
        title="slider-crank, guide, GeneralizedAlpha",
        stepper=GeneralizedAlpha(),
        dt=1e-5,
        steps=20_000,
        **common,
    )


@functools.cache
def _guide() -> Any:
    return slider_crank_translational().build()


def _slider_crank_revolute() -> Iterator[Problem]:
    def limit(dt: float, steps: int) -> tuple[float, float]:
        _, x, _, _, depth = limits.slider_crank_revolute(*PLAY_IN_PIN, dt, steps)
        return x, depth

    @functools.cache
    def reference() -> float:
        control = ErrorControl(rtol=1e-11, atol=1e-13, dt_min=1e-12, dt_max=1e-4)
        run = simulate(_pin(), EventDriven(), t_end=5e-4, dt=control)
        return float(run.q["slider.x"][-1])

    for key, joints in (("P3", "midpoint"), ("P3_rattle", "rattle")):
        yield Problem(
            key=key,
            part="P3",
            title=f'slider-crank, pin, e = 0.9, MoreauJean, joints="{joints}"',
            system=_pin,
            stepper=MoreauJean(joints=joints),
            dt=1e-5,
            steps=10_000,
            result=lambda run: float(run.q["slider.x"][-1]),
            compared="place of the slider at 0.5 ms [m]",
            limit=limit,
            agrees=1e-5,
            reference=reference,
            compared_at=50,
            mujoco={},
            same_model=False,
        )


@functools.cache
def _pin() -> Any:
    return slider_crank_revolute().build()


def _chains(sizes: tuple[int, ...]) -> Iterator[Problem]:
    for friction in (0.0, 0.1):
        for n in sizes:
            if friction and n not in (256, 4096):
                continue
            # tension grows with the square of the length: journals swing faster in their bearings
            dt = 1e-4 if n <= 256 else 1e-4 * 256 / n
            steps = CHAIN_STEPS[n]

            def limit(dt: float, steps: int, n: int = n) -> tuple[float, float]:
                q, v = _hanging(n)
                depth, _ = limits.chain(q, v, *LINK, dt, steps)
                return float(q[-1, 0]), depth

            @functools.cache
            def reference(limit: Any = limit, dt: float = dt, steps: int = steps) -> float:
                return float(limit(dt / 16, 16 * steps)[0])

            yield Problem(
                key=f"P4_{n}" + ("_friction" if friction else ""),
                part="P4",
                title=f"chain, N = {n}" + (f", mu = {friction}" if friction else ""),
                system=functools.partial(_chain, n, friction),
                stepper=MoreauJean(),
                dt=dt,
                steps=steps,
                result=lambda run, n=n: float(run.q[f"link{n}.x"][-1]),  # type: ignore[misc]
                compared="x of the last link [m]",
                limit=None if friction else limit,
                agrees=1e-10,
                reference=None if friction else reference,
                mujoco=None if friction else {"n": n},
                size=n,
            )


@functools.lru_cache(maxsize=1)
def _chain(n: int, friction: float) -> Any:
    return chain(n, contact=Rigid(restitution=0.0, friction=friction)).build()


def _hanging(n: int) -> tuple[Any, Any]:
    """Start of the chain, (N, 3) each."""
    i = np.arange(1, n + 1)
    below = i * LINK[3] + (i - 0.5) * 2 * LINK[0]
    q, v = np.zeros((n, 3)), np.ones((n, 3))
    q[:, 1], v[:, 0], v[:, 1] = -below, below, 0.0
    return q, v
