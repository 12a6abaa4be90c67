"""Interior-point solution of an MPCC through CasADi, one compiled program per structure."""

import math
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import MPCC, MPCCStructure, Session, Solution
from nonsmooth.settings import settings, shown
from nonsmooth.solvers.polish import polished_mpcc
from nonsmooth.solvers.session import Algorithm, SolverSession

ABSORBED = (
    "with the literal product gap * multiplier = 0, mu = 0 is absorbing: the linearised product keeps a multiplier "
    "there while its gap moves; and in SI units, gaps being micrometres, the product vanishes within any tolerance "
    'long before the pair is complementary. Use relaxation="fischer-burmeister"'
)
PLUGINS = ("ipopt", "ccopt")
CONSTRAINT_AND_VARIABLE = 2  # code of ccopt for a pair of this kind
#: status of IPOPT after Ctrl-C: CasADi catches the signal
INTERRUPTED = ("User_Requested_Stop", "NonIpopt_Exception_Thrown")


@dataclass(frozen=True)
class Relaxation:
    """A smooth replacement of a pair 0 <= a _|_ b >= 0 of scaled gap a and multiplier b, by a parameter s."""

    #: (a, b, s) -> expression of the pair's constraint row, None for none
    row: Callable[[ca.SX, ca.SX, ca.SX], ca.SX] | None
    #: epsilon -> the values of s, solved one after the other until the pairs are complementary
    sequence: Callable[[float], tuple[float, ...]]
    lower: float = -math.inf
    upper: float = math.inf
    #: (a, b, s) -> term added to the objective; None for none
    penalty: Callable[[ca.SX, ca.SX, ca.SX], ca.SX] | None = None
    #: whether a >= 0 and b >= 0 must be imposed as well
    signs: bool = True
    polish: bool = True
    #: relative distance by which IPOPT moves the initial guess from its bounds
    push: float = 1e-2
    #: IPOPT's first barrier parameter: small where pairs are equations, since few unknowns then reach bounds
    barrier: float = 0.1
    #: whether unknowns and rows are scaled instead of in SI units
    scaled: bool = True


RELAXATIONS = {
    "fischer-burmeister": Relaxation(
        row=lambda a, b, s: a + b - ca.sqrt(a**2 + b**2 + 2 * s**2),  # zero <=> a, b > 0 and a b = s^2
        sequence=lambda epsilon: (epsilon,), lower=0.0, upper=0.0, signs=False, push=1e-9, barrier=1e-8,
    ),
    "scholtes": Relaxation(
        row=lambda a, b, s: a * b / s,
        sequence=lambda epsilon: (*(s for s in (1e-2, 1e-5, 1e-8) if s > epsilon**2), epsilon**2),
        upper=1.0,
    ),
    "l1": Relaxation(row=None, sequence=lambda epsilon: (1.0, 1e2, 1e4), penalty=lambda a, b, s: s * a * b),
    "literal": Relaxation(
        row=lambda a, b, s: a * b, sequence=lambda epsilon: (0.0,), lower=0.0, upper=0.0, polish=False, scaled=False,
        push=1e-16,  # the published method starts with zero multipliers
    ),
}  # fmt: skip
#: pairs for a solver that treats complementarity itself
NO_RELAXATION = Relaxation(row=None, sequence=lambda epsilon: (0.0,))


