"""Vectors of the compiled loops: three doubles and a zero, loaded and stored as one.

A direction is two vectors, one for each of two bodies. Arguments are addresses unless they are numbers.
"""

# ruff: noqa: F403, F405

from __future__ import annotations

import inspect as _inspect
from collections.abc import Callable
from typing import Any

from numba import types

from nonsmooth.native.loops.memory import *
from nonsmooth.native.loops.memory import _tagged
from nonsmooth.native.table import TINY


class Vectors:
    """What a generator of an operation on vectors writes with."""

    def __init__(self, builder: Any) -> None:
        from llvmlite import ir

        self.ir, self.builder = ir, builder
        self.type = ir.VectorType(ir.DoubleType(), 4)

    def load(self, address: Any, second: bool = False) -> Any:
        """The vector at an address, or the one after it."""
        value = self.builder.load(self._place(address, self.type, second))
        value.align = 8
        return _tagged(self.builder, value, "double")

    def store(self, value: Any, address: Any, second: bool = False) -> None:
        store = self.builder.store(value, self._place(address, value.type, second))
        store.align = 8
        _tagged(self.builder, store, "double")

    def store_whole(self, value: Any, address: Any) -> None:
        """As `store`, of a vector that was put together, which LLVM would store in parts: a load waits for those."""
        from llvmlite.ir.instructions import StoreInstr

        class Whole(StoreInstr):  # type: ignore[misc, unused-ignore]
            def descr(self, buffer: list[str]) -> None:
                super().descr(buffer)
                buffer[-1] = buffer[-1].replace("store ", "store volatile ", 1)

        store = Whole(self.builder.block, value, self._place(address, value.type, False))
        store.align = 8
        self.builder._insert(_tagged(self.builder, store, "double"))

    def store_one(self, number: Any, address: Any) -> None:
        """One number."""
        store = self.builder.store(number, self.builder.inttoptr(address, number.type.as_pointer()))
        _tagged(self.builder, store, "double")

    def beyond(self, address: Any, step: int) -> Any:
        """The address so many bytes further on."""
        return self.builder.add(address, self.ir.Constant(self.ir.IntType(64), step))

    def _place(self, address: Any, kind: Any, second: bool) -> Any:
        pointer = self.builder.inttoptr(address, kind.as_pointer())
        return self.builder.gep(pointer, [self.ir.Constant(self.ir.IntType(64), 1)]) if second else pointer

    def all(self, number: Any, count: int = 4) -> Any:
        """A vector of one number."""
        kind = self.ir.VectorType(self.ir.DoubleType(), count)
        first = self.builder.insert_element(self.ir.Constant(kind, self.ir.Undefined), number, self.lane(0))
        mask = self.ir.Constant(self.ir.VectorType(self.ir.IntType(32), count), [0] * count)
        return self.builder.shuffle_vector(first, self.ir.Constant(kind, self.ir.Undefined), mask)

    def of(self, numbers: Any) -> Any:
        """Three numbers and a zero."""
        value = self.ir.Constant(self.type, [0.0] * 4)
        for k, number in enumerate(numbers):
            value = self.builder.insert_element(value, number, self.lane(k))
        return value

    def called(self, name: str, value: Any) -> Any:
        """An intrinsic of LLVM of one vector."""
        function = self.builder.module.globals.get(name)
        if function is None:
            of = self.ir.FunctionType(value.type, [value.type])
            function = self.ir.Function(self.builder.module, of, name=name)
        return self.builder.call(function, [value])

    def size(self, value: Any) -> Any:
        """Its components without their signs."""
        return self.called(f"llvm.fabs.v{value.type.count}f64", value)

    def largest(self, value: Any) -> Any:
        """The largest of its components."""
        x, y, z = (self.builder.extract_element(value, self.lane(k)) for k in range(3))
        x = self.builder.select(self.builder.fcmp_ordered(">", y, x), y, x)
        return self.builder.select(self.builder.fcmp_ordered(">", z, x), z, x)

    def total(self, value: Any) -> Any:
        """The sum of its components."""
        x, y, z = (self.builder.extract_element(value, self.lane(k)) for k in range(3))
        return self.builder.fadd(self.builder.fadd(x, y), z)

    def along(self, J: Any, x: Any, y: Any) -> Any:
        """What `total` makes J . (x, y) of, for a direction and the vectors of its two bodies."""
        first = self.builder.fmul(self.load(J), self.load(x))
        return self.builder.fadd(first, self.builder.fmul(self.load(J, True), self.load(y)))

    def totals(self, x: Any, y: Any) -> Any:
        """The sums of the components of two vectors, the bits of `total`."""
        sums = self.builder.fadd(self.pick(x, y, 0, 4, 2, 6), self.pick(x, y, 1, 5, 3, 7))
        return self.builder.fadd(self.pick(sums, sums, 0, 1), self.pick(sums, sums, 2, 3))

    def pick(self, x: Any, y: Any, *places: int) -> Any:
        """Components of two vectors, those of the second counted from 4."""
        mask = self.ir.Constant(self.ir.VectorType(self.ir.IntType(32), len(places)), [*places])
        return self.builder.shuffle_vector(x, y, mask)

    def two(self, *addresses: Any) -> Any:
        """The numbers at two addresses."""
        value: Any = self.ir.Constant(self.ir.VectorType(self.ir.DoubleType(), 2), self.ir.Undefined)
        for k, address in enumerate(addresses):
            number = self.builder.load(self.builder.inttoptr(address, self.ir.DoubleType().as_pointer()))
            value = self.builder.insert_element(value, _tagged(self.builder, number, "double"), self.lane(k))
        return value

    def pair(self, address: Any, second: bool = False) -> Any:
        """Two numbers that stand side by side at an address, or the two after them."""
        value = self.builder.load(self._place(address, self.ir.VectorType(self.ir.DoubleType(), 2), second))
        value.align = 8
        return _tagged(self.builder, value, "double")

    def larger(self, value: Any) -> Any:
        """The larger of two numbers."""
        x, y = (self.builder.extract_element(value, self.lane(k)) for k in range(2))
        return self.builder.select(self.builder.fcmp_ordered(">", y, x), y, x)

    def lane(self, k: int) -> Any:
        """The place of a component."""
        return self.ir.Constant(self.ir.IntType(32), k)


