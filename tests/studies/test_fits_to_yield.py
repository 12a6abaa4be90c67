"""From fits to yield: sensitivities, probabilities of failure and allocation, all against exact ones."""

from __future__ import annotations

import gc
import itertools
import json
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from loops import some
from scipy.integrate import quad
from scipy.stats import norm

from nonsmooth import (
    Fit,
    GaussQP,
    Gravity,
    Ground,
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PrescribedMotion,
    Prismatic,
    PrismaticClearance,
    Ramp,
    Revolute,
    RevoluteClearance,
    Rigid,
    SpatialBody,
    SphericalClearance,
    Toleranced,
    plots,
    read_model,
)
from nonsmooth.cli import main
from nonsmooth.cli.values import distribution_of
from nonsmooth.exceptions import InputError, ModelWarning
from nonsmooth.studies import Kinematics, allocate, failure_probability, sample, tolerance
from nonsmooth.studies.failure import METHODS
from nonsmooth.studies.sweep import Runs

ROOT = Path(__file__).resolve().parents[2]
SMOOTH = Rigid(restitution=0.0, friction=0.0)
#: slider-crank of 50 and 120 mm at 45 degrees: position [m] and its derivatives, exact
X, DR, DL = 0.150028788471, 0.489096421, 1.046449728
CRANK, ROD = Toleranced(0.05, 2e-5), Toleranced(0.12, 3e-5)
PIN = Fit(20e-3, "H7", "g6", distribution="uniform")
POSE = {"crank.angle": np.pi / 4}


def crank(clearance="20 H7/g6 uniform", r="0.025 ±2e-5", rod="0.06 ±3e-5", **more):
    """Parts of half the lengths, whose other halves are exact."""
    return Model([
        Ground(), PlanarBody("crank", 0.3, 1e-4, position=(0.025, 0.0), **more),
        PlanarBody("rod", 0.21, 2.5e-4, position=(0.11, 0.0)), PlanarBody("slider", 0.14, 1e-4, position=(0.17, 0.0)),
        Revolute("shaft", "ground", "crank", at_b=(-0.025, 0.0)),
        Revolute("knee", "crank", "rod", at_a=(r, 0.0), at_b=(-0.06, 0.0)),
        RevoluteClearance("pin", "rod", "slider", at_a=(rod, 0.0), clearance=clearance, contact=SMOOTH),
        Prismatic("guide", "ground", "slider"), PointForce("load", "slider", force=(20.0, 0.0)),
    ])  # fmt: skip


def linear(case):
    """The deviation to first order, with its inputs: without clearance, its direction uniform, or loaded one way."""
    inputs = {"r": CRANK, "l": ROD}
    if case == "none":
        return lambda x: DR * (x[:, 0] - 0.05) + DL * (x[:, 1] - 0.12), inputs
    if case == "loaded":
        return lambda x: DR * (x[:, 0] - 0.05) + DL * (x[:, 1] - 0.12) + x[:, 2], inputs | {"c": PIN}
    random = {"pin.direction_1": norm(), "pin.direction_2": norm()}

    def of(x):
        return DR * (x[:, 0] - 0.05) + DL * (x[:, 1] - 0.12) + x[:, 2] * np.cos(np.arctan2(x[:, 4], x[:, 3]))

    return of, inputs | {"c": PIN} | random


#: probability that the deviation exceeds the limit [m], by quadrature, to the digits given
EXACT = {
    2e-5: {"none": 6.80467969e-2, "uniform": 1.63800123e-1, "loaded": 2.57198720e-1},
    3e-5: {"none": 6.19937754e-3, "uniform": 3.38924086e-2, "loaded": 6.73356345e-2},
    4e-5: {"none": 2.62860093e-4, "uniform": 3.98873053e-3, "loaded": 9.63220779e-3},
    5e-5: {"none": 5.07309625e-6, "uniform": 2.48231581e-4, "loaded": 7.01445624e-4},
}


