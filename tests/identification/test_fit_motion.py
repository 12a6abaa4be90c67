"""Fits to motion: clearance, restitution and friction of a slider from the crank's angle alone, and bad data."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    plots,
    simulate,
)
from nonsmooth.exceptions import InputError
from nonsmooth.identification import FitMotion, MotionData, fit_motion, predictable_time
from nonsmooth.identification.fit_motion import MotionFit, Profile
from nonsmooth.identification.measurement import simulated_columns
from nonsmooth_problems.bouncing_ball import bouncing_ball
from nonsmooth_problems.slider_crank_translational import slider_crank_translational

TRUTH = {"guide.clearance": 1e-3, "guide.restitution": 0.4, "guide.friction": 0.01}
RANGES = {"guide.clearance": (2e-4, 3e-3), "guide.restitution": (0.1, 0.9), "guide.friction": (1e-3, 0.1)}
fit_motion_module = sys.modules["nonsmooth.identification.fit_motion"]
SCHEME, STEP, NOISE = GaussQP(), Landing(1e-6, 1e-4), 1e-3


@pytest.fixture(scope="module")
def measured():
    system = slider_crank_translational().build()
    t = np.arange(0.0, 0.1, 1e-4)
    run = simulate(system, SCHEME, t_end=0.1, dt=STEP)
    angle = np.interp(t, run.t, run.q["crank.angle"]) + NOISE * np.random.default_rng(0).normal(size=t.size)
    return system, MotionData(t, {"crank.angle": angle}, {"crank.angle": NOISE})


@pytest.mark.slow
def test_slider_crank_from_the_angle_of_its_crank(measured):
    """White noise of 1 mrad: c, e and mu within 5 %, their 95 % intervals bounded, the residual that of the noise."""
    system, data = measured
    until = predictable_time(system, SCHEME, data, TRUTH, dt=STEP)
    assert until > 0.09
    found = fit_motion(system, SCHEME, data, RANGES, dt=STEP, until=until, settings=FitMotion(starts=4, improved=1))
    assert found.values == pytest.approx(list(TRUTH.values()), rel=0.05)
    assert found.unknown == () and found.cost / found.samples == pytest.approx(1.0, abs=0.1)
    assert dict(zip(found.names, found.units, strict=True))["guide.clearance"] == "m"
    assert "| guide.clearance [m] |" in str(found)
    assert {axis.get_xlabel() for axis in plots.fitted(found).axes} == {"value [mm]", "value [-]"}


def test_columns_between_rows_are_as_accurate_as_the_rows():
    """Steps with error control are long: between their rows lines would be 1.4 mrad wrong, and 2.9 rad/s at impacts."""
    system = slider_crank_translational().build()
    t = np.arange(3e-5, 0.1, 1e-4)
    at = simulate(system, EventDriven(), t_end=0.1, dt=ErrorControl(1e-10, 1e-12, 1e-6, 1e-4)).at(t)
    columns = {"crank.angle": at.q["crank.angle"], "v:crank.angle": at.v["crank.angle"]}
    data = MotionData(t, columns, dict.fromkeys(columns, 1.0))
    steps = ErrorControl(1e-6, 1e-8, 1e-6, 1e-3)
    angle, rate = simulated_columns(system, EventDriven(), data, TRUTH, steps, float(t[-1])) - [*columns.values()]
    assert np.max(np.abs(angle)) < 5e-5 and np.max(np.abs(rate)) < 0.2


def test_nothing_is_run_twice_at_the_estimate(monkeypatch):
    """Residuals and slopes there belong to the profiles, the intervals and the remarks alike."""
    system, t = bouncing_ball(height=0.1).build(), np.arange(0.0, 0.3, 5e-3)
    run = simulate(system, MoreauJean(), t_end=0.3, dt=1e-3)
    data = MotionData(t, {"ball.y": run.at(t, order=4).q["ball.y"]}, {"ball.y": 1e-4})
    asked = []

    def noted(system, stepper, data, parameters, dt, t_end):
        asked.append((t_end, repr(dt), *parameters.values()))
        return simulated_columns(system, stepper, data, parameters, dt, t_end)

    monkeypatch.setattr(fit_motion_module, "simulated_columns", noted)
    settings = FitMotion(starts=2, improved=1, iterations=3, profile=1)
    found = fit_motion(system, MoreauJean(), data, {"floor.restitution": (0.5, 0.99)}, dt=1e-3, settings=settings)
    beside = pytest.approx(float(found.values[0]) * np.exp(1e-4), rel=1e-12)  # of the difference quotient
    assert [one for *_, one in asked].count(beside) == 1 and len(asked) == found.runs


@pytest.mark.slow
def test_an_interrupted_search_goes_on(measured, tmp_path):
    system, data = measured
    chosen = FitMotion(starts=8, improved=1, iterations=4, profile=0)
    path, done = tmp_path / "fit.json", []

    def stop(what, share):
        done.append(what)
        if what.startswith("start 5"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit_motion(system, SCHEME, data, RANGES, dt=STEP, until=0.05, settings=chosen, resume=path, progress=stop)
    assert len(json.loads(path.read_text())["done"]) == 5
    first = fit_motion(system, SCHEME, data, RANGES, dt=STEP, until=0.05, settings=chosen, resume=path)
    again = fit_motion(system, SCHEME, data, RANGES, dt=STEP, until=0.05, settings=chosen, resume=path)
    whole = fit_motion(system, SCHEME, data, RANGES, dt=STEP, until=0.05, settings=chosen)
    assert np.array_equal(first.values, whole.values) and np.array_equal(again.values, whole.values)
    assert again.runs < first.runs < whole.runs
    two = fit_motion(system, SCHEME, data, RANGES, dt=STEP, until=0.05, settings=chosen, executor=2)
    assert np.array_equal(two.values, whole.values) and two.runs == whole.runs
    with pytest.raises(InputError, match="is of another search"):
        fit_motion(system, SCHEME, data, RANGES, dt=STEP, until=0.06, settings=chosen, resume=path)


@pytest.mark.slow
def test_intervals_belong_to_the_minimum():
    """Free slider-crank with a loose crank pin, its angle measured: the search used to stall for this noise, clearance
    and friction lay outside of their own intervals. No minimum is above the sum of squares at the truth."""
    law, back = Rigid(restitution=0.5, friction=0.05), -25.0 / 3.0
    model = Model(
        [
            Ground("frame"),
            PlanarBody("crank", mass=0.3, inertia=1e-4, position=(0.025, 0), velocity=(0, 0.5), angular_velocity=20),
            PlanarBody("rod", mass=0.21, inertia=2.5e-4, position=(0.11, 0), velocity=(0, 0.5), angular_velocity=back),
            PlanarBody("piston", mass=0.14, inertia=5e-5, position=(0.17, 0)),
            Revolute("main", "frame", "crank", at_b=(-0.025, 0)),
            RevoluteClearance(
                "pin", "crank", "rod", at_a=(0.025, 0), at_b=(-0.06, 0), clearance=2e-4, radius=0.01, contact=law
            ),
            Revolute("wrist", "rod", "piston", at_a=(0.06, 0)),
            Prismatic("bore", "frame", "piston"),
            Gravity(acceleration=(0, -9.81)),
        ]
    )
    ranges = {"pin.clearance": (5e-5, 5e-4), "pin.restitution": (0.1, 0.9), "pin.friction": (1e-3, 0.2)}
    system, step, t, noise = model.build(), Landing(1e-6, 2e-4), np.arange(0.0, 0.1, 2e-4), 5e-4
    run = simulate(system, SCHEME, t_end=0.1, dt=step)
    exact = np.interp(t, run.t, run.q["crank.angle"])
    angle = exact + noise * np.random.default_rng(2).normal(size=t.size)
    data = MotionData(t, {"crank.angle": angle}, {"crank.angle": noise})
    found = fit_motion(system, SCHEME, data, ranges, dt=step, settings=FitMotion(starts=24))
    for name, value in zip(found.names, found.values, strict=True):
        low, high = found.profiles[name].interval
        assert low < value < high and np.min(found.profiles[name].rise) == 0.0
    assert found.cost <= np.sum(((exact - angle) / noise) ** 2)


def test_the_search_goes_on_far_away_until_a_minimum_explains_the_data(monkeypatch):
    """Starts in the lower three quarters of the range lead to a minimum of mean square 9, and are the best over the
    beginning: three of them agreed, which ended the search. The second start is the farthest, and finds noise."""
    system, t = bouncing_ball(height=0.1).build(), np.arange(0.0, 0.3, 5e-3)
    data = MotionData(t, {"ball.y": np.sin(t)}, {"ball.y": 1e-4})
    low, high = np.log([0.1, 0.9])
    improved = []

    def beginning(self, x):
        return float(x[0])

    def improve(self, x):
        improved.append((float(x[0]) - low) / (high - low))
        return [(1.0 if improved[-1] > 0.75 else 9.0) * len(t), *x.tolist()]

    monkeypatch.setattr(fit_motion_module._Fit, "_beginning", beginning)
    monkeypatch.setattr(fit_motion_module._Fit, "_improve", improve)
    settings = FitMotion(starts=8, improved=4, profile=0)
    found = fit_motion(system, MoreauJean(), data, {"floor.restitution": (0.1, 0.9)}, dt=1e-3, settings=settings)
    assert found.explained and improved[0] < 1 / 8 and improved[1] > 7 / 8 and len(improved) == 4
    assert sorted(improved)[1] < 2 / 8 + 1e-12  # once it is found, the next start is again the best by its beginning


@pytest.mark.slow
def test_minima_that_agree_but_do_not_explain_the_data_do_not_end_the_search(coasting_crank):
    """A free slider-crank whose clearance and restitution compensate each other at first: the best three of 96
    starts lead to the same minimum, with a mean square residual of 6.6 at e = 0.11; the search stopped there."""
    system, step, t = coasting_crank.build(), Landing(1e-6, 1e-4), np.arange(0.0, 0.1, 4e-4)
    at, random = simulate(system, SCHEME, t_end=0.1, dt=step).at(t, order=4), np.random.default_rng(3)
    noise = {"crank.angle": 1e-3, "piston.x": 2e-5}
    data = MotionData(t, {name: at.q[name] + size * random.normal(size=t.size) for name, size in noise.items()}, noise)
    ranges = {"pin.clearance": (1e-4, 1e-3), "pin.restitution": (0.05, 0.9)}
    found = fit_motion(system, SCHEME, data, ranges, dt=step, settings=FitMotion(profile=0))
    assert found.explained and found.values == pytest.approx([4e-4, 0.35], rel=0.02)
    assert sum(cost > 3 * found.cost for cost, _ in found.others) >= 3


def ball():
    system = bouncing_ball().build()
    t = np.arange(0.0, 0.8, 2e-3)
    run = simulate(system, SCHEME, t_end=0.8, dt=Landing(1e-6, 2e-3))
    name = next(name for name in system.q_names if name.endswith(".y"))
    return system, t, name, np.interp(t, run.t, run.q[name])


@pytest.mark.slow
def test_what_cannot_be_known_is_said():
    """A ball's bounces tell its restitution; friction has no influence, and its profile does not end."""
    system, t, name, height = ball()
    noisy = height + 1e-4 * np.random.default_rng(1).normal(size=t.size)
    data = MotionData(t, {name: noisy}, {name: 1e-4})
    rest = next(key for key in system.parameters if key.endswith("restitution"))
    rough = next(key for key in system.parameters if key.endswith("friction"))
    found = fit_motion(
        system, SCHEME, data, {rest: (0.2, 0.99), rough: (0.01, 1.0)}, dt=Landing(1e-6, 2e-3),
        settings=FitMotion(starts=8, improved=2, profile=3),
    )  # fmt: skip
    assert found.values[0] == pytest.approx(system.parameters[rest], rel=1e-3)
    assert found.unknown == (rough,) and "not bounded by the data" in str(found)
    assert found.as_dictionary()["unknown"] == [rough]


