"""Columns of a run: in memory and in files the same bits, and what is there where memory ends."""

from __future__ import annotations

import os
import resource
import sys

import numpy as np
import pytest

from nonsmooth import GaussQP, MoreauJean, SimulationFailed, Trajectory, ValidityWarning, simulate
from nonsmooth.trajectory import store
from nonsmooth.trajectory.recorder import bytes_of_row
from nonsmooth.trajectory.store import Store
from nonsmooth_problems import slider_rod, socket_pendulum


@pytest.fixture(scope="module")
def system():
    return slider_rod(case=2).build()


def test_columns_grow_and_move_to_files_with_the_same_bits(monkeypatch):
    """40 blocks of random rows; rows that do not count are written again; what was handed out stays."""
    monkeypatch.setattr(store, "LEAST", 64)
    chance, whole, early = np.random.default_rng(1), [], None
    grown = Store()
    for k in range(40):
        block = {
            "a": chance.random((7, 3)),
            "b": chance.random(7),
            "c": np.zeros((7, 0)),
            "d": np.arange(7, dtype="i1"),
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
            assert found[name].dtype == values.dtype and np.array_equal(found[name], values[:rows])
            with pytest.raises(ValueError, match="read-only"):
                found[name][...] = 1


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


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit of addresses is that of Linux")
@pytest.mark.filterwarnings("ignore:The run has .* rows:nonsmooth.exceptions.ValidityWarning")  # that it will be long
@pytest.mark.parametrize("room", [60, 250, 700])
def test_where_memory_ends_the_rows_are_handed_over_and_saved(system, tmp_path, monkeypatch, room):
    """So many MB above what a first short run leaves; below 200 the rows of the last block may be missing."""
    monkeypatch.setattr(store, "SPILL", 300 * 2**20)
    simulate(system, GaussQP(), t_end=1e-3, dt=1e-6).save(tmp_path / "first.nc")
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        with open("/proc/self/statm") as known:
            now = int(known.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (now + (room << 20),) * 2)
        try:
            simulate(system, GaussQP(), t_end=4.0, dt=1e-6)
            said = "finished"
        except SimulationFailed as failure:
            failure.trajectory.save(tmp_path / "run.nc")
            said = f"{failure.trajectory.counts['steps']} {failure}"
        except BaseException as error:
            said = f"{type(error).__name__} {error}"
        os.write(writer, said.encode()[:2000])
        os._exit(0)
    os.close(writer)
    said = os.read(reader, 2000).decode()
    os.close(reader)
    os.waitpid(child, 0)
    steps, message = said.split(" ", 1)
    assert "the run was ended by MemoryError" in message and "\n" not in message
    loaded = Trajectory.load(tmp_path / "run.nc")
    assert len(loaded.t) == int(steps) + 1 if room > 200 else len(loaded.t) > 1000
    assert np.allclose(np.diff(loaded.t), 1e-6, rtol=1e-6)


def test_a_long_run_is_told_before_its_first_step(system):
    """4 million rows of 380 bytes are 1.5 GB."""
    size = bytes_of_row(system)
    assert size == 8 * (1 + 3 + 2 * 3 + 5 * 4 + 2 * 4 + 9) + 4
    with pytest.warns(ValidityWarning, match=r"4e\+06 rows of 380 bytes, 1.5 GB; .* record=3 \(--record 3\)"):
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