@settings
class IpoptMPCC(Algorithm):
    """Relax the complementarity pairs, solve with IPOPT, then polish on the active pairs.

    Unknowns, multipliers, gaps and equations are scaled by the program's scales. Scales, parameters, bounds and the set
    of active pairs are inputs, so that all steps of a run use the same `nlpsol`. InputError for an unknown relaxation
    or plugin, or an epsilon out of range.

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

    References
    ----------
    Waechter, Biegler, Math. Program. 106 (2006), 25-57; Scholtes, SIAM J. Optim. 11 (2001), 918-936; Kanzow, SIAM J.
    Matrix Anal. Appl. 17 (1996), 851-868 (smoothed Fischer-Burmeister).
    """

    relaxation: str = "fischer-burmeister"
    epsilon: float = 1e-6
    max_iterations: int = 200
    plugin: str = "ipopt"

    programs: ClassVar[tuple[type, ...]] = (MPCC,)
    taken: ClassVar[str] = "an MPCC"

    def __post_init__(self) -> None:
        if self.relaxation not in RELAXATIONS:
            raise InputError(f"There is no relaxation {shown(self.relaxation)}; there are {', '.join(RELAXATIONS)}.")
        if self.plugin not in PLUGINS:
            raise InputError(f"IpoptMPCC has no plugin {shown(self.plugin)}; it takes {' or '.join(PLUGINS)}.")
        if not 0.0 < self.epsilon <= 1e-3:
            raise InputError(f"epsilon = {self.epsilon} of IpoptMPCC must lie in (0, 1e-3]: it smooths scaled pairs.")

    @property
    def tolerance(self) -> float:
        """Guaranteed residual: near round-off after the polish."""
        return 1e-12 if RELAXATIONS[self.relaxation].polish else 1e-9

    def setup(self) -> Session:
        if not ca.has_nlpsol(self.plugin):
            raise SolverMissing(
                f"CasADi lists {self.plugin!r} but cannot load its library, which its wheels do not contain. "
                'Use IpoptMPCC(plugin="ipopt").'
            )
        return IpoptSession(self)


class IpoptSession(SolverSession):
    """`IpoptMPCC` session: one built program per structure. After Ctrl-C IPOPT would return as if it had finished."""

    def __init__(self, settings: IpoptMPCC) -> None:
        super().__init__(settings)
        self._relaxation = NO_RELAXATION if settings.plugin == "ccopt" else RELAXATIONS[settings.relaxation]
        self._built: dict[MPCCStructure, ca.Function] = {}

    def _solve(self, program: MPCC, guess: Solution | None) -> Solution:
        x, y = program.start(guess)
        relaxation, total = self._relaxation, 0
        best, error = Solution(x, y, "not started", 0, "IpoptMPCC"), np.inf
        for s in relaxation.sequence(self._settings.epsilon):
            x, y, iterations, status = self._relaxed(program, x, y, s)
            total += iterations
            G = program.structure.values(x, y, program.p)[3]
            active = program.binding & (G / program.G_scale < y / program.y_scale)
            trial = Solution(x, y, status, total, "IpoptMPCC", active)
            if relaxation.polish:
                trial = polished_mpcc(program, trial)
            trial_error = program.residual(trial)
            if trial_error <= error:
                best, error = trial, trial_error
            if error <= self._settings.tolerance:
                break
        fails = not relaxation.polish and error > self._settings.tolerance
        return replace(best, status=f"{ABSORBED} (IPOPT: {status})" if fails else best.status, iterations=total)

    def _relaxed(self, mpcc: MPCC, x: Array, y: Array, s: float) -> tuple[Array, Array, int, str]:
        """One call of IPOPT in scaled unknowns; the result is in SI units."""
        relaxation, binding, structure = self._relaxation, mpcc.binding, mpcc.structure
        if structure not in self._built:
            self._built[structure] = _build(structure, relaxation, self._settings)
        _, _, c_x, c_y, _, _ = structure.jacobians(x, y, mpcc.p)
        change = np.abs(c_x) @ mpcc.x_scale + np.abs(c_y) @ mpcc.y_scale  # if every unknown changes by its scale
        c_scale = np.where((change > 0.0) & np.isfinite(change), change, 1.0)
        scales = [mpcc.x_scale, mpcc.y_scale, mpcc.G_scale, c_scale]
        if not relaxation.scaled:
            scales = [np.ones_like(scale) for scale in scales]
        x_scale, y_scale = scales[:2]
        equations = np.zeros(len(structure.equality_names))
        lower = [equations, np.where(binding, relaxation.lower, 0.0)]
        upper = [equations, np.where(binding, relaxation.upper, np.inf)]
        if relaxation.signs:
            lower.append(np.zeros(binding.size))
            upper.append(np.full(binding.size, np.inf))
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
            z, iterations, status = _call(self._built[structure], inputs)
        except RuntimeError as error:
            return x, y, 0, f"CasADi stopped: {error}"
        return np.clip(z[: x.size] * x_scale, mpcc.lower, mpcc.upper), z[x.size :] * y_scale, iterations, status


