"""Sine and cosine, inlined, to an error of 1e-16: of one angle, or of four bodies at once, with the same bits."""

# ruff: noqa: F403, F405

from __future__ import annotations

import math
from typing import Any

from numba import njit, types

from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.vectors import *
from nonsmooth.native.loops.vectors import Vectors, vector

#: angles beyond which the C library is asked
FAR = 1e6
#: multiples of pi/2 to be taken off, in three parts
TURNS, QUARTER_TURN = (
    0.6366197723675814,
    (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21),
)
S1, S2, S3, S4, S5, S6 = (
    -1.66666666666666324348e-01, 8.33333333332248946124e-03, -1.98412698298579493134e-04, 2.75573137070700676789e-06,
    -2.50507602534068634195e-08, 1.58969099521155010221e-10,
)  # fmt: skip
C1, C2, C3, C4, C5, C6 = (
    4.16666666666666019037e-02, -1.38888888888741095749e-03, 2.48015872894767294178e-05, -2.75573143513906633035e-07,
    2.08757232129817482790e-09, -1.13596475577881948265e-11,
)  # fmt: skip


@njit(**OPT)
def sine_cosine(x):  # type: ignore[no-untyped-def]
    n, y = 0.0, x
    if not abs(x) <= 0.7853981633974483:
        if not abs(x) < FAR:
            return math.sin(x), math.cos(x)
        n = math.floor(x * TURNS + 0.5)
        y = ((x - n * QUARTER_TURN[0]) - n * QUARTER_TURN[1]) - n * QUARTER_TURN[2]
    z = y * y
    zz = z * z
    sine = y + y * z * ((S1 + z * S2) + zz * ((S3 + z * S4) + zz * (S5 + z * S6)))
    half = 0.5 * z
    w = 1.0 - half
    cosine = w + (((1.0 - w) - half) + zz * ((C1 + z * C2) + zz * ((C3 + z * C4) + zz * (C5 + z * C6))))
    k = int(n) & 3
    if k & 1:
        sine, cosine = cosine, sine
    return -sine if k & 2 else sine, -cosine if (k + 1) & 2 else cosine


@vector("aaaaaaaa", types.int64)
def place4(w: Vectors, b: Any, *addresses: Any) -> Any:
    """(x, y, cos, sin) of four bodies from (x, y, angle, 0); 0 where an angle is too large for it."""
    ir, add, mul, sub = w.ir, b.fadd, b.fmul, b.fsub
    lane, word = ir.IntType(32), ir.IntType(64)
    lanes = ir.VectorType(lane, 4)

    def number(x: float) -> Any:
        return ir.Constant(w.type, [x] * 4)

    def whole(k: int) -> Any:
        return ir.Constant(lanes, [k] * 4)

    def polynomial(c: tuple[float, ...], z: Any, zz: Any) -> Any:
        one, two, three = (add(number(c[k]), mul(z, number(c[k + 1]))) for k in (0, 2, 4))
        return add(one, mul(zz, add(two, mul(zz, three))))

    def odd(x: Any, bit: int) -> Any:
        return b.icmp_signed("!=", b.and_(x, whole(bit)), whole(0))

    placements = [w.load(address) for address in addresses[:4]]
    x = ir.Constant(w.type, [0.0] * 4)
    for k, placement in enumerate(placements):
        x = b.insert_element(x, b.extract_element(placement, ir.Constant(lane, 2)), ir.Constant(lane, k))
    near = b.fcmp_ordered("<", w.size(x), number(FAR))
    n = w.called("llvm.floor.v4f64", add(mul(x, number(TURNS)), number(0.5)))
    y = x
    for part in QUARTER_TURN:
        y = sub(y, mul(n, number(part)))
    z = mul(y, y)
    zz = mul(z, z)
    sine = add(y, mul(mul(y, z), polynomial((S1, S2, S3, S4, S5, S6), z, zz)))
    half = mul(number(0.5), z)
    rest = sub(number(1.0), half)
    tail = add(sub(sub(number(1.0), rest), half), mul(zz, polynomial((C1, C2, C3, C4, C5, C6), z, zz)))
    cosine = add(rest, tail)
    quarter = b.fptosi(b.select(near, n, number(0.0)), lanes)
    swapped = odd(quarter, 1)
    sine, cosine = b.select(swapped, cosine, sine), b.select(swapped, sine, cosine)
    sine = b.select(odd(quarter, 2), b.fneg(sine), sine)
    cosine = b.select(odd(b.add(quarter, whole(1)), 2), b.fneg(cosine), cosine)
    for k, (placement, address) in enumerate(zip(placements, addresses[4:], strict=True)):
        at = ir.Constant(lane, k)
        placement = b.insert_element(placement, b.extract_element(cosine, at), ir.Constant(lane, 2))
        w.store(b.insert_element(placement, b.extract_element(sine, at), ir.Constant(lane, 3)), address)
    far = b.bitcast(near, ir.IntType(4))
    return b.zext(b.icmp_unsigned("==", far, ir.Constant(ir.IntType(4), 15)), word)
