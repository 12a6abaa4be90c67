"""Trajectory and certificate on a small system whose motion is known: a ball of 2 kg that drops from 1 m."""

from __future__ import annotations

import json
from dataclasses import asdict
from types import SimpleNamespace

import numpy as np
import pytest

from nonsmooth.engine.rows import AT_JUMPS
from nonsmooth.exceptions import InputError, ValidityWarning
from nonsmooth.files import write_contents
from nonsmooth.model.state import InternalStates, State
from nonsmooth.trajectory import Columns, Recorder, Trajectory
from nonsmooth.trajectory.dataset import contents
from nonsmooth.trajectory.decimation import ARRAYS, SCALARS

M, G, DAMPING, PUSH = 2.0, 10.0, 0.5, 3.0


class Ball:
    """Height y and drift x; a load pushes along x, a damper brakes along x, the floor is the only contact."""

    names = SimpleNamespace(
        q=("ball.x", "ball.y"),
        v=("ball.x", "ball.y"),
        q_units=("m", "m"),
        v_units=("m/s", "m/s"),
        reactions=("rail.x",),
        reaction_units=("N",),
    )
    contact_names = ("floor",)
    reaction_names = ("rail.x",)
    parameters = {"ball.mass": M}
    parameter_values = np.array([M])
    angular = np.zeros(2, dtype=bool)
    dimension, nq, nv, nc, nt, nr, compliant = 2, 2, 2, 1, 1, 1, False
    #: size [m] of the contact's gap
    elementwise = SimpleNamespace(
        gap_sizes=lambda parameters: np.ones(1),
        size_words=lambda i, parameters: "size (1 m)",
        contact_law=lambda parameters: np.zeros((4, 1)),
    )

    def gyration(self, parameters):
        return np.ones(2)

    def true_gaps(self, q, parameters):
        return q[:, [1]]

    def gap_rates(self, q, v, parameters):
        return v[:, [1]]

    def joint_violation(self, t, q, parameters):
        return np.full((len(q), 1), -2e-9)

    def energies(self, t, q, v, parameters):
        m = parameters[0]
        return {
            "kinetic": 0.5 * m * (v**2).sum(axis=1),
            "potential": m * G * q[:, 1],
            "power_loads": PUSH * v[:, 0],
            "power_damping": -DAMPING * v[:, 0] ** 2,
        }


def a_step(t, q, v, v_left, dt, *, P_N=0.0, impact=0.0, work_drivers=0.0, memory=None):
    """The row of a step, and the state after it."""
    numbers = {name: np.zeros(1) for name in SCALARS} | {
        "dt": np.array([dt]), "residual": np.array([1e-13 * (1 + t)]), "complementarity": np.array([3e-14 * t]),
        "work_drivers": np.array([work_drivers]), "work_loads": np.array([np.nan]), "loss_damping": np.array([np.nan]),
    }  # fmt: skip
    one = {name: np.zeros((1, 1)) for name in (*ARRAYS, *AT_JUMPS)} | {
        "row": np.array([0]), "v_left": np.array([v_left], float), "P_N": np.array([[P_N]]),
        "P_N_impact": np.array([[impact]]), "mode": np.array([[int(P_N > 0)]], np.int8),
        "gamma_minus": np.array([[v_left[1]]], float), "gamma_plus": np.array([[v[1]]], float),
        "reaction": np.array([[4.0 + t]]), "reaction_impact": np.array([[0.25]]), "work_drivers_impact": np.zeros(1),
    }  # fmt: skip
    row = {"t": np.array([t]), "q": np.array([q], float), "v": np.array([v], float)} | one | numbers
    return row, State(t, row["q"][0], row["v"][0], memory or InternalStates())


START = State(0.0, np.array([0.0, 1.8]), np.array([1.0, 0.0]))
MEMORY = InternalStates(
    (("Contact.closed", (1,)), ("Contact.P", (2, 2)), ("Joint.P", (0,)), ("System.last_dt", (1,))),
    np.array([1.0, 1.0, -0.0, np.nan, np.inf, 0.3]),
)


def drop(recorder, n=6):
    """n steps of 0.1 s of free fall, which hit the floor at 0.6 s and rebound with half the speed; then one of rest.

    Along x the speed is kept, so that load and damper do known work.
    """
    recorder.start(START)
    for k in range(1, n + 1):
        t = 0.1 * k
        v_left, v = [1.0, -G * t], [1.0, -G * t if k < n else G * t / 2]
        P = M * (v[1] - v_left[1])
        recorder.extend(*a_step(t, [t, 1.8 - G * t**2 / 2], v, v_left, 0.1, P_N=P, impact=P))
    recorder.extend(*a_step(0.7, [0.7, 0.0], [1.0, 3.0], [1.0, 3.0], 0.1, P_N=0.5, work_drivers=0.125, memory=MEMORY))