def _operation(arguments_of: str, result: Any, write: Callable[..., Any]) -> Any:
    """An intrinsic on addresses (a) and numbers (x)."""
    kinds = [types.int64 if kind == "a" else types.float64 for kind in arguments_of]

    def codegen(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        found = write(Vectors(builder), builder, *arguments)
        return context.get_dummy_value() if result == types.void else found

    def typed(typingctx, *given):  # type: ignore[no-untyped-def]
        return result(*kinds), codegen

    names = ["typingctx", *(f"x{k}" for k in range(len(kinds)))]
    of_names = [_inspect.Parameter(name, _inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    typed.__signature__ = _inspect.Signature(of_names)  # type: ignore[attr-defined] # numba does not take *given
    return intrinsic(typed)


def vector(arguments_of: str, result: Any = types.void) -> Callable[[Callable[..., Any]], Any]:
    return lambda write: _operation(arguments_of, result, write)


@vector("axxx")
def st3(w, b, target, x, y, z):  # type: ignore[no-untyped-def]
    """target = (x, y, z, 0)."""
    w.store_whole(w.of([x, y, z]), target)


@vector("axxxx")
def st4(w, b, target, x, y, z, s):  # type: ignore[no-untyped-def]
    """target = (x, y, z, s)."""
    w.store_whole(w.of([x, y, z, s]), target)


@vector("a")
def clear4(w, b, target):  # type: ignore[no-untyped-def]
    """target = 0."""
    w.store(w.of([]), target)


@vector("aa")
def copy4(w, b, source, target):  # type: ignore[no-untyped-def]
    """target = source."""
    w.store(w.load(source), target)


@vector("aaxa")
def sum4(w, b, target, x, s, y):  # type: ignore[no-untyped-def]
    """target = x + s y."""
    w.store(b.fadd(w.load(x), b.fmul(w.all(s), w.load(y))), target)


@vector("aa")
def copy2(w, b, source, target):  # type: ignore[no-untyped-def]
    """Two numbers that stand side by side."""
    w.store(w.pair(source), target)


@vector("aa")
def swap4(w, b, x, y):  # type: ignore[no-untyped-def]
    """x and y change places."""
    first, second = w.load(x), w.load(y)
    w.store(second, x)
    w.store(first, y)


@vector("a", types.float64)
def largest4(w, b, x):  # type: ignore[no-untyped-def]
    """The largest of |x|."""
    size = w.size(w.load(x))
    return w.largest(size)


@vector("aaa")
def add4(w, b, target, x, y):  # type: ignore[no-untyped-def]
    """target = x + y."""
    w.store(b.fadd(w.load(x), w.load(y)), target)


@vector("aaa")
def difference4(w, b, target, x, y):  # type: ignore[no-untyped-def]
    """target = x - y."""
    w.store(b.fsub(w.load(x), w.load(y)), target)


@vector("axa")
def gain4(w, b, target, s, x):  # type: ignore[no-untyped-def]
    """target += s x."""
    w.store(b.fadd(w.load(target), b.fmul(w.all(s), w.load(x))), target)


@vector("axaa")
def product4(w, b, target, s, x, y):  # type: ignore[no-untyped-def]
    """target = s x y, component by component."""
    w.store(b.fmul(b.fmul(w.all(s), w.load(x)), w.load(y)), target)


@vector("aaxaa")
def kicked4(w, b, target, v, s, x, y):  # type: ignore[no-untyped-def]
    """target = v + s x y, component by component."""
    w.store(b.fadd(w.load(v), b.fmul(b.fmul(w.all(s), w.load(x)), w.load(y))), target)


@vector("aaaaxaa")
def kicked_anew4(w, b, kick, target, change, v, s, x, y):  # type: ignore[no-untyped-def]
    """kick = s x y, target = v + kick; what that has changed."""
    kicked = b.fmul(b.fmul(w.all(s), w.load(x)), w.load(y))
    new = b.fadd(w.load(v), kicked)
    difference = b.fsub(new, w.load(target))
    for value, at in ((kicked, kick), (new, target), (difference, change)):
        w.store(value, at)


@vector("aaaaax")
def led_anew4(w, b, gained, target, change, v, v1, theta):  # type: ignore[no-untyped-def]
    """gained = v1 - v, target = v + theta gained; what that has changed."""
    start = w.load(v)
    more = b.fsub(w.load(v1), start)
    new = b.fadd(start, b.fmul(w.all(theta), more))
    difference = b.fsub(new, w.load(target))
    for value, at in ((more, gained), (new, target), (difference, change)):
        w.store(value, at)


@vector("aaxxaa")
def led4(w, b, target, q, dt, theta, v, v1):  # type: ignore[no-untyped-def]
    """target = q + dt (v + theta (v1 - v))."""
    start = w.load(v)
    mean = b.fadd(start, b.fmul(w.all(theta), b.fsub(w.load(v1), start)))
    w.store(b.fadd(w.load(q), b.fmul(w.all(dt), mean)), target)


@vector("aaa", types.float64)
def weighted4(w, b, x, y, weight):  # type: ignore[no-untyped-def]
    """Sum of x y weight."""
    return w.total(b.fmul(b.fmul(w.load(x), w.load(y)), w.load(weight)))


@vector("aaa", types.float64)
def along(w, b, J, x, y):  # type: ignore[no-untyped-def]
    """J . (x, y) of a direction and the vectors of its two bodies."""
    return w.total(w.along(J, x, y))


@vector("aaaaaaa", types.float64)
def rates_of_two(w, b, target, J, K, x, y, r, s):  # type: ignore[no-untyped-def]
    """target = -(J . (x, y) + r), -(K . (x, y) + s), two numbers; the larger size."""
    rates = b.fneg(b.fadd(w.totals(w.along(J, x, y), w.along(K, x, y)), w.two(r, s)))
    w.store(rates, target)
    return w.larger(w.size(rates))


@vector("aaaaaaaxx")
def ask_two(w, b, target, J, K, x, y, r, s, p, q):  # type: ignore[no-untyped-def]
    """Two pairs: -(J . (x, y) + r) and p, -(K . (x, y) + s) and q."""
    rates = b.fneg(b.fadd(w.totals(w.along(J, x, y), w.along(K, x, y)), w.two(r, s)))
    beside = w.ir.Constant(rates.type, w.ir.Undefined)
    for k, number in enumerate((p, q)):
        beside = b.insert_element(beside, number, w.lane(k))
    w.store_whole(w.pick(rates, beside, 0, 2, 1, 3), target)


@vector("aaaaaaax", types.float64)
def errors_of_two(w, b, J, K, x, y, r, s, norms, floor):  # type: ignore[no-untyped-def]
    """|J . (x, y) + r| and |K . (x, y) + s|, scaled by their terms and floor sqrt(norm); the larger one."""
    sums, sizes = [], []
    for D in (J, K):
        one, other = b.fmul(w.load(D), w.load(x)), b.fmul(w.load(D, True), w.load(y))
        sums.append(b.fadd(one, other))
        sizes.append(b.fadd(w.size(one), w.size(other)))
    explicit = w.two(r, s)
    least = w.called("llvm.sqrt.v2f64", w.pair(norms))
    floors = b.fmul(w.all(floor, 2), least)
    terms = b.fadd(b.fadd(w.totals(*sizes), w.size(explicit)), floors)
    tiny = w.ir.Constant(terms.type, [TINY] * 2)
    terms = b.select(b.fcmp_ordered(">", terms, tiny), terms, tiny)
    return w.larger(b.fdiv(w.size(b.fadd(w.totals(*sums), explicit)), terms))


@vector("aaa", types.float64)
def along_sizes(w, b, J, x, y):  # type: ignore[no-untyped-def]
    """|J| . (|x|, |y|)."""
    first, second = w.size(b.fmul(w.load(J), w.load(x))), w.size(b.fmul(w.load(J, True), w.load(y)))
    return w.total(b.fadd(first, second))


@vector("aaaaa", types.float64)
def moved_sizes(w, b, J, x, y, p, q):  # type: ignore[no-untyped-def]
    """|J| . M^-1 (p, q), sizes of momentum, with the inverse masses of both bodies."""
    first = b.fmul(b.fmul(w.size(w.load(J)), w.load(x)), w.load(p))
    return w.total(b.fadd(first, b.fmul(b.fmul(w.size(w.load(J, True)), w.load(y)), w.load(q))))


@vector("aaaa", types.float64)
def mobility(w, b, J, K, x, y):  # type: ignore[no-untyped-def]
    """J M^-1 K' of two directions, with the inverse masses of both bodies."""
    first = b.fmul(b.fmul(w.load(J), w.load(K)), w.load(x))
    return w.total(b.fadd(first, b.fmul(b.fmul(w.load(J, True), w.load(K, True)), w.load(y))))


@vector("axaaaa")
def push(w, b, J, P, weight_a, weight_b, x, y):  # type: ignore[no-untyped-def]
    """(x, y) += M^-1 J' P, with the inverse masses of both bodies; x first, which y may follow."""
    p = w.all(P)
    w.store(b.fadd(w.load(x), b.fmul(b.fmul(w.load(weight_a), w.load(J)), p)), x)
    w.store(b.fadd(w.load(y), b.fmul(b.fmul(w.load(weight_b), w.load(J, True)), p)), y)


@vector("axaxaaaa")
def push_both(w, b, J, P, K, S, weight_a, weight_b, x, y):  # type: ignore[no-untyped-def]
    """(x, y) += M^-1 (J' P + K' S); x first, which y may follow."""
    p, s = w.all(P), w.all(S)
    for body, weight, second in ((x, weight_a, False), (y, weight_b, True)):
        pushed = b.fadd(b.fmul(w.load(J, second), p), b.fmul(w.load(K, second), s))
        w.store(b.fadd(w.load(body), b.fmul(w.load(weight), pushed)), body)


@vector("axaa")
def push_by(w, b, C, P, x, y):  # type: ignore[no-untyped-def]
    """(x, y) += C P."""
    p = w.all(P)
    w.store(b.fadd(w.load(x), b.fmul(w.load(C), p)), x)
    w.store(b.fadd(w.load(y), b.fmul(w.load(C, True), p)), y)


@vector("axaxaaaa")
def take_off(w, b, J, P, K, S, x, y, terms_x, terms_y):  # type: ignore[no-untyped-def]
    """(x, y) -= J' P + K' S, whose sizes are added to the terms of both."""
    p, s = w.all(P), w.all(S)
    for body, terms, second in ((x, terms_x, False), (y, terms_y, True)):
        one, other = b.fmul(w.load(J, second), p), b.fmul(w.load(K, second), s)
        w.store(b.fsub(w.load(body), b.fadd(one, other)), body)
        w.store(b.fadd(w.load(terms), b.fadd(w.size(one), w.size(other))), terms)


@vector("axaxaxaa")
def react(w, b, target, weight, J, P, K, S, at, placement):  # type: ignore[no-untyped-def]
    """target += weight times force and torque of J' P + K' S on the second body, the latter about its point `at`."""
    pushed = b.fadd(b.fmul(w.load(J, True), w.all(P)), b.fmul(w.load(K, True), w.all(S)))
    point, placed = w.load(at), w.load(placement)
    x, y = (b.extract_element(point, w.lane(k)) for k in (0, 1))
    cosine, sine = (b.extract_element(placed, w.lane(k)) for k in (2, 3))
    arm_x = b.fsub(b.fmul(cosine, x), b.fmul(sine, y))
    arm_y = b.fadd(b.fmul(sine, x), b.fmul(cosine, y))
    force_x, force_y = (b.extract_element(pushed, w.lane(k)) for k in range(2))
    moment = b.fsub(b.fmul(arm_x, force_y), b.fmul(arm_y, force_x))
    zero = w.ir.Constant(w.ir.DoubleType(), 0.0)
    about = b.fsub(pushed, w.of([zero, zero, moment]))
    w.store(b.fadd(w.load(target), b.fmul(w.all(weight), about)), target)


@vector("aaxa")
def tilt(w, b, C, J, s, K):  # type: ignore[no-untyped-def]
    """C = J + s K, directions."""
    factor = w.all(s)
    for second in (False, True):
        w.store(b.fadd(w.load(J, second), b.fmul(factor, w.load(K, second))), C, second)


@vector("aaaaaxa")
def momentum4(w, b, rows, terms, mass, before, after, dt, force):  # type: ignore[no-untyped-def]
    """rows = M (after - before) - dt force; terms = M (|after| + |before|) + |dt force|."""
    m, x, y, kick = w.load(mass), w.load(before), w.load(after), b.fmul(w.all(dt), w.load(force))
    w.store(b.fsub(b.fmul(m, b.fsub(y, x)), kick), rows)
    w.store(b.fadd(b.fmul(m, b.fadd(w.size(x), w.size(y))), w.size(kick)), terms)


@vector("aaxa", types.float64)
def worst4(w, b, rows, terms, floor, roots):  # type: ignore[no-untyped-def]
    """The largest of |rows| / (terms + floor roots)."""
    scale = b.fadd(w.load(terms), b.fmul(w.all(floor), w.load(roots)))
    least = w.ir.Constant(w.type, [TINY] * 4)
    scale = b.select(b.fcmp_ordered(">", scale, least), scale, least)
    return w.largest(b.fdiv(w.size(w.load(rows)), scale))