def test_sensitivities_are_those_of_the_closed_form():
    """To the digits printed; dx/dc = 1 for contact along the guide; bands as by hand."""
    found = Kinematics(crank(), "slider.x", pose=POSE, directions={"pin": 0.0})
    assert found.nominal[0] == pytest.approx(X, abs=1e-12)
    s = {name: float(one[0]) for name, one in found.sensitivities.items()}
    assert s == pytest.approx({"knee.at_a_x": DR, "pin.at_a_x": DL, "pin.clearance": 1.0}, abs=1e-9)
    exact = Kinematics(crank(clearance=1e-9), "slider.x", pose=POSE, directions={"pin": 0.0}).bands()
    assert exact["rss"] == pytest.approx(3.2882e-5, abs=1e-9) and exact["worst"] == pytest.approx(4.1175e-5, abs=1e-9)
    assert found.bands()["worst"] == pytest.approx(4.1175e-5 + 20.5e-6, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("case", ["none", "loaded", "uniform"])
def test_mechanism_against_exact_probabilities(case):
    """By closing the joints of 100 000 products, within five standard errors: the linear function errs by 1e-4 of sd.

    A clearance vector of uniform direction has the amplitude dx/dl c here, not c: the rod turns as well.
    """
    clearance, direction = 1e-12 if case == "none" else "20 H7/g6 uniform", "any" if case == "uniform" else 0.0
    kinematics = Kinematics(crank(clearance=clearance), "slider.x", pose=POSE, directions={"pin": direction})
    found = np.abs(
        kinematics.deviations(
            list(kinematics.inputs), sample(kinematics.inputs, 100_000, method="random", seed=5).values
        )
    )
    sd = np.hypot(DR * CRANK.sd, DL * ROD.sd)
    psi, c = np.meshgrid((np.arange(400) + 0.5) / 400 * 2 * np.pi, 3.5e-6 + 17e-6 * (np.arange(400) + 0.5) / 400)
    for limit, exact in EXACT.items():
        exact = exact[case]
        if case == "uniform":
            exact = float(np.mean(norm.sf((limit - DL * c * np.cos(psi)) / sd) * 2))
        assert np.mean(found > limit) == pytest.approx(exact, abs=5 * np.sqrt(exact / 100_000) + 1e-6), limit


def test_linearised_products_deviate_by_terms_of_second_order():
    kinematics = Kinematics(crank(), "slider.x", pose=POSE, directions={"pin": "any"})
    names, values = list(kinematics.inputs), sample(kinematics.inputs, 500, method="random", seed=1).values
    closed, first = kinematics.deviations(names, values), kinematics.linearised(names, values)
    assert np.max(np.abs(closed - first)) < 1e-3 * np.max(np.abs(closed)) and np.std(closed) > 1e-5


@pytest.mark.parametrize("case", some(["none", "uniform", "loaded"], 3))
@pytest.mark.parametrize("limit", [2e-5, 3e-5])
def test_monte_carlo_within_its_own_bounds(case, limit):
    """Bounds of 99 % hold for at least 96 of the seeds 0 to 99: fewer with a probability of 0.4 % at most."""
    function, inputs = linear(case)
    results = [failure_probability(function, inputs, limit, two_sided=True, runs=10_000, seed=k) for k in range(100)]
    assert sum(one.low <= EXACT[limit][case] <= one.high for one in results) >= 96
    assert len({one.probability for one in results}) > 20


@pytest.mark.parametrize("limit", EXACT)
def test_form_is_exact_for_planes(limit):
    """Normal dimensions and a linear deviation: to the nine digits of the exact value."""
    pytest.importorskip("openturns")
    found = failure_probability(*linear("none"), limit, two_sided=True, method="form")
    assert found.probability == pytest.approx(EXACT[limit]["none"], rel=2e-8)


def test_form_is_not_exact_for_clearance_vectors():
    """Of a vector of given length the components are dependent: the method takes the worst direction for all."""
    pytest.importorskip("openturns")
    for case, least, most in (("loaded", 0.01, 0.5), ("uniform", 2.0, 10.0)):
        found = failure_probability(*linear(case), 5e-5, two_sided=True, method="form")
        assert least < found.probability / EXACT[5e-5][case] - 1.0 < most


@pytest.mark.slow
@pytest.mark.parametrize("case", ["none", "uniform", "loaded"])
@pytest.mark.parametrize("method", ["importance", "subset"])
def test_rare_failures(method, case):
    """One in a million to one in a thousand: within 5 or 50 %, and within their own bounds of 99 % for every seed."""
    pytest.importorskip("openturns")
    runs, within = {"importance": (30_000, 0.05), "subset": (10_000, 0.5)}[method]  # some three standard deviations
    for seed in range(8):
        found = failure_probability(*linear(case), 5e-5, two_sided=True, method=method, runs=runs, seed=seed)
        assert found.probability == pytest.approx(EXACT[5e-5][case], rel=within)
        assert found.low < EXACT[5e-5][case] < found.high and found.evaluations < 7 * runs
    assert METHODS == ("monte-carlo", "form", "importance", "subset")


def test_what_never_fails_may_have_no_probability():
    """Subsets come nearer to the limit without reaching it: zero is within the bounds."""
    pytest.importorskip("openturns")
    found = failure_probability(lambda x: x[:, 0], {"a": (0.0, 1.0)}, 2.0, method="subset", runs=1000)
    assert found.low == 0.0 < found.high < 1e-6


@pytest.mark.slow
def test_nothing_is_kept_of_the_products():
    """Python's numbers and lists after some 100 000 products, of which OpenTURNS kept each."""
    pytest.importorskip("openturns")
    kept = []
    for _ in range(2):
        failure_probability(*linear("loaded"), 5e-5, two_sided=True, method="subset", runs=20_000)
        gc.collect()
        kept.append(sys.getallocatedblocks())
    assert kept[1] - kept[0] < 10_000


def test_directions_of_loads():
    """A rod that hangs on its pin rests on the lower side of the bearing; a ball likewise in space; a slide below."""
    rod = Model([
        Ground(), PlanarBody("rod", 1.0, 1e-3, position=(0.0, -0.1)), Gravity(acceleration=(0.0, -9.81)),
        RevoluteClearance("pin", "ground", "rod", at_b=(0.0, 0.1), clearance="20 H7/g6", contact=SMOOTH),
    ])  # fmt: skip
    down = Kinematics(rod, "rod.y", pose={"rod.angle": 0.0})
    assert down.sensitivities["pin.clearance"] == pytest.approx([-1.0], abs=1e-9)
    assert down.deviations(["pin.clearance"], [[2e-5], [1e-5], [-1e-6]])[:, 0] == pytest.approx(
        [-2e-5, -1e-5, np.nan], abs=1e-12, nan_ok=True
    )
    slide = Model([
        Ground(), PlanarBody("slide", 1.0, 1e-3), Gravity(acceleration=(0.0, -9.81)),
        PrismaticClearance("guide", "ground", "slide", length=0.1, clearance="40 H8/f7", contact=SMOOTH),
    ])  # fmt: skip
    found = Kinematics(slide, "slide.y", pose={"slide.x": 0.05})
    assert found.sensitivities["guide.clearance"] == pytest.approx([-1.0], abs=1e-9)
    ball = Model([
        Ground(), SpatialBody("bob", 1.0, (1e-3, 1e-3, 1e-3), position=(0.0, 0.0, -0.1)),
        SphericalClearance("ball", "ground", "bob", at_a=(0.0, 0.0, 0.0), at_b=(0.0, 0.0, 0.1), clearance=1e-5,
                           contact=SMOOTH), Gravity(acceleration=(0.0, 0.0, -9.81)),
    ])  # fmt: skip
    held = {"bob.qx": 0.0, "bob.qy": 0.0, "bob.qz": 0.0}
    assert Kinematics(ball, "bob.z", pose=held).deviations(["ball.clearance"], [[3e-5]])[0, 0] == pytest.approx(-3e-5)
    random = Kinematics(ball, "bob.z", pose=held, directions={"ball": "any"})
    values = np.abs(
        random.deviations(list(random.inputs), sample(random.inputs, 4000, method="random", seed=0).values)[:, 0]
    )
    assert np.mean(values) == pytest.approx(0.5e-5, rel=0.05)  # heights of points of a sphere are uniform


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "still has 1 degrees of freedom"),
        ({"pose": {"crnk.angle": 1.0}}, "Did you mean crank.angle"),
        ({"pose": POSE, "directions": {"pn": 0.0}}, "no joint with clearance 'pn'; there are pin"),
        ({"pose": POSE, "directions": {"pin": "up"}}, 'takes "load", "any" or an angle'),
        ({"pose": POSE, "t": 1.0}, "a pose or times, not both"),
        ({"pose": {"crank.angle": "45 mm"}}, '"45 mm" is of another dimension than rad'),
        ({"pose": POSE, "directions": {"pin": "3 mm"}}, 'directions: "pin" "3 mm" is of another dimension than rad'),
        ({"pose": {"slider.x": 1.0}}, "joints cannot be closed at slider.x"),
    ],
)
def test_mistakes_of_kinematics(options, message):
    with pytest.raises(InputError, match=message):
        Kinematics(crank(), "slider.x", **options)