def a_trajectory(**options):
    recorder = Recorder(Ball(), {"model": {"name": "ball"}, "rule": np.float64(1e-9), "sizes": (1, 2)}, **options)
    drop(recorder)
    return recorder.finish({"solves": np.int64(7), "steps": 7}, 0.25, "finished")


@pytest.fixture(scope="module")
def trajectory():
    return a_trajectory()


def same_bits(a, b):
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def test_columns_are_found_by_name(trajectory):
    assert trajectory.t[-1] == 0.7
    assert trajectory.q["ball.x"][3] == pytest.approx(0.3)
    assert trajectory.q.array.shape == (8, 2)
    assert list(trajectory.gap) == ["floor"]
    assert trajectory.v.units("ball.y") == "m/s"
    assert "ball.z" not in trajectory.q
    assert trajectory.q.get("ball.z") is None


@pytest.mark.parametrize("kind", [InputError, KeyError])
def test_a_wrong_name_is_answered_with_near_matches(trajectory, kind):
    with pytest.raises(
        kind, match=r"^There is no coordinate 'bal.x'. Did you mean ball.x or ball.y\? There are: ball.x, ball.y.$"
    ):
        trajectory.q["bal.x"]


def test_a_name_that_is_asked_for_is_not_compared_with_others(trajectory, monkeypatch):
    """Seconds, of a mechanism with a hundred coordinates."""
    monkeypatch.setattr("difflib.get_close_matches", lambda *_, **__: pytest.fail("names compared"))
    assert "ball.x" in trajectory.q and "bal.x" not in trajectory.q


def test_columns_are_read_only_and_fit(trajectory):
    with pytest.raises(ValueError, match="read-only"):
        trajectory.q["ball.x"][0] = 1.0
    with pytest.raises(InputError, match="2 coordinate names do not fit an array of shape"):
        Columns("coordinate", ("x", "y"), np.zeros((3, 1)), ("m", "m"))


def test_both_limits_of_a_jump(trajectory):
    assert trajectory.left.v["ball.y"][6] == pytest.approx(-6.0)
    assert trajectory.v["ball.y"][6] == pytest.approx(3.0)


def test_forces_leave_impacts_out(trajectory):
    assert trajectory.P_N["floor"][0] == trajectory.lam_N["floor"][0] == 0.0
    assert trajectory.P_N["floor"][6] == pytest.approx(18.0)
    assert trajectory.lam_N["floor"][6] == 0.0
    assert trajectory.lam_N["floor"][7] == pytest.approx(0.5 / 0.1)
    assert trajectory.mode["floor"].dtype == np.int8
    assert trajectory.reaction["rail.x"][0] == 0.0
    assert trajectory.reaction["rail.x"][2] == 4.2


def test_impacts_have_a_row_each(trajectory):
    assert len(trajectory.impacts) == 1
    impact = trajectory.impacts[0]
    assert str(impact["contact"]) == "floor"
    assert [float(impact[name]) for name in ("t", "P_N", "gamma_minus", "gamma_plus")] == pytest.approx(
        [0.6, 18, -6, 3]
    )


def test_the_certificate_takes_the_worst(trajectory):
    certificate = trajectory.certificate
    assert certificate.gap_violation == pytest.approx(0.0, abs=1e-15)
    assert certificate.joint_violation == 2e-9
    assert certificate.complementarity == pytest.approx(2.1e-14)
    assert certificate.motion_residual == pytest.approx(1.7e-13)


def test_a_gap_below_zero_is_a_violation():
    recorder = Recorder(Ball(), {})
    recorder.start(State(0.0, np.array([0.0, -3e-6]), np.zeros(2)))
    trajectory = recorder.finish({}, 0.0, "finished")
    assert trajectory.certificate.gap_violation == 3e-6
    assert np.copysign(1.0, a_trajectory().certificate.gap_violation) == 1.0


def test_not_a_number_is_not_hidden():
    recorder = Recorder(Ball(), {})
    recorder.start(State(0.0, np.array([0.0, np.nan]), np.zeros(2)))
    assert np.isnan(recorder.finish({}, 0.0, "failed: x").certificate.gap_violation)


