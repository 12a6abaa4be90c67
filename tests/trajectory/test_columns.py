"""Groups of columns are mappings from names and the arrays that they look like."""

import copy
import pickle

import numpy as np
import pytest

from nonsmooth import InputError, MoreauJean, simulate
from nonsmooth.trajectory import Columns
from nonsmooth_problems import bouncing_ball, slider_rod

NO_KEYS = ["slider.z", ["slider.y", "z"], (0, "z"), (slice(None), 99), 10**6, 1.5, {1}, ("a", "b")]
GROUPS = ("q", "v", "gap", "gap_rate", "P_N", "P_T", "lam_N", "mode", "reaction", "reaction_impact", "energy",
          "contact_force")  # fmt: skip


@pytest.fixture(scope="module")
def run():
    return simulate(slider_rod(case=2).build(), MoreauJean(), t_end=1e-3, dt=1e-4)


def test_every_group_is_the_array_that_it_looks_like(run):
    for group in [*(getattr(run, name) for name in GROUPS), run.left.v, run.left.gap_rate, run.at([0.0, 5e-4]).q,
                  run.instant([0.0, 5e-4]).a]:  # fmt: skip
        array = group.array
        assert isinstance(group, Columns)
        assert np.asarray(group).shape == group.shape == (len(array), len(group.names), *array.shape[2:])
        for found, expected in (
            (np.asarray(group), array), (np.array(group, dtype="f4"), array.astype("f4")), (group[:], array),
            (group[-1], array[-1]), (group[1:3], array[1:3]), (group[..., :1], array[..., :1]), (2 * group, 2 * array),
            (group - array, array - array), (group <= 0.0, array <= 0.0), (np.abs(group), np.abs(array)),
            (np.concatenate([group, group]), np.concatenate([array, array])), (group.T, array.T),
        ):  # fmt: skip
            assert isinstance(found, np.ndarray)
            np.testing.assert_array_equal(found, expected)
        assert (group.ndim, group.size, group.dtype) == (array.ndim, array.size, array.dtype)


def test_names_stand_for_columns(run):
    q, array = run.q, run.q.array
    first, last = q.names[0], q.names[-1]
    at = [0, len(q.names) - 1]
    np.testing.assert_array_equal(q[:, 0], q[first])
    np.testing.assert_array_equal(q[[first, last]], array[:, at])
    np.testing.assert_array_equal(q[1:4, [first, last]], array[1:4, at])
    np.testing.assert_array_equal(q[array[:, 0] > 0], array[array[:, 0] > 0])
    assert q[-1, last] == array[-1, -1]
    assert q.max() == array.max() == np.max(q)
    assert q.min(axis=0).tolist() == array.min(axis=0).tolist() == np.min(q, axis=0).tolist()
    assert (len(q), list(q), list(q.keys())) == (len(q.names), list(q.names), list(q.names))  # those of the mapping


def test_other_libraries_take_a_group_for_its_array(run):
    pandas, xarray = pytest.importorskip("pandas"), pytest.importorskip("xarray")
    np.testing.assert_array_equal(pandas.DataFrame(run.q, columns=run.q.names).to_numpy(), run.q.array)
    np.testing.assert_array_equal(pandas.DataFrame(run.energy).to_numpy(), run.energy.array)
    np.testing.assert_array_equal(xarray.DataArray(run.q, dims=("row", "name")).to_numpy(), run.q.array)


@pytest.mark.parametrize("key", NO_KEYS)
def test_what_is_neither_a_name_nor_an_index_is_refused(run, key):
    with pytest.raises(InputError, match=r"no coordinate|as in NumPy"):
        run.q[key]
    with pytest.raises(IndexError):
        run.q[key]


def test_a_group_stays_read_only_and_is_copied_and_pickled(run):
    with pytest.raises(ValueError, match="read-only"):
        np.asarray(run.q)[0, 0] = 1.0
    with pytest.raises(ValueError, match="read-only"):
        run.q[:, 0][0] = 1.0
    with pytest.raises(AttributeError, match="no attribute 'maximum'"):
        _ = run.q.maximum
    with pytest.raises(TypeError):
        np.add(run.q, 1.0, out=run.q)
    for again in (copy.copy(run.q), copy.deepcopy(run.q), pickle.loads(pickle.dumps(run.q))):
        np.testing.assert_array_equal(again, run.q)
        assert again.names == run.q.names


def test_internal_states_are_their_numbers():
    state = simulate(bouncing_ball().build(), MoreauJean(), t_end=1e-3, dt=1e-4).end
    np.testing.assert_array_equal(np.asarray(state.memory), state.memory.numbers)
