"""The benchmarks run and report what they promise; their hand-written loops move as the library does."""

import json
import os
import signal
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from nonsmooth import CompliantDae, Dop853, ErrorControl, GaussQP, MoreauJean, simulate
from nonsmooth_problems import (
    chain,
    slider_crank_revolute,
    slider_crank_translational,
    slider_rod,
    spatial_slider_crank,
)

ROOT = Path(__file__).resolve().parents[1]
KEYS = {"ns_per_step", "limit_ratio", "mujoco_ratio", "violation"}

pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="the benchmarks are part of the checkout")


@pytest.fixture
def benchmarks(monkeypatch):
    """The package, which takes its own folder off the path when it is imported."""
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    import benchmarks.limits
    import benchmarks.mechanisms

    return benchmarks


def end(run):
    """Coordinates and velocities of the last row."""
    return np.concatenate([run.end.q, run.end.v])


@pytest.mark.slow
@pytest.mark.parametrize(("case", "offset", "g"), [(1, 0.0, 9.81), (2, 0.5e-3, 9.81), (3, 10e-3, 0.0)])
@pytest.mark.parametrize("scheme", ["euler", "moreau"])
def test_slider_rod_loops_move_as_the_library(benchmarks, scheme, case, offset, g):
    # 300 steps meet both ends' impacts and rest; all is round-off, of the numbers that the motion is made of
    loop, stepper = {
        "euler": (benchmarks.limits.slider_rod_euler, GaussQP()),
        "moreau": (benchmarks.limits.slider_rod_moreau, MoreauJean()),
    }[scheme]
    x, y, angle, *speeds = loop(*benchmarks.mechanisms.SLIDER_ROD, offset, g, 1e-5, 300)
    run = simulate(slider_rod(case=case).build(), stepper, t_end=3e-3, dt=1e-5)
    scale = [1e-4, 1e-5, 1e-3, 1e-2, 1e-2, 1.0]
    assert np.abs(([x, y, angle, *speeds] - end(run)) / scale).max() < 1e-11


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 16])
def test_chain_loop_moves_as_the_library(benchmarks, n):
    q, v = benchmarks.mechanisms._hanging(n)
    benchmarks.limits.chain(q, v, *benchmarks.mechanisms.LINK, 1e-4, 100)
    run = simulate(chain(n).build(), MoreauJean(), t_end=1e-2, dt=1e-4)
    assert np.abs(q.ravel() - run.end.q).max() < 1e-12
    assert np.abs(v.ravel() - run.end.v).max() < 1e-9


@pytest.mark.slow
def test_slider_crank_loops_tend_to_the_library(benchmarks):
    # other coordinates, so that the discrete equations differ by terms of the order of dt: through the first impacts
    distances = []
    system = slider_crank_translational().build()
    for dt in (4e-5, 1e-5):
        (angle, _, tilt, *_), lost = benchmarks.limits.slider_crank_translational(
            benchmarks.mechanisms.SLIDER_CRANK, dt, round(0.01 / dt)
        )
        run = simulate(system, MoreauJean(), t_end=0.01, dt=dt)
        distances.append(abs(angle - run.q["crank.angle"][-1]))
        assert lost == 0
        assert abs(tilt - run.q["slider.angle"][-1]) < 1e-12  # it stays aligned
    assert distances[1] < 3e-5
    assert distances[1] < distances[0]


@pytest.mark.slow
def test_loop_of_the_loose_pin_tends_to_the_library(benchmarks):
    # past the first impact; later ones amplify any difference
    distances = []
    system = slider_crank_revolute().build()
    for dt in (1e-5, 1e-6):
        _, x, *_ = benchmarks.limits.slider_crank_revolute(*benchmarks.mechanisms.PLAY_IN_PIN, dt, round(5e-4 / dt))
        run = simulate(system, MoreauJean(), t_end=5e-4, dt=dt)
        distances.append(abs(x - run.q["slider.x"][-1]))
    assert distances[0] < 4e-6
    assert distances[1] < distances[0] / 4


@pytest.mark.slow
def test_what_happens_before_the_first_step_is_timed_and_compiles_nothing(benchmarks, monkeypatch):
    import benchmarks.build

    monkeypatch.setattr(benchmarks.build, "SIZES", (4,))
    *known, long = benchmarks.build.build()
    assert [row["compiled"] for row in known] == [0] * 4
    assert all(row["wall_ms"] > 0 for row in known)
    assert long["what"].startswith("chain, N = 4")
    assert long["peak_mib"] is None or long["peak_mib"] > 10


@pytest.mark.slow
def test_spatial_problems_are_timed_and_certified(benchmarks):
    import benchmarks.space

    keys = ("S1_0_0.0001", "S2_2_0.1_0.0001", "S3_ideal", "S4_tumbling")
    rows = benchmarks.space.space(links=(2,), only=keys, shorter=200)
    assert [row.key for row in rows] == list(keys)
    for row in rows:
        assert row.repeated == 0
        assert 0 < row.step < row.recorded < row.call  # each is part of the next
        assert row.residual <= 1e-9
        assert (row.mujoco is None) == (find_spec("mujoco") is None or "S4" in row.key or "_0.1_" in row.key)
    costs, solved, links = benchmarks.space.space_tables(rows)
    assert len(costs.rows) == len(solved.rows) == 4 and len(links.rows) == 1
    assert all(len(cells) == len(table.headings) for table in (costs, solved, links) for cells in table.rows)


