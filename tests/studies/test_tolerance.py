"""Tolerance studies: the statistics, a mechanism whose answer is known, and a fresh sample."""

from __future__ import annotations

import dataclasses
import json
import sys

import numpy as np
import pytest
import xarray
from matplotlib.text import Text
from scipy import stats

from nonsmooth import GaussQP, MoreauJean, plots
from nonsmooth.cli import main
from nonsmooth.cli.sweep import CHOSEN, GIVEN
from nonsmooth.cli.values import CUT, distribution_of
from nonsmooth.exceptions import InputError
from nonsmooth.studies import sample, sensitivity, sweep, tolerance
from nonsmooth.studies.designs import Design
from nonsmooth.studies.failure import share_bounds
from nonsmooth.studies.outputs import shares
from nonsmooth.studies.tolerance import passing, quantile_bound, share_bound
from nonsmooth_problems import bouncing_ball, slider_crank_translational, slider_rod

#: at rest the slider of case 1 lies a clearance below the axis: the output is the input
RESTING = {
    "stepper": GaussQP(), "metric": "amplitude:slider.y", "limit": 2e-5,
    "clearances": {"guide.clearance": (1e-5, 4e-5)}, "t_end": 5e-3, "dt": 2.5e-4, "executor": 1,
}  # fmt: skip


def test_the_confidence_holds_over_many_studies():
    """Output s u with u uniform: a share 1/s keeps 1. The scale found is too large in at most 5 % of the studies."""
    generator, factors, studies = np.random.default_rng(1), np.array([0.9, 1.0, 1.12, 1.3]), 1000
    wrong = 0
    for _ in range(studies):
        within = generator.binomial(100, np.minimum(1.0, 1.0 / factors))
        passed = passing(np.array([share_bound(k, 100, 0.95) for k in within]), 0.9)
        wrong += passed > 0 and 1.0 / factors[passed - 1] < 0.9
    assert stats.binomtest(wrong, studies, 0.05, alternative="greater").pvalue > 0.01
    assert wrong > 0  # and the bound is not idle


def test_share_and_quantile_say_the_same():
    generator = np.random.default_rng(2)
    for n in (59, 100, 400):
        values = np.sort(generator.normal(size=n))
        for limit in values[-30:]:
            enough = share_bound(int((values <= limit).sum()), n, 0.95) >= 0.95
            assert enough == (quantile_bound(values, 0.95, 0.95) <= limit)


@pytest.fixture(scope="module")
def resting():
    return tolerance(slider_rod, **RESTING, runs=100, factors=[0.4, 0.5, 0.6, 0.7])


def test_a_known_answer(resting):
    """Up to half the distribution no draw exceeds the limit; at 0.6 a fifth does."""
    assert resting.outputs == pytest.approx(resting.inputs[:, :, 0], abs=1e-9)
    assert resting.passed == 2 and resting.largest == {"guide.clearance": pytest.approx(2e-5)}
    assert resting.share[:2].tolist() == [1.0, 1.0] and resting.share[2] == pytest.approx(7 / 9, abs=0.12)
    assert resting.share_bound[0] == pytest.approx(0.05 ** (1 / 100))
    assert resting.statement == (
        "With a confidence of 95 %, at least 95 % of the mechanisms keep amplitude:slider.y within 2e-05 m if made "
        "with guide.clearance up to 2e-05 m, 0.5 times the stated distributions."
    )


def test_a_peak_force_says_that_it_is_without_impacts(resting):
    said = "peak-force:guide.left_lower within 2e-05 N (without impacts, which force-over-1ms includes) if made"
    found = dataclasses.replace(resting, metric="peak-force:guide.left_lower", unit="N")
    assert said in found.statement and "(without impacts, which force-over-1ms includes)" in found.yield_statement
    assert "without impacts" not in dataclasses.replace(resting, metric="force-over-1ms", unit="N").statement


def test_dataset_and_figure(resting, tmp_path):
    resting.save(tmp_path / "tolerance.nc")
    with xarray.open_dataset(tmp_path / "tolerance.nc", engine="h5netcdf") as data:
        assert data.output.dims == ("factor", "run") and data.attrs["result"] == resting.statement
    figure = plots.tolerance(resting)
    figure.canvas.draw()
    assert [axis.get_title(loc="left") for axis in figure.axes] == [
        "Distribution", "Output over the clearance",
    ]  # fmt: skip
    written(figure)


