"""The programs of compiled steps for any solver: read from the records, solved in Python, written back.

A program stands in the records as u = W P + b, in blocks of bonds and couplings. Compiled code calls the address of an
`ExternalSolver` instead of its own Newton method, where a run has another solver, and for a step that is not certified
otherwise. An exception cannot pass through compiled code: it is stored, and raised when that returns.
"""

import ctypes
import weakref
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.records.memory import Memory
from nonsmooth.engine.compiled_form import is_rough
from nonsmooth.engine.layout import Layout
from nonsmooth.exceptions import BudgetSpent, InputError, SolverFailed
from nonsmooth.model.system import System
from nonsmooth.programs import LCP, QP, FrictionContact, Program, Solution
from nonsmooth.programs.conversions import associated_lcp_from_friction_contact, pushed_friction_contact
from nonsmooth.solvers.chain import CERTIFIED, Chain
from nonsmooth.solvers.tangent_planes import CORRECTIONS, contact_by_qps
from nonsmooth.step.impact_fields import CONVEX
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.tolerances import AT_REST, CERTAIN

#: velocities [m/s, rad/s] that no mechanism has
BEYOND = 1e12
#: a QP
ONE_ROW = QP(np.eye(1), np.zeros(1), np.eye(1), np.zeros(1))
#: eigenvalue of the Delassus matrix, as a share of the largest, below which rows are redundant
REDUNDANT = 1e-12


class Callbacks:
    """Functions in Python that compiled code calls by their address; each tells whether it solved a program."""

    def __init__(self) -> None:
        #: raises `BudgetSpent` where the time of the run is spent; called before each program
        self.in_time: Callable[[], None] = lambda: None
        #: what ended a call other than the failure of its solvers; further calls solve nothing
        self.raised: BaseException | None = None
        #: why the last program was not solved; empty if it was
        self.failure = ""
        self._called: list[Any] = []

    def address(self, solve: Callable[[], None]) -> int:
        """The address of a function that calls a method, which solves a program or raises `SolverFailed`."""
        # weak references: what is called leads to solvers, which own functions of CasADi
        answer = partial(_trampoline, weakref.ref(self), weakref.WeakMethod(solve))
        self._called.append(ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(answer))
        return int(ctypes.cast(self._called[-1], ctypes.c_void_p).value or 0)


def _trampoline(outside: weakref.ref[Callbacks], solve: weakref.WeakMethod[Callable[[], None]], _: int) -> int:
    """Whether a program was solved; what is raised is kept."""
    kept = outside()
    if kept is None:
        return 0
    try:
        call = solve()
        if call is None or kept.raised is not None:
            return 0
        call()
        kept.failure = ""
        return 1
    except BudgetSpent as error:
        kept.raised = error
    except (SolverFailed, np.linalg.LinAlgError) as error:
        kept.failure = str(error)
    except BaseException as error:  # Ctrl-C as well
        kept.raised = error
    return 0


def _one_contact(dimension: int) -> FrictionContact:
    return FrictionContact(np.eye(dimension), np.zeros(dimension), np.ones(1), dimension)


def check_solver(system: System, stepper: Any, scheme: Scheme, values: Array) -> None:
    """Raise InputError for a solver that does not solve the programs of the scheme."""
    solver = stepper.solver
    if solver is None:
        return
    in_plane, in_space = (solver.fits(_one_contact(d)) for d in (2, 3))
    if in_space if system.dimension == 3 else in_plane:
        return
    if not (in_plane or in_space or solver.fits(LCP(np.eye(1), np.zeros(1))) or solver.fits(ONE_ROW)):
        lacks = "it solves no LCP, no QP and no program with friction"
    elif solver.fits(ONE_ROW) or scheme.convex or not is_rough(system, values):
        return
    elif system.dimension == 3:
        lacks = "it solves no program with friction in space, whose cones have no edges"
    else:
        lacks = f"it solves {'programs with friction in space only' if in_space else 'no program with friction'}"
    raise InputError(
        f"{type(stepper).__name__} formulates programs that {solver} does not solve: {lacks}; "
        "give it SemismoothNewton(), or leave the solver out."
    )


