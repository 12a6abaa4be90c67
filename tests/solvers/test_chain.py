"""The fallback chain under injected faults."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

from nonsmooth.engine.external_solver import Callbacks, _trampoline
from nonsmooth.exceptions import SolverFailed, SolverMissing
from nonsmooth.programs import LCP, MPCC, QP, FrictionContact, MPCCStructure, Program, Session, Solution
from nonsmooth.solvers import (
    ActiveSet,
    Admm,
    Chain,
    Conic,
    IpoptMPCC,
    Lemke,
    ModeEnumeration,
    Osqp,
    ProjectedGaussSeidel,
    SemismoothNewton,
)
from nonsmooth.solvers.chain import CERTIFIED, CHAIN

QP_1 = QP(np.eye(1), np.ones(1), np.eye(1), np.zeros(1), names=("floor",))
LCP_1 = LCP(np.eye(1), -np.ones(1), names=("floor",))


@dataclass(frozen=True)
class Liar:
    """Says "solved" with whatever it is told to answer, and counts its calls."""

    x: float = 7.0
    y: float = -3.0
    missing: bool = False
    tolerance: float = 1e-12

    def fits(self, program: Program) -> bool:
        return isinstance(program, (QP, MPCC))

    def setup(self) -> Session:
        if self.missing:
            raise SolverMissing("Liar needs a library: pip install liar.")
        return LiarSession(self)


class LiarSession:
    def __init__(self, settings: Liar) -> None:
        self.settings = settings

    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        return Solution(np.full(1, self.settings.x), np.full(1, self.settings.y), "solved", 5, "Liar")


def test_the_first_solver_answers_and_is_counted() -> None:
    chain = Chain(Osqp())
    assert chain.answer(QP_1).solver == "Osqp"
    assert chain.counts["solves"] == chain.counts["Osqp"] == 1
    assert chain.counts["fallbacks"] == 0


@pytest.mark.parametrize("liar", [Liar(), Liar(x=np.nan), Liar(y=np.inf)])
def test_garbage_is_refused_and_the_next_solver_takes_over(liar: Liar) -> None:
    chain = Chain(liar)
    solution = chain.answer(QP_1)
    assert solution.solver == "ActiveSet"
    assert QP_1.residual(solution) <= CERTIFIED
    assert chain.counts["fallbacks"] == 1
    assert chain.counts["iterations"] == 5 + solution.iterations
    assert "Liar" not in chain.counts


def test_a_factorisation_that_does_not_converge_is_the_failure_of_its_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    """As of LAPACK's singular values, now and then, with finite numbers: the next solver takes over."""

    def fails(*_: object, **__: object) -> None:
        raise np.linalg.LinAlgError("SVD did not converge in Linear Least Squares")

    monkeypatch.setattr("nonsmooth.solvers.polish.np.linalg.lstsq", fails)
    chain = Chain(Osqp())
    assert chain.answer(QP_1).solver == "ActiveSet" and chain.counts["fallbacks"] == 1
    callbacks = Callbacks()  # of the compiled step, which is divided then
    assert _trampoline(weakref.ref(callbacks), lambda: fails, 0) == 0
    assert "SVD" in callbacks.failure and callbacks.raised is None


def test_a_program_beside_the_main_one_is_no_fallback() -> None:
    chain = Chain(Liar())
    assert chain.answer(LCP_1).solver == "ActiveSet"
    assert chain.counts["ActiveSet"] == 1
    assert chain.counts["fallbacks"] == 0


def test_when_all_fail_the_error_names_each_and_the_worst_row() -> None:
    contradiction = QP(np.eye(1), np.ones(1), np.array([[1.0], [-1.0]]), np.ones(2), names=("left", "right"))
    guess = Solution(np.zeros(1), np.zeros(2), "guess", 0, "nobody")
    with pytest.raises(SolverFailed, match=r"No solver solved this QP.*ActiveSet.*residual.*at (left|right)") as caught:
        Chain(ActiveSet()).answer(contradiction, guess)
    assert caught.value.program is contradiction
    assert caught.value.guess is guess
    assert [type(attempt.solver) for attempt in caught.value.attempts] == [ActiveSet, Osqp, Conic]
    assert min(attempt.residual for attempt in caught.value.attempts) > CERTIFIED