def test_a_pose_in_degrees_is_said_or_doubted():
    by_words = Kinematics(crank(), "slider.x", pose={"crank.angle": "45 deg"}, directions={"pin": "30 deg"})
    plain = Kinematics(crank(), "slider.x", pose=POSE, directions={"pin": np.pi / 6})
    assert by_words.nominal == plain.nominal
    assert by_words.derivative("pin.clearance") == pytest.approx(plain.derivative("pin.clearance"), rel=1e-14)
    with pytest.warns(ModelWarning, match='crank.angle is 45 rad, more than a turn; is it "45 deg"'):
        Kinematics(crank(), "slider.x", pose={"crank.angle": 45.0})


def test_a_deviation_is_a_distance():
    for level in ({"level": "kinematic", "pose": POSE}, {"t_end": 1e-3}):
        with pytest.raises(InputError, match="limit of deviation:slider.x must be positive, .* got -4e-05"):
            tolerance(crank(), None, "deviation:slider.x", limit=-4e-5, **level)


def test_a_limit_may_have_its_unit():
    given = {"level": "kinematic", "pose": POSE, "directions": {"pin": 0.0}, "runs": 100}
    assert tolerance(crank(), None, "deviation:slider.x", limit="30 um", **given).limit == pytest.approx(
        3e-5, rel=1e-15
    )
    with pytest.raises(InputError, match="limit .*30 kg"):
        tolerance(crank(), None, "deviation:slider.x", limit="30 kg", **given)


