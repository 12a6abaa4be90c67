"""Times at which loads and drivers are not smooth."""

import casadi as ca
import numpy as np
import pytest

import nonsmooth_problems as ready
from nonsmooth import Ground, Harmonic, Load, Model, PlanarBody, PointForce, PrescribedMotion, Table
from nonsmooth.model import corners
from nonsmooth.model.registry import Problem

BLOW = Table(times=(0.0, 0.37119, 0.3712, 0.37121, 1.0), values=(0.0, 0.0, 1e5, 0.0, 0.0))

pytestmark = pytest.mark.filterwarnings("ignore:model. the model has no gravity")


def system(force):
    body = PlanarBody("b", mass=1.0, inertia=1.0)
    return Model([Ground(), body, PointForce("F", "b", force=lambda t: (force(t), 0.0))]).build()


@pytest.mark.parametrize(
    ("force", "corners"),
    [
        (BLOW, [0.37119, 0.3712, 0.37121]),
        (lambda t: ca.if_else(t < 0.3, 1.0, 0.0), [0.3]),
        # holds first at the next number
        (lambda t: ca.if_else(t > 0.3, 1.0, 0.0), [np.nextafter(0.3, 1.0)]),
        (lambda t: ca.if_else(3 * t - 0.9 >= 0, 1.0, 0.0), [0.3]),
        (lambda t: ca.if_else(ca.fabs(t - 0.37) < 1e-5, 1.0, 0.0), [0.36999, 0.37, 0.37001]),
        (lambda t: ca.if_else((t - 0.37) ** 2 < 1e-10, 1.0, 0.0), [0.36999, 0.37001]),
        (lambda t: ca.sin(ca.floor(t / 0.25)), [0.25, 0.5, 0.75]),
        (lambda t: ca.fmod(t, 0.4), [0.4, 0.8]),
        (lambda t: ca.fabs(ca.sin(10 * t)), [np.pi / 10, np.pi / 5, 3 * np.pi / 10]),
        (lambda t: BLOW(ca.fmod(2 * t, 1.0)), [0.185595, 0.1856, 0.185605, 0.5, 0.685595, 0.6856, 0.685605]),
        (lambda t: t**2 - 3 * t, []),
        (Harmonic(1.0, period=0.01), []),
    ],
)
def test_of_a_force(force, corners):
    # round-off of a product by 1/0.25 and the like
    np.testing.assert_allclose(system(force).corners(0.0, 1.0), corners, rtol=0.0, atol=1e-15)


def test_of_a_condition_are_the_first_times_at_which_it_holds():
    for condition in (lambda t: 3 * t >= 0.9, lambda t: 0.1 * t > 0.03, lambda t: t <= 0.3):
        (corner,) = system(lambda t, c=condition: ca.if_else(c(t), 1.0, 2.0)).corners(0.0, 1.0)
        assert condition(corner) != condition(np.nextafter(corner, 0.0))


def test_of_conditions_that_hold_shortly_wherever_samples_are():
    for at in np.linspace(0.1, 0.9, 60):
        found = system(lambda t, at=at: ca.if_else((t - at) ** 2 < 1e-12, 1.0, 0.0)).corners(0.0, 1.0)
        # a difference of squares near its root: 1e-16 over 2e-6
        np.testing.assert_allclose(found, [at - 1e-6, at + 1e-6], rtol=0.0, atol=1e-10)


def test_a_root_beside_zero_is_found_in_as_few_halvings_as_any(monkeypatch):
    """From 1e-5 s halves go down to 5e-324 s in a thousand steps, halves of the numbers between in 64."""
    calls, evaluate = [], corners._OfTime.__call__
    monkeypatch.setattr(corners._OfTime, "__call__", lambda *given: calls.append(None) or evaluate(*given))
    times = system(lambda t: ca.fmax(ca.sin(150.0 * t), 0.0)).corners(0.0, 0.05)
    assert times == pytest.approx(np.pi / 150.0 * np.array([1.0, 2.0]), rel=1e-15)
    assert len(calls) < 100


def test_only_between_start_and_end():
    assert system(BLOW).corners(0.3712, 0.5).tolist() == [0.37121]
    assert system(BLOW).corners(0.0, 0.3712).tolist() == [0.37119]


def test_of_a_load_with_a_parameter():
    body = PlanarBody("b", mass=1.0, inertia=1.0)
    push = Load("F", "ground", "b", force=("where(t >= begin, 2, 0)", "0"), parameters={"begin": 0.25})
    made = Model([Ground(), body, push]).build()
    assert made.corners(0.0, 1.0).tolist() == [made.parameters["F.begin"]]
    assert made.corners(0.0, 1.0, made.parameter_vector({"F.begin": 0.5})).tolist() == [0.5]


def test_of_a_driver():
    body = PlanarBody("b", mass=1.0, inertia=1.0, velocity=(0.5, 0.0))
    motion = Table(times=(-1.0, 0.2, 0.7), values=(-0.5, 0.1, 0.1))
    made = Model([Ground(), body, PrescribedMotion("m", "ground", "b", coordinate="x", motion=motion)]).build()
    assert made.corners(0.0, 1.0).tolist() == [0.2, 0.7]


@pytest.mark.parametrize("offset", [0.0, 10.0])
@pytest.mark.parametrize("width", [1e-4, 1e-5, 1e-8])
def test_that_divide_a_pulse(width, offset):
    def pulse(t):
        return np.exp(-(((t - 0.3712) / width) ** 2)) / width

    t = system(lambda t: offset + pulse(t)).corners(0.0, 1.0)
    # parts are linear to 0.2 % of the peak, so that the midpoint rule is accurate to about as much
    middle = 0.5 * (t[:-1] + t[1:])
    assert np.sum(np.diff(t) * pulse(middle)) == pytest.approx(np.sqrt(np.pi), rel=5e-3)
    assert t.size < 100


def test_none_of_a_function_that_is_fast_everywhere():
    for period, fast in ((1e-5, True), (3e-5, True), (1e-4, True), (1e-3, False), (0.1, False)):
        one = system(Harmonic(1.0, period=period))
        assert one.corners(0.0, 1.0).size == 0
        assert one.varies_fast(0.0, 1.0, one.parameter_values) == fast


def test_ready_problems_have_none():
    problems = [one for one in (getattr(ready, name) for name in dir(ready)) if isinstance(one, Problem)]
    assert len(problems) > 10
    for problem in problems:
        made = problem().build()
        assert made.corners(0.0, 1.0).size == 0
        assert not made.varies_fast(0.0, 1.0, made.parameter_values)