def _build(structure: MPCCStructure, relaxation: Relaxation, settings: IpoptMPCC) -> ca.Function:
    """The relaxed, scaled program; its parameter vector is what `IpoptSession._relaxed` stacks, in that order."""
    n, m, k = len(structure.x_names), len(structure.y_names), len(structure.equality_names)
    x, y = ca.SX.sym("x", n), ca.SX.sym("y", m)
    x_scale, y_scale, G_scale = ca.SX.sym("x_scale", n), ca.SX.sym("y_scale", m), ca.SX.sym("G_scale", m)
    c_scale, binding, s = ca.SX.sym("c_scale", k), ca.SX.sym("binding", m), ca.SX.sym("s")
    symbols = [structure.x, structure.y, structure.p]
    expressions = [structure.objective, structure.equalities, structure.complements]
    f, c, G = ca.Function("mpcc", symbols, expressions)(x * x_scale, y * y_scale, structure.p)
    gap, zeros = G / G_scale, ca.SX.zeros(m)
    row = relaxation.row(gap, y, s) if relaxation.row else zeros
    penalty = relaxation.penalty(gap, y, s) if relaxation.penalty else zeros
    pairs = binding * row + (1 - binding) * gap
    rows = [c / c_scale, pairs, gap] if relaxation.signs else [c / c_scale, pairs]
    program = {
        "x": ca.vertcat(x, y),
        "p": ca.vertcat(structure.p, x_scale, y_scale, G_scale, c_scale, binding, s),
        # dense: without contacts the objective is constant and has no entries
        "f": ca.densify(f + ca.sum1(binding * penalty)),
        "g": ca.vertcat(*rows),
    }
    options: dict[str, Any] = {
        "print_time": False, "calc_lam_p": False, "error_on_fail": False, "show_eval_warnings": False,
    }  # fmt: skip
    if settings.plugin == "ccopt":
        # each pair: the gap's row, the last m of k + 2 m, and the multiplier's column, the last m of n + m
        options["cc_pairs"] = [[k + m + i, n + i] for i in range(m)]
        options["cc_types"] = [CONSTRAINT_AND_VARIABLE] * m
    else:
        options["ipopt"] = {
            "print_level": 0, "sb": "yes", "tol": 1e-10, "constr_viol_tol": 1e-10, "max_iter": settings.max_iterations,
            "nlp_scaling_method": "none", "bound_relax_factor": 0.0, "bound_push": relaxation.push,
            "bound_frac": relaxation.push, "mu_init": relaxation.barrier,
        }  # fmt: skip
    return ca.nlpsol("mpcc", settings.plugin, program, options)


@contextmanager
def ctrl_c_kept() -> Iterator[None]:
    """Ctrl-C during calls of CasADi, which may take an evaluation that it ends for one that failed: what the handler of
    SIGINT raises within is raised again at the end if it was lost."""
    usual: Any = signal.getsignal(signal.SIGINT)
    if not callable(usual) or threading.current_thread() is not threading.main_thread():
        yield
        return
    raised: list[BaseException] = []

    def handler(number: int, frame: Any) -> None:
        try:
            usual(number, frame)
        except BaseException as error:
            raised.append(error)
            raise

    signal.signal(signal.SIGINT, handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, usual)
    if raised:
        raise raised[0]


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
