"""Sweeps: what they give, what happens to failed runs, and that they go on where they stopped."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import xarray

from nonsmooth import ErrorControl, EventDriven, GaussQP, Landing, MoreauJean, Rigid, plots, read_model, simulate
from nonsmooth.cli import main
from nonsmooth.exceptions import InputError, ModelWarning, SimulationFailed, SolverFailed
from nonsmooth.studies import bifurcation, grid, points, sample, sweep, tolerance
from nonsmooth.studies.designs import described, quantiles
from nonsmooth.studies.files import EveryRunFailed, Outcome, SweepFolder
from nonsmooth.studies.kinematic import Starts
from nonsmooth.studies.sweep import Runs
from nonsmooth.studies.workers import WorkersLost, outcomes
from nonsmooth_problems import bouncing_ball, slider_crank_revolute, slider_rod

#: runs of a sweep that is disturbed
SETS = 150
#: case 2; each run is logged by the one number that tells it from the others
SCRIPT = '''
import os, sys
from nonsmooth import GaussQP
from nonsmooth.studies import sample, sweep
from nonsmooth_problems import slider_rod

LOG = {log!r}

def resting(run):
    """Height at the end."""
    with open(LOG, "a") as log:
        log.write(run.manifest["parameters"]["guide.clearance"]["value"].hex() + "\\n")
    return run.q["slider.y"][-1]

if __name__ == "__main__":
    design = sample({{"guide.clearance": (5e-6, 5e-5), "slider.mass": (4.0, 6.0)}}, {sets}, method="random", seed=3)
    settings = dict(t_end=4e-3, dt=5e-5, metrics=[resting, "peak-impulse"], piece=10, output={output!r})
    sweep(slider_rod, GaussQP(), design, **settings, **{options})
'''

#: a cluster in a process of its own, as a user starts it, until its input ends
CLUSTER = """
import sys
import distributed

if __name__ == "__main__":
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        print(cluster.scheduler_address, *(worker.pid for worker in cluster.workers.values()), flush=True)
        sys.stdin.read()