def test_the_energy_ledger_balances(trajectory):
    energy = trajectory.certificate.energy
    assert energy.kinetic_start == 1.0
    assert energy.potential_start == pytest.approx(36.0)
    assert energy.work_loads == pytest.approx(PUSH * 0.7)
    assert energy.loss_damping == pytest.approx(DAMPING * 0.7)
    assert energy.loss_impacts == pytest.approx(0.5 * M * (36 - 9))
    assert energy.work_drivers == 0.125
    assert energy.loss_friction == 0.0
    change = energy.kinetic + energy.potential - 37.0
    losses = energy.loss_impacts + energy.loss_damping
    assert energy.remainder == pytest.approx(change - energy.work_loads - energy.work_drivers + losses)
    # until the impact vertical energy is conserved: only the work on x, which keeps its speed, remains
    assert trajectory.energy["remainder"][5] == pytest.approx(-0.5 * (PUSH - DAMPING))
    assert trajectory.energy["remainder"][6] == pytest.approx(-0.6 * (PUSH - DAMPING))


def test_the_start_may_be_an_impact():
    recorder = Recorder(Ball(), {})
    v_left, v = [0.0, -2.0], [0.0, 1.0]
    impact, state = a_step(0.0, [0.0, 0.0], v, v_left, 0.0, P_N=6.0, impact=6.0)
    recorder.start(state, impact)
    trajectory = recorder.finish({}, 0.0, "finished")
    assert trajectory.P_N["floor"][0] == 6.0
    assert trajectory.lam_N["floor"][0] == 0.0
    assert trajectory.left.v["ball.y"][0] == -2.0
    assert len(trajectory.impacts) == 1
    energy = trajectory.certificate.energy
    assert (energy.kinetic_start, energy.kinetic, energy.loss_impacts, energy.remainder) == (4.0, 1.0, 3.0, 0.0)


def test_parameters_of_the_run_count_not_those_of_the_system():
    heavy = a_trajectory(parameters=np.array([2 * M]))
    assert heavy.certificate.energy.kinetic_start == 2.0


def test_fewer_rows_keep_impulses_and_certificate(trajectory):
    thin = a_trajectory(record=3)
    np.testing.assert_allclose(thin.t, [0.0, 0.3, 0.6, 0.7])
    assert thin.P_N["floor"].sum() == trajectory.P_N["floor"].sum()
    assert thin.lam_N["floor"][-1] == trajectory.lam_N["floor"][-1]
    assert thin.reaction["rail.x"][1] == pytest.approx(4.2)
    assert thin.reaction_impact["rail.x"].sum() == trajectory.reaction_impact["rail.x"].sum()
    assert thin.certificate == trajectory.certificate
    assert same_bits(thin.impacts, trajectory.impacts)
    assert same_bits(thin.energy.array[-1], trajectory.energy.array[-1])


def test_recording_has_an_order():
    recorder = Recorder(Ball(), {})
    with pytest.raises(InputError, match="has not been started"):
        recorder.finish({}, 0.0, "finished")
    recorder.start(START)
    with pytest.raises(InputError, match="started already"):
        recorder.start(START)


def test_only_the_last_memory_is_kept(trajectory):
    assert trajectory.end.memory is MEMORY
    assert trajectory.end.t == 0.7


@pytest.mark.parametrize("record", [1, 3])
def test_a_file_gives_back_the_same_bits(tmp_path, record):
    trajectory = a_trajectory(record=record)
    path = tmp_path / "run.nc"
    trajectory.save(path)
    loaded = Trajectory.load(path)
    assert [file.name for file in tmp_path.iterdir()] == ["run.nc"]
    for name in ("q", "v", "gap", "P_N", "P_T", "lam_N", "mode", "reaction", "reaction_impact", "energy"):
        mine, other = getattr(trajectory, name), getattr(loaded, name)
        assert (mine.names, mine.unit_list, mine.what) == (other.names, other.unit_list, other.what)
        assert same_bits(mine.array, other.array), name
    assert same_bits(trajectory.left.v.array, loaded.left.v.array)
    assert same_bits(trajectory.t, loaded.t)
    assert same_bits(trajectory.impacts, loaded.impacts)
    for name in ("certificate", "counts", "manifest", "status", "wall_seconds"):
        assert getattr(trajectory, name) == getattr(loaded, name), name
    assert loaded.manifest == {"model": {"name": "ball"}, "rule": 1e-9, "sizes": [1, 2]}
    end = loaded.end
    assert same_bits(end.q, trajectory.end.q)
    assert same_bits(end.v, trajectory.end.v)
    assert end.t == trajectory.end.t
    assert end.memory.fields == MEMORY.fields
    for name, values in MEMORY.items():
        assert same_bits(end.memory[name], values), name