def test_yield_at_the_kinematic_level(tmp_path):
    """Against the exact share; quantiles and shares of the variance to first order; figure and dataset."""
    pytest.importorskip("SALib")
    found = tolerance(
        crank(), None, "deviation:slider.x", limit=3e-5, level="kinematic", pose=POSE, directions={"pin": 0.0},
        runs=20_000, confidence=0.99, sensitivity=True,
    )  # fmt: skip
    share, low, high = found.yield_at()
    assert low < 1.0 - EXACT[3e-5]["loaded"] < high and high - low < 0.02
    assert share == pytest.approx(1.0 - EXACT[3e-5]["loaded"], abs=0.006)
    sd = np.hypot(DR * CRANK.sd, DL * ROD.sd)

    def below(x):
        return quad(lambda c: norm.cdf((x - c) / sd) - norm.cdf((-x - c) / sd), 3.5e-6, 20.5e-6)[0] / 17e-6

    middle = found.quantile(0.95)
    assert below(middle.low) < 0.95 < below(middle.high) and below(middle.value) == pytest.approx(0.95, abs=0.006)
    assert found.shares is not None and found.shares["total"].values.argmax() == 2  # the rod
    assert found.statement.startswith(f"{100 * share:.4g} % of 20000 products keep deviation:slider.x within 3e-05 m")
    figure = plots.tolerance(found)
    figure.canvas.draw()
    for axis in figure.axes[:2]:  # the limit ends below what is written
        (limit,) = [line for line in axis.lines if line.get_label().startswith("limit")]
        assert limit.get_window_extent().y1 <= axis.get_legend().get_window_extent().y0
    assert [axis.get_title(loc="left") for axis in figure.axes] == [
        f"Yield {100 * share:.4g} %", "On normal probability paper", "Where the spread comes from",
    ]  # fmt: skip
    found.save(tmp_path / "yield.nc")