def written(figure):
    """Legends stand between the title and the data, which fill their axes."""
    ends = [axis.bbox.x0 for axis in figure.axes[1:]] + [figure.bbox.x1]
    for axis, end in zip(figure.axes, ends, strict=True):
        (title,) = [one for one in axis.findobj(Text) if one.get_text() and one.get_text() == axis.get_title("left")]
        box, title = axis.get_legend().get_window_extent(), title.get_window_extent()
        assert axis.bbox.y1 <= box.y0 and box.y1 <= title.y0 and box.x1 <= end
        top = max(line.get_ydata().max() for line in axis.lines if line.get_transform() == axis.transData)
        assert top > 0.9 * axis.get_ylim()[1]


@pytest.fixture(scope="module")
def partly_lost():
    """Masses that are negative fail, a tenth of them; all others are within the limit, up to a scale of 0.5."""
    heavy = {"slider.mass": (-1.0, 9.0)}
    return tolerance(slider_rod, **RESTING, others=heavy, runs=100, factors=[0.2, 0.4, 0.7], seed=2)


def test_failed_runs_count_as_neither_within_the_limit_nor_beyond(partly_lost):
    """All runs that end keep the limit at two scales: counted as beyond it, the failed ones denied it at the first."""
    found = partly_lost
    lost = found.inputs[:, :, 1] <= 0
    assert np.array_equal(found.lost, lost) and lost.sum(axis=1).min() > 0
    assert np.isinf(found.outputs[lost]).all() and np.isfinite(found.outputs[~lost]).all()
    assert found.share[:2].tolist() == [1.0, 1.0] and found.failures_at.tolist() == lost.sum(axis=1).tolist()
    ended = 100 - lost.sum(axis=1)
    assert found.share_bound[:2] == pytest.approx([share_bound(int(n), 100, 0.95) for n in ended[:2]])
    assert found.best[:2] == pytest.approx([0.05 ** (1 / 100)] * 2) and found.best[2] < 0.95
    assert found.passed == 0 and found.statement == (
        "Whether, with a confidence of 95 %, 95 % of the mechanisms keep amplitude:slider.y within 2e-05 m cannot be "
        f"said, not even at the smallest scale, 0.2. Of 100 runs at the scale 0.2, {lost[0].sum()} failed: were all "
        "such runs within the limit, guide.clearance up to 1.6e-05 m would be accepted. Mend what made them "
        "fail."
    )
    diverged = dataclasses.replace(found, reason="SimulationFailed: Step 3 failed.")
    assert diverged.statement.endswith("Shorten the steps, or leave them out to have them chosen for each run.")
    low, high = found.medians  # of 100 runs, with the failed ones below and above: ranks among those that ended
    values, count = np.sort(found.outputs[0][~lost[0]]), int(lost[0].sum())
    assert low[0] == pytest.approx(values[49 - count : 51 - count].mean()) and high[0] == values[49:51].mean()
    assert np.isinf(found.bound[0]) and np.isfinite(found.bound_best[0]) and found.bound_best[0] <= values[-1]


def test_yield_leaves_failed_runs_open():
    heavy = {"slider.mass": (-1.0, 9.0)}
    found = tolerance(slider_rod, **RESTING, others=heavy, runs=60, factors=[1.0])
    lost = int(found.failures_at[0])
    share, low, high = found.yield_at()
    within = int((found.outputs[0] <= 2e-5).sum())
    assert 0 < lost and share == pytest.approx(within / (60 - lost))
    assert low == pytest.approx(share_bounds(within, 60, 0.95)[0])
    assert high == pytest.approx(share_bounds(within + lost, 60, 0.95)[1])
    assert f"of {60 - lost} products keep" in found.statement
    assert f"The runs of {lost} of all 60 failed, and count as bounds." in found.statement
    middle = found.quantile(0.5)
    assert np.isfinite(middle.value) and middle.low < middle.value < middle.high
    figure = plots.tolerance(found)
    assert f"{lost} of 60 failed" in figure.axes[0].get_legend().get_title().get_text()
    assert "those that did not fail" in figure.axes[1].get_ylabel()


