"""The mathematical program with complementarity constraints, split into structure (once) and numbers (each step)."""

from dataclasses import dataclass, field
from functools import cached_property

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array, Evaluator
from nonsmooth.exceptions import InputError
from nonsmooth.programs.base import FLOOR, TINY, ProgramWithRows, Solution


@dataclass(frozen=True, eq=False)
class MPCCStructure:
    r"""Symbols of a program with complementarity pairs, created once; `MPCC` contains the numbers.

    .. math::
        \min f(x, y, p) \quad \text{s.t.} \quad c(x, y, p) = 0, \quad \text{lower} \le x \le \text{upper}, \quad
        0 \le G_i(x, y, p) \perp y_i \ge 0,

    except that a pair that is not *binding* has y_i = 0 and only G_i >= 0.

    Parameters
    ----------
    x, y, p : columns of symbols: unknowns, multipliers (one per pair), parameters
    objective : f, a scalar; 0 if the step is determined by its equations
    equalities : c, a column
    complements : G, a column with one row per y
    equality_terms : for each row of c the sum of the absolute values of its terms, the scale of its residual
    x_names, y_names, equality_names : names in messages
    """

    x: ca.SX
    y: ca.SX
    p: ca.SX
    objective: ca.SX
    equalities: ca.SX
    complements: ca.SX
    equality_terms: ca.SX
    x_names: tuple[str, ...]
    y_names: tuple[str, ...]
    equality_names: tuple[str, ...]

    def __post_init__(self) -> None:
        sizes = {
            "x_names": (len(self.x_names), self.x.numel()),
            "y_names": (len(self.y_names), self.y.numel()),
            "complements": (self.complements.numel(), self.y.numel()),
            "equality_terms": (self.equality_terms.numel(), self.equalities.numel()),
            "equality_names": (len(self.equality_names), self.equalities.numel()),
            "objective": (self.objective.numel(), 1),
        }
        for name, (size, expected) in sizes.items():
            if size != expected:
                raise InputError(f"{name} of an MPCCStructure has {size} entries, expected {expected}.")

    @cached_property
    def sizes(self) -> tuple[int, int, int]:
        """Numbers of x, of y and of p."""
        return len(self.x_names), len(self.y_names), self.p.numel()

    @cached_property
    def values(self) -> Evaluator:
        """(x, y, p) -> f, c, terms of c, G."""
        outputs = [self.objective, self.equalities, self.equality_terms, self.complements]
        return Evaluator(ca.Function("mpcc_values", [self.x, self.y, self.p], outputs))

    @cached_property
    def conditions(self) -> Evaluator:
        """(x, y, p, x_scale) -> c, the scale of its rows as `MPCC.errors` defines it, G."""
        x_scale = ca.SX.sym("x_scale", self.x.numel())
        scales = self.equality_terms + FLOOR * ca.fabs(ca.jacobian(self.equalities, self.x)) @ x_scale
        inputs, outputs = [self.x, self.y, self.p, x_scale], [self.equalities, scales, self.complements]
        return Evaluator(ca.Function("mpcc_conditions", inputs, outputs))

    @cached_property
    def jacobians(self) -> Evaluator:
        """(x, y, p) -> c, G, c_x, c_y, G_x, G_y."""
        expressions, names = [self.equalities, self.complements], ["c", "G", "c_x", "c_y", "G_x", "G_y"]
        outputs = [*expressions, *(ca.jacobian(e, s) for e in expressions for s in (self.x, self.y))]
        function = ca.Function("mpcc_jacobians", [self.x, self.y, self.p], outputs, ["x", "y", "p"], names)
        return Evaluator(function, matrices=names[2:])


