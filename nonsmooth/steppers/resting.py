"""Rest before motion: a state at rest remains at rest if Coulomb's law admits it.

With redundant frictional contacts Coulomb's law may admit rest as well as motion from the same state: a pile of discs
without walls may remain at rest or slide apart. All steppers follow the rule that a state at rest remains at rest if
the law admits it. This is decided by the convex relaxation (`associated_lcp_from_friction_contact`): its velocity is
unique and of least kinetic energy, and if no contact slides in its solution, Coulomb's law is satisfied.
"""

from __future__ import annotations

from collections.abc import Generator

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.programs import FrictionContact, Solution, associated_lcp_from_friction_contact
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.mechanism import Mechanism
from nonsmooth.tolerances import AT_REST, CERTAIN

__all__ = ["REST", "resting_answer", "starts_at_rest"]

REST = "a state at rest remains at rest if Coulomb's law admits it"


def starts_at_rest(m: Mechanism, v: Array, kick: Array) -> bool:
    """Whether v is round-off relative to the velocities `kick` that the loads cause in the step, in the plane with
    friction."""
    return m.rough and m.tangents == 1 and m.metric.length(v) <= AT_REST * m.metric.length(kick)


def resting_answer(program: FrictionContact) -> Generator[Ask, Solution, Solution | None]:
    """The solution of the convex relaxation, if it satisfies Coulomb's law, that is, if no contact slides."""
    lcp, recover = associated_lcp_from_friction_contact(program)
    try:
        relaxed = yield lcp, None
    except SolverFailed:  # only a proposal; the caller continues with the program itself
        return None
    z = recover(relaxed.y)
    found = Solution(program.A @ z + program.b, z, "solved", relaxed.iterations, relaxed.solver)
    return found if program.residual(found) <= CERTAIN else None
