"""Statistics of long motions: true values lie in their intervals, exact motions are exact, biased steps are named."""

from __future__ import annotations

import json
import math
import sys
from pathlib import Path

import numpy as np
import pytest

from nonsmooth import (
    CirclePlane,
    EventDriven,
    Gravity,
    Ground,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Rigid,
    simulate,
)
from nonsmooth.exceptions import InputError, Interrupted
from nonsmooth.model.forces import Damper, PointForce, Spring
from nonsmooth.model.signals import Harmonic, TimeVector
from nonsmooth.studies import long_run
from nonsmooth.studies.long_run import _ladder, _Runs
from nonsmooth.studies.statistics.estimates import effective, return_level, truncation
from nonsmooth.studies.statistics.members import KEPT, Windows
from nonsmooth_problems import six_rss, slider_crank_revolute, slider_rod

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def chaotic(monkeypatch):
    """Mechanisms with independent references, which belong to the checkout."""
    if not (ROOT / "benchmarks").is_dir():
        pytest.skip("the benchmarks are part of the checkout")
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    import benchmarks.chaotic

    return benchmarks.chaotic


def shaken(acceleration, restitution=0.5):
    """A ball on a table that moves up and down at 10 Hz with so many times the acceleration of gravity."""
    w, g = 20 * math.pi, 9.81
    amplitude = acceleration * g / w**2
    model = Model(name="ball on a table")
    model.add(Ground())
    model.add(PlanarBody("table", mass=1.0, inertia=1.0, velocity=(0.0, amplitude * w)))
    model.add(PlanarBody("ball", mass=2.0, inertia=4e-3, position=(0.0, 0.1), velocity=(0.0, amplitude * w)))
    model.add(Gravity(acceleration=(0.0, -g)))
    model.add(Prismatic("guide", "ground", "table", direction=math.pi / 2))
    model.add(PrescribedMotion("shaker", "ground", "table", coordinate="y", motion=Harmonic(amplitude, period=0.1)))
    law = Rigid(restitution=restitution, friction=0.0)
    model.add(CirclePlane("floor", "table", "ball", radius=0.1, contact=law))
    return model


def test_mean_free_path_of_sinais_billiard(chaotic):
    # at speed 1 the mean time between impacts is the mean free path, pi A / P exactly
    found = long_run(
        chaotic.billiard(), window=5.0, t_end=60.0, measures=["time/impact", "impacts"], members=6, executor=1
    )
    path = found["time/impact"]
    assert found.kind == "chaotic" and path.low < chaotic.free_path() < path.high
    assert path.high - path.low < 0.2 * path.value
    # the reciprocal of the number of impacts per second, by its definition
    assert path.value * found["impacts"].value == pytest.approx(1.0, rel=1e-12)


def test_runs_that_separate_late_are_no_independent_sample():
    """An oscillator with a stop: for some seventy periods all members move as one, so that their mean is that of one
    run."""
    period, law = 2 * math.pi / 2.8, Rigid(restitution=0.8, friction=0.0)
    model = Model(name="impact oscillator", silence=["no-gravity"])
    model.add(Ground())
    model.add(PlanarBody("mass", mass=1.0, inertia=1.0, position=(-0.5, 0.0)))
    model.add(Prismatic("rail", "ground", "mass"))
    model.add(Spring("spring", "ground", "mass", stiffness=1.0))
    model.add(Damper("damper", "ground", "mass", at_a=(-10.0, 0.0), damping=0.04))
    model.add(PointForce("drive", "mass", force=TimeVector((Harmonic(1.0, period=period), 0.0))))
    model.add(PointPlane("stop", "ground", "mass", direction=math.pi / 2, contact=law))
    settings = {"measures": ["energy-rate:impacts"], "members": 6, "executor": 1}
    with pytest.raises(InputError, match="is not stationary after 100 windows.*its transient is longer than half"):
        long_run(model, t_end=100 * period, **settings)
    assert long_run(model, t_end=400 * period, **settings).transient > 50


def test_kinetic_energy_of_the_billiard_is_kept(chaotic):
    run = simulate(chaotic.billiard().build(), EventDriven(), t_end=200.0, dt=None)
    # each impact with e = 1 has the round-off of a few operations, and twice that of e where last bits are perturbed
    assert len(run.impacts) > 400
    assert abs(run.energy["kinetic"][-1] / run.energy["kinetic"][0] - 1.0) < 1e-14 * len(run.impacts)