@pytest.mark.slow
def test_products_that_are_not_accurate_are_bounds():
    """A pin that is pressed: accurate, and where the static load points but for inertia; with drift all are bounds."""
    model = crank(r=0.025, rod=0.06, angular_velocity=6.0)
    model.add(PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=Ramp(6.0)))
    system = model.build(assemble=model.ideal().assemble())
    common = {"limit": 1.2e-5, "t_end": 0.2, "verdict": True, "runs": 60, "executor": 1}
    good = tolerance(system, GaussQP(), "deviation:slider.x", dt=0.005, **common)
    pressed = Kinematics(system, "slider.x", t=0.2).deviations(["pin.clearance"], good.inputs[0])[:, 0]
    assert good.outputs[0] == pytest.approx(pressed, abs=2e-7) and not good.unsure.any()
    assert good.yield_at()[0] == pytest.approx(np.mean(pressed <= 1.2e-5), abs=0.05)
    bad = tolerance(system, MoreauJean(), "deviation:slider.x", dt=0.005, **common)
    assert bad.unsure.mean() > 0.9 and bad.yield_at()[1] < 0.1 and bad.yield_at()[2] > 0.9
    assert "are not accurate to 1 % of the limit, and count as bounds" in bad.statement


def test_dimensions_scatter_at_the_dynamic_level():
    """Each product starts with its joints closed; a slow crank gives what the kinematic level gives, to 1e-7 m."""
    model = crank(angular_velocity=1.0)
    model.add(PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=Ramp(1.0)))
    system = model.build(assemble=model.ideal().assemble())
    run = tolerance(
        system, GaussQP(), "deviation:slider.x", limit=5e-5, t_end=0.1, dt=0.005, runs=59, executor=1
    )  # fmt: skip
    kinematics = Kinematics(system, "slider.x", t=0.1, directions={"pin": 0.0})
    assert np.abs(kinematics.deviations(run.names, run.inputs[0]))[:, 0] == pytest.approx(run.outputs[0], abs=1e-7)
    assert np.std(run.outputs) > 5e-6


def test_products_of_other_lengths_form_a_batch():
    """Bitwise the single runs; one whose joints cannot be closed, 1 m away, fails alone."""
    model = crank(angular_velocity=1.0)
    model.add(PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=Ramp(1.0)))
    system = model.build(assemble=model.ideal().assemble())
    runs = Runs(system, ("knee.at_a_y", "pin.clearance"), GaussQP(), 0.005, 0.1, ["final:slider.x", "gap-violation"])
    rows = np.array([[0.0, 1e-5], [1.0, 1e-5], [1e-5, 2e-5]])
    batch, single = runs.batch(rows, 2), [runs.outcome(row) for row in rows]
    assert batch is not None and [bool(one.message) for one in batch] == [False, True, False]
    assert batch[1].message == single[1].message and "cannot be assembled" in batch[1].message
    for k in (0, 2):
        assert batch[k].values.keys() == single[k].values.keys()
        assert all(batch[k].values[name] == value for name, value in single[k].values.items())