BAD = {
    "gap": (lambda t, x: (np.where(t > 0.4, t + 1.0, t), x), "has a gap from 0.4 s to 1.40"),
    "missing": (lambda t, x: (t, np.where(t == t[7], np.nan, x)), "is not a number at t = 0.014 s"),
    "constant": (lambda t, x: (t, 0 * x + 2.0), "is constant, 2; is its sensor connected"),
    "short": (lambda t, x: (t[:5], x[:5]), "has 5 sample.s.; at least 20"),
    "backwards": (lambda t, x: (t[::-1], x), "must increase"),
    "lengths": (lambda t, x: (t, x[:-1]), "values at 400 times"),
}


def test_steps_that_bias_an_estimate_are_said():
    """Moreau's steps have their impacts at the end of a step: those of 2 ms move the restitution of a bouncing ball by
    many deviations, in the direction that is said; exact steps do not. So is noise that is stated too small."""
    system, t, name, height = ball()
    noisy = height + 1e-4 * np.random.default_rng(1).normal(size=t.size)
    rest = next(key for key in system.parameters if key.endswith("restitution"))
    chosen = FitMotion(starts=4, improved=1, profile=0)

    def fitted(stepper, dt, noise=1e-4):
        data = MotionData(t, {name: noisy}, {name: noise})
        return fit_motion(system, stepper, data, {rest: (0.5, 0.99)}, dt=dt, settings=chosen)

    good, coarse = fitted(SCHEME, Landing(1e-6, 1e-3)), fitted(MoreauJean(), 2e-3)
    assert good.remarks == ()
    assert f"{rest} by {coarse.shift[0]:.1f}" in str(coarse) and "mean square residual" in coarse.remarks[-1]
    apart = (good.values[0] - coarse.values[0]) / coarse.deviation[0]
    assert abs(apart) > 3.0 and np.sign(apart) == np.sign(coarse.shift[0])
    wrong = fitted(SCHEME, Landing(1e-6, 1e-3), 5e-5)
    assert len(wrong.remarks) == 1 and wrong.as_dictionary()["remarks"] == list(wrong.remarks)


