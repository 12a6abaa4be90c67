"""What happens before the first step grows with the number of bodies, not with its square."""

from __future__ import annotations

import tracemalloc

import casadi as ca
import numpy as np
import pytest

from nonsmooth import MoreauJean, simulate
from nonsmooth.compile.casadi_call import Evaluator
from nonsmooth.model.system import System
from nonsmooth_problems import chain, slider_crank_translational

MEGABYTE = 2**20


def megabytes(n: int) -> float:
    """Of NumPy and Python at the peak of building a chain of `n` links, and of ten steps."""
    model = chain(n)
    tracemalloc.start()
    system = model.build()
    simulate(system, MoreauJean(), t_end=1e-2, dt=1e-3, record=10)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / MEGABYTE


@pytest.mark.slow
def test_memory_grows_with_the_number_of_links():
    simulate(chain(2).build(), MoreauJean(), t_end=1e-2, dt=1e-3, record=10)
    few, many = megabytes(100), megabytes(800)
    assert many - few < 23  # half of one matrix of 2400 x 2400; tables of rows have room from the start


def test_neither_build_nor_a_run_makes_functions_of_the_whole_mechanism(monkeypatch):
    made = []
    plain = ca.Function
    monkeypatch.setattr(ca, "Function", lambda name, *rest: made.append(name) or plain(name, *rest))
    counts = []
    for n in (3, 30):
        made.clear()
        system = chain(n).build()
        run = simulate(system, MoreauJean(), t_end=1e-2, dt=1e-3)
        assert run.counts["fallbacks"] == 0
        assert not {"equations", "numeric"} & set(vars(system))
        counts.append(len(made))
    assert counts[0] == counts[1] > 0


def test_functions_of_the_whole_mechanism_are_made_one_by_one():
    system = slider_crank_translational().build()
    assert system.M(system.start.q, system.parameter_values).shape == (system.nv, system.nv)
    assert "M" in vars(system.equations)
    assert "bias" not in vars(system.equations)


@pytest.mark.parametrize("matrix", [False, True])
def test_sparse_outputs_are_evaluated_by_their_entries_alone(matrix):
    x = ca.SX.sym("x", 4000)
    function = ca.Function("f", [x], [ca.diag(x) if matrix else ca.vertcat(ca.SX(3, 1), x)], ["x"], ["y"])
    evaluator = Evaluator(function, matrices=["y"] if matrix else [])
    values = np.arange(4000.0)
    assert sum(array.nbytes for array in evaluator._outputs) == values.nbytes
    (found,) = evaluator(values)
    assert np.array_equal(found, np.diag(values) if matrix else np.concatenate([np.zeros(3), values]))


def test_a_system_is_sent_to_another_process_as_its_elements():
    cloudpickle = pytest.importorskip("cloudpickle")
    system = chain(50).build()
    before = len(cloudpickle.dumps(system))
    assert system.numeric.M(system.start.q, system.parameter_values)[0].shape == (150, 150)
    assert len(cloudpickle.dumps(system)) == before
    copy: System = cloudpickle.loads(cloudpickle.dumps(system))
    assert copy.names == system.names
    assert np.array_equal(copy.start.q, system.start.q)
    runs = [simulate(one, MoreauJean(), t_end=1e-2, dt=1e-3) for one in (system, copy)]
    assert np.array_equal(runs[0].q.array, runs[1].q.array)