def two_bars():
    """A slider-crank in line, whose lengths add up: sensitivities 1 and 1."""
    return crank(clearance=1e-12), {"pose": {"crank.angle": 0.0}, "directions": {"pin": 0.0}}


def four_bar():
    """A parallel crank mechanism with its coupler's end as output."""
    bodies = [PlanarBody(name, 1.0, 1e-3, position=at) for name, at in
              (("crank", (0.0, 0.05)), ("coupler", (0.1, 0.1)), ("rocker", (0.2, 0.05)))]  # fmt: skip
    return Model([
        Ground(), *bodies, Revolute("a", "ground", "crank", at_b=(0.0, "-0.05 ±2e-5")),
        Revolute("b", "crank", "coupler", at_a=(0.0, 0.05), at_b=("-0.1 ±2e-5", 0.0)),
        RevoluteClearance("c", "coupler", "rocker", at_a=(0.1, 0.0), at_b=(0.0, 0.05), clearance="20 H7/g6",
                          contact=SMOOTH),
        Revolute("d", "ground", "rocker", at_a=(0.2, 0.0), at_b=(0.0, -0.05)), Gravity(acceleration=(0.0, -9.81)),
    ]), {"pose": {"crank.angle": 0.3}}  # fmt: skip


MECHANISMS = {
    "slider-crank": (lambda: (crank(clearance=1e-12), {"pose": POSE, "directions": {"pin": 0.0}}), "slider.x",
                     {"knee.at_a_x": 2.0, "pin.at_a_x": 3.0}),
    "in line": (two_bars, "slider.x", {"knee.at_a_x": 1.0, "pin.at_a_x": 8.0}),
    "four-bar": (four_bar, "coupler.x", {"a.at_b_y": 1.0, "b.at_b_x": 2.0}),
}  # fmt: skip


@pytest.mark.parametrize("exponent", [1.0, 2.0])
@pytest.mark.parametrize("name", some(MECHANISMS, 5))
def test_allocation_is_the_closed_form(name, exponent):
    """t_i ~ (a_i / s_i^2)^(1/(k+2)) to 1e-6, the limit used up, and the stated yield confirmed by 10 000 products."""
    make, coordinate, a = MECHANISMS[name]
    model, options = make()
    found = allocate(
        model, 5e-5, metric=f"deviation:{coordinate}", cost={k: (x, exponent) for k, x in a.items()}, **options
    )
    s = {k: float(x[0]) for k, x in Kinematics(model, coordinate, **options).sensitivities.items()}
    t = {k: one.upper - one.middle for k, one in found.tolerances.items()}
    (i, j), law = list(a), lambda k: (a[k] / s[k] ** 2) ** (1.0 / (exponent + 2.0))
    assert t[i] / t[j] == pytest.approx(law(i) / law(j), rel=1e-6)
    assert found.cost == pytest.approx(sum(a[k] / t[k] ** exponent for k in a), rel=1e-9)
    assert found.expected == pytest.approx(0.9973, abs=1e-9)
    assert found.verified.products == 10_000 and found.verified.yield_at()[1] < 0.9973 < found.verified.yield_at()[2]


