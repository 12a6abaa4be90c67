"""Columns of a run: in memory and in files the same bits, and what is there where memory ends."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from loops import some

from nonsmooth import GaussQP, InputError, MoreauJean, SimulationFailed, Trajectory, ValidityWarning, simulate
from nonsmooth.trajectory import dataset, store
from nonsmooth.trajectory.dataset import TABLES
from nonsmooth.trajectory.recorder import bytes_of_row
from nonsmooth.trajectory.store import Store
from nonsmooth_problems import slider_rod, socket_pendulum


@pytest.fixture(scope="module")
def system():
    return slider_rod(case=2).build()


@pytest.mark.parametrize("expected", [0, 100, 300, 2**50])
def test_columns_grow_and_move_to_files_with_the_same_bits(monkeypatch, expected):
    """40 blocks of random rows; rows that do not count are written again; what was handed out stays. 100 rows are too
    few, 300 too many, and 2^50 more than any memory has."""
    monkeypatch.setattr(store, "LEAST", 64)
    monkeypatch.setattr(store, "SPILL", 2**60)
    chance, whole, early = np.random.default_rng(1), [], None
    grown = Store(expected)
    for k in range(40):
        block = {
            "a": chance.random((7, 3)),
            "b": chance.random(7),
            "c": np.zeros((7, 0)),
            "d": np.arange(7, dtype="i1"),
            "same": np.full(7, -0.0),  # which is not 0.0
            "late": np.full(7, 2.0 + (k > 10)),
            "last": np.full(7, float(k == 39)),
        }
        grown.put(7 * k, {name: np.zeros_like(values) for name, values in block.items()})
        grown.put(7 * k, block)
        whole.append(block)
        if k == 20:
            early = grown.columns(7 * k)
            monkeypatch.setattr(store, "SPILL", 1000)
    expected = {name: np.concatenate([block[name] for block in whole]) for name in whole[0]}
    for rows, found in ((280, grown.columns(280)), (140, early)):
        for name, values in expected.items():
            assert found[name].dtype == values.dtype and found[name].tobytes() == values[:rows].tobytes()
            with pytest.raises(ValueError, match="read-only"):
                found[name][...] = 1


def test_a_column_within_whose_making_ctrl_c_comes_is_freed_without_a_traceback():
    store._Column.__new__(store._Column).__del__()


@pytest.mark.parametrize("record", [1, 3])
@pytest.mark.parametrize("make, dt", some([(socket_pendulum, 1e-5), (lambda: slider_rod(case=2), 1e-5)], 2))
def test_a_long_file_gives_the_tables_of_a_complete_one(monkeypatch, tmp_path, record, make, dt):
    """Each bit of what follows from other tables, in space with and without the mechanism; half the bytes."""
    system = make().build()
    run = simulate(system, MoreauJean(), t_end=0.05, dt=dt, record=record)
    assert run.left.v.table.at.size > 0
    run.save(tmp_path / "complete.nc")
    monkeypatch.setattr(dataset, "LONG", 100)
    run.save(tmp_path / "long.nc")
    found, bare = Trajectory.load(tmp_path / "long.nc", system), Trajectory.load(tmp_path / "long.nc")
    found.save(tmp_path / "again.nc")
    bare.save(tmp_path / "bare.nc")
    assert (tmp_path / "again.nc").read_bytes() == (tmp_path / "long.nc").read_bytes()
    assert (tmp_path / "long.nc").stat().st_size < 0.75 * (tmp_path / "complete.nc").stat().st_size
    for one in (Trajectory.load(tmp_path / "complete.nc"), found, bare, Trajectory.load(tmp_path / "bare.nc")):
        for table in TABLES:
            mine, its = table.of(run), table.of(one)
            assert its.array.tobytes() == mine.array.tobytes() and its.names == mine.names
            assert (its.what, its.unit_list) == (mine.what, mine.unit_list)
    if system.dimension == 3:
        assert found.contact_force.array.tobytes() == run.contact_force.array.tobytes()
    with pytest.raises(InputError, match="give it, Trajectory.load" if system.dimension == 3 else "planar run"):
        bare.contact_force  # noqa: B018


@pytest.mark.parametrize("record", [1, 3])
def test_a_run_in_files_is_the_run_in_memory(monkeypatch, tmp_path, record):
    """In space, whose contact forces are computed while they are written."""
    system, arguments = socket_pendulum().build(), {"t_end": 0.05, "dt": 1e-6, "record": record}
    runs = [simulate(system, MoreauJean(), **arguments)]
    monkeypatch.setattr(store, "SPILL", 2**20)
    runs.append(simulate(system, MoreauJean(), **arguments))
    for k, run in enumerate(runs):
        run.save(tmp_path / f"{k}.nc")
    loaded = [Trajectory.load(tmp_path / f"{k}.nc") for k in (0, 1)]
    for one in (runs[1], *loaded):
        for name in ("q", "gap", "energy", "P_T", "mode", "contact_force"):
            assert getattr(one, name).array.tobytes() == getattr(runs[0], name).array.tobytes()


#: a run of 4 million steps in a process of its own: name of a case, MB above what a first short run leaves, folder
LIMITED = """
import resource, sys, warnings
from nonsmooth import *
from nonsmooth.trajectory import dataset, store
from nonsmooth_problems import slider_rod
store.SPILL = 300 * 2**20
warnings.simplefilter("ignore")  # that it will be long
room, folder = int(sys.argv[1]), sys.argv[2]
system = slider_rod(case=2).build()
simulate(system, GaussQP(), t_end=1e-3, dt=1e-6).save(folder + "/first.nc")
with open("/proc/self/statm") as known:
    now = int(known.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (now + (room << 20),) * 2)