"""


def small(**options):
    """Two clearances, one of them impossible, with two masses."""
    design = grid({"guide.clearance": [1e-5, -1.0, 2e-5], "slider.mass": [4.0, 5.0]})
    return sweep(
        slider_rod, GaussQP(), design, t_end=2e-3, dt=1e-4, metrics=["peak-impulse", "final:slider.y"], **options
    )  # fmt: skip


def steps_of(run):
    """Number of steps; half the step is too much for it in one of the runs."""
    count = len(run.t) - 1
    if count > 30 and run.manifest["parameters"]["slider.mass"]["value"] == 5.0:
        raise ValueError("too many")
    return float(count)


@pytest.mark.parametrize("metrics", [["final:slider.y", "impulse"], ["final:slider.y", "peak-impulse"]])
def test_runs_with_half_the_step(metrics):
    """As two sweeps, in a batch and one by one; in the wider guide the slider is still in flight at the end."""
    design = grid({"guide.clearance": [1e-5, 4e-5], "slider.mass": [4.0, 5.0]})
    run = {"t_end": 2e-3, "metrics": metrics, "executor": 1}
    both = sweep(slider_rod, GaussQP(), design, dt=1e-4, halved=True, **run)
    for suffix, dt in (("", 1e-4), ("-half", 5e-5)):
        single = sweep(slider_rod, GaussQP(), design, dt=dt, **run)
        for name in metrics:
            assert np.array_equal(both[f"{name}{suffix}"], single[name])
            assert both[f"{name}{suffix}"].attrs["units"] == single[name].attrs["units"]
    assert not np.array_equal(both["final:slider.y"], both["final:slider.y-half"])
    with pytest.raises(InputError, match="half the step takes a constant step"):
        sweep(slider_rod, None, design, halved=True, **run)


def test_one_of_two_steps_may_fail():
    found = sweep(slider_rod, GaussQP(), points({"slider.mass": [4.0, 5.0]}), t_end=2e-3, dt=1e-4,
                  metrics=[steps_of], halved=True, executor=1)  # fmt: skip
    assert found["steps_of"].values.tolist() == [20.0, 20.0] and list(found["status"].values) == ["finished"] * 2
    assert found["steps_of-half"].values[0] == 40.0 and np.isnan(found["steps_of-half"].values[1])


def test_a_grid_is_a_dataset_over_its_parameters():
    found = small(executor=1)
    assert found["final:slider.y"].dims == ("guide.clearance", "slider.mass")
    assert found["guide.clearance"].units == "m" and found["slider.mass"].units == "kg"
    assert found["peak-impulse"].units == "N s" and "largest impulse" in found["peak-impulse"].long_name
    given = {"guide.clearance": 2e-5, "slider.mass": 5.0}
    run = simulate(slider_rod().build(), GaussQP(), t_end=2e-3, dt=1e-4, parameters=given)
    assert found["final:slider.y"].sel(given) == run.q["slider.y"][-1]


def test_failed_runs_are_recorded_with_their_message():
    found = small(executor=1)
    lost = found.sel({"guide.clearance": -1.0})
    assert set(lost.status.values) == {"failed"} and np.isnan(lost["peak-impulse"]).all()
    assert all("clearance must be a positive number" in message for message in lost.message.values)
    assert (found.status == "finished").sum() == 4


def test_a_study_without_a_place_for_the_stepper_says_what_it_takes():
    usual = "stepper may be None, to be chosen"
    with pytest.raises(InputError, match=f"sweep: .*'design'; by place it takes mechanism, stepper, design; {usual}"):
        sweep(slider_rod, grid({"guide.clearance": [1e-5]}), t_end=1e-3, metrics="steps")
    with pytest.raises(InputError, match=f"tolerance: .*'metric'; .* {usual}"):
        tolerance(slider_rod, "deviation:slider.y", limit=1e-5)
    with pytest.raises(InputError, match="bifurcation: .*'values'; by place it takes section, values; by name .*unit"):
        bifurcation(slider_rod)


def test_a_list_and_a_sample_are_datasets_over_the_runs():
    design = points({"slider.mass": [4.0, 5.0, 6.0], "guide.clearance": [1e-5, 2e-5, 3e-5]})
    found = sweep(slider_rod, GaussQP(), design, t_end=1e-3, dt=1e-4, metrics="steps", executor=1)
    assert found["steps"].dims == ("run",) and list(found["slider.mass"].values) == [4.0, 5.0, 6.0]
    design = sample({"slider.mass": (4.0, 6.0)}, 5, method="halton", seed=1)
    assert np.array_equal(design.values, sample({"slider.mass": (4.0, 6.0)}, 5, method="halton", seed=1).values)


def test_arguments_of_the_problem_are_varied_too():
    """The speed of a driven crank: velocities at the start follow, so that the model is built anew."""
    found = sweep(
        slider_crank_revolute, EventDriven(), grid({"crank_speed": [100.0, 200.0]}), t_end=2e-3,
        dt=ErrorControl(1e-6, 1e-8, 1e-6, 1e-3), metrics=["final:crank.angle"], executor=1,
    )  # fmt: skip
    assert found["final:crank.angle"].values == pytest.approx([0.2, 0.4])


def test_what_a_model_silences_is_not_said_of_its_ideal_form():
    """Starts of other parameters are those of the mechanism with ideal joints, which is built anew."""
    model = read_model(Path(__file__).parents[2] / "docs" / "examples" / "slider_crank_fit.toml")
    assert model.silence == ("no-gravity",)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ModelWarning)
        assert "pin.clearance" not in Starts(model.build()).ideal.parameters


def test_own_metrics_and_those_with_several_numbers():
    def bounces(run):
        """Times of impacts."""
        return run.impacts["t"]

    bounces.unit = "s"
    found = sweep(
        bouncing_ball, GaussQP(), points({"height": [0.05, 0.2]}), t_end=0.35, dt=Landing(1e-4, 1e-2), executor=1,
        metrics={"bounces": bounces, "both": lambda run: {"first": run.t[0], "last": run.t[-1]}},
    )  # fmt: skip
    assert found["bounces"].dims == ("run", "bounces_item") and found["bounces"].units == "s"
    count = np.isfinite(found["bounces"].values).sum(axis=1)
    assert count[0] > count[1] and found.sizes["bounces_item"] == count[0]
    assert list(found["both.last"].values) == [0.35, 0.35]


def test_a_sweep_that_stopped_goes_on(tmp_path):
    """An error between two pieces stands for whatever ends the process."""
    path = tmp_path / "sweep.nc"

    def stop(what, share):
        if share >= 0.5:
            raise RuntimeError("no more current")

    with pytest.raises(RuntimeError):
        small(executor=1, piece=1, output=path, progress=stop)
    kept = sorted((tmp_path / "sweep.nc.runs").glob("runs-*.nc"))
    assert not path.exists() and len(kept) == 3
    stamps = {file: file.stat().st_mtime_ns for file in kept}
    shares = []

    def watch(what, share):
        shares.append(share)
        assert all(not file.exists() or file.stat().st_mtime_ns == stamp for file, stamp in stamps.items())

    found = small(executor=1, piece=1, output=path, progress=watch)
    assert shares[0] == 0.5 and shares[-1] == 1.0
    assert found.identical(small(executor=1))
    with xarray.open_dataset(path, engine="h5netcdf") as written:
        assert written.load().equals(found)
    assert [file.name for file in tmp_path.iterdir()] == ["sweep.nc"]
    assert small(executor=1, output=path).equals(found)  # which runs nothing


def test_another_sweep_is_not_overwritten(tmp_path):
    path = tmp_path / "sweep.nc"
    small(executor=1, output=path)
    with pytest.raises(InputError, match="holds another sweep: its dt differs"):
        sweep(
            slider_rod, GaussQP(), grid({"guide.clearance": [1e-5, -1.0, 2e-5], "slider.mass": [4.0, 5.0]}),
            t_end=2e-3, dt=2e-4, metrics=["peak-impulse", "final:slider.y"], output=path, executor=1,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"design": {"guide.clearanc": [1.0]}}, "guide.clearance"),
        ({"design": {"mas": [1.0]}}, "has no argument 'mas'"),
        ({"metrics": "peak-impulses"}, "Did you mean peak-impulse"),
        ({"metrics": "final:slider.z"}, "slider.y"),
        ({"metrics": "impulse:guide"}, "guide.left_lower"),
        ({"metrics": []}, "needs a metric"),
        ({"executor": 0}, "executor must be"),
    ],
)
def test_mistakes_are_found_before_the_first_run(options, message):
    settings = {"design": {"guide.clearance": [1e-5]}, "metrics": "steps", "executor": 1} | options
    design = grid(settings.pop("design"))
    with pytest.raises(InputError, match=message):
        sweep(slider_rod, GaussQP(), design, t_end=1e-3, dt=1e-4, **settings)


def test_distributions():
    assert quantiles("c", (1.0, 3.0), 0.5) == 2.0
    assert quantiles("c", (1e-6, 1e-4, "log"), 0.5) == pytest.approx(1e-5)
    for wrong in ((3.0, 1.0), (0.0, 1.0, "log"), 5.0, "normal"):
        with pytest.raises(InputError, match="a distribution is"):
            quantiles("c", wrong, 0.5)


@pytest.mark.slow
def test_processes_that_die_are_replaced(tmp_path):
    def die_once(path):
        if not os.path.exists(path):
            open(path, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return "survived"

    flag = str(tmp_path / "dead")
    assert dict(outcomes(die_once, [(flag,), (flag,)], executor=2)) == {0: "survived", 1: "survived"}


@pytest.mark.slow
def test_processes_that_always_die():
    def die(number):
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkersLost, match="died 3 times in a row, 2 tasks were left"):
        list(outcomes(die, [(1,), (2,)], executor=2))


def long_sweep(folder, name, **options):
    """The script of the sweep, its output and its log."""
    output, log = folder / f"{name}.nc", folder / f"{name}.log"
    script = folder / f"{name}.py"
    script.write_text(SCRIPT.format(sets=SETS, output=str(output), log=str(log), options=options), encoding="utf-8")
    return script, output, log


def loaded(path):
    with xarray.open_dataset(path, engine="h5netcdf") as dataset:
        return dataset.load()


def logged(path):
    return [float.fromhex(line) for line in path.read_text().split()]


def until_pieces(count, folder, process):
    """Wait for so many pieces of a sweep that runs."""
    deadline = time.monotonic() + 300
    while len(list(folder.glob("runs-*.nc"))) < count:
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The dataset of the sweep in one process."""
    script, output, _ = long_sweep(tmp_path_factory.mktemp("sweep"), "undisturbed", executor=1)
    subprocess.run([sys.executable, str(script)], check=True)
    return loaded(output)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_worker_whose_parent_died_before_it_began_ends():
    """It used to watch only a parent that it had seen: after a SIGKILL at the start workers stayed forever."""
    script = "import time; from nonsmooth.studies.workers import _live_with; _live_with(-1); time.sleep(60)"
    assert subprocess.run([sys.executable, "-c", script], timeout=50).returncode == 1


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_a_sweep_killed_in_the_middle(undisturbed, tmp_path):
    script, output, log = long_sweep(tmp_path, "killed", executor=2)
    folder = output.with_name("killed.nc.runs")
    process = subprocess.Popen([sys.executable, str(script)])
    until_pieces(SETS // 30, folder, process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    time.sleep(3.0)  # the workers see that their parent is gone
    before = logged(log)
    finished = {
        number for path in folder.glob("runs-*.nc") for number in loaded(path).run.values.tolist()
    }  # fmt: skip
    assert SETS // 3 <= len(finished) < SETS
    log.unlink()
    subprocess.run([sys.executable, str(script)], check=True)
    design = sample({"guide.clearance": (5e-6, 5e-5), "slider.mass": (4.0, 6.0)}, SETS, method="random", seed=3)
    again = logged(log)
    values = design.values[:, 0]
    assert sorted(again) == sorted(np.delete(values, sorted(finished)))  # nothing finished is run again
    assert set(before) | set(again) == set(values)
    assert loaded(output).identical(undisturbed)


@pytest.mark.exact("other processes build systems of their own")
@pytest.mark.parametrize("kind", ["threads", "processes", "dask"])
def test_any_executor_gives_the_same(kind):
    """Also with a metric of this file, which the workers cannot import; a batch is taken on this machine alone."""
    if kind == "dask":
        distributed = pytest.importorskip("distributed")
        executor = distributed.Client(processes=False, n_workers=2, dashboard_address=None, set_as_default=False)
    elif kind == "threads":
        executor = ThreadPoolExecutor(2)
    else:
        executor = ProcessPoolExecutor(2, multiprocessing.get_context("spawn"))
    design = grid({"guide.clearance": [1e-5, -1.0, 2e-5, 4e-5]})
    given = {"t_end": 2e-3, "dt": 1e-4, "metrics": {"own": lambda run: run.q["slider.y"][-1]}}
    with executor:
        together = sweep(slider_rod, GaussQP(), design, executor=executor, **given)
    assert together.identical(sweep(slider_rod, GaussQP(), design, executor=1, **given))


def test_an_executor_that_loses_its_workers():
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as executor:
        with pytest.raises(WorkersLost, match="The executor has lost its workers, 2 tasks were left"):
            list(outcomes(lambda number: os.kill(os.getpid(), signal.SIGKILL), [(1,), (2,)], executor=executor))


def test_a_metric_that_raises_leaves_the_others(tmp_path):
    """Also in the file of an interrupted sweep; a run of which all raise has failed."""

    def heavy(run):
        if run.manifest["parameters"]["slider.mass"]["value"] > 4.5:
            raise ValueError("too heavy")
        return 1.0

    given = {"t_end": 2e-3, "dt": 1e-4, "executor": 1}
    design = points({"slider.mass": [4.0, 5.0, -1.0]})
    found = sweep(slider_rod, GaussQP(), design, metrics=[heavy, "steps"], output=tmp_path / "found.nc", **given)
    assert found["status"].values.tolist() == ["finished", "finished", "failed"]
    assert found["message"].values[:2].tolist() == ["", "heavy: ValueError: too heavy"]
    np.testing.assert_array_equal(found["heavy"], [1.0, np.nan, np.nan])
    np.testing.assert_array_equal(found["steps"], [20.0, 20.0, np.nan])
    folder = SweepFolder(tmp_path / "other.nc", {})
    folder.write([0, 1], kept := [Outcome({"steps": np.array(20.0)}, "heavy: no"), Outcome({}, "failed")])
    again = SweepFolder(tmp_path / "other.nc", {}).read()
    assert [one.failed for one in kept] == [again[k].failed for k in (0, 1)] == [False, True]
    assert again[0].message == "heavy: no" and again[0].values["steps"] == 20.0
    alone = sweep(slider_rod, GaussQP(), design, metrics=[heavy], **given)
    assert alone["status"].values.tolist() == ["finished", "failed", "failed"]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_dask_cluster_that_loses_a_worker(undisturbed, tmp_path):
    pytest.importorskip("distributed")
    code = tmp_path / "cluster.py"
    code.write_text(CLUSTER)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, str(code)], stdin=pipe, stdout=pipe, text=True) as cluster:
        scheduler, first, _ = cluster.stdout.readline().split()
        script, output, _ = long_sweep(tmp_path, "cluster", executor=scheduler)
        process = subprocess.Popen([sys.executable, str(script)])
        until_pieces(SETS // 30, output.with_name("cluster.nc.runs"), process)
        os.kill(int(first), signal.SIGKILL)
        assert process.wait(timeout=300) == 0
    assert loaded(output).identical(undisturbed)


def test_a_batch_gives_the_same_to_the_bit():
    design = grid({"guide.clearance": [1e-5, -1.0, 2e-5], "guide.friction": [0.0, 0.1], "slider.mass": [4.0, 5.0]})
    metrics = ["final:slider.y", "final:slider.angle", "impulse", "impulse:guide.left_lower", "gap-violation"]
    runs = Runs(lambda: slider_rod(case=2), design.names, MoreauJean(), 5e-5, 4e-3, [*metrics, "complementarity"])
    good = design.values[design.values[:, 0] > 0]
    batch = runs.batch(good, 2)
    assert batch is not None and runs.batch(design.values, 1) is None
    for row, outcome in zip(good, batch, strict=True):
        alone = runs.outcome(row)
        assert not alone.message and alone.values == outcome.values
    assert [bool(outcome.message) for outcome in runs.outcomes(design.values)] == list(design.values[:, 0] < 0)


def test_a_run_that_fails_in_a_batch_is_the_only_one_that_is_lost(monkeypatch):
    """It used to make all runs of its batch anew, one after the other; that with half the step fails alone here."""
    batch = sys.modules["nonsmooth.run.batch"]

    def uncertain(system, stepper, controls, values, runs, t_end, *, take, **others):
        for i in range(len(controls)):
            for k in runs:
                take(i, k, None)

    def fails_for_light_sliders(system, stepper, *, dt, parameters, **options):
        if parameters["slider.mass"] < 4.5 or parameters["slider.mass"] < 5.5 and dt.dt < 5e-5:
            raise SimulationFailed("too light", trajectory=None, cause=SolverFailed("too light"))
        return simulate(system, stepper, dt=dt, parameters=parameters, **options)

    monkeypatch.setattr(batch, "run_to_ends", uncertain)
    monkeypatch.setattr(batch, "simulate", fails_for_light_sliders)
    system = slider_rod(case=2).build()
    runs = Runs(system, ("slider.mass",), MoreauJean(), 5e-5, 4e-3, ["final:slider.y"], halved=True)
    light, half, whole = runs.outcomes(np.array([[4.0], [5.0], [6.0]]))
    assert light.message == "SimulationFailed: too light" and not light.values
    assert half.values.keys() == {"final:slider.y"} and whole.values.keys() == {"final:slider.y", "final:slider.y-half"}
    assert whole.values["final:slider.y"] == runs.outcome(np.array([6.0])).values["final:slider.y"]


def test_a_batch_is_kept_in_blocks():
    """So that an interruption loses little of slow runs: it used to be one block of up to 2500 runs."""
    said: list[float] = []
    design = grid({"slider.mass": np.linspace(4.0, 6.0, 12)})
    settings = {"t_end": 4e-3, "dt": 5e-5, "metrics": ["final:slider.y"], "executor": 2}
    found = sweep(slider_rod, MoreauJean(), design, **settings, progress=lambda _, share: said.append(share))
    assert said == [0.0, 1 / 12, 9 / 12, 1.0]
    single = sweep(slider_rod, MoreauJean(), design, **settings, piece=1)
    assert found.identical(single)


def test_restitution_and_friction_are_swept(tmp_path):
    contact = Rigid(restitution=0.4, friction=0.0)
    design = grid({"guide.restitution": [0.0, 0.5]})
    found = sweep(
        lambda: slider_rod(case=1, contact=contact), MoreauJean(), design, t_end=4e-3, dt=1e-4,
        metrics=["loss"], executor=1,
    )  # fmt: skip
    assert found.loss.values[0] > 0 and found["guide.restitution"].units == "-"


def test_command_line(tmp_path, capsys):
    path, picture = tmp_path / "sweep.nc", tmp_path / "sweep.png"
    words = ["study", "sweep", "slider-rod", "--case", "2", "--t-end", "4e-3", "--dt-min", "1e-6", "--dt-max", "1e-3"]
    words += ["--grid", "guide.clearance=1e-6:1e-4:5:log", "--metric", "peak-impulse", "--metric", "final:slider.y"]
    words += ["--executor", "1", "--output", str(path), "--figure", str(picture)]
    assert main([*words, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["parameters"]["guide.clearance"] == pytest.approx(list(np.geomspace(1e-6, 1e-4, 5)))
    assert loaded(path)["final:slider.y"].values.tolist() == facts["metrics"]["final:slider.y"]
    assert picture.stat().st_size > 0
    assert main(words) == 0  # the finished sweep is read again
    assert "no run failed" in capsys.readouterr().out


CRANK = ["slider-crank-revolute", "--t-end", "0.15", "--executor", "1"]


def test_runs_that_are_sensitive_are_counted(monkeypatch, capsys):
    """A sweep of motions that round-off decides from 0.05 s on used to be printed like any other one."""
    words = ["study", "sweep", *CRANK, "--grid", "pin.clearance=5e-4,6e-4", "--metric", "final:slider.x"]
    monkeypatch.setattr(sys.modules["nonsmooth.studies.sweep"], "SAMPLED", 1e3)
    assert main(words) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "2 of 2 runs are sensitive before the end, the first from t = 0.0" in told
    assert "use nonsmooth study statistics" in told
    assert main([*words, "--stepper", "moreau-jean", "--dt", "1e-4", "--json"]) == 0  # of which nothing is known
    said = json.loads(capsys.readouterr().out)["doubt"]
    assert said.startswith("2 of 2 runs that were repeated with chosen steps are sensitive before the end")


def test_horizons_are_kept_with_a_sweep(tmp_path):
    design, path = grid({"guide.clearance": [1e-5, 2e-5]}), tmp_path / "sweep.nc"
    found = sweep(slider_rod, None, design, t_end=2e-3, metrics=["impacts"], executor=1, output=path)
    assert np.all(np.isinf(found["valid_until"])) and found["valid_until"].units == "s"
    runs = [Outcome({}, "", "sensitive", 0.5), Outcome()]
    folder = SweepFolder(tmp_path / "other.nc", {})
    folder.write([0, 1], runs)
    assert [one.horizon for one in SweepFolder(tmp_path / "other.nc", {}).read().values()] == [0.5, np.inf]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "A sweep takes one of --grid, --list and --sample, got none"),
        (["--grid", "a=1,2", "--list", "b=1,2"], "got --grid and --list"),
        (["--grid", "guide.clearance"], "write NAME=VALUES"),
        (["--grid", "guide.clearance=1:2"], "write LOW:HIGH:N"),
        (["--grid", "guide.clearance=-1:1:3:log"], "log needs positive bounds"),
        (["--grid", "guide.clearance=a,b"], "'a' is not a finite number"),
        (["--sample", "guide.clearance=2:1"], "a distribution is"),
        (["--sample", "guide.clearance=normal:1:-1"], "a standard deviation is positive"),
        (["--list", "slider.mass=4,5", "--list", "guide.clearance=1e-5"], "as many values of each parameter"),
    ],
)
def test_command_line_refuses(words, message, capsys):
    fixed = ["study", "sweep", "slider-rod", "--t-end", "1e-3", "--dt", "1e-4", "--metric", "steps"]
    assert main([*fixed, *words]) == 2
    assert message in " ".join(capsys.readouterr().err.split())


