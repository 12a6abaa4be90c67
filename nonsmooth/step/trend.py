"""Extrapolation of impulses: the polynomial through those of the last steps, evaluated at the next one."""

from nonsmooth.compile.kernels import kernel
from nonsmooth.compile.records.values import zeros_like


@kernel
def expected(trend):
    """Impulses of the next step."""
    return trend.last + trend.first + trend.second + trend.third


@kernel
def record_impulses(trend, P):
    """Add the impulses P of a step."""
    first = P - trend.last if trend.known > 0 else zeros_like(P)
    second = first - trend.first if trend.known > 1 else zeros_like(P)
    third = second - trend.second if trend.known > 2 else zeros_like(P)
    trend.last, trend.first, trend.second, trend.third = P, first, second, third
    trend.known += 1


@kernel
def start_again(trend, P):
    """Start again with impulses P, after an impact or a change of mode."""
    trend.last = P
    trend.first = trend.second = trend.third = zeros_like(P)
    trend.known = 0