@pytest.mark.slow
def test_losses_agree_with_a_program_that_goes_from_impact_to_impact(chaotic):
    build, arguments, measure, _ = chaotic.CASES["rattle"]
    value, error = chaotic.mean_of(chaotic.table_loss(20_000, 0.0, *chaotic.FAST))
    found = long_run(build(), measures=[measure], members=8, executor=1, **arguments)[measure]
    # five standard errors of the difference: a chance of some 1e-4 for eight members
    half = (found.high - found.low) / 2
    assert abs(found.value - value) < 5.0 * math.hypot(error, half / 2.36) and half < 0.2 * value


def test_a_table_carries_the_weight_of_a_ball_however_that_bounces():
    found = long_run(shaken(3.0, 0.8), t_end=6.0, measures=["mean-force:floor"], members=4, executor=1)
    force = found["mean-force:floor"]
    # the mean of the force differs from m g by the change of momentum over the length of the run alone
    assert force.value == pytest.approx(2.0 * 9.81, rel=0.05)


def test_a_motion_that_repeats_itself_has_an_exact_value():
    # with e = 0 at 1.5 g the ball leaves the table and lands once per period, with the same loss each time
    found = long_run(shaken(1.5, 0.0), t_end=3.0, measures=["energy-rate", "contact-share:floor", "impacts"], members=4,
                     executor=1)  # fmt: skip
    assert found.kind == "periodic"
    assert found["impacts"].value == 1.0 and found["impacts"].low == found["impacts"].high == 1.0
    share = found["contact-share:floor"]
    assert share.sampling == 0.0 and share.high - share.low < 1e-3 * share.value  # the error of steps
    # the ball leaves where the table's acceleration is -g, and lands where the free flight meets the table again
    w, A = 20 * math.pi, 1.5 * 9.81 / (20 * math.pi) ** 2
    leave = math.asin(1 / 1.5) / w
    t = leave + np.linspace(1e-4, 0.1, 100_001)
    flight = A * math.sin(w * leave) + A * w * math.cos(w * leave) * (t - leave) - 9.81 / 2 * (t - leave) ** 2
    land = t[np.argmax(flight < A * np.sin(w * t))]
    assert share.value == pytest.approx(1 - (land - leave) / 0.1, abs=2e-4)  # 1e-6 s of the grid, and steps


def test_spectrum_of_a_billiard_has_the_power_of_its_uniform_density(chaotic):
    found = long_run(chaotic.billiard(), window=5.0, t_end=400.0, measures=["spectrum:disc.x"], members=6, executor=1)
    f, density, low, high = found.spectra["spectrum:disc.x"]
    R = chaotic.RADIUS
    variance = (1 / 12 - math.pi * R**4 / 4) / (1 - math.pi * R**2)
    # the mean of a block takes half a line at the level of the lowest frequencies; of some hundred blocks
    # power is known to 5 %, of which three are allowed
    power = np.sum(density) * f[1] + 0.5 * f[1] * density[1:4].mean()
    assert power == pytest.approx(variance, rel=0.15)
    assert np.all((low < density) & (density < high)) and f[-1] == 32 / 5.0


def test_spectrum_of_a_harmonic_motion_is_one_line():
    # the table moves by A sin(w t), of power A^2 / 2, within three lines of Hann's weights about 10 Hz
    found = long_run(shaken(0.5), t_end=6.4, measures=["spectrum:table.y"], members=4, executor=1)
    f, density, low, high = found.spectra["spectrum:table.y"]
    amplitude = 0.5 * 9.81 / (20 * math.pi) ** 2
    assert np.array_equal(low, density) and np.array_equal(density, high) and f[8] == pytest.approx(10.0, rel=1e-12)
    assert np.sum(density[7:10]) * f[1] == pytest.approx(amplitude**2 / 2, rel=1e-6)
    assert found.plain()["spectra"]["spectrum:table.y"]["density"] == density.tolist()


def test_a_motion_without_clearance_is_exact():
    found = long_run(slider_crank_revolute(ideal=True), t_end=0.12, measures=["mean-force:pin"], members=4, executor=1)
    force = found["mean-force:pin"]
    # each period is the same but for steps: the force turns by 2 pi / 100 within one at most, the length of whose mean
    # vector is less by (2 pi / 100)^2 / 24, 0.02 %
    assert found.kind in ("periodic", "predictable") and force.sampling < 1e-3 * force.value
    assert force.high - force.low < 1e-3 * force.value