def test_once_the_calls_of_a_step_are_spent_only_the_first_is_asked() -> None:
    """Calls, not seconds, so that a run does not depend on the load of the machine."""
    chain = Chain(Liar())
    chain.others_left = 1
    assert chain.answer(QP_1).solver == "ActiveSet"
    with pytest.raises(SolverFailed, match="within the calls of a step") as caught:
        chain.answer(QP_1)
    assert len(caught.value.attempts) == 1
    assert chain.called == {"Liar": 2, "ActiveSet": 1}


def test_without_fallback_only_the_first_is_asked() -> None:
    chain = Chain(Liar(), fallback=False)
    with pytest.raises(SolverFailed, match="Liar.*said 'solved'") as caught:
        chain.answer(QP_1)
    assert len(caught.value.attempts) == 1
    assert chain.answer(LCP_1).solver == "ActiveSet"


def test_a_missing_library_is_an_error_for_the_solver_asked_for_only(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SolverMissing, match="pip install liar"):
        Chain(Liar(missing=True)).answer(QP_1)

    def absent(self: ActiveSet) -> Session:
        raise SolverMissing("ActiveSet needs numba.")

    monkeypatch.setattr(ActiveSet, "setup", absent)
    assert Chain(Liar()).answer(QP_1).solver == "Osqp"


def test_a_program_of_unknown_kind_fits_nobody() -> None:
    class Riddle:
        def residual(self, solution: Solution) -> float:
            return np.inf

        def worst(self, solution: Solution) -> tuple[str, float]:
            return "riddle", np.inf

    with pytest.raises(SolverFailed, match=r"ActiveSet\(.*\) does not fit it"):
        Chain(ActiveSet()).answer(Riddle())


def test_a_nonsymmetric_lcp_never_reaches_the_conic_solver() -> None:
    lcp = LCP(np.array([[0.0, 1.0], [-1.0, 0.0]]), np.array([-1.0, -1.0]))
    with pytest.raises(SolverFailed) as caught:
        Chain(ActiveSet()).answer(lcp)
    assert [type(attempt.solver) for attempt in caught.value.attempts] == [ActiveSet, Lemke]
    assert "ray" in str(caught.value)


def falling_onto_a_floor() -> MPCC:
    """v + 1 = P, 0 <= v _|_ P >= 0: the floor takes all, v = 0 and P = 1."""
    v, P = ca.SX.sym("v"), ca.SX.sym("P")
    terms = ca.fabs(v) + 1 + ca.fabs(P)
    names = ("v",), ("floor",), ("motion",)
    structure = MPCCStructure(v, P, ca.SX(0, 1), ca.SX(0), v + 1 - P, v, terms, *names)
    infinite, one = np.full(1, np.inf), np.ones(1)
    return MPCC(structure, np.zeros(0), -infinite, infinite, one, one, one, np.ones(1, bool))


@pytest.mark.parametrize("first", [IpoptMPCC(), IpoptMPCC("scholtes"), ActiveSet(), Liar()])
def test_an_mpcc_is_answered_by_the_first_that_can(first: IpoptMPCC | ActiveSet | Liar) -> None:
    chain = Chain(first)
    solution = chain.answer(falling_onto_a_floor())
    np.testing.assert_allclose([*solution.x, *solution.y], [0.0, 1.0], atol=1e-15)
    assert solution.solver == ("IpoptMPCC" if isinstance(first, Liar) else type(first).__name__)
    assert chain.counts["fallbacks"] == isinstance(first, Liar)