@pytest.mark.parametrize(
    ("cost", "shift", "why", "advice"),
    [
        (1.05, 0.9, "", "choose shorter steps"),
        (1.05, -1.1, "the steps are too long", "choose shorter steps"),
        (6.64, 18.4, "the steps are too long", "choose shorter steps"),
        (6.64, 0.0, "the fit does not explain the data", "Try more starts, another seed or wider ranges"),
        (1.05, np.nan, "the error of the steps is not known", "ends early"),
    ],
)
def test_an_interval_that_is_none_of_95_percent_is_not_stated(cost, shift, why, advice):
    """Table, JSON and figure have estimate and deviation, no interval, and one sentence says why and what to do."""
    x = np.array([0.9, 1.0, 1.1])
    found = MotionFit(
        ("pin.restitution",), x[1:2], np.array([0.05]),
        {"pin.restitution": Profile(x, np.array([4.0, 0.0, 4.0]), (0.902, 1.098), True)}, 1000 * cost, 1000, 0.1, (), 1,
        0.0, shift=np.array([shift]), finer=Landing(1e-6, 5e-5),
    )  # fmt: skip
    assert found.unstated == why and advice in found.remarks[0] and len(found.remarks) == (2 if cost * shift > 2 else 1)
    assert str(found).count("No 95 % interval is stated") == bool(why)
    assert ("No 95 % interval is stated" in found.remarks[0]) is bool(why)
    assert ("0.902 to 1.098" in str(found)) is not bool(why) and ("| 95 % interval |" in str(found)) is not bool(why)
    assert "| pin.restitution | 1 | 0.05 |" in str(found)
    one = found.as_dictionary()["parameters"]["pin.restitution"]
    assert one["interval"] == (None if why else [0.902, 1.098]) and one["deviation"] == 0.05
    figure = plots.fitted(found)
    figure.canvas.draw()
    assert figure.get_suptitle() == (f"No 95 % interval is stated:\n{why}" if why else "")
    (axis,) = figure.axes
    assert sum(line.get_linestyle() == "--" for line in axis.lines) == (0 if why else 1)
    shaded = [float(x) for patch in axis.patches for x in (patch.get_x(), patch.get_x() + patch.get_width())]
    assert shaded == pytest.approx([] if why else [0.902, 1.098])
    assert [text.get_text() for text in axis.texts] == ([] if why else ["0.902 to 1.098"])
    # between the points a parabola of the logarithm: not the straight line from 4 to 0
    curve = axis.lines[0].get_xydata()
    assert np.interp(0.95, *curve.T) == pytest.approx(4.0 * (np.log(0.95) / np.log(0.9)) ** 2, abs=0.01)