@pytest.mark.slow
def test_a_biased_scheme_is_called_biased():
    stepper = MoreauJean()
    found = long_run(slider_crank_revolute(), stepper, dt=1e-5, t_end=1.2, measures=["energy-rate"], members=12)
    rate = found["energy-rate"]
    assert "MoreauJean, ConstantStep(dt=1e-05) is biased: energy-rate" in found.verdict
    # some 45 % above the converged rate, 37 W by event-driven runs of 10^4 periods, six standard errors of so many
    # members; twice the half width of an interval of 95 % is left once in 10^4 seeds
    assert 0.2 < rate.offset[0] < 0.7 and abs(rate.value - 37.0) < rate.high - rate.low
    assert "too large with MoreauJean" in rate.verdict


def test_the_same_seed_gives_the_same_result_and_another_one_another():
    system = slider_crank_revolute().build()
    arguments = {"t_end": 0.36, "measures": ["energy-rate"], "members": 4, "executor": 1}
    a, b, c = (long_run(system, seed=seed, **arguments)["energy-rate"].value for seed in (0, 0, 1))
    assert a == b != c


def test_quantiles_return_levels_and_functions(tmp_path):
    def fastest(run):
        """Largest speed of the slider."""
        return float(np.abs(run.v["slider.x"]).max())

    fastest.unit = "m/s"
    names = ["force-over:pin", "force-over:pin@q0.9", "force-over:pin@sd", "force-over:pin@return=1s", fastest]
    found = long_run(slider_crank_revolute(), t_end=0.24, measures=names, members=4, executor=1)
    mean, tenth, sd, level = (found[name].value for name in names[:4])
    assert mean < tenth < level and sd > 0.0  # of any distribution that is not degenerate
    assert found["fastest"].unit == "m/s" and 20.0 < found["fastest"].value < 60.0  # the ideal slider has 28 m/s
    plain = json.loads(json.dumps(found.plain()))
    low, high = plain["measures"]["force-over:pin"]["interval"]
    assert low < plain["measures"]["force-over:pin"]["estimate"] < high
    assert "force-over:pin@q0.9" in found.summary()
    found.save(tmp_path / "found.nc")
    # the journal is within its clearance circle all the time: shares of time add up to one
    assert found.places["pin"].sum() == pytest.approx(1.0, abs=1e-9)


def test_a_motion_with_an_end_has_means_over_motions_that_begin_alike():
    found = long_run(slider_rod(case=2), t_end=0.01, measures=["energy-rate"], members=4, executor=1)
    assert found.kind == "accurate" and found["energy-rate"].sampling == 0.0