def test_an_mpcc_that_ipopt_misses_goes_to_the_active_set(monkeypatch: pytest.MonkeyPatch) -> None:
    def hopeless(self: object, program: MPCC, guess: Solution | None = None) -> Solution:
        return Solution(np.full(1, 3.0), np.full(1, 3.0), "Infeasible_Problem_Detected", 9, "IpoptMPCC")

    monkeypatch.setattr("nonsmooth.solvers.ipopt.IpoptSession.solve", hopeless)
    chain = Chain(IpoptMPCC())
    assert chain.answer(falling_onto_a_floor()).solver == "ActiveSet"
    assert chain.counts["fallbacks"] == 1
    with pytest.raises(SolverFailed, match="Infeasible_Problem_Detected.*residual 3.0e.00 at floor"):
        Chain(IpoptMPCC(), fallback=False).answer(falling_onto_a_floor())


PLANE = FrictionContact(np.eye(2), np.array([-1.0, 3.0]), np.array([0.5]), 2, names=("floor",))
SPACE = FrictionContact(np.eye(3), np.array([-1.0, 3.0, 4.0]), np.array([0.5]), 3, names=("floor",))


@dataclass(frozen=True)
class FrictionLiar(Liar):
    """Says "solved" with friction that drives."""

    def fits(self, program: Program) -> bool:
        return isinstance(program, FrictionContact)

    def setup(self) -> Session:
        return FrictionLiarSession()


class FrictionLiarSession:
    def solve(self, program: Program, guess: Solution | None = None) -> Solution:
        assert isinstance(program, FrictionContact)
        z = np.zeros(program.b.size)
        z[:2] = 1.0, 0.5
        return Solution(program.A @ z + program.b, z, "solved", 3, "FrictionLiar")


@pytest.mark.parametrize("program", [PLANE, SPACE], ids=["plane", "space"])
@pytest.mark.parametrize(
    "first", [SemismoothNewton(), ActiveSet(), Lemke(), ModeEnumeration(), ProjectedGaussSeidel(), Admm(), Conic()]
)
def test_friction_is_answered_by_the_solver_asked_for_where_it_fits(first: Lemke, program: FrictionContact) -> None:
    chain = Chain(first)
    solution = chain.answer(program)
    assert solution.solver == (type(first).__name__ if first.fits(program) else "SemismoothNewton")
    assert chain.counts["fallbacks"] == 0
    assert program.residual(solution) <= CERTIFIED


@pytest.mark.parametrize("program", [PLANE, SPACE], ids=["plane", "space"])
def test_friction_that_the_first_misses_goes_down_the_chain(
    program: FrictionContact, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One kind of solver after the other is made to lie, and the first of the next kind that fits answers."""
    fit = [solver for solver in CHAIN[FrictionContact] if solver.fits(program)]
    kinds = list(dict.fromkeys(type(solver) for solver in fit))
    for kind, following in zip(kinds, kinds[1:], strict=False):
        monkeypatch.setattr(kind, "setup", lambda self: FrictionLiarSession())
        chain = Chain(FrictionLiar())
        assert chain.answer(program).solver == following.__name__
        assert chain.counts["fallbacks"] == 1
    monkeypatch.setattr(kinds[-1], "setup", lambda self: FrictionLiarSession())
    with pytest.raises(SolverFailed) as caught:
        Chain(FrictionLiar()).answer(program)
    assert [attempt.solver for attempt in caught.value.attempts] == [FrictionLiar(), *fit]


def test_when_all_fail_on_friction_the_error_names_contact_and_solvers() -> None:
    W = np.array([[1.0, 0.0, -1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    squeezed = FrictionContact(
        W.T @ W, np.array([-1.0, 0.5, -1.0, 0.5]), np.array([0.3, 0.3]), 2, names=("left", "right")
    )
    with pytest.raises(SolverFailed, match=r"this FrictionContact .*residual.*at (left|right), ") as caught:
        Chain(SemismoothNewton()).answer(squeezed)
    fit = [solver for solver in CHAIN[FrictionContact] if solver.fits(squeezed)]
    assert [attempt.solver for attempt in caught.value.attempts] == fit
    with pytest.raises(SolverFailed, match="FrictionLiar.*said 'solved'") as caught:
        Chain(FrictionLiar(), fallback=False).answer(PLANE)
    assert len(caught.value.attempts) == 1
