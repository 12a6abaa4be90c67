"""Gauss' principle of least constraint with gap inequalities, iterated with linearised gaps."""

from __future__ import annotations

from typing import Any, ClassVar

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.system import System
from nonsmooth.schemes.gauss.rules import check_gauss, gauss_rules, gauss_scheme
from nonsmooth.settings import settings
from nonsmooth.step.control import ConstantStep, StepControl
from nonsmooth.step.scheme import Scheme


@settings
class GaussQP:
    """Each step is a sequence of convex quadratic programs, usually one.

    With joints and gaps linearised at the iterate u_i the step is
    ``min 1/2 |u - u_free|_M^2  s.t.  g_N + dt W_N' (u - u_i) >= 0``, whose multipliers are the impulses. The iterations
    end when u no longer changes, with the true gaps: the scheme is that of `GaussMPCC`, solved differently. Constant
    steps are implicit Euler, of first order and plastic; with ``Landing(dt_min, dt_max)`` the step size is determined
    by root finding.

    With friction the program is a friction problem. Solvers of QPs solve it over tangent planes of the dual cone: two
    per contact in the plane, its edges, and six in space, one of them in the current direction of friction. The convex
    program alone would open the gap by dt mu |slip| (the relaxation of Anitescu and Tasora, unsuitable for clearances
    of micrometres); De Saxce's correction adds mu |slip| of the last program, so that these converge to Coulomb's law.

    Parameters
    ----------
    solver : settings of a solver of QPs or LCPs, or of friction where there is any, optional
        None for the semismooth Newton method of its text.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is too large.
    cone : "coulomb" or "convex"
        "convex" omits De Saxce's correction: the friction of Anitescu and Tasora, for comparison only, with a constant
        step. Gaps then remain open by dt mu |slip|: with a clearance of 10 um, dt = 1e-3 and mu = 0.1 a slider is in
        contact with opposite walls at 0.1 m/s. The complementarity error in the certificate shows it.

    Notes
    -----
    Restitution requires `Landing`.

    References
    ----------
    De Saxce, G., Feng, Z.-Q. (1998), The bipotential method, Math. Comput. Modelling 28, 225-245.
    """

    solver: Any = None
    fallback: bool = True
    cone: str = "coulomb"

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "SemismoothNewton"
    rescuing_solver: ClassVar[str] = "ActiveSet"
    compiled: ClassVar[str] = "nonsmooth.engine.steps.CompiledSteps"

    def __post_init__(self) -> None:
        if self.cone not in ("coulomb", "convex"):
            raise InputError(f'GaussQP: cone must be "coulomb" or "convex", got {self.cone!r}.')

    def scheme(self, control: StepControl) -> Scheme:
        """Declaration of the scheme to the engine."""
        return gauss_scheme(control, convex=self.cone == "convex")

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        if self.cone == "convex" and not isinstance(control, ConstantStep):
            raise InputError(f'GaussQP(cone="convex") takes a constant step, got {control}; give dt as a number.')
        if self.cone == "convex" and system.dimension == 3:
            raise InputError('GaussQP(cone="convex") exists in the plane only; take cone="coulomb".')
        check_gauss(system, parameters, control, "GaussQP")

    rules = staticmethod(gauss_rules)