def test_references_of_spatial_problems_are_approached_in_first_order(benchmarks):
    from benchmarks import space_mechanisms, space_references

    # 3 links, 2 ms: the tiny pendulums in the sockets have turned by a radian or so
    reference = space_references.hanging_chain(space_mechanisms.swing(3), 0.1, 0.1, 0.1**3 / 12, 1e-4, 9.81, 2e-3)
    system, errors = space_mechanisms.spatial_chain(3).build(), []
    for dt in (4e-5, 1e-5):
        run = simulate(system, MoreauJean(), t_end=2e-3, dt=dt)
        errors.append(np.abs(run.end.q[14:17] - reference).max())
    assert errors[1] < 1e-8
    assert errors[1] < errors[0] / 3


def test_reference_of_the_spatial_slider_crank_is_approached_in_second_order(benchmarks):
    from benchmarks import space_references

    system, errors = spatial_slider_crank(case="rssp").build(), []
    for dt in (2e-4, 1e-4):
        run = simulate(system, MoreauJean(), t_end=0.02, dt=dt)
        errors.append(abs(run.q["slider.y"][-1] - space_references.slider_crank(0.02)))
    assert errors[1] < 0.05 * (30.0 * 1e-4) ** 2  # the crank's 0.05 m, of the square of its angle in a step
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.05)


@pytest.mark.slow
def test_command_prints_the_promised_keys():
    command = [
        sys.executable,
        "-m",
        "benchmarks",
        "--json",
        "--only",
        "P1,P2,P3,P4",
        "--chains",
        "1,4",
        "--rounds",
        "1",
    ]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    report = json.loads(done.stdout)
    for key in ("P1", "P2", "P3", "P4_1", "P4_4"):
        assert set(report[key]) >= KEYS, key
        assert report[key]["ns_per_step"] > 0, key
        assert report[key]["limit_ratio"] > 0, key
        assert (report[key]["mujoco_ratio"] is None) == (find_spec("mujoco") is None), key
        assert 0 <= report[key]["violation"] < 1e-3, key
    assert report["P1"]["ns_per_step"] == max(report[key]["ns_per_step"] for key in report if key.startswith("P1_"))


@pytest.fixture
def refused(benchmarks, monkeypatch, capsys):
    """What the command says of arguments that it refuses before the clock runs."""
    import benchmarks.__main__

    def said(*words):
        monkeypatch.setattr(sys, "argv", ["benchmarks", *words])
        with pytest.raises(SystemExit, match="2"):
            benchmarks.__main__.main()
        return capsys.readouterr().err

    return said


def test_unknown_part_is_refused(refused):
    assert "'P5' is none of P1, P2, P3, P4" in refused("--only", "P5")


def test_a_document_without_a_place_for_tables_is_refused_before_the_clock_runs(refused, tmp_path):
    for path in (tmp_path / "missing.md", ROOT / "README.md"):
        assert f"{path} has no place for tables" in refused("--write", str(path))


@pytest.mark.slow
def test_adversary(benchmarks):
    """A case of each kind by the default call: none is certified with a wrong result."""
    from benchmarks.adversary import KINDS, main

    found = main(["--count", "1", "--default"])
    assert len(found) == len(KINDS)
    assert all(sum(counts.values()) == 1 and not counts["clean lie"] for counts in found.values())
    assert sum(counts["right"] for counts in found.values()) >= len(KINDS) // 2


def test_a_contact_in_whose_first_step_the_estimate_of_the_error_vanished(benchmarks):
    """An elastic contact of 0.07 us, whose first step took half of the compression by an estimate near its zero: each
    contact lost 5e-5 of the energy, in two successive rungs alike."""
    from benchmarks.adversary import COMPLIANT_KINDS

    (kind,) = (one for one in COMPLIANT_KINDS if one.__name__ == "pegged, compliant in space")
    case = kind(np.random.default_rng([261126, 83]))
    control = ErrorControl(1e-8, 1e-10, 1e-6, 4.32e-4)
    run = simulate(case.model.build(), CompliantDae(solver=Dop853()), t_end=case.t_end, dt=control)
    assert case.error(run) < 1e-4
    # twelve contacts, of some 7e-7 each; 6e-4 in all before
    assert abs(run.energy["kinetic"][-1] / run.energy["kinetic"][0] - 1.0) < 2e-5


@pytest.mark.slow
def test_busy_processes_end_with_the_one_that_started_them(benchmarks):
    """By an exception, by SIGTERM, and where that one is killed and can do nothing."""
    from benchmarks.loaded import busy

    with pytest.raises(RuntimeError), busy(2) as processes:
        raise RuntimeError
    assert all(one.returncode is not None for one in processes)
    text = (
        "import sys, time\nfrom benchmarks.loaded import busy\nwith busy(1) as found:\n"
        "    print(found[0].pid, flush=True)\n    time.sleep(600)"
    )
    for by in (signal.SIGTERM, signal.SIGKILL):
        with subprocess.Popen([sys.executable, "-c", text], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
            pid = int(parent.stdout.readline())
            parent.send_signal(by)
        ended = False
        for _ in range(600):
            ended = ended or not _runs(pid)
            time.sleep(0 if ended else 0.1)
        assert ended


def _runs(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")  # an orphan that nobody waits for
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")