def test_failed_runs_are_counted_and_the_first_reason_is_given(partly_lost, tmp_path, capsys):
    found, counts = partly_lost, partly_lost.failures_at
    found.save(tmp_path / "lost.nc")
    with xarray.open_dataset(tmp_path / "lost.nc", engine="h5netcdf") as data:
        assert data.failed_runs.values.tolist() == counts.tolist() and data.failed.values.sum() == counts.sum()
        assert data.attrs["failures"] == found.failure_statement
    assert found.failure_statement.startswith(f"{counts.sum()} of 300 runs failed, the first: ModelError: ")
    assert "mass must be a positive number [kg], got -" in found.reason
    assert found.plain()["failed"] == counts.tolist() and found.plain()["reason"] == found.reason
    figure = plots.tolerance(found)
    figure.canvas.draw()
    assert [text.get_text() for text in figure.axes[1].texts] == [f"{count} failed" for count in counts]
    written(figure)
    words = ["slider-rod", "--t-end", "5e-3", "--dt", "2.5e-4", "--metric", "amplitude:slider.y", "--limit", "2e-5"]
    words += ["--clearance", "guide.clearance=1e-5:4e-5", "--sample", "slider.mass=-1:9"]
    assert main(["study", "tolerance", *words, "--factors", "0.2,0.4", "--runs", "60", "--executor", "1"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert " failed within " in told and " of 120 runs failed, the first: ModelError: " in told


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"runs": 58}, "take 59 or more"),
        ({"coverage": 1.0}, "coverage must lie between 0 and 1"),
        ({"factors": [0.5, 0.4]}, "factors must be positive numbers that rise"),
        ({"clearances": {"guide.clearance": stats.norm(1e-5, 1e-6)}}, "has no upper end"),
        ({"clearances": {}}, "at least one clearance"),
        ({"clearances": {"guide.clearance": ("10 kg", "40 um")}}, "is of another dimension than m"),
    ],
)
def test_mistakes(options, message):
    with pytest.raises(InputError, match=message):
        tolerance(slider_rod, **(RESTING | {"runs": 60} | options))


def test_sensitivity():
    """The resting height is the clearance: it causes all of the variance."""
    pytest.importorskip("SALib")
    found = sensitivity(
        slider_rod, GaussQP(), "amplitude:slider.y", {"guide.clearance": (1e-5, 4e-5), "slider.mass": (4.0, 6.0)},
        t_end=5e-3, dt=2.5e-4, executor=1,
    )  # fmt: skip
    assert found["first"].values == pytest.approx([1.0, 0.0], abs=0.1)
    assert found["total"].values == pytest.approx([1.0, 0.0], abs=0.1)


@pytest.mark.slow
def test_sensitivity_to_an_argument_without_default():
    """The mechanism cannot be built before it is drawn; of runs without a number the reason is told."""
    pytest.importorskip("SALib")

    def dropped(height):
        return bouncing_ball(height=height)

    options = {"t_end": 1e-2, "dt": 1e-3, "executor": 1, "base": 32}
    ranges = {"height": (1.0, 2.0), "ball.mass": (1.0, 2.0)}
    found = sensitivity(dropped, MoreauJean(), "final:ball.y", ranges, **options)
    assert found["first"].values == pytest.approx([1.0, 0.0], abs=0.1)
    with pytest.raises(InputError, match=r"There are no variances, since \d+ of \d+ runs gave what is no number\."):
        sensitivity(dropped, MoreauJean(), lambda run: float("nan"), ranges, **options | {"base": 4})


@pytest.mark.parametrize(("steps", "told"), [(["--dt", "2.5e-4"], GIVEN), ([], CHOSEN)], ids=["given", "chosen"])
def test_without_verdict_it_is_said_what_it_would_tell(steps, told, capsys):
    words = ["slider-rod", "--t-end", "1e-3", *steps, "--metric", "amplitude:slider.y", "--limit", "2e-5"]
    words += ["--clearance", "guide.clearance=1e-5:2e-5", "--factors", "1", "--runs", "59", "--executor", "1"]
    assert main(["study", "tolerance", *words]) == 0
    assert told in " ".join(capsys.readouterr().out.split())


def test_a_missing_library_is_told_before_the_runs(monkeypatch):
    monkeypatch.setitem(sys.modules, "SALib", None)
    with pytest.raises(InputError, match=r'needs the extra "sensitivity", pip install'):
        tolerance(slider_rod, **RESTING | {"metric": lambda run: pytest.fail("a run")}, runs=60, sensitivity=True)


def test_a_normal_distribution_of_the_command_line_is_cut_alike_on_both_sides():
    found = distribution_of("--sample slider.mass", "normal:5:0.1")
    assert found.support() == pytest.approx((5 - 0.1 * CUT, 5 + 0.1 * CUT)) and CUT >= 3
    assert found.mean() == pytest.approx(5.0) and found.std() == pytest.approx(0.1, rel=0.02)