@pytest.mark.parametrize("name", some(MECHANISMS, 3))
def test_allocation_by_grades_is_the_cheapest_combination(name):
    """Each cheaper combination is refused, since its yield is too small; the stated yield holds for 10 000 products."""
    make, coordinate, a = MECHANISMS[name]
    model, options = make()
    options["metric"] = f"deviation:{coordinate}"
    grades = {f"IT{grade}": price for grade, price in ((5, 11.0), (6, 7.0), (7, 4.0), (8, 2.0), (9, 1.0))}
    found = allocate(model, 2e-5, cost={key: dict(grades) for key in a}, **options)
    assert found.verified.yield_at()[2] >= 0.9973 <= found.expected
    (first, second), cheaper = a, 0
    for one, other in itertools.product(grades, grades):
        if grades[one] + grades[other] < found.cost:
            cheaper += 1
            with pytest.raises(InputError, match="No choice keeps the deviation"):
                cost = {first: {one: grades[one]}, second: {other: grades[other]}}
                allocate(model, 2e-5, cost=cost, **options)
    assert cheaper >= 3


def test_tolerances_take_units():
    """The same products, however a tolerance is written, in Python and on the command line."""
    knee = crank().build().parameters["knee.at_a_x"]
    options = {"level": "kinematic", "pose": POSE, "directions": {"pin": 0.0}, "runs": 60}
    for texts, number in (
        (("±25 um", f"{1e3 * knee:.12g} ±0.025 mm", f"{1e3 * knee:.12g} mm ±25 µm"), Toleranced(knee, 2.5e-5)),
        ((("10 mm", "11 mm"), ("10 mm", 0.011)), (0.01, 0.011)),
    ):
        found = [
            tolerance(crank(), None, "deviation:slider.x", limit=5e-5, others={"knee.at_a_x": one}, **options).outputs
            for one in (number, *texts)
        ]
        assert all(np.allclose(one, found[0], rtol=1e-9, atol=0.0) for one in found)  # of inputs to round-off
    assert distribution_of("--sample", "120 ±0.03 mm", lambda: "m").text == "0.12 ±3e-05"
    cost = {"knee.at_a_x": {"±10 um": 9.0, "±20 um": 5.0}}
    found = allocate(crank(), "50 um", metric="deviation:slider.x", cost=cost, pose=POSE, directions={"pin": 0.0})
    assert found.tolerances["knee.at_a_x"].tolerance == pytest.approx(2e-5, rel=1e-12)
    with pytest.raises(InputError, match="of another dimension"):
        tolerance(crank(), None, "deviation:slider.x", limit=5e-5, others={"knee.at_a_x": ("1 kg", 2.0)}, **options)


@pytest.mark.slow
def test_allocation_of_fits_and_of_several_poses():
    options = {"metric": "deviation:slider.x", "directions": {"pin": 0.0}}
    cost = {"knee.at_a_x": 2e-5, "pin.at_a_x": {"IT6": 9.0, "IT7": 6.0, "IT8": 4.0},
            "pin.clearance": {"20 H7/g6": 5.0, "20 H8/f7": 3.0, "20 H9/d9": 2.0}}  # fmt: skip
    found = allocate(crank(), 5e-5, cost=cost, pose=POSE, **options)
    assert found.tolerances["pin.clearance"].text == "20 H8/f7" and found.shift == pytest.approx(23.5e-6)
    several = allocate(crank(), 5e-5, cost={"knee.at_a_x": 2e-5, "pin.at_a_x": 3e-5},
                       pose={"crank.angle": np.linspace(0.3, 6.0, 8)}, **options)  # fmt: skip
    assert several.verified.yield_at()[2] >= 0.9973
    for wrong, message in (
        ({"pin.clearance": 1.0}, "is a clearance, which takes costs of fits"),
        ({"pin.clearance": {"20 H9/d9": 1.0}}, "No choice keeps the deviation within 5e-05"),
        ({"pin.at_a_x": {"20 H7/g6": 1.0}}, "takes a grade or a tolerance"),
        ({"pin.at_a_x": -1.0}, "takes a > 0"),
        ({"pin.at_a_z": 1.0}, "Did you mean pin.at_a_y"),
    ):
        with pytest.raises(InputError, match=message):
            allocate(crank(), 5e-5, cost=wrong, pose=POSE, **options)