def test_a_motion_with_an_end_begins_with_the_coarsest_steps():
    """Its two step sizes, whose difference is tested, are the first two of chosen steps."""
    found = [steps.dt_max for _, steps in _ladder(six_rss().build(), None, None, 2.0, whole=True)]
    assert found[:2] == [2.0 / 500, 2.0 / 2000]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"measures": ["mean-force:pn"]}, "write mean-force:NAME with a contact or joint of pin"),
        ({"measures": ["energy"]}, 'There is no measure "energy"'),
        ({"measures": ["spectrum:slider"]}, "write spectrum:NAME with a coordinate of"),
        ({"measures": ["spectrum:slider.x@q0.9"]}, '"spectrum:slider.x@q0.9": a spectrum is a mean, of no impacts'),
        ({"measures": ["force-over:pin@max"]}, "a maximum has no long-run value"),
        ({"measures": ["force-over:pin@q2"]}, "the statistic is sd, a quantile"),
        ({"measures": ["peak-force:pin"]}, "the force of a rigid impact is not finite"),
        ({"measures": ["mean:crank.x", "mean:crank.x"]}, "Measures must have different names"),
        ({"measures": "energy-rate"}, "measures must be a list"),
        ({"members": 2}, "members must be a whole number, at least 4"),
        ({"t_end": 0.02}, "give at least 8 of them"),
        ({"window": 1.0, "period": 1.0}, "not both"),
        ({"precision": -1.0}, "precision must be a positive number"),
    ],
)
def test_wrong_arguments_are_named(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        long_run(slider_crank_revolute(), **{"t_end": 0.2, "executor": 1} | arguments)


def test_what_has_no_long_run_value_is_named():
    with pytest.raises(InputError, match='"mean:crank.angle" is not stationary'):
        long_run(slider_crank_revolute(), t_end=0.3, measures=["mean:crank.angle"], members=4, executor=1)
    with pytest.raises(InputError, match="no driver with one period"):
        long_run(slider_rod(case=2), measures=["energy-rate"])


def test_the_transient_of_a_series_is_found():
    random = np.random.default_rng(1)
    noise = random.standard_normal(400)
    assert truncation(noise) == 0
    # a decay over 20 rows from ten standard deviations: it is below one of them from row 46 on
    assert 30 < truncation(noise + 10 * np.exp(-np.arange(400) / 20)) < 120
    # means of 20 values each, repeated, have a twentieth of the independent ones, within the error of 16 batches
    assert 8 < effective(np.repeat(random.standard_normal(20), 20)) < 60


def test_return_levels_of_a_known_distribution():
    # of exponential values the level that is exceeded once in n is ln n, with an error of about 1 / sqrt(blocks)
    values = np.random.default_rng(2).exponential(size=(8, 4000))
    assert return_level(values, 10_000.0) == pytest.approx(math.log(10_000), rel=0.1)


def test_memory_does_not_depend_on_the_number_of_windows():
    values = np.random.default_rng(3).uniform(size=(3 * KEPT + 1, 2))
    kept = Windows(np.zeros((4, 0, 2)))
    for part in np.array_split(values, 30):
        kept = kept.joined(Windows.of(part))
    assert kept.values.shape[1] <= KEPT and kept.size >= 4
    whole = values[: kept.values.shape[1] * kept.size]
    # moments and the largest value of all windows that are kept are theirs; parts may have left out a last one each
    assert kept.values[0].mean(axis=0) == pytest.approx(whole.mean(axis=0), rel=2e-2)
    assert kept.values[2].max() <= values.max()


def test_a_quasi_periodic_motion_is_not_taken_for_chaotic():
    # free vibration at 1 rad/s and forced vibration at sqrt(2): the mean square is (A^2 + B^2) / 2
    w = math.sqrt(2.0)
    model = Model(name="two frequencies", silence=["no-gravity"])
    model.add(Ground())
    model.add(PlanarBody("mass", mass=1.0, inertia=1.0, position=(1.0, 0.0)))
    model.add(Prismatic("rail", "ground", "mass"))
    model.add(Spring("spring", "ground", "mass", stiffness=1.0))
    model.add(PointForce("drive", "mass", force=TimeVector((Harmonic(0.5, period=2 * math.pi / w), 0.0))))

    def mean_square(run):
        """Mean of the square of the displacement."""
        x, t = run.q["mass.x"], run.t
        return float(np.sum(np.diff(t) * (x[1:] ** 2 + x[:-1] ** 2) / 2) / (t[-1] - t[0]))

    found = long_run(model, t_end=64 * 2 * math.pi / w, measures=[mean_square], members=4, executor=1)
    # x = cos t + b (sin w t - w sin t) with b = F / (1 - w^2) = -F
    expected = (1.0 + (0.5 * w) ** 2 + 0.5**2) / 2
    square = found["mean_square"]
    # of 64 periods the mean still differs by about one over the number of radians of the beat, 560
    assert found.kind == "predictable" and square.value == pytest.approx(expected, rel=0.02)
    assert square.high - square.low < 0.05 * expected


def test_after_ctrl_c_the_statistics_of_shorter_runs_are_kept(monkeypatch):
    advance, calls = _Runs.advance, []

    def interrupted(runs, windows, members):
        calls.append(windows)
        advance(runs, windows, members)
        if len(calls) == 2:
            raise KeyboardInterrupt

    settings = {"measures": ["energy-rate"], "members": 4, "executor": 1}
    monkeypatch.setattr(_Runs, "advance", interrupted)
    with pytest.raises(
        Interrupted, match="Interrupted on the way to 128 windows of each run; .* is of 64 windows"
    ) as told:
        long_run(shaken(4.0, 0.8), precision=1e-6, max_seconds=60.0, **settings)
    kept = told.value.result
    assert calls == [64, 128] and kept.windows == 64 and kept["energy-rate"].low < kept["energy-rate"].high
