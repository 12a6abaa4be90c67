"""Times at which loads and drivers are not smooth, and pulses that are short compared with a run.

Expressions of time and parameters alone are found among the operations of loads and drivers. Where one of them is
compared, rounded, clamped or has its sign taken, the time at which the result changes is a corner. Between corners they
are sampled at `SAMPLES` times, and at more where their `Bounds` leave room between samples; where the samples bend
sharply, corners are added that divide the pulse into parts in which it is nearly linear.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.lookup import called, rows_of
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force
from nonsmooth.model.joints import Joint

#: samples of a run, of functions and of comparisons whose roots are not known in closed form
SAMPLES = 2**14
#: largest difference of distances of samples, as a share
UNEVEN = 0.5
#: deviation from the line through both neighbours, as a share of the largest of the three, from which samples bend
#: sharply if it is several times the median deviation; or so many times the latter
BENT, SEVERAL, UNUSUAL = 0.1, 10.0, 1e4
#: share of the samples above which a function has too many pulses, and median deviation as a share of its range above
#: which it varies faster than it is sampled: less than seven samples per period
MANY, FAST = 0.05, 0.15
#: deviation from a line, as a share of the pulse, of the parts into which it is divided
LINEAR = 0.002
#: most evaluations in a pulse, and most corners of one rounding function
MOST, MOST_ROUNDED = 4000, 100_000
#: how often the distance to a pulse doubles, at most, up to which its tails are divided
DOUBLINGS = 40
#: numbers by which a root in closed form may differ from that of the function in floating point
ULPS = 16
#: share of a time within which corners are one
ONE = 1e-12
#: room of bounds outside samples, as a share of the range of a function, from which an interval is divided, share of it
#: below which a half has less in proportion, and most intervals that are divided
HIDDEN, SHRUNK, MOST_DIVIDED = 1e-5, 0.7, 2**16
#: degree of piecewise polynomials of time that have no pulses between corners
SMOOTH = 3

SIGNS = (ca.OP_FABS, ca.OP_SIGN)
ORDERS = (ca.OP_FMIN, ca.OP_FMAX)
COMPARED = (ca.OP_LT, ca.OP_LE)
ROUNDED = (ca.OP_FLOOR, ca.OP_CEIL)
#: operations whose results are constant between corners, and those of the degree of their arguments
CONSTANT = (*COMPARED, *ROUNDED, ca.OP_SIGN, ca.OP_EQ, ca.OP_NE, ca.OP_NOT, ca.OP_AND, ca.OP_OR)
LINEAR_IN_ALL = (ca.OP_ADD, ca.OP_SUB, ca.OP_NEG, ca.OP_TWICE, ca.OP_FABS, *ORDERS)
PRODUCTS = (ca.OP_MUL, ca.OP_IF_ELSE_ZERO)


@dataclass(frozen=True, eq=False)
class _Node:
    """A value that depends on time and parameters alone."""

    value: ca.SX
    timed: bool
    clock: bool = False  #: time itself, or time clamped to an interval
    degree: float = 0  #: of a piecewise polynomial of time, infinite for others


@dataclass(eq=False)
class _Found:
    """Course of an element in time."""

    #: expressions of parameters, and whether the change follows the time itself, as of ``t > time``
    times: list[tuple[ca.SX, bool]] = field(default_factory=list)
    #: piecewise constant functions, with those whose roots, or whole numbers, are their changes
    levels: list[tuple[ca.SX, ca.SX, bool]] = field(default_factory=list)
    functions: list[ca.SX] = field(default_factory=list)


def before(times: Array) -> Array:
    """Times just before corners, where functions have their left limits; whatever the length of the run."""
    return np.asarray(times - 2.0 * _one(times))


def _one(times: Array) -> Array:
    """Time within which corners are one."""
    return np.maximum(ONE * np.abs(times), ULPS * np.spacing(np.abs(times)))


def divided(corners: Array, t_start: float, parts: int, longest: float) -> Array:
    """Corners, and times that divide the intervals between them of less than `parts` steps of the `longest`."""
    if parts == 1 or not corners.size:
        return corners
    a = np.concatenate([[t_start], corners[:-1]])
    short = corners - a < parts * longest
    shares = np.arange(1, parts) / parts
    between = (a[short, None] + shares * (corners - a)[short, None]).ravel()
    return np.unique(np.concatenate([corners, between]))


class Corners:
    """Corners of the elements of a system, whose parameters have these names."""

    def __init__(self, elements: Iterable[Element], functions: ElementFunctions, names: Iterable[str]) -> None:
        index = {name: i for i, name in enumerate(names)}
        self._t, self._p = ca.SX.sym("t"), ca.SX.sym("p", len(index))
        found = _Found()
        for element in elements:
            if isinstance(element, Force):
                made, outputs = functions.forces(element), slice(1, None)
            elif isinstance(element, Joint):
                made, outputs = functions.constraint(element), slice(0, 1)
            else:
                continue
            if any(made.jac_sparsity(k, 0).nnz() for k in range(made.n_out())[outputs]):
                own, symbols = [index[f"{element.name}.{label}"] for label in element.numbers()], made.sx_in()
                in_time = ca.Function("in_time", symbols, made.call(symbols)[outputs])
                _find(in_time, self._t, self._p[own] if own else ca.SX(0, 1), found)
        self._found = found
        self._times = ca.Function("times", [self._p], [ca.vertcat(*(time for time, _ in found.times))])
        self._levels: list[tuple[_OfTime, _OfTime, bool, _OfTime | None]] = []
        for level, zero, whole in found.levels:
            slope = ca.jacobian(zero, self._t)  # of use where it is linear in time
            constant = None if ca.depends_on(slope, self._t) else self._of_time([slope])
            self._levels.append((self._of_time([level]), self._of_time([zero]), whole, constant))
        self._functions = self._of_time(found.functions)
        every = [time for time, _ in found.times] + [level for level, _, _ in found.levels] + found.functions
        self._used = np.array(ca.which_depends(ca.vertcat(*every), self._p, 1, False), dtype=bool)
        self._kept: dict[Any, tuple[Array, bool]] = {}

    def __call__(self, t_start: float, t_end: float, values: Array) -> tuple[Array, bool]:
        """Corners (n,) [s] after the start and up to the end, and whether a function varies faster than its samples."""
        found = self._found
        if not (found.times or found.levels or found.functions):
            return np.zeros(0), False
        key = t_start, t_end, values[self._used].tobytes()
        if key not in self._kept:
            latest = dict(list(self._kept.items())[-1:])  # runs that are compared differ in the last digits
            self._kept = latest | {key: self._made(t_start, t_end, values)}
        return self._kept[key]

    def _made(self, t_start: float, t_end: float, values: Array) -> tuple[Array, bool]:
        known, fast = np.zeros(0), False
        if self._found.times:
            after = np.array([late for _, late in self._found.times])
            known = np.array(self._times(values)).ravel()
            known = np.where(after, np.nextafter(known, np.inf), known)
        known = _inside(known, t_start, t_end)
        for level, zero, whole, slope in self._levels:
            roots = np.zeros(0)
            if slope is not None:  # linear between known corners: where it is zero, or a whole number
                a = np.append(t_start, known[known < t_end])
                b = np.append(a[1:], t_end)
                first, rate = zero(a, values)[0], slope(a, values)[0]
                moves = (rate != 0.0) & np.isfinite(first * rate)
                first, rate, a, b = first[moves], rate[moves], a[moves], b[moves]
                ends = np.sort([first, first + rate * (b - a)], axis=0)
                low, high = np.ceil(ends[0]), np.floor(ends[1])
                if not whole:  # zero is the only goal
                    low, high = np.maximum(low, 0.0), np.minimum(high, 0.0)
                number = np.maximum(high - low + 1.0, 0.0)
                if np.sum(number) <= MOST_ROUNDED:
                    n = number.astype(int)
                    goals = np.repeat(low - np.cumsum(n) + n, n) + np.arange(np.sum(n))
                    roots = np.repeat(a, n) + (goals - np.repeat(first, n)) / np.repeat(rate, n)
            changes, often = _changes(level, roots, known, t_start, t_end, values)
            known, fast = _inside(np.concatenate([known, changes]), t_start, t_end), fast or often
        if self._found.functions:
            pulses, often = _pulses(self._functions, known, t_start, t_end, values)
            known, fast = _inside(np.concatenate([known, pulses]), t_start, t_end), fast or often
        return known, fast

    def _of_time(self, expressions: Sequence[ca.SX]) -> "_OfTime":
        return _OfTime(ca.Function("of_time", [self._t, self._p], [ca.densify(ca.vertcat(*expressions))]))


class _OfTime:
    """Functions (t, parameters) -> (functions,) at many times."""

    def __init__(self, function: ca.Function) -> None:
        self._function, self._number = function, function.numel_out(0)

    @cached_property
    def bounds(self) -> "Bounds":
        return Bounds(self._function)

    def __call__(self, t: Array, values: Array) -> Array:
        """Values (functions, times)."""
        columns = [
            np.array(self._function(part[None], values)).reshape(self._number, -1)
            for part in np.array_split(t, len(t) * self._number // 2**21 + 1)
        ]
        return np.concatenate(columns, axis=1)

    def divided(self, t: Array, values: Array, several: float, hidden: float) -> tuple[Array, Array, bool]:
        """Times (n,) and those that divide intervals in which something may hide, values there, and whether too many.

        Something may hide where the bounds leave more room outside the values at both ends than `several` times the
        median and a share `hidden` of the range, and, once divided, not less in proportion: for what is wide since
        operands occur often in the bounds shrinks with the interval, a peak within it does not.
        """
        y = self(t, values)
        used = np.flatnonzero(np.all(np.isfinite(y), axis=1))
        a, b, left, right = t[:-1], t[1:], y[used, :-1], y[used, 1:]
        least, most = np.min(y[used], axis=1, keepdims=True), np.max(y[used], axis=1, keepdims=True)
        room = self._room(a, b, used, left, right, values)
        usual, many = several * np.median(room, axis=1, keepdims=True), False
        hides, added = room > usual, [(t, y)]
        if not np.all(np.isfinite(usual)):
            return t, y, True
        while used.size and a.size:
            chosen = np.any(hides & (room > hidden * (most - least)), axis=0) & (b - a > 4.0 * _one(b))
            a, b, left, right, room = a[chosen], b[chosen], left[:, chosen], right[:, chosen], room[:, chosen]
            if many := sum(len(x) for x, _ in added[1:]) + len(a) > MOST_DIVIDED:
                break
            middle = 0.5 * (a + b)
            y = self(middle, values)
            added.append((middle, y))
            least = np.minimum(least, np.min(y[used], axis=1, keepdims=True, initial=np.inf))
            most = np.maximum(most, np.max(y[used], axis=1, keepdims=True, initial=-np.inf))
            a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
            left, right = np.hstack([left, y[used]]), np.hstack([y[used], right])
            before = np.hstack([room, room])
            room = self._room(a, b, used, left, right, values)
            hides = ~(room < SHRUNK * before)
        t, y = np.concatenate([x for x, _ in added]), np.hstack([x for _, x in added])
        order = np.argsort(t)
        return t[order], y[:, order], many

    def _room(self, a: Array, b: Array, used: NDArray[np.intp], left: Array, right: Array, values: Array) -> Array:
        """Room of the bounds of functions (used,) over intervals, outside their values at both ends."""
        lower, upper = (bound[used] for bound in self.bounds(a, b, values))
        return np.asarray(np.maximum(upper - np.maximum(left, right), np.minimum(left, right) - lower))


def _find(function: ca.Function, t: ca.SX, p: ca.SX, found: _Found) -> None:
    """Go through the operations of a function of time first and parameters last."""
    slots: dict[int, _Node | None] = {}
    last, seen = function.n_in() - 1, {one.element_hash() for one in found.functions}

    def keep(node: _Node | None) -> None:
        if node is not None and node.degree > SMOOTH and node.value.element_hash() not in seen:
            seen.add(node.value.element_hash())
            found.functions.append(node.value)

    for k in range(function.n_instructions()):
        what, at, to = function.instruction_id(k), function.instruction_input(k), function.instruction_output(k)
        if what == ca.OP_OUTPUT:
            keep(slots[at[0]])
        elif what == ca.OP_INPUT:
            known = _Node(t, True, True, 1) if at[0] == 0 else _Node(p[at[1]], False) if at[0] == last else None
            slots[to[0]] = known
        elif what == ca.OP_CONST:
            slots[to[0]] = _Node(ca.SX(function.instruction_constant(k)), False)
        elif what == ca.OP_CALL:
            table, by = called(function, k), slots[at[0]]
            if by is None:
                slots |= dict.fromkeys(to)
                continue
            row = ca.vertsplit(table(by.value))
            if by.clock:  # corners are the beginnings of the intervals
                found.times += [(ca.SX(begin), False) for begin in rows_of(table)[0, 1:].tolist()]
            else:
                found.levels.append((row[0], row[0], False))
            slots |= {k: _Node(one, by.timed) for k, one in zip(to, row, strict=True)}
        else:
            slots[to[0]] = _result(what, [slots[i] for i in at], keep, found)


def _result(
    what: int, given: Sequence[_Node | None], keep: Callable[[_Node | None], None], found: _Found
) -> _Node | None:
    """The result of an operation, whose corners are noted."""
    if any(one is None for one in given):
        for one in given:
            keep(one)
        return None
    nodes = [one for one in given if one is not None]
    values = [one.value for one in nodes]
    value = ca.SX.unary(what, values[0]) if len(values) == 1 else ca.SX.binary(what, *values)
    if not any(one.timed for one in nodes):
        return _Node(value, False)
    clocks, degrees, by_constant = [one.clock for one in nodes], [one.degree for one in nodes], not nodes[-1].timed
    # of the result as a piecewise polynomial of time
    if what in CONSTANT:
        degree: float = 0
    elif what in LINEAR_IN_ALL or what in (ca.OP_FMOD, ca.OP_REMAINDER) and by_constant:
        degree = max(degrees)
    elif what in PRODUCTS or what == ca.OP_DIV and by_constant:
        degree = sum(degrees)
    else:
        degree = 2 * degrees[0] if what == ca.OP_SQ else np.inf
    node = _Node(value, True, what in ORDERS and all(one.clock or not one.timed for one in nodes), degree)
    if what in (*COMPARED, *ORDERS) and any(clocks) and not all(one.timed for one in nodes):
        # t < c and c <= t change at c, t <= c and c < t at the next number
        late = (what == ca.OP_LE) == clocks[0] and what in COMPARED
        found.times.append((values[1] if clocks[0] else values[0], late))
    elif what in COMPARED:
        found.levels.append((value, values[0] - values[1], False))
    elif what in ORDERS:
        found.levels.append((values[0] <= values[1], values[0] - values[1], False))
    elif what in SIGNS:
        found.levels.append((values[0] >= 0, values[0], False))
    elif what in ROUNDED:
        found.levels.append((value, values[0], True))
    elif what == ca.OP_FMOD:
        # the quotient that belongs to the remainder, which jumps some numbers before or after floor(a / b)
        ratio = values[0] / values[1]
        found.levels.append((ca.floor((values[0] - value) / values[1] + 0.5), ratio, True))
    elif what == ca.OP_REMAINDER:
        found.levels.append((ca.floor(values[0] / values[1] + 0.5), values[0] / values[1] + 0.5, True))
    return node


def _inside(times: Array, t_start: float, t_end: float) -> Array:
    """Corners within a run and at its end, in order, the last of those that are one."""
    found = np.unique(times[np.isfinite(times)])
    apart = _one(found)
    found = found[(found > t_start + apart) & ((found < t_end - apart) | (found == t_end))]
    return found[np.diff(found, append=np.inf) > _one(found)]


# ---- changes of functions that are piecewise constant


def _changes(
    level: _OfTime, roots: Array, known: Array, t_start: float, t_end: float, values: Array
) -> tuple[Array, bool]:
    """First numbers with which a piecewise constant function has a new value, and whether there may be more."""
    often = False
    t = np.concatenate([[t_start, t_end], known, np.nextafter(known, -np.inf)])
    if roots.size:
        near = ULPS * np.spacing(np.maximum(np.abs(roots), abs(t_end)))
        t = np.unique(np.clip(np.concatenate([t, roots - near, roots + near]), t_start, t_end))
    else:
        t = np.unique(np.clip(np.concatenate([t, np.linspace(t_start, t_end, SAMPLES + 1)]), t_start, t_end))
        t, _, often = level.divided(t, values, 0.0, 0.0)
    at = level(t, values)[0]
    k = np.flatnonzero(at[1:] != at[:-1])
    first, last, of, to = t[k], t[k + 1], at[k], at[k + 1]
    lowest, found = np.iinfo(np.int64).min, []
    while first.size:
        a, b, inside = first, last, np.ones(first.size, dtype=bool)
        while inside.any():
            # the middle one of the numbers between: from anywhere, beside zero too, 64 such steps lead to the next
            i, j = (np.where(bits < 0, lowest - bits, bits) for bits in (a.view(np.int64), b.view(np.int64)))
            k = (i & j) + ((i ^ j) >> 1)
            middle = np.where(k < 0, lowest - k, k).view(np.float64)
            inside = (middle > a) & (middle < b)
            same = level(middle, values)[0] == of
            a, b = np.where(inside & same, middle, a), np.where(inside & ~same, middle, b)
        found.append(b)
        of = level(b, values)[0]
        more = of != to  # another change before the next sample
        first, last, of, to = b[more], last[more], of[more], to[more]
    return np.concatenate([np.zeros(0), *found]), often


# ---- pulses


def _pulses(functions: _OfTime, known: Array, t_start: float, t_end: float, values: Array) -> tuple[Array, bool]:
    """Times that divide pulses of a few samples into nearly linear parts, and whether a function bends at too many."""
    ends = before(np.append(known, t_end))
    starts = t_start + (t_start - before(np.array([t_start])))
    # at random, always the same, so that no period looks like a longer one
    t = np.arange(1, SAMPLES) + UNEVEN * (np.random.default_rng(0).random(SAMPLES - 1) - 0.5)
    t = t_start + (t_end - t_start) / SAMPLES * t
    t, y, fast = functions.divided(np.unique(np.concatenate([starts, t, known, ends])), values, SEVERAL, HIDDEN)
    found: list[Array] = []
    part = np.searchsorted(known, t, side="right")
    within = part[:-2] == part[2:]
    share = (t[1:-1] - t[:-2]) / (t[2:] - t[:-2])
    for i in np.flatnonzero(np.all(np.isfinite(y), axis=1)):
        one = y[i]
        off = np.where(within, np.abs(one[1:-1] - (one[:-2] + share * (one[2:] - one[:-2]))), 0.0)
        size = np.maximum(np.maximum(np.abs(one[:-2]), np.abs(one[1:-1])), np.abs(one[2:]))
        usual, largest = float(np.median(off)), float(np.max(size))
        bent = (off > BENT * size) & (off > SEVERAL * usual) | (off > max(UNUSUAL * usual, HIDDEN * largest))
        bent = np.flatnonzero(bent) + 1
        if 0 < bent.size <= MANY * len(t):
            groups = np.split(bent, np.flatnonzero(np.diff(bent) > 2) + 1)
            for group in groups:
                parts = _parts(functions, values, int(i), t[max(group[0] - 2, 0) : group[-1] + 3])
                # beside short parts, at distances that double: steps long at once would miss the tails
                room = 0.5 * np.diff(parts, prepend=t_start, append=t_end)[:, None]
                doubled = np.diff(parts)[:, None] * (2.0 ** np.arange(1, DOUBLINGS) - 1.0)
                after, early = parts[1:, None] + doubled, parts[:-1, None] - doubled
                found += [parts, after[doubled < room[2:]], early[doubled < room[:-2]]]
        fast = fast or bent.size > MANY * len(t) or usual > FAST * float(np.max(one) - np.min(one))
    return np.concatenate(found) if found else np.zeros(0), fast


def _parts(functions: _OfTime, values: Array, i: int, t: Array) -> Array:
    """Times between which a pulse of one of the functions is nearly linear."""
    y = functions(t, values)[i]
    a, b, ya, yb = t[:-1], t[1:], y[:-1], y[1:]
    while a.size and t.size < MOST:
        middle = 0.5 * (a + b)
        inside = (middle > a) & (middle < b)
        a, b, ya, yb, middle = a[inside], b[inside], ya[inside], yb[inside], middle[inside]
        if not middle.size:
            break
        ym = functions(middle, values)[i]
        t, y = np.concatenate([t, middle]), np.concatenate([y, ym])
        far = np.abs(ym - 0.5 * (ya + yb)) > 0.5 * LINEAR * (np.max(y) - np.min(y))
        a, b = np.concatenate([a[far], middle[far]]), np.concatenate([middle[far], b[far]])
        ya, yb = np.concatenate([ya[far], ym[far]]), np.concatenate([ym[far], yb[far]])
    order = np.argsort(t)
    t, y = t[order], y[order]
    # those of a line that deviates by a small share of its range (Douglas and Peucker)
    kept, waiting, tolerance = {0, len(t) - 1}, [(0, len(t) - 1)], LINEAR * float(np.max(y) - np.min(y))
    while waiting:
        i, k = waiting.pop()
        if k - i < 2:
            continue
        off = np.abs(y[i : k + 1] - np.interp(t[i : k + 1], (t[i], t[k]), (y[i], y[k])))
        j = i + int(np.argmax(off))
        if off[j - i] > tolerance:
            kept.add(j)
            waiting += [(i, j), (j, k)]
    return t[sorted(kept)]


# ---- bounds of expressions over intervals of time, by interval arithmetic of their operations

#: of numbers (n,) or of one ()
Numbers = NDArray[np.floating[Any]]
#: lower and upper bounds
Interval = tuple[Numbers, Numbers]
UNITY: Interval = (np.ones(()), np.ones(()))

RISING: dict[int, Callable[[Numbers], Numbers]] = {
    ca.OP_ASSIGN: np.positive, ca.OP_LIFT: np.positive, ca.OP_TWICE: lambda x: 2.0 * x, ca.OP_EXP: np.exp,
    ca.OP_LOG: np.log, ca.OP_SQRT: np.sqrt, ca.OP_ASIN: np.arcsin, ca.OP_ATAN: np.arctan, ca.OP_SINH: np.sinh,
    ca.OP_TANH: np.tanh, ca.OP_ASINH: np.arcsinh, ca.OP_ACOSH: np.arccosh, ca.OP_ATANH: np.arctanh,
    ca.OP_ERF: np.vectorize(math.erf, [float]), ca.OP_LOG1P: np.log1p,
    ca.OP_EXPM1: np.expm1, ca.OP_FLOOR: np.floor, ca.OP_CEIL: np.ceil, ca.OP_SIGN: np.sign,
}  # fmt: skip
FALLING: dict[int, Callable[[Numbers], Numbers]] = {ca.OP_NEG: np.negative, ca.OP_ACOS: np.arccos}
#: even functions that rise with the absolute value
EVEN: dict[int, Callable[[Numbers], Numbers]] = {ca.OP_FABS: np.abs, ca.OP_SQ: np.square, ca.OP_COSH: np.cosh}
RISING_IN_BOTH: dict[int, Callable[[Numbers, Numbers], Numbers]] = {
    ca.OP_ADD: np.add, ca.OP_FMIN: np.fmin, ca.OP_FMAX: np.fmax, ca.OP_AND: np.logical_and, ca.OP_OR: np.logical_or,
}  # fmt: skip


class Bounds:
    """Bounds of a function (x, p) -> (y,) over intervals of its first argument, exact if each operand occurs once."""

    def __init__(self, function: ca.Function) -> None:
        inputs, outputs = function.instruction_input, function.instruction_output
        self._operations = []
        for k in range(function.n_instructions()):
            what = function.instruction_id(k)
            constant = np.asarray(function.instruction_constant(k) if what == ca.OP_CONST else np.nan)
            table = rows_of(called(function, k)) if what == ca.OP_CALL else None
            self._operations.append((what, inputs(k), outputs(k), constant, table))
        self._outputs, self._slots = function.numel_out(0), function.sz_w()

    def __call__(self, start: Array, end: Array, values: Array) -> Interval:
        """Lower and upper bounds (outputs, n) over intervals (n,), with parameters."""
        slots: list[Interval] = [(start, end)] * self._slots
        lower, upper = np.empty((2, self._outputs, start.size))
        with np.errstate(all="ignore"):
            for what, at, to, constant, table in self._operations:
                if what == ca.OP_OUTPUT:
                    lower[to[1]], upper[to[1]] = slots[at[0]]
                elif what == ca.OP_INPUT:
                    number = np.asarray(values[at[1]] if at[0] else 0.0)
                    slots[to[0]] = (number, number) if at[0] else (start, end)
                elif what == ca.OP_CONST:
                    slots[to[0]] = (constant, constant)
                elif table is not None:
                    first, last = (np.searchsorted(table[0, 1:], one, side="right") for one in slots[at[0]])
                    exact = first == last  # within one row; else the bounds of the column
                    for place, column in zip(to, table, strict=True):
                        least = np.where(exact, column[first], column.min())
                        slots[place] = least, np.where(exact, column[last], column.max())
                elif all(slots[i][0] is slots[i][1] for i in at):  # numbers
                    x = [slots[i][0] for i in at]
                    number = np.asarray(float(ca.SX.unary(what, x[0]) if len(x) == 1 else ca.SX.binary(what, *x)))
                    slots[to[0]] = (number, number)
                else:
                    least, most = _bounds(what, [slots[i] for i in at])
                    unknown = np.isnan(least) | np.isnan(most)
                    slots[to[0]] = np.where(unknown, -np.inf, least), np.where(unknown, np.inf, most)
        return lower, upper


def _bounds(what: int, given: list[Interval]) -> Interval:
    a, b = given[0]
    if what in RISING:
        return RISING[what](a), RISING[what](b)
    if what in FALLING:
        return FALLING[what](b), FALLING[what](a)
    if what in EVEN:
        return _even(EVEN[what], a, b)
    if what in (ca.OP_SIN, ca.OP_COS):
        return _cosine(a, b) if what == ca.OP_COS else _cosine(a - 0.5 * np.pi, b - 0.5 * np.pi)
    if what == ca.OP_TAN:
        whole = np.floor((a + 0.5 * np.pi) / np.pi) == np.floor((b + 0.5 * np.pi) / np.pi)
        return np.where(whole, np.tan(a), -np.inf), np.where(whole, np.tan(b), np.inf)
    if what == ca.OP_INV:
        return _quotient(UNITY, given[0])
    if what == ca.OP_NOT:
        lower, upper = _truth(a, b)
        return 1.0 - upper, 1.0 - lower
    return _of_two(what, *given) if len(given) == 2 else (np.full_like(a, -np.inf), np.full_like(b, np.inf))


def _of_two(what: int, first: Interval, second: Interval) -> Interval:
    (a, b), (c, d) = first, second
    if what in (ca.OP_AND, ca.OP_OR):
        (a, b), (c, d) = _truth(a, b), _truth(c, d)
    if what in RISING_IN_BOTH:
        operation = RISING_IN_BOTH[what]
        return 1.0 * operation(a, c), 1.0 * operation(b, d)
    if what == ca.OP_SUB:
        return a - d, b - c
    if what == ca.OP_MUL:
        return _product(first, second)
    if what == ca.OP_DIV:
        return _quotient(first, second)
    if what == ca.OP_IF_ELSE_ZERO:
        true, false = _truth(a, b)[0] == 1.0, _truth(a, b)[1] == 0.0
        lower, upper = np.where(true, c, np.minimum(c, 0.0)), np.where(true, d, np.maximum(d, 0.0))
        return np.where(false, 0.0, lower), np.where(false, 0.0, upper)
    if what in (ca.OP_LT, ca.OP_LE):
        less = np.less if what == ca.OP_LT else np.less_equal
        return 1.0 * less(b, c), 1.0 * less(a, d)
    if what in (ca.OP_EQ, ca.OP_NE):
        surely, perhaps = 1.0 * ((a == b) & (c == d) & (a == c)), 1.0 * ((a <= d) & (c <= b))
        return (surely, perhaps) if what == ca.OP_EQ else (1.0 - perhaps, 1.0 - surely)
    if what == ca.OP_HYPOT:
        (a, b), (c, d) = _even(np.abs, a, b), _even(np.abs, c, d)
        return np.hypot(a, c), np.hypot(b, d)
    if what in (ca.OP_POW, ca.OP_CONSTPOW):
        return _power(first, second)
    if what in (ca.OP_FMOD, ca.OP_REMAINDER) and c is d:
        truncated, most = what == ca.OP_FMOD, np.abs(d)
        rounded: Any = np.trunc if truncated else np.rint
        remainder: Any = np.fmod if truncated else lambda x, y: x - y * np.rint(x / y)
        same, least = rounded(a / d) == rounded(b / d), np.where(a < 0.0, -most, 0.0) if truncated else -most
        return np.where(same, remainder(a, d), least), np.where(same, remainder(b, d), most)
    if what == ca.OP_ATAN2:
        ends = np.broadcast_arrays(*(np.arctan2(x, y) for x in first for y in second))
        cut = (c < 0.0) & (a <= 0.0) & (b >= 0.0)
        return np.where(cut, -np.pi, np.minimum.reduce(ends)), np.where(cut, np.pi, np.maximum.reduce(ends))
    if what == ca.OP_COPYSIGN:
        most = _even(np.abs, a, b)[1]
        return np.broadcast_arrays(-most, d)[0], np.broadcast_arrays(most, d)[0]
    shape = np.broadcast_shapes(a.shape, c.shape)
    return np.full(shape, -np.inf), np.full(shape, np.inf)


def _truth(a: Numbers, b: Numbers) -> Interval:
    """Truth of numbers between two, 0 or 1: whether all are not zero, and whether one is not."""
    return 1.0 * ((a > 0.0) | (b < 0.0)), 1.0 * ((a != 0.0) | (b != 0.0))


def _even(function: Callable[[Numbers], Numbers], a: Numbers, b: Numbers) -> Interval:
    left, right = function(a), function(b)
    through = (a < 0.0) & (b > 0.0)
    return np.where(through, function(np.zeros(())), np.minimum(left, right)), np.maximum(left, right)


def _cosine(a: Numbers, b: Numbers) -> Interval:
    left, right, half = np.cos(a), np.cos(b), a / np.pi
    top = 2.0 * np.ceil(0.5 * half) * np.pi <= b
    bottom = (2.0 * np.ceil(0.5 * (half - 1.0)) + 1.0) * np.pi <= b
    return np.where(bottom, -1.0, np.minimum(left, right)), np.where(top, 1.0, np.maximum(left, right))


def _product(first: Interval, second: Interval) -> Interval:
    ends = np.broadcast_arrays(*(np.nan_to_num(x * y, posinf=np.inf, neginf=-np.inf) for x in first for y in second))
    return np.minimum.reduce(ends), np.maximum.reduce(ends)


def _quotient(first: Interval, second: Interval) -> Interval:
    c, d = second
    through = (c <= 0.0) & (d >= 0.0)
    return _product(first, (np.where(through, -np.inf, 1.0 / d), np.where(through, np.inf, 1.0 / c)))


def _power(first: Interval, second: Interval) -> Interval:
    """Power of any base to a constant whole number, and of a base that is not negative."""
    (a, b), (c, d) = first, second
    if c is d and c.ndim == 0 and c == np.rint(c):
        power = np.abs(c)
        raised = _even(lambda x: x**power, a, b) if c % 2.0 == 0.0 else (a**power, b**power)
        return raised if c >= 0.0 else _quotient(UNITY, raised)
    ends = np.broadcast_arrays(*(np.where(a < 0.0, np.nan, x**y) for x in first for y in second))
    return np.minimum.reduce(ends), np.maximum.reduce(ends)