def test_a_system_without_contacts_and_joints_is_saved_too(tmp_path):
    class Free(Ball):
        contact_names = reaction_names = ()
        nc = nt = nr = 0
        names = SimpleNamespace(**(vars(Ball.names) | {"reactions": (), "reaction_units": ()}))

        def true_gaps(self, q, parameters):
            return np.zeros((len(q), 0))

        def gap_rates(self, q, v, parameters):
            return np.zeros((len(q), 0))

        def joint_violation(self, t, q, parameters):
            return np.zeros((len(q), 0))

    recorder = Recorder(Free(), {})
    recorder.start(START)
    trajectory = recorder.finish({}, 0.0, "interrupted")
    trajectory.save(tmp_path / "free.nc")
    loaded = Trajectory.load(tmp_path / "free.nc")
    assert loaded.gap.array.shape == (1, 0)
    assert len(loaded.impacts) == 0
    assert loaded.certificate == trajectory.certificate
    assert "contacts     none" in repr(loaded)


def test_the_dataset_explains_itself(trajectory):
    dataset = trajectory.to_dataset()
    assert float(dataset["q"].sel(coordinate="ball.x")[3]) == pytest.approx(0.3)
    for name in ("q", "v", "v_left", "gap", "P_N", "P_T", "lam_N", "mode", "reaction", "energy"):
        assert {"long_name", "sign"} <= set(dataset[name].attrs), name
        assert ("units" in dataset[name].attrs) != (f"{name.removesuffix('_left')}_units" in dataset.coords), name
        assert " or " not in dataset[name].attrs.get("units", ""), "each column has a unit of its own"
    assert dataset["lam_N"].attrs["units"] == "N"
    assert not [name for name in dataset.data_vars if "memory" in str(name)], "only files keep internal states"
    assert json.loads(dataset.attrs["manifest"])["model"] == {"name": "ball"}
    assert dataset.attrs["energy_remainder"] == asdict(trajectory.certificate.energy)["remainder"]


def test_a_failed_save_leaves_the_old_file(trajectory, tmp_path):
    path = tmp_path / "missing" / "run.nc"
    with pytest.raises(InputError, match=f"cannot be written to {path}"):
        trajectory.save(path)
    folder = tmp_path / "folder.nc"
    folder.mkdir()
    with pytest.raises(InputError, match="folder.nc"):
        trajectory.save(folder)
    assert list(tmp_path.iterdir()) == [folder]


def test_a_file_that_is_no_trajectory_is_refused(tmp_path):
    with pytest.raises(InputError, match="There is no file"):
        Trajectory.load(tmp_path / "none.nc")
    text = tmp_path / "text.nc"
    text.write_text("text")
    with pytest.raises(InputError, match="is not a NetCDF file"):
        Trajectory.load(text)
    import xarray

    xarray.Dataset({"a": ("x", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    with pytest.raises(InputError, match="is not a trajectory of this package"):
        Trajectory.load(tmp_path / "other.nc")


def test_a_few_lines_describe_a_run(trajectory):
    lines = repr(trajectory).splitlines()
    assert len(lines) == 5
    assert lines[0].startswith("<Trajectory finished: 7 steps, t = 0 to 0.7 s")
    assert repr(trajectory.gap) == "Columns(8 rows: floor [m])"


def test_internal_states_of_a_former_version_are_told_and_not_read(trajectory, tmp_path):
    """They had other names, one data set each."""
    data, coordinates, facts = contents(trajectory, complete=False)
    data["stepper_memory.P_N"] = (
        ("stepper_memory.P_N.0",),
        np.array([0.5]),
        {"long_name": "P_N at the end of the run"},
    )
    write_contents(data | coordinates, facts, tmp_path / "run.nc", "The trajectory")
    with pytest.warns(ValidityWarning, match="of a former version, whose internal states are not read"):
        loaded = Trajectory.load(tmp_path / "run.nc")
    assert same_bits(loaded.q.array, trajectory.q.array) and not loaded.end.memory


def test_internal_states_are_one_array_with_named_views():
    assert same_bits(MEMORY["Contact.P"], np.array([[1.0, -0.0], [np.nan, np.inf]]))
    assert np.shares_memory(MEMORY["Contact.P"], MEMORY.numbers) and list(MEMORY)[-1] == "System.last_dt"
    with pytest.raises(ValueError, match=r"\(5,\) internal states are not those of their 4 fields"):
        InternalStates(MEMORY.fields, np.zeros(5))
