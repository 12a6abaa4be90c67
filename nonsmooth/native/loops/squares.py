"""Pairs of rows of joints, and blocks of two such rows and columns, four doubles row by row, as one vector.

What one block waits for of the one before it is what a step with joints waits for most: operations that follow each
other at once are one, and products of which one factor is known early come last.
"""

from __future__ import annotations

import math

from nonsmooth.native.loops.vectors import vector
from nonsmooth.native.table import (
    BEND_LEFT,
    BEND_NEXT,
    DIRECTION,
    RATE_LEFT,
    RATE_NEXT,
    ROW_G,
    ROW_RATE,
    ROW_STEP,
    SHIFT_J,
)


def _product(w, b, x, y):  # type: ignore[no-untyped-def]
    """Both terms of x y."""
    first = b.fmul(w.pick(x, x, 0, 0, 2, 2), w.pick(y, y, 0, 1, 0, 1))
    return first, b.fmul(w.pick(x, x, 1, 1, 3, 3), w.pick(y, y, 2, 3, 2, 3))


def _totals(w, b, sums):  # type: ignore[no-untyped-def]
    """The sums of the components of four vectors, the bits of `Vectors.total`."""
    pairs = []
    for x, y in (sums[:2], sums[2:]):
        pairs.append(b.fadd(w.pick(x, y, 0, 4, 2, 6), w.pick(x, y, 1, 5, 3, 7)))
    return b.fadd(w.pick(*pairs, 0, 1, 4, 5), w.pick(*pairs, 2, 3, 6, 7))


@vector("aaa")
def product_two(w, b, target, x, y):  # type: ignore[no-untyped-def]
    """target = x y."""
    w.store(b.fadd(*_product(w, b, w.load(x), w.load(y))), target)


@vector("aaa")
def less_turned_two(w, b, target, x, y):  # type: ignore[no-untyped-def]
    """target -= x' y."""
    left, right = w.load(x), w.load(y)
    first = b.fmul(w.pick(left, left, 0, 0, 1, 1), w.pick(right, right, 0, 1, 0, 1))
    second = b.fmul(w.pick(left, left, 2, 2, 3, 3), w.pick(right, right, 2, 3, 2, 3))
    w.store(b.fsub(b.fsub(w.load(target), first), second), target)


@vector("aaaax")
def eliminate_two(w, b, target, upper, lower, D, per):  # type: ignore[no-untyped-def]
    """upper = D^-1 lower', target -= lower upper; D symmetric, `per` 1 over its determinant, waited for last."""
    d, x, each = w.load(D), w.load(lower), w.all(per)
    signs = w.ir.Constant(w.type, [1.0, -1.0, -1.0, 1.0])
    first, second = _product(w, b, x, b.fmul(w.pick(d, d, 3, 1, 1, 0), signs))
    adjoint = b.fadd(first, second)
    first, second = _product(w, b, adjoint, w.pick(x, x, 0, 2, 1, 3))
    w.store(b.fsub(w.load(target), b.fmul(b.fadd(first, second), each)), target)
    w.store(b.fmul(w.pick(adjoint, adjoint, 0, 2, 1, 3), each), upper)


@vector("aaa")
def less_product_two(w, b, target, x, y):  # type: ignore[no-untyped-def]
    """target -= x y."""
    first, second = _product(w, b, w.load(x), w.load(y))
    w.store(b.fsub(b.fsub(w.load(target), first), second), target)


@vector("ax")
def invert_two(w, b, D, per):  # type: ignore[no-untyped-def]
    """D becomes its inverse, `per` being that of its determinant."""
    d = w.load(D)
    signs = w.ir.Constant(w.type, [1.0, -1.0, -1.0, 1.0])
    turned = w.pick(d, d, 3, 1, 2, 0)
    w.store(b.fmul(b.fmul(turned, signs), w.all(per)), D)


def _mobility(w, b, target, diagonal, sums):  # type: ignore[no-untyped-def]
    """Store a diagonal block and the sizes on its diagonal, which is 1 in an empty row."""
    square = _totals(w, b, sums)
    empty = b.fcmp_ordered("==", square, w.ir.Constant(w.type, [0.0, math.nan, math.nan, 0.0]))
    square = b.select(empty, w.ir.Constant(w.type, [1.0] * 4), square)
    w.store(square, target)
    w.store(w.size(w.pick(square, square, 0, 3)), diagonal)


