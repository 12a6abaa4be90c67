"""Small arrays as values: what is compiled equals what NumPy says, which is what each function means."""

import numba
import numpy as np
import pytest
from loops import some

from nonsmooth.compile.records import values
from nonsmooth.compile.records.compiled import RecordType  # noqa: F401  (types of records)
from nonsmooth.compile.records.packed import OPT, Value
from nonsmooth.compile.records.schema import Block, Directions, Masses, Motion, Number, Rows, Shape, Vector, record
from nonsmooth.compile.records.views import Record


@record
class Sample:
    """Operands and results of one kind each."""

    x = Vector()
    y = Vector()
    v = Motion()
    rows = Rows()
    A = Block()
    B = Block()
    J = Directions()
    K = Directions()
    masses = Masses()
    number = Number()
    of_rows = Rows()
    of_vector = Vector()
    of_block = Block()
    of_directions = Directions()
    of_motion = Motion()


def _elementwise(s):
    s.of_vector = 2.0 * s.x - s.y * s.x / (abs(-s.y) + values.vector(1.0, 1.0, 1.0, 1.0))


def _matrix_products(s):
    s.of_rows = s.J @ s.v + s.A @ s.rows + values.rates_of_two(s.J, s.v, s.K, s.of_motion)
    s.of_motion = s.rows @ s.J
    s.of_block = s.A @ s.B - values.transposed(s.B)


def _products_and_masses(s):
    s.of_directions = values.weighed(s.J, s.masses)
    s.of_motion = values.weighed(s.v, s.masses)
    s.of_block = values.products(s.J, s.K) + values.products_of_two(s.J, s.J, s.K, s.J)


def _blocks(s):
    s.of_block = values.inverse(s.A) + values.outer(s.rows, s.rows) + values.identity(s.rows) - values.diagonal(s.rows)
    s.number = values.trace(s.B) + values.dot(s.rows, s.rows) + values.largest(abs(s.rows))


def _parts(s):
    s.of_rows = s.rows[0] * values.normal_axis(s.rows) + values.zeros_like(s.rows)
    s.of_vector = values.cross(s.x, s.y) + values.vector(s.x[1], 0.5, s.y[0], 0.0)


def _sums_in_place(s):
    total = values.zeros_like(s.v)
    kept = total
    total += s.v
    total -= 0.5 * s.v
    s.of_motion = total + kept


SHAPES = [Shape(2, 1), Shape(2, 2), Shape(3, 1), Shape(3, 3)]
TEXTS = [_elementwise, _matrix_products, _products_and_masses, _blocks, _parts, _sums_in_place]


def _filled(shape):
    """A record of random numbers, with zeros where vectors are padded."""
    from nonsmooth.compile.records.memory import Content, Memory

    content = Content()
    content.add("Sample")
    memory, random = Memory(content, shape), np.random.default_rng(shape.dimension * 10 + shape.rows)
    one = memory.of["Sample"][0]
    for name in one.dtype.names:
        one[name] = random.normal(size=one[name].shape)
    one["A"] += 3.0 * np.eye(shape.rows)
    for name in ("x", "y"):
        one[name][3] = 0.0
    for name in ("v", "J", "K", "of_motion"):
        one[name][..., 3::4] = 0.0
    if shape.dimension == 3:
        one["masses"][0, :3], one["masses"][:, 3] = one["masses"][0, 0], 0.0
        one["masses"][1:, :3] += one["masses"][1:, :3].T
    return memory


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("text", some(TEXTS, 3), ids=lambda text: text.__name__)
def test_compiled_and_uncompiled_agree(shape, text):
    plain, compiled = _filled(shape), _filled(shape)
    text(Record("Sample", shape, plain.address("Sample")))
    made = numba.njit(**{key: value for key, value in OPT.items() if key == "error_model"})(text)

    @numba.njit
    def call(address):
        made(values_at(address))

    from numba.extending import intrinsic

    kind = RecordType("Sample", shape)

    @intrinsic
    def values_at(typing, address):
        return kind(address), lambda context, builder, sig, args: args[0]

    call(compiled.address("Sample"))
    one, other = plain.of["Sample"][0], compiled.of["Sample"][0]
    for name in one.dtype.names:
        # sums are taken in another order
        np.testing.assert_allclose(other[name], one[name], rtol=1e-13, atol=1e-14, err_msg=name)


def test_names_of_one_value_stay_apart():
    x = np.ones(3).view(Value)
    y = x
    y += 1.0
    assert x.tolist() == [1.0, 1.0, 1.0] and y.tolist() == [2.0, 2.0, 2.0]
