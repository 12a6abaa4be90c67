"""Rest before motion: where a start at rest can stay so by Coulomb's law, it stays.

Rigid contacts that are redundant and rub may be able to hold a mechanism in place and to let it go, by the same law and
from the same start: a pile of discs without walls stands or slides apart. The rule of all steppers is that a start at
rest stays at rest if it can. Whether it can, the convex relaxation tells (`associated_lcp_from_friction_contact`): its
velocity is unique and of least kinetic energy, and if no contact slides by it, it obeys Coulomb's law.
"""

from __future__ import annotations

from collections.abc import Generator

from nonsmooth.evaluation import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.programs import FrictionContact, Solution, associated_lcp_from_friction_contact
from nonsmooth.steppers.base import Ask
from nonsmooth.steppers.mechanism import Mechanism

__all__ = ["CERTAIN", "REST", "answered_at_rest", "resting_answer", "starts_at_rest"]

#: velocity of a start that counts as rest, relative to that which the loads give in the step
STILL = 1e-8
#: residual of Coulomb's law up to which an answer of the relaxation is taken
CERTAIN = 1e-11
REST = "a start at rest stays at rest where Coulomb's law allows it"


def starts_at_rest(m: Mechanism, v: Array, kick: Array) -> bool:
    """Whether v is round-off beside the velocities `kick` of the loads in the step, in the plane with friction."""
    return m.rough and m.tangents == 1 and m.metric.length(v) <= STILL * m.metric.length(kick)


def resting_answer(program: FrictionContact) -> Generator[Ask, Solution, Solution | None]:
    """The answer of the convex relaxation, if it obeys Coulomb's law, as it does where no contact slides."""
    lcp, recover = associated_lcp_from_friction_contact(program)
    try:
        relaxed = yield lcp, None
    except SolverFailed:  # it only proposes; who asks goes on with the program itself
        return None
    z = recover(relaxed.y)
    found = Solution(program.A @ z + program.b, z, "solved", relaxed.iterations, relaxed.solver)
    return found if program.residual(found) <= CERTAIN else None


def answered_at_rest(
    program: FrictionContact, guess: Solution | None, rest: bool
) -> Generator[Ask, Solution, Solution]:
    """An answer to the program: at `rest` the one that stays so, if there is one."""
    if rest and program.contacts > 1:
        found = yield from resting_answer(program)
        if found is not None:
            return found
    return (yield program, guess)