@pytest.mark.parametrize("spoil, sentence", BAD.values(), ids=BAD)
def test_bad_motion_gets_one_sentence(spoil, sentence):
    t = np.arange(0.0, 0.8, 2e-3)
    t, x = spoil(t, np.sin(9 * t))
    with pytest.raises(InputError, match=sentence) as error:
        MotionData(t, {"ball.y": x}, {"ball.y": 1e-3})
    assert "\n" not in str(error.value)


def test_messages():
    system, t, name, height = ball()
    data = MotionData(t, {name: height}, {name: 1e-4})
    step = Landing(1e-6, 2e-3)
    rest = next(key for key in system.parameters if key.endswith("restitution"))
    with pytest.raises(InputError, match="Unknown parameter"):
        fit_motion(system, SCHEME, data, {"ball.size": (0.1, 1.0)}, dt=step)
    with pytest.raises(InputError, match="two numbers 0 < low < high"):
        fit_motion(system, SCHEME, data, {rest: (0.9, 0.1)}, dt=step)
    with pytest.raises(InputError, match="No parameter is named"):
        fit_motion(system, SCHEME, data, {}, dt=step)
    other = MotionData(t, {"ball.w": height}, {"ball.w": 1e-4})
    with pytest.raises(InputError, match='"ball.w" is no column'):
        fit_motion(system, SCHEME, other, {rest: (0.1, 0.9)}, dt=step)
    with pytest.raises(InputError, match="positive standard deviation"):
        MotionData(t, {name: height}, {})
    with pytest.raises(InputError, match="FitMotion: starts must be at least 1, got 0"):
        FitMotion(starts=0)
    assert FitMotion(starts=4).starts == 4  # fewer than are improved at most: it was refused