@pytest.mark.slow
def test_the_printed_yield_has_quantiles_failures_bands_and_shares(capsys):
    """Three dimensions vary, of which the worst case adds the magnitudes: it is more than the root of the squares."""
    pytest.importorskip("SALib")
    file = str(ROOT / "docs" / "examples" / "slider_crank_fit.toml")
    words = ["study", "tolerance", file, "--metric", "deviation:slider.x", "--level", "kinematic", "--limit", "4e-5"]
    words += ["--pose", "crank.angle=45 deg", "--runs", "200", "--sensitivity", "--failure", "monte-carlo"]
    assert main(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "quantile of deviation:slider.x" in shown and "probability of failure method beta" in shown
    bands = re.search(
        r"to first order: root sum of squares ±(\S+) m \(3 sigma about the mean\), worst case ±(\S+) m", shown
    )
    assert bands is not None and 1e-5 < float(bands[1]) < float(bands[2]) < 1e-4
    assert "share of the output's variance" in shown and shown.count("pin.clearance") >= 1


def test_products_beyond_the_worst_case_are_counted(capsys):
    """Of one normal dimension with limits at 3 sd: 0.27 % of 4000 products; of 60 none."""
    file = str(ROOT / "docs" / "examples" / "slider_crank_fit.toml")
    words = ["study", "tolerance", file, "--metric", "deviation:slider.x", "--level", "kinematic", "--limit", "0.04mm"]
    words += ["--pose", "crank.angle=45 deg", "--sample", "knee.at_a_x=0.025 ±2e-5", "--set", "pin.clearance=1e-9"]
    assert main([*words, "--runs", "4000"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    found = re.search(r"at a limit; beyond it: (\d+) of 4000 products, since normal distributions", shown)
    assert found is not None and 3 <= int(found[1]) <= 22
    assert "(3 sigma about the mean), worst case ±" in shown and "about the nominal with all fits" in shown
    assert main([*words, "--runs", "60"]) == 0
    assert "dimensions at a limit" in (shown := " ".join(capsys.readouterr().out.split()))
    assert "beyond it" not in shown and "within 4e-05 m" in shown


@pytest.mark.slow
def test_one_command_from_a_file(tmp_path, capsys):
    """The example: limits, yield, shares and figure; both levels agree about a pin that is pressed outwards."""
    pytest.importorskip("SALib")
    file = str(ROOT / "docs" / "examples" / "slider_crank_fit.toml")
    assert read_model(file).build().toleranced()["pin.clearance"].text == "20 H7/g6"
    words = ["study", "tolerance", file, "--metric", "deviation:slider.x", "--json"]
    kinematic = ["--level", "kinematic", "--pose", "crank.angle=0.785398", "--limit", "4e-5", "--runs", "2000"]
    more = ["--sensitivity", "--failure", "monte-carlo", "--figure", str(tmp_path / "yield.png")]
    assert main([*words, *kinematic, *more]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["yield"]["low"] < 0.9930 < found["yield"]["high"] and set(found["sensitivity"]) == {
        "knee.at_a_x", "pin.at_a_x", "pin.clearance",
    }  # fmt: skip
    assert found["failures"][0]["low"] < 0.0070 < found["failures"][0]["high"]
    dynamic = [
        "--clearance",
        "pin.clearance=20 H7/g6",
        "--limit",
        "1.4e-5",
        "--runs",
        "60",
        "--verdict",
        "--t-end",
        "0.1",
    ]
    assert main([*words, *dynamic, "--dt", "5e-3", "--executor", "1"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["not_accurate"] == [0] and found["yield"]["low"] < norm.cdf(2 / 2.0582) < found["yield"]["high"]
    assert main([*words[:-1], "--limit", "1", "--level", "kinematic"]) == 0
    assert "root sum of squares" in capsys.readouterr().out