def test_figures():
    """Lines of one parameter, maps of two, clouds of a sample; failed runs are marked."""
    settings = {"t_end": 2e-3, "dt": 1e-4, "metrics": ["peak-impulse"], "executor": 1}
    line = sweep(slider_rod, GaussQP(), grid({"guide.clearance": [-1.0, 1e-5, 2e-5]}), **settings)
    figure = plots.sweep(line)
    assert [text.get_text() for text in figure.axes[0].get_legend().get_texts()] == ["failed"]
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("clearance of guide [m]", "peak impulse [mN s]")
    two = {"guide.clearance": [1e-5, 2e-5], "slider.mass": [4.0, 5.0]}
    figure = plots.sweep(sweep(slider_rod, GaussQP(), grid(two), **settings))
    assert figure.axes[0].get_title(loc="left") == "Peak impulse [mN s]"
    assert figure.axes[0].get_xlabel() == "clearance of guide [µm]"
    named = settings | {"metrics": lambda run: {"last": float(run.q["slider.y"][-1]), "all": run.q.array[-1]}}
    assert len(plots.sweep(sweep(slider_rod, GaussQP(), grid(two), **named)).axes) == 2  # of numbers, with its scale
    cloud = sample({"guide.clearance": (1e-5, 2e-5), "slider.mass": (4.0, 5.0)}, 30)
    figure = plots.sweep(sweep(slider_rod, GaussQP(), cloud, **settings))
    figure.canvas.draw()
    assert len(figure.axes) == 2
    with pytest.warns(EveryRunFailed, match="all 2 runs of the sweep of slider-rod.* failed, the first: ModelError: "):
        lost = sweep(slider_rod, GaussQP(), grid({"guide.clearance": [-1.0, -2.0]}), **settings)
    with pytest.raises(InputError, match="Every run failed"):
        plots.sweep(lost)


def test_distributions_in_words():
    from scipy import stats

    assert described(stats.norm(1e-5, 1e-6)) == "norm(1e-05, 1e-06)"
    assert described((1e-6, 1e-4, "log")) == "loguniform(1e-06, 1e-04)"
