"""Gaps within a step: cubics start + a s + b s^2 + c s^3 on [0, 1] that interpolate a gap and its velocity at both
ends, and a lower bound of gaps that close and open too quickly for these."""

import math

from nonsmooth.compile.kernels import kernel

#: shares of a step to which it is shortened at least, and from which on it is not, in order to see a gap
SHORTEST, VISIBLE = 1e-3, 0.9
#: how often it is shortened
SHORTENED = 40


@kernel
def cubic(s, start, a, b, c):
    return start + s * (a + s * (b + s * c))


@kernel
def turns(a, b, c):
    """Its extrema in (0, 1), in order; 1 if there are none."""
    discriminant = b * b - 3.0 * c * a
    if not discriminant >= 0.0:
        return 1.0, 1.0
    w = -(b + math.copysign(math.sqrt(discriminant), b))
    x = w / (3.0 * c) if c != 0.0 else 1.0
    y = a / w if w != 0.0 else 1.0
    x, y = x if 0.0 < x < 1.0 else 1.0, y if 0.0 < y < 1.0 else 1.0
    return min(x, y), max(x, y)


@kernel
def lowest(start, a, b, c):
    x, y = turns(a, b, c)
    return min(cubic(x, start, a, b, c), cubic(y, start, a, b, c), cubic(1.0, start, a, b, c))


@kernel
def first_root(start, a, b, c):
    """The first s in (0, 1] where it changes its sign; infinite if there is none."""
    x, y = turns(a, b, c)
    below, low = start <= 0.0, 0.0
    for k in range(3):
        high = x if k == 0 else (y if k == 1 else 1.0)
        if (cubic(high, start, a, b, c) <= 0.0) == below:
            low = high
            continue
        s = (low + high) / 2.0
        for _ in range(60):
            value, slope = cubic(s, start, a, b, c), a + s * (2.0 * b + s * 3.0 * c)
            if (value <= 0.0) == below:
                low = s
            else:
                high = s
            new = s - value / slope
            if not low < new < high:
                new = (low + high) / 2.0
            if abs(new - s) <= 1e-15:
                break
            s = new
        return s
    return math.inf


@kernel
def first_below(start, rate, end, rate_end, dt, tolerance):
    """Time within dt at which the cubic through values and rates at both ends becomes negative, by more than a
    tolerance, else infinite. One that begins at zero leaves it first: its cubic is divided by s."""
    leaves = start <= tolerance
    start = 0.0 if leaves else start
    a, slope, rise = dt * rate, dt * rate_end, end - start
    b, c = 3.0 * rise - 2.0 * a - slope, a + slope - 2.0 * rise
    if not lowest(start, a, b, c) < -tolerance:
        return math.inf
    return dt * (first_root(a, b, c, 0.0) if leaves else first_root(start, a, b, c))


@kernel
def bracketed(low, high, x, value, rate):
    """The next bracket and point of Newton's method for what is positive at `low` and not at `high`."""
    if value > 0.0:
        low = x
    else:
        high = x
    new = x - value / rate if rate < 0.0 else math.inf
    return low, high, new if low < new < high else 0.5 * (low + high)


@kernel
def meeting_of_tangents(gap, rate, gap_end, rate_end, dt):
    """When tangents of a gap at both ends of a step of length dt meet: on a curved way perhaps outside of it; of arrays
    too."""
    return (gap_end - gap - rate_end * dt) / (rate - rate_end)


@kernel
def least_gap(x, gap, rate, rate_end, dt, turn, bend):
    """A lower bound of a gap that closes and then opens, of arrays too, by tangents that meet at x or, at the end of
    the step next to it, nearly do. The distance of convex bodies in uniform translation is convex in time, above its
    tangents; bodies that turn by `turn` deviate by an eighth of it, as a share of their way, by acceleration by an
    eighth of bend dt^2."""
    return gap + rate * x - 0.125 * (turn * (rate_end * (dt - x) - rate * x) + bend * dt * dt)


@kernel
def time_of_least(gap, rate, gap_end, rate_end, dt, turn, bend):
    """When a gap that first closes and then opens may be negative within a step; infinite if it is not."""
    if not rate < 0.0 < rate_end:
        return math.inf
    x = min(max(meeting_of_tangents(gap, rate, gap_end, rate_end, dt), 0.0), dt)
    least = least_gap(x, gap, rate, rate_end, dt, turn, bend)
    return max(x, SHORTEST * dt) if not least > 0.0 else math.inf