@vector("aaaaaa")
def mobility_two(w, b, target, diagonal, J, K, x, y):  # type: ignore[no-untyped-def]
    """target = J M^-1 J' of a pair of directions J, K, and its diagonal, with the inverse masses of both bodies."""
    first, second = w.load(x), w.load(y)
    one, beside, other = (_weighted(w, b, D, E, first, second) for D, E in ((J, J), (J, K), (K, K)))
    _mobility(w, b, target, diagonal, [one, beside, beside, other])


@vector("aaaaaaa")
def tilted_mobility_two(w, b, target, diagonal, J, K, L, x, y):  # type: ignore[no-untyped-def]
    """As `mobility_two`, where the first row's impulse pushes along L."""
    first, second = w.load(x), w.load(y)
    sums = [_weighted(w, b, D, E, first, second) for D, E in ((J, L), (J, K), (K, L), (K, K))]
    _mobility(w, b, target, diagonal, sums)


def _weighted(w, b, J, K, x, y):  # type: ignore[no-untyped-def]
    """What `total` makes J M^-1 K' of."""
    one = b.fmul(b.fmul(w.load(J), w.load(K)), x)
    return b.fadd(one, b.fmul(b.fmul(w.load(J, True), w.load(K, True)), y))


def _coupled(w, b, J, K, L, M, weight):  # type: ignore[no-untyped-def]
    inverse = w.load(weight)
    return _totals(w, b, [b.fmul(b.fmul(w.load(D), w.load(E)), inverse) for D in (J, K) for E in (L, M)])


@vector("aaaaaa")
def couple_two(w, b, target, J, K, L, M, weight):  # type: ignore[no-untyped-def]
    """target = what couples directions J, K to L, M by a body that they share, its inverse masses given."""
    w.store(_coupled(w, b, J, K, L, M, weight), target)


@vector("aaaaaa")
def couple_two_more(w, b, target, J, K, L, M, weight):  # type: ignore[no-untyped-def]
    """As `couple_two`, to what stands there."""
    w.store(b.fadd(w.load(target), _coupled(w, b, J, K, L, M, weight)), target)


def _applied(w, b, x, y):  # type: ignore[no-untyped-def]
    """Both terms of x y, y a pair."""
    left, right = w.load(x), w.pair(y)
    return [b.fmul(w.pick(left, left, k, 2 + k), w.pick(right, right, k, k)) for k in range(2)]


@vector("aaa")
def apply_two(w, b, target, x, y):  # type: ignore[no-untyped-def]
    """A pair target = x y."""
    w.store(b.fadd(*_applied(w, b, x, y)), target)


@vector("aaa")
def less_turned_applied_two(w, b, target, x, y):  # type: ignore[no-untyped-def]
    """A pair target -= x' y."""
    right = w.pair(y)
    first, second = (b.fmul(w.pair(x, k > 0), w.pick(right, right, k, k)) for k in range(2))
    w.store(b.fsub(b.fsub(w.pair(target), first), second), target)


@vector("aaa")
def less_applied_two(w, b, target, x, y):  # type: ignore[no-untyped-def]
    """A pair target -= x y."""
    first, second = _applied(w, b, x, y)
    w.store(b.fsub(b.fsub(w.pair(target), first), second), target)


@vector("aaaxxxx")
def close_two(w, b, row, x, y, per, faster, weight, lead):  # type: ignore[no-untyped-def]
    """BEND_NEXT, RATE_NEXT and SHIFT_J of a pair of rows in the middle of a step, (x, y) moving their bodies."""
    other = w.beyond(row, ROW_STEP)

    def both(field):  # type: ignore[no-untyped-def]
        return w.two(w.beyond(row, 8 * field), w.beyond(other, 8 * field))

    sums = (w.along(w.beyond(at, DIRECTION), x, y) for at in (row, other))
    explicit = both(ROW_RATE)
    rate = b.fadd(w.totals(*sums), explicit)
    bend = b.fmul(b.fsub(rate, both(RATE_LEFT)), w.all(faster, 2))
    led = b.fadd(bend, b.fmul(w.all(lead, 2), b.fsub(bend, both(BEND_LEFT))))
    wanted = b.fsub(b.fmul(b.fneg(w.all(per, 2)), both(ROW_G)), b.fmul(w.all(weight, 2), led))
    for field, found in ((BEND_NEXT, bend), (RATE_NEXT, wanted), (SHIFT_J, b.fsub(explicit, wanted))):
        for k, at in enumerate((row, other)):
            w.store_one(b.extract_element(found, w.lane(k)), w.beyond(at, 8 * field))