try:
    simulate(system, GaussQP(), t_end=4.0, dt=1e-6)
except SimulationFailed as failure:
    failure.trajectory.save(folder + "/run.nc")
    print(failure.trajectory.counts["steps"], failure)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of addresses is that of Linux")
@pytest.mark.parametrize("room", [60, 250, 500])
def test_where_memory_ends_the_rows_are_handed_over_and_saved(tmp_path, room):
    """So many MB above what a first short run leaves; below 200 the rows of the last block may be missing."""
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, str(room), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0 and done.stderr == "", done.stderr[-2000:]
    steps, message = done.stdout.rstrip("\n").split(" ", 1)
    assert "the run was ended by MemoryError" in message and "\n" not in message
    loaded = Trajectory.load(tmp_path / "run.nc")
    assert len(loaded.t) == int(steps) + 1 if room > 200 else len(loaded.t) > 1000
    assert np.allclose(np.diff(loaded.t), 1e-6, rtol=1e-6)


def test_a_long_run_is_told_before_its_first_step(system):
    """4 million rows of 252 bytes are 1.0 GB."""
    size = bytes_of_row(system)
    assert size == 8 * (1 + 3 + 3 + 3 * 4 + 4 + 8) + 4
    with pytest.warns(ValidityWarning, match=r"4e\+06 rows of up to 252 bytes, 1 GB; .* record=2 \(--record 2\)"):
        with pytest.raises(SimulationFailed, match="the progress"):
            simulate(system, GaussQP(), t_end=4.0, dt=1e-6, progress=told)


def told(t, t_end, steps):
    raise RuntimeError("the progress")


def test_unsolved_equations_are_not_called_finished(system, monkeypatch):
    """Residuals of 3e-8, three times what is still called solved, where the certificate takes its worst."""
    from nonsmooth.trajectory import recorder

    made = recorder.Certificate
    monkeypatch.setattr(
        recorder, "Certificate", lambda gap, joint, law, motion, energy: made(gap, joint, law, 3e-8, energy)
    )
    run = simulate(system, GaussQP(), t_end=1e-3, dt=1e-4)
    assert run.certificate.motion_residual == 3e-8
    assert run.status == "untrusted: the equations of a step are violated (residual 3e-08)"
    assert run.verdict.kind == "not accurate"
