"""Interior-point solution of an MPCC through CasADi, one compiled program per structure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import MPCC, MPCCStructure, Program, Solution
from nonsmooth.settings import settings
from nonsmooth.solvers.ctrl_c import ctrl_c_kept
from nonsmooth.solvers.polish import polished_mpcc
from nonsmooth.solvers.relaxation import NONE, Relaxation, relaxation_named

__all__ = ["IpoptMPCC"]

ABSORBED = (
    "with the literal product gap * multiplier = 0, mu = 0 is absorbing: the linearised product keeps a multiplier "
    "there while its gap moves; and in SI units, gaps being micrometres, the product vanishes within any tolerance "
    'long before the pair is complementary. Use relaxation="fischer-burmeister"'
)
PLUGINS = ("ipopt", "ccopt")
CONSTRAINT_AND_VARIABLE = 2  # code of ccopt for a pair of this kind
#: status of IPOPT after Ctrl-C: CasADi catches the signal
INTERRUPTED = ("User_Requested_Stop", "NonIpopt_Exception_Thrown")


@settings
class IpoptMPCC:
    """Relax the complementarity pairs, solve with IPOPT, then polish on the active pairs.

    Unknowns, multipliers, gaps and equations are scaled by the program's scales. Scales, parameters, bounds and the set
    of active pairs are inputs, so that all steps of a run use the same `nlpsol`.

    Parameters
    ----------
    relaxation : str
        - "fischer-burmeister": a + b - sqrt(a^2 + b^2 + 2 epsilon^2) = 0, hence a b = epsilon^2. Square where the step
          is determined, so IPOPT is Newton's method with a line search.
        - "scholtes": a b <= epsilon^2, approached with a few larger bounds, as far as necessary.
        - "l1": a penalty rho a b, with rho raised until the pairs are complementary.
        - "literal": gap * multiplier = 0 as published, in SI units, started at the guess, without polish and fallback.
          It fails once contact has formed, which it demonstrates.
    epsilon : float
        Smoothing [-] of the scaled pairs, in (0, 1e-3], not used by "l1" and "literal". The polish removes its effect.
    max_iterations : int
        Largest number of IPOPT iterations per relaxed program.
    plugin : str
        "ipopt"; or "ccopt" if CasADi can load it, which treats complementarity pairs itself and ignores the relaxation.

    Raises
    ------
    InputError
        For an unknown relaxation or plugin, or an epsilon out of range.

    References
    ----------
    Waechter, Biegler, Math. Program. 106 (2006), 25-57; Scholtes, SIAM J. Optim. 11 (2001), 918-936; Kanzow, SIAM J.
    Matrix Anal. Appl. 17 (1996), 851-868 (smoothed Fischer-Burmeister).
    """

    relaxation: str = "fischer-burmeister"
    epsilon: float = 1e-6
    max_iterations: int = 200
    plugin: str = "ipopt"

    def __post_init__(self) -> None:
        relaxation_named(self.relaxation)
        if self.plugin not in PLUGINS:
            raise InputError(f"IpoptMPCC has no plugin {self.plugin!r}; it takes {' or '.join(PLUGINS)}.")
        if not 0.0 < self.epsilon <= 1e-3:
            raise InputError(f"epsilon = {self.epsilon} of IpoptMPCC must lie in (0, 1e-3]: it smooths scaled pairs.")

    @property
    def tolerance(self) -> float:
        """Guaranteed residual: near round-off after the polish."""
        return 1e-12 if relaxation_named(self.relaxation).polish else 1e-9

    def fits(self, program: Program) -> bool:
        """Any MPCC."""
        return isinstance(program, MPCC)

    def setup(self) -> IpoptSession:
        """Check that the plugin's library is available.

        Raises
        ------
        SolverMissing
            If CasADi cannot load it.
        """
        if not ca.has_nlpsol(self.plugin):
            raise SolverMissing(
                f"CasADi lists {self.plugin!r} but cannot load its library, which its wheels do not contain. "
                'Use IpoptMPCC(plugin="ipopt").'
            )
        return IpoptSession(self)


class IpoptSession:
    """`IpoptMPCC` session: the built programs, one per structure met."""

    def __init__(self, settings: IpoptMPCC) -> None:
        self._settings = settings
        self._relaxation = NONE if settings.plugin == "ccopt" else relaxation_named(settings.relaxation)
        self._built: dict[MPCCStructure, ca.Function] = {}

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        """Solve an MPCC.

        Raises
        ------
        KeyboardInterrupt
            If Ctrl-C was pressed meanwhile; IPOPT itself would return as if it had finished.
        """
        if not isinstance(program, MPCC):
            raise InputError(f"IpoptMPCC takes an MPCC, got {type(program).__name__}.")
        nlp = self._nlp(program.structure)
        x, y = _start(program, guess)
        relaxation, total = self._relaxation, 0
        best, error = Solution(x, y, "not started", 0, "IpoptMPCC"), np.inf
        for s in relaxation.sequence(self._settings.epsilon):
            x, y, iterations, status = _relaxed(nlp, program, relaxation, x, y, s)
            total += iterations
            trial = Solution(x, y, status, total, "IpoptMPCC", _binding_pairs(program, x, y))
            if relaxation.polish:
                trial = polished_mpcc(program, trial)
            trial_error = program.residual(trial)
            if trial_error <= error:
                best, error = trial, trial_error
            if error <= self._settings.tolerance:
                break
        explained = (
            best.status if relaxation.polish or error <= self._settings.tolerance else f"{ABSORBED} (IPOPT: {status})"
        )
        return replace(best, status=explained, iterations=total)

    def _nlp(self, structure: MPCCStructure) -> ca.Function:
        if structure not in self._built:
            self._built[structure] = _build(structure, self._relaxation, self._settings)
        return self._built[structure]


def _build(structure: MPCCStructure, relaxation: Relaxation, settings: IpoptMPCC) -> ca.Function:
    """The relaxed, scaled program; its parameter vector is what `_relaxed` stacks, in that order."""
    n, m, k = len(structure.x_names), len(structure.y_names), len(structure.equality_names)
    x, y = ca.SX.sym("x", n), ca.SX.sym("y", m)
    x_scale, y_scale, G_scale = ca.SX.sym("x_scale", n), ca.SX.sym("y_scale", m), ca.SX.sym("G_scale", m)
    c_scale, binding, s = ca.SX.sym("c_scale", k), ca.SX.sym("binding", m), ca.SX.sym("s")
    symbols = [structure.x, structure.y, structure.p]
    expressions = [structure.objective, structure.equalities, structure.complements]
    f, c, G = ca.Function("mpcc", symbols, expressions)(x * x_scale, y * y_scale, structure.p)
    gap = G / G_scale
    pairs = binding * relaxation.row(gap, y, s) + (1 - binding) * gap
    rows = [c / c_scale, pairs, gap] if relaxation.signs else [c / c_scale, pairs]
    program = {
        "x": ca.vertcat(x, y),
        "p": ca.vertcat(structure.p, x_scale, y_scale, G_scale, c_scale, binding, s),
        # dense: without contacts the objective is constant and has no entries
        "f": ca.densify(f + ca.sum1(binding * relaxation.penalty(gap, y, s))),
        "g": ca.vertcat(*rows),
    }
    return ca.nlpsol("mpcc", settings.plugin, program, _options(settings, relaxation, n, m, k))


def _options(settings: IpoptMPCC, relaxation: Relaxation, n: int, m: int, k: int) -> dict[str, Any]:
    options: dict[str, Any] = {
        "print_time": False,
        "calc_lam_p": False,
        "error_on_fail": False,
        "show_eval_warnings": False,
    }
    if settings.plugin == "ccopt":
        # each pair: the gap's row, the last m of k + 2 m, and the multiplier's column, the last m of n + m
        pairs = [[k + m + i, n + i] for i in range(m)]
        return {**options, "cc_pairs": pairs, "cc_types": [CONSTRAINT_AND_VARIABLE] * m}
    options["ipopt"] = {
        "print_level": 0,
        "sb": "yes",
        "tol": 1e-10,
        "constr_viol_tol": 1e-10,
        "max_iter": settings.max_iterations,
        "nlp_scaling_method": "none",
        "bound_relax_factor": 0.0,
        "bound_push": relaxation.push,
        "bound_frac": relaxation.push,
        "mu_init": relaxation.barrier,
    }
    return options


def _relaxed(
    nlp: ca.Function, mpcc: MPCC, relaxation: Relaxation, x: Array, y: Array, s: float
) -> tuple[Array, Array, int, str]:
    """One call of IPOPT in scaled unknowns; the result is in SI units."""
    binding, infinite = mpcc.binding, np.full(mpcc.binding.size, np.inf)
    scales = [mpcc.x_scale, mpcc.y_scale, mpcc.G_scale, _equation_scale(mpcc, x, y)]
    if not relaxation.scaled:
        scales = [np.ones_like(scale) for scale in scales]
    x_scale, y_scale = scales[:2]
    equations = np.zeros(len(mpcc.structure.equality_names))
    lower = [equations, np.where(binding, relaxation.lower, 0.0)]
    upper = [equations, np.where(binding, relaxation.upper, np.inf)]
    if relaxation.signs:
        lower.append(np.zeros(binding.size))
        upper.append(infinite)
    y_lower = np.where(binding, 0.0 if relaxation.signs else -np.inf, 0.0)
    inputs = {
        "x0": np.concatenate((x / x_scale, y / y_scale)),
        "p": np.concatenate((mpcc.p, *scales, binding, [s])),
        "lbx": np.concatenate((mpcc.lower / x_scale, y_lower)),
        "ubx": np.concatenate((mpcc.upper / x_scale, np.where(binding, np.inf, 0.0))),
        "lbg": np.concatenate(lower),
        "ubg": np.concatenate(upper),
    }
    try:
        z, iterations, status = _call(nlp, inputs)
    except RuntimeError as error:
        return x, y, 0, f"CasADi stopped: {error}"
    return np.clip(z[: x.size] * x_scale, mpcc.lower, mpcc.upper), z[x.size :] * y_scale, iterations, status


def _call(nlp: ca.Function, inputs: dict[str, Array]) -> tuple[Array, int, str]:
    """Run it; a Ctrl-C is raised as KeyboardInterrupt, however CasADi reports it."""
    try:
        with ctrl_c_kept():
            z = np.asarray(nlp(**inputs)["x"]).ravel()
            stats = nlp.stats()
    except SystemError as error:  # the signal arrived during the conversion of an array
        if isinstance(error.__cause__, KeyboardInterrupt):
            raise KeyboardInterrupt from error
        raise
    status = str(stats.get("return_status", stats.get("unified_return_status")))
    if status in INTERRUPTED:
        raise KeyboardInterrupt
    return z, int(stats["iter_count"]), status


def _equation_scale(mpcc: MPCC, x: Array, y: Array) -> Array:
    """Change of each equation if every unknown changes by its scale."""
    _, _, c_x, c_y, _, _ = mpcc.structure.jacobians(x, y, mpcc.p)
    scale = np.abs(c_x) @ mpcc.x_scale + np.abs(c_y) @ mpcc.y_scale
    return np.where((scale > 0.0) & np.isfinite(scale), scale, 1.0)


def _start(mpcc: MPCC, guess: Solution | None) -> tuple[Array, Array]:
    """The guess, or zeros, within the bounds."""
    x = np.zeros(mpcc.lower.size) if guess is None else guess.x
    y = np.zeros(mpcc.binding.size) if guess is None else guess.y
    return np.clip(x, mpcc.lower, mpcc.upper), np.where(mpcc.binding, y, 0.0)


def _binding_pairs(mpcc: MPCC, x: Array, y: Array) -> NDArray[np.bool_]:
    G = mpcc.structure.values(x, y, mpcc.p)[3]
    return mpcc.binding & (G / mpcc.G_scale < y / mpcc.y_scale)