@pytest.mark.slow
def test_command_line(tmp_path, capsys):
    pytest.importorskip("SALib")
    words = ["slider-rod", "--t-end", "5e-3", "--dt", "2.5e-4", "--metric", "amplitude:slider.y", "--limit", "2e-5"]
    words += ["--clearance", "guide.clearance=1e-5:4e-5", "--sample", "slider.mass=normal:5:0.1"]
    words += ["--factors", "0.4,0.5,0.6", "--runs", "60", "--sensitivity", "--executor", "1", "--json"]
    files = ["--figure", str(tmp_path / "t.png"), "--output", str(tmp_path / "t.nc")]
    assert main(["study", "tolerance", *words, *files]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["factor"] == 0.5 and facts["largest"]["guide.clearance"] == pytest.approx(2e-5)
    assert facts["sensitivity"]["guide.clearance"][1] == pytest.approx(1.0, abs=0.1)
    assert (tmp_path / "t.png").stat().st_size > 0 and (tmp_path / "t.nc").is_file()


@pytest.mark.slow
def test_the_stated_confidence_holds_on_a_fresh_sample():
    """The slider-crank's worst impulse until 10 ms; the fresh share has a standard error of 0.5 %."""
    clearances = {"guide.clearance": (2e-4, 1e-3)}
    others = {"guide.friction": (0.0, 0.05), "guide.restitution": (0.2, 0.6)}
    settings = {"t_end": 0.01, "dt": 2e-5, "executor": 1}
    found = tolerance(
        slider_crank_translational, MoreauJean(), "peak-impulse", limit=0.03, clearances=clearances, others=others,
        runs=100, factors=np.linspace(0.2, 0.32, 4), seed=1, **settings,
    )  # fmt: skip
    assert 0 < found.passed < len(found.factors) and found.share[-1] < found.coverage
    scale = [found.factors[found.passed - 1], 1.0, 1.0]
    design = Design(found.names, sample(clearances | others, 1000, method="random", seed=987).values * scale)
    fresh = sweep(
        slider_crank_translational, MoreauJean(), design,
        metrics=["peak-impulse"], **settings,
    )  # fmt: skip
    share = float((fresh["peak-impulse"] <= found.limit).mean())
    assert share >= found.share_bound[found.passed - 1] >= found.coverage


@pytest.mark.parametrize("seed", [0, 1])
def test_confidence_of_shares_follows_from_the_seed(seed):
    """SALib takes the seed 0 for none, so that the default gave other intervals in each call."""
    pytest.importorskip("SALib")
    inputs = {"a": (0.0, 1.0), "b": (0.0, 2.0)}
    one, other = (shares(lambda x: x.sum(axis=1), inputs, "sum", base=16, seed=seed) for _ in range(2))
    assert one.identical(other)


def test_steps_too_long_for_the_worst_product_are_told_before_the_statement(monkeypatch, capsys):
    """A ball that bounces in steps of 50 ms ends elsewhere than in steps of 1 us, which agree with chosen ones."""
    monkeypatch.setattr(sys.modules["nonsmooth.studies.sweep"], "SAMPLED", 1e3)
    words = ["bouncing-ball", "--t-end", "1.0", "--stepper", "moreau-jean", "--executor", "1", "--limit", "1.0"]
    words += ["--metric", "final:ball.y", "--sample", "ball.mass=0.5:1.0", "--runs", "59"]
    told = []
    for dt in ("5e-2", "1e-6"):
        assert main(["study", "tolerance", *words, "--dt", dt]) == 0
        told.append(" ".join(capsys.readouterr().out.split()))
    assert "chosen steps some gave another final:ball.y, as" in told[0].partition("keep final")[0]
    assert "gave another" not in told[1]


def test_products_that_are_sensitive_are_told(monkeypatch, capsys):
    """The yield of motions that round-off decides used to be printed without a word on it."""
    monkeypatch.setattr(sys.modules["nonsmooth.studies.sweep"], "SAMPLED", 1e3)
    words = ["slider-crank-revolute", "--t-end", "0.15", "--stepper", "moreau-jean", "--dt", "1e-4", "--executor", "1"]
    words += ["--metric", "final:slider.x", "--limit", "1.0", "--clearance", "pin.clearance=5e-4:5.1e-4"]
    assert main(["study", "tolerance", *words, "--factors", "1", "--runs", "59", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)["doubt"]
    assert "runs that were repeated with chosen steps" in said and "use nonsmooth study statistics" in said
