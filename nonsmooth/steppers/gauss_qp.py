"""Gauss' principle of least constraint with gap inequalities, iterated with linearised gaps."""

from __future__ import annotations

from typing import Any, ClassVar

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.system import System
from nonsmooth.settings import settings
from nonsmooth.step_control import ConstantStep, StepControl
from nonsmooth.steppers.gauss import check_gauss, gauss_rules

__all__ = ["GaussQP"]


@settings
class GaussQP:
    """Each step is a sequence of convex quadratic programs, usually one.

    With the gaps linearised at the iterate the step is
    ``min 1/2 dx' H dx + f' dx  s.t.  g_N + G_u dx >= 0``, whose multipliers are the impulses. H is the symmetric part
    of the derivative of the equations of motion, so it contains the curvature of the gaps under the impulses; f
    contains the remaining terms. The iterations end when the nonlinear equations with the true gaps are satisfied to
    round-off: the scheme is that of `GaussMPCC`, solved differently. Constant steps are implicit Euler, of first order
    and plastic; with ``Landing(dt_min, dt_max)`` the step size is determined by root finding.

    With friction each contact has two rows, the edges of the dual cone. The convex program alone would open the gap by
    dt mu |slip| (the relaxation of Anitescu and Tasora, unsuitable for clearances of micrometres); De Saxce's
    correction adds mu |slip| of the iterate, so that the iteration converges to Coulomb's law. If it does not converge
    because normal and tangential directions are strongly coupled, the step is formulated as friction problems.

    Parameters
    ----------
    solver : settings of a solver of QPs, optional
        ``ActiveSet()`` by default.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is too large.

    cone : "coulomb" or "convex"
        "convex" omits De Saxce's correction: the friction of Anitescu and Tasora, for comparison only, with a constant
        step. Gaps then remain open by dt mu |slip|: with a clearance of 10 um, dt = 1e-3 and mu = 0.1 a slider is in
        contact with opposite walls at 0.1 m/s. The complementarity error in the certificate shows it.

    Notes
    -----
    Restitution requires `Landing`. In space, where the cone has no edges, each iteration is a friction problem.

    References
    ----------
    De Saxce, G., Feng, Z.-Q. (1998), The bipotential method, Math. Comput. Modelling 28, 225-245.
    """

    solver: Any = None
    fallback: bool = True
    cone: str = "coulomb"

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "ActiveSet"
    compiled: ClassVar[str] = "steps.CompiledSteps"

    def __post_init__(self) -> None:
        if self.cone not in ("coulomb", "convex"):
            raise InputError(f'GaussQP: cone must be "coulomb" or "convex", got {self.cone!r}.')

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        if self.cone == "convex" and not isinstance(control, ConstantStep):
            raise InputError(f'GaussQP(cone="convex") takes a constant step, got {control}; give dt as a number.')
        if self.cone == "convex" and system.dimension == 3:
            raise InputError('GaussQP(cone="convex") exists in the plane only; take cone="coulomb".')
        check_gauss(system, parameters, control, "GaussQP")

    def rules(self, system: System, control: StepControl) -> dict[str, Any]:
        """Stated rules of contact detection."""
        return gauss_rules(system, control)