@dataclass(frozen=True, eq=False)
class MPCC(ProgramWithRows):
    """Numbers of one step for an `MPCCStructure`.

    Parameters
    ----------
    structure : MPCCStructure
    p : values of the parameters
    lower, upper : bounds of x, infinite where there is none; an x with lower == upper is a fixed number
    x_scale, y_scale, G_scale : typical sizes, positive, in the unit of each entry: gap/clearance, impulse/(m g dt),
        velocity/(c/dt), ...; with an infinite G_scale the gap of a pair that is not binding is ignored
    binding : pairs whose y may differ from zero
    """

    structure: MPCCStructure
    p: Array
    lower: Array
    upper: Array
    x_scale: Array
    y_scale: Array
    G_scale: Array
    binding: NDArray[np.bool_]
    _residuals: dict[tuple[object, ...], float] = field(default_factory=dict, init=False, repr=False)

    def __post_init__(self) -> None:
        n, m, parameters = self.structure.sizes
        if self.p.size != parameters:
            raise InputError(f"This MPCC takes {parameters} parameters, got {self.p.size}.")
        for name, size in (("lower", n), ("upper", n), ("x_scale", n), ("y_scale", m), ("G_scale", m), ("binding", m)):
            if getattr(self, name).shape != (size,):
                raise InputError(f"{name} of this MPCC needs shape ({size},), got {getattr(self, name).shape}.")
        for name in ("x_scale", "y_scale", "G_scale"):
            if not (getattr(self, name) > 0.0).all():
                raise InputError(f"{name} of an MPCC must be positive, got {getattr(self, name)}.")

    @property
    def free(self) -> NDArray[np.bool_]:
        """Entries of x that are unknowns: those with lower < upper."""
        return self.lower < self.upper

    @property
    def determined(self) -> bool:
        """Whether the equations alone fix x, given y: as many free x as equations, so that nothing is optimised."""
        return int(np.count_nonzero(self.free)) == len(self.structure.equality_names)

    def start(self, guess: Solution | None) -> tuple[Array, Array]:
        """x and y of a guess, or zeros, with fixed values and within the bounds."""
        x = np.zeros(self.lower.size) if guess is None else guess.x
        y = np.zeros(self.binding.size) if guess is None else guess.y
        return np.minimum(np.maximum(x, self.lower), self.upper), np.where(self.binding, y, 0.0)

    def errors(self, solution: Solution) -> Array:
        r"""Scaled violation of every condition [-]: equations, bounds of x, pairs.

        Notes
        -----
        \|c_i\| / (terms_i + FLOOR (\|c_x\| x_scale)_i), so that an equation whose terms all vanish, such as the spin of
        a body that does not turn, is measured by the typical size of its unknowns; the part of x beyond its bounds
        / x_scale; \|min(G_i / G_scale_i, y_i / y_scale_i)\| for a binding pair; max(\|y_i\| / y_scale_i,
        -G_i / G_scale_i) for another. Optimality is not part of it: each feasible point is a motion.
        """
        x, y = solution.x, solution.y
        if x.shape != self.lower.shape or y.shape != self.binding.shape:
            return np.full(len(self.error_names), np.inf)
        with np.errstate(all="ignore"):  # values that are not finite give an infinite residual
            c, scales, G = self.structure.conditions(x, y, self.p, self.x_scale)
            gap, multiplier = G / self.G_scale, y / self.y_scale
            bounds = np.maximum(np.maximum(self.lower - x, x - self.upper), 0.0) / self.x_scale
            idle = np.maximum(np.abs(multiplier), np.maximum(-gap, 0.0))
            pairs = np.where(self.binding, np.abs(np.minimum(gap, multiplier)), idle)
            return np.concatenate((np.abs(c) / np.maximum(scales, TINY), bounds, pairs))

    def residual(self, solution: Solution) -> float:
        """Largest of `errors` [-]; kept, since iterative solvers and the certification ask for the same again."""
        x, y = solution.x, solution.y
        key = x.shape, x.tobytes(), y.shape, y.tobytes()
        if key not in self._residuals:
            self._residuals[key] = super().residual(solution)
        return self._residuals[key]

    @property
    def error_names(self) -> tuple[str, ...]:
        s = self.structure
        return s.equality_names + tuple(f"bound of {name}" for name in s.x_names) + s.y_names
