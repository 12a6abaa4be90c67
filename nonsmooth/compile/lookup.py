"""Tables within CasADi expressions, found by bisection: their cost hardly grows with their length."""

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from nonsmooth.compile.casadi_call import Array


def lookup(times: ArrayLike, *columns: ArrayLike) -> ca.Function:
    """CasADi function t -> (begin, column, ..) of the interval that t is in, of the first one before all.

    It is piecewise constant. CasADi has no derivative of such a call by its argument, but not a number.
    """
    t, x = ca.MX.sym("t"), np.asarray(times)
    rows, k = np.array([x[:-1], *columns]), ca.low(ca.MX(ca.DM(x)), t, {"lookup_mode": "binary"})
    return ca.Function("lookup", [t], [ca.MX(ca.DM(rows))[:, k]], {"never_inline": True})


def called(function: ca.Function, k: int) -> ca.Function:
    """The `lookup` that an instruction of a function calls."""
    return function.instructions_sx()[k].which_function()


def rows_of(found: ca.Function) -> Array:
    """The columns (columns, intervals) of a `lookup`, its largest constant."""
    constants = [one for one in map(found.instruction_MX, range(found.n_instructions())) if one.is_constant()]
    return np.array(max(constants, key=lambda one: int(one.numel())).to_DM())
