"""The peak force of a compliant contact is that of its law at the extreme, and its error is what the verdict says."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from nonsmooth import CompliantDae, ErrorControl, Gravity, Ground, Model, PlanarBody, PointPlane, Radau, simulate
from nonsmooth.laws import Compliant, Flores, Hertz, HuntCrossley, KelvinVoigt, LankaraniNikravesh

G = 9.81
STIFFNESS = 1e8
RESTITUTION = 0.9
#: force [N] as published, of depth, rate and approach; the Kelvin-Voigt force is largest at its start or soon after
LAWS = {
    Hertz(stiffness=STIFFNESS): lambda d, r, a: STIFFNESS * d**1.5,
    HuntCrossley(stiffness=STIFFNESS, restitution=RESTITUTION): lambda d, r, a: (
        STIFFNESS * d**1.5 * (1 + 1.5 * (1 - RESTITUTION) * r / a)
    ),
    LankaraniNikravesh(stiffness=STIFFNESS, restitution=RESTITUTION): lambda d, r, a: (
        STIFFNESS * d**1.5 * (1 + 0.75 * (1 - RESTITUTION**2) * r / a)
    ),
    Flores(stiffness=STIFFNESS, restitution=RESTITUTION): lambda d, r, a: (
        STIFFNESS * d**1.5 * (1 + 8 * (1 - RESTITUTION) / (5 * RESTITUTION) * r / a)
    ),
    KelvinVoigt(stiffness=1e6, exponent=1.0, damping=100.0): lambda d, r, a: 1e6 * d + 100.0 * r,
    KelvinVoigt(stiffness=1e6, exponent=1.0, damping=2000.0): lambda d, r, a: 1e6 * d + 2000.0 * r,
}


def peak(force, speed, lasts=3e-3):
    """Largest force of a ball of 1 kg that meets the floor at this speed, by its equation of motion."""
    fall = solve_ivp(
        lambda t, y: [y[1], G - force(max(y[0], 0.0), y[1], speed)], (0.0, lasts), [0.0, speed], "DOP853",
        rtol=1e-12, atol=1e-15, dense_output=True, max_step=lasts / 300,
    )  # fmt: skip
    depth, rate = fall.sol(np.linspace(0.0, lasts, 200_001))
    return float(np.max(force(np.maximum(depth, 0.0), rate, speed)[: int(np.argmax(rate < 0)) + 1]))


@pytest.mark.parametrize("accuracy", [1e-2, 1e-6])
@pytest.mark.parametrize("height", [0.05, 1.0])
@pytest.mark.parametrize(
    ("law", "force"), LAWS.items(), ids=[f"{type(law).__name__}-{i}" for i, law in enumerate(LAWS)]
)
def test_the_error_of_a_peak_force_is_at_most_what_is_claimed(law, force, height, accuracy):
    """The largest mean of a step is lower by up to .7 %, which agreed in both runs: "within .001 %"."""
    floor = PointPlane("floor", "ground", "ball", contact=Compliant(law))
    ball = PlanarBody("ball", mass=1.0, inertia=0.004, position=(0.0, height))
    run = simulate(
        Model([Ground(), ball, floor, Gravity(acceleration=(0.0, -G))]).build(), t_end=1.4 * np.sqrt(2 * height / G),
        accuracy=accuracy,
    )  # fmt: skip
    right = peak(force, np.sqrt(2 * G * height))
    error = abs(run.contacts["peak_force"][0] - right) / right
    assert run.verdict.kind == "accurate"
    assert error <= 1.5 * run.verdict.force + 1e-9  # of the reference, between whose points the peak lies


@pytest.mark.parametrize(
    ("law", "force", "mass", "height", "t_end", "steps"),
    [
        # twelve steps: polynomials through five and six impulses agreed to 1.3e-6, and two runs to 5e-7, where
        # the peaks of both were 7e-6 too high
        (
            KelvinVoigt(stiffness=632045.7490804347, exponent=1.0, damping=687.2723515723658),
            lambda d, r, a: 632045.7490804347 * d + 687.2723515723658 * r,
            1.0,
            2.13917710319852,
            0.9245,
            {},
        ),
        # runs to 1e-6 and to 1e-7 agreed to 2.9e-6 where the first has an error of 4.8e-6: peaks of both are too low
        (
            Flores(stiffness=215967484.71866214, restitution=0.5965337881245778),
            lambda d, r, a: (
                215967484.71866214 * d**1.5 * (1 + 8 * 0.4034662118754222 / (5 * 0.5965337881245778) * r / a)
            ),
            0.10488964045632763,
            0.021501902756086114,
            0.09269300816060033,
            {"stepper": CompliantDae(solver=Radau()), "dt": ErrorControl(1e-6), "check": True},
        ),
    ],
    ids=["KelvinVoigt", "Flores"],
)
def test_peaks_of_two_runs_may_agree_by_chance(law, force, mass, height, t_end, steps):
    floor = PointPlane("floor", "ground", "ball", contact=Compliant(law))
    ball = PlanarBody("ball", mass=mass, inertia=0.004, position=(0.0, height))
    run = simulate(Model([Ground(), ball, floor, Gravity(acceleration=(0.0, -G))]).build(), t_end=t_end, **steps)
    right = peak(lambda d, r, a: force(d, r, a) / mass, np.sqrt(2 * G * height), lasts=0.06) * mass
    assert abs(run.contacts["peak_force"][0] - right) / right <= 1.5 * run.verdict.force
