"""Impact laws beside Newton's: Poisson's, and a threshold below which impacts are plastic."""

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Rigid,
    simulate,
)
from nonsmooth_problems import bouncing_ball, slider_rod

COMPILES = pytest.mark.slow  # the texts of impact laws other than Newton's, or of balanced moment arms

E = 0.6
#: as good as none; texts with these laws and no friction are not compiled for tests, see test_poisson.py
LEAST = 1e-13
MASS, INERTIA, HALF = 2.0, 0.05, 0.2


def rocking_bar(impact):
    """A bar that rests on its right end on the floor and falls with its left end."""
    contact = Rigid(restitution=E, friction=LEAST, impact=impact)
    angle = 0.05
    centre = (-HALF * np.cos(angle), HALF * np.sin(angle))
    bar = PlanarBody("bar", mass=MASS, inertia=INERTIA, position=centre, angle=-angle)
    ends = [
        PointPlane(n, "ground", "bar", at_b=(x, 0.0), contact=contact) for n, x in (("left", -HALF), ("right", HALF))
    ]
    return Model([Ground(), bar, Gravity(acceleration=(0.0, -9.81)), *ends]).build()


def first_impact(impact):
    trajectory = simulate(rocking_bar(impact), GaussQP(), t_end=0.3, dt=Landing(1e-6, 1e-3))
    t = trajectory.impacts["t"][0]
    rows = {row["contact"]: row for row in trajectory.impacts[trajectory.impacts["t"] == t]}
    return trajectory, rows


@COMPILES
@pytest.mark.parametrize("case", [1, 3])
def test_poisson_and_newton_agree_where_all_contacts_strike_alike(case):
    runs = []
    for impact in ("newton", "poisson"):
        system = slider_rod(case=case, contact=Rigid(restitution=E, friction=LEAST, impact=impact)).build()
        runs.append(simulate(system, GaussQP(), t_end=0.006, dt=Landing(1e-6, 1e-3)))
    assert np.max(np.abs(runs[0].q["slider.y"] - runs[1].q["slider.y"])) <= 1e-15
    assert np.max(np.abs(runs[0].P_N.array - runs[1].P_N.array)) <= 1e-12


@COMPILES
def test_poisson_returns_the_impulse_that_stopped_the_fall():
    """The left end strikes while the right one rests: Delassus rows G_o = 1/m - a^2/J < 0 couple them.

    Stopping both ends takes P_c = G^-1 (-gamma⁻, 0), both positive here; Poisson's law returns e times both, so that
    gamma⁺ = (e |gamma⁻|, 0): the resting end stays, though an impulse (1 + e) P_c passes through it.
    """
    _, rows = first_impact("poisson")
    gamma = rows["left"]["gamma_minus"]
    own, other = 1 / MASS + HALF**2 / INERTIA, 1 / MASS - HALF**2 / INERTIA
    stopping = np.linalg.solve([[own, other], [other, own]], [-gamma, 0.0])
    assert [rows[n]["P_N"] for n in ("left", "right")] == pytest.approx((1 + E) * stopping, rel=1e-2)
    assert rows["left"]["gamma_plus"] == pytest.approx(-E * gamma, rel=1e-9)


def test_a_threshold_ends_bouncing():
    """A ball bounces at full restitution down to the threshold and then stops at once."""
    contact = Rigid(restitution=0.5, friction=0.0, threshold=0.3)
    for stepper, dt in ((GaussQP(), Landing(1e-6, 1e-2)), (EventDriven(), ErrorControl(1e-9, 1e-9, 1e-6, 1e-2))):
        trajectory = simulate(bouncing_ball(contact=contact).build(), stepper, t_end=1.5, dt=dt)
        speeds = -trajectory.impacts["gamma_minus"]
        first = np.sqrt(2 * 9.81 * 0.9)
        assert speeds == pytest.approx(first * 0.5 ** np.arange(len(speeds)), rel=1e-9)
        assert speeds[-1] < 0.3 < speeds[-2]
    trajectory = simulate(bouncing_ball(contact=contact).build(), MoreauJean(), t_end=1.5, dt=1e-4)
    assert trajectory.v["ball.y"][-1] == 0.0


def test_what_is_refused():
    poisson = bouncing_ball(contact=Rigid(restitution=0.5, friction=0.1, impact="poisson")).build()
    with pytest.raises(InputError, match="GeneralizedAlpha supports Newton's impact law only"):
        simulate(poisson, GeneralizedAlpha(), t_end=0.1, dt=1e-3)
    laws = [Rigid(restitution=0.5, friction=0.1, impact=impact) for impact in ("newton", "poisson")]
    bar = PlanarBody("bar", mass=MASS, inertia=INERTIA, position=(0.0, 1.0))
    ends = [PointPlane(law.impact, "ground", "bar", contact=law) for law in laws]
    mixed = Model([Ground(), bar, *ends]).build()
    ball = next(name for name in poisson.parameters if name.endswith(".tangential"))
    for stepper, dt in ((GaussQP(), Landing(1e-6, 1e-2)), (EventDriven(), ErrorControl(1e-6, 1e-8, 1e-6, 1e-2))):
        name = type(stepper).__name__
        with pytest.raises(InputError, match=f"{name}: Poisson's and Newton's impact laws cannot be mixed"):
            simulate(mixed, stepper, t_end=0.1, dt=dt)
        with pytest.raises(InputError, match=f"{name}: Poisson's impact law has no tangential restitution"):
            simulate(poisson, stepper, t_end=0.1, dt=dt, parameters={ball: 0.5})
    with pytest.raises(InputError, match='impact="poisson" has no tangential restitution, got tangential = 0.5'):
        Rigid(restitution=0.5, friction=0.1, tangential=0.5, impact="poisson")
    with pytest.raises(InputError, match='impact must be one of "newton", "poisson", "routh", "stronge"'):
        Rigid(restitution=0.5, friction=0.1, impact="hertz")
    with pytest.raises(InputError, match="threshold must be a finite speed"):
        Rigid(restitution=0.5, friction=0.1, threshold=-1.0)