class ExternalSolver:
    """The programs in the memory of one run; `requested`: its first solver was, so that the others are fallbacks."""

    def __init__(self, memory: Memory, layout: Layout, chain: Chain, outside: Callbacks, *, requested: bool) -> None:
        self.memory, self.d, self.chain = memory, layout.shape.rows, chain
        self.requested = requested
        start, of = memory.start, memory.of
        self.joints, self.contacts = len(of["Joint"]), len(of["Contact"])
        size = {name: of[name].dtype.itemsize for name in ("Joint", "Contact", "Coupling")}
        bonds = [("Joint", k) for k in range(self.joints)] + [("Contact", k) for k in range(self.contacts)]
        places = [start[name] + k * size[name] for name, k in bonds]
        number = {at: i for i, at in enumerate(places)}
        pairs = []
        for i, (name, k) in enumerate(bonds):
            begin, count = of[name]["couplings"][k]  # relative to the record, as links are
            first = (places[i] + int(begin) - start["Coupling"]) // size["Coupling"]
            for c in range(first, first + int(count)):
                other = start["Coupling"] + c * size["Coupling"] + int(of["Coupling"]["other"][c])
                pairs.append((c, i, number[other]))
        #: (coupling, bond, bond eliminated before it)
        self.pairs: NDArray[np.intp] = np.array(pairs, dtype=np.intp).reshape(-1, 3)
        self._outside = outside
        self.address = outside.address(self.solve)

    def solve(self) -> None:
        """Solve the present program; SolverFailed if no solver of the chain does."""
        self._outside.in_time()
        A, b, rows, on, bilateral = self._rows()
        if b.size == 0:
            return
        if not np.all(np.abs(b) < BEYOND):
            raise SolverFailed("the iterates of the step diverge.")
        contact, joint = self.memory.of["Contact"], self.memory.of["Joint"]
        last = np.concatenate([joint["P"].ravel(), contact["P"].ravel()])[rows]
        mu, least = contact["friction"][on], np.zeros(int(on.sum()))
        if self.memory.of["System"]["phase_of_impact"][0] == 1:
            least = contact["least"][on]
        z = np.zeros(b.size)
        normal = bilateral + self.d * np.arange(mu.size)
        z[normal] = least
        b = b + A @ z
        if mu.any():
            z = z + self._with_friction(A, b, mu, bilateral, least, last)
        else:
            kept = np.concatenate([np.arange(bilateral), normal])
            z[kept] += self._frictionless(A[np.ix_(kept, kept)], b[kept], bilateral)
        P = np.zeros((self.joints + self.contacts) * self.d)
        P[rows] = z
        for name, part in (("Joint", P[: self.joints * self.d]), ("Contact", P[self.joints * self.d :])):
            self.memory.of[name]["P"] = part.reshape(-1, self.d)

    def _rows(self) -> tuple[Array, Array, NDArray[np.intp], NDArray[np.bool_], int]:
        """W and b of joints and of contacts in the program, these rows among all, the contacts, number of joints'
        rows."""
        of, d, n = self.memory.of, self.d, self.joints
        joint, contact, coupling = of["Joint"], of["Contact"], of["Coupling"]
        ridge, on = float(of["System"]["ridge"][0]), contact["on"] == 1
        count = n + self.contacts
        A = np.zeros((count * d, count * d))
        blocks = A.reshape(count, d, count, d).swapaxes(1, 2)  # a view
        b = np.concatenate([joint["b0"].ravel() - ridge * joint["P_near"].ravel(), contact["b0"].ravel()])
        blocks[range(n), range(n)] = joint["W"] + ridge * np.eye(d)
        blocks[range(n, count), range(n, count)] = contact["W"]
        all_on = np.concatenate([np.ones(n, dtype=bool), on])
        c, i, j = self.pairs[all_on[self.pairs[:, 1]] & all_on[self.pairs[:, 2]]].T
        blocks[i, j] = coupling["W"][c]
        blocks[j, i] = coupling["W"][c].swapaxes(1, 2)
        full = joint["empty"].ravel() == 0
        rows = np.flatnonzero(np.concatenate([full, np.repeat(on, d)]))
        A = A[np.ix_(rows, rows)]
        return (A + A.T) / 2, b[rows], rows, on, int(full.sum())

    def _frictionless(self, A: Array, b: Array, bilateral: int) -> Array:
        """Impulses without friction: by an LCP, or as multipliers of a QP."""
        lcp, first = LCP(A, b, bilateral), self.chain.first
        if first.fits(lcp):
            return self._answer(lcp)
        d = next((d for d in (2, 3) if first.fits(_one_contact(d))), None)
        if d is None and not first.fits(ONE_ROW):
            return self._answer(lcp)
        by_qps, d = d is None, d or 2
        # a program with friction whose friction is zero
        n = b.size - bilateral
        places = np.concatenate([np.arange(bilateral), bilateral + d * np.arange(n)])
        padded, sought = np.eye(bilateral + d * n), np.zeros(bilateral + d * n)
        padded[np.ix_(places, places)], sought[places] = A, b
        program = FrictionContact(padded, sought, np.zeros(n), d, bilateral)
        return (self._by_qps(program, np.zeros(sought.size)) if by_qps else self._answer(program))[places]

    def _with_friction(self, A: Array, b: Array, mu: Array, bilateral: int, least: Array, last: Array) -> Array:
        """Impulses by Coulomb's law beyond normal ones `least`, whose friction they include, from the `last` ones."""
        program = FrictionContact(A, b, mu, self.d, bilateral)
        if self.memory.of["System"]["phase_of_impact"][0] == CONVEX:
            return self._convex(program)
        pushed, recover = pushed_friction_contact(program, least)
        if pushed is program:
            found = self._rested(program, last)
            if found is not None:
                return found
        if self.chain.first.fits(pushed) or not self.chain.first.fits(ONE_ROW):
            return recover(self._answer(pushed))
        return recover(self._by_qps(pushed, np.concatenate([last, np.zeros(pushed.b.size - last.size)])))

    def _by_qps(self, program: FrictionContact, last: Array) -> Array:
        """Impulses by a solver of QPs; as a fallback, where they do not converge, by the chain for friction."""
        found = contact_by_qps(program, last, self.chain.answer, CERTIFIED)
        if found is not None:
            return found
        if not self.chain.fallback:
            raise SolverFailed(f"De Saxce's correction did not converge in {CORRECTIONS} programs.")
        return self._answer(program)

    def _answer(self, program: Program) -> Array:
        """The solution of the chain; by another solver than the requested one it is a fallback, whatever its kind."""
        before = self.chain.counts["fallbacks"]
        found = self.chain.answer(program)
        if self.requested and not self.chain.first.fits(program):
            self.chain.counts["fallbacks"] = before + 1
        return found.y

    def _convex(self, program: FrictionContact) -> Array:
        """Impulses of the convex relaxation."""
        lcp, recover = associated_lcp_from_friction_contact(program)
        return recover(self._frictionless(lcp.A, lcp.b, lcp.bilateral))

    def _rested(self, program: FrictionContact, last: Array) -> Array | None:
        """The state of rest in the plane, if bodies begin at rest and Coulomb's law allows it: the convex relaxation
        without sliding contacts. The same load may admit rest and motion, as of a pile of discs. The velocity of the
        relaxation is unique; impulses of redundant contacts are not: the nearest to the last ones, so that iterations
        of a step converge."""
        if program.dimension == 3 or program.contacts < 2:
            return None
        body = self.memory.of["Body"][1:]
        before, free = (float(np.sum(body["sqrt_mass"] ** 2 * body[name] ** 2)) for name in ("v", "v_next"))
        if not before <= AT_REST**2 * free:  # relative to the velocities that loads cause
            return None
        try:
            z = self._convex(program)
        except SolverFailed:  # only a proposal
            return None
        presses = np.repeat(program.split(z)[0] > 0.0, self.d)
        held = np.flatnonzero(np.concatenate([np.ones(program.bilateral, dtype=bool), presses]))
        A, near = program.A[np.ix_(held, held)], np.zeros(z.size)
        near[held] = last[held] - np.linalg.lstsq(A, A @ last[held] + program.b[held], rcond=REDUNDANT)[0]
        for proposed in (near, z):
            found = Solution(program.A @ proposed + program.b, proposed, "solved", 0, "rest")
            if program.residual(found) <= CERTAIN:
                return proposed
        return None
