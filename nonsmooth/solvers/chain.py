"""The fallback chain: which solver is tried next if a solution does not pass the residual test."""

from __future__ import annotations

import math
import time
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nonsmooth.exceptions import SolverFailed, SolverMissing
from nonsmooth.programs import LCP, MPCC, QP, ConeQP, FrictionContact, Program, Session, Solution, Solver
from nonsmooth.solvers.active_set import ActiveSet
from nonsmooth.solvers.admm import Admm
from nonsmooth.solvers.conic import Conic
from nonsmooth.solvers.ipopt import IpoptMPCC
from nonsmooth.solvers.lemke import Lemke
from nonsmooth.solvers.mode_enumeration import ModeEnumeration
from nonsmooth.solvers.osqp import Osqp
from nonsmooth.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.solvers.smoothing_newton import SmoothingNewton

__all__ = ["CERTIFIED", "CHAIN", "Attempt", "Chain"]

#: Residual [-] up to which an answer is accepted, whoever gave it.
CERTIFIED = 1e-9

#: Who is asked, in this order, where he fits: `Lemke` takes friction in the plane, `ModeEnumeration` few such contacts,
#: `SmoothingNewton` friction in space.
CHAIN: dict[type, tuple[Solver, ...]] = {
    LCP: (ActiveSet(), Lemke(), Conic()),
    QP: (ActiveSet(), Osqp(), Conic()),
    FrictionContact: (
        SemismoothNewton(),
        Lemke(),
        ModeEnumeration(),
        SmoothingNewton(),
        SemismoothNewton("fischer-burmeister"),
        Admm(),
        Conic(),
    ),
    ConeQP: (Conic(), Admm()),
    MPCC: (IpoptMPCC(), ActiveSet(), IpoptMPCC("scholtes")),
}


@dataclass(frozen=True)
class Attempt:
    """One refused answer: who gave it, its own word, our residual [-] and the row that gives it."""

    solver: Solver
    status: str
    residual: float
    worst: str

    def __str__(self) -> str:
        return f"{self.solver} said {self.status!r}, residual {self.residual:.1e} at {self.worst}"


class Chain:
    """Asks one solver after the other until the program's own residual certifies an answer.

    Parameters
    ----------
    first : Solver
        Asked first where it fits. A program of another kind, such as the impact LCP beside an MPCC, goes to the chain
        of its kind at once; that is not a fallback.
    main : tuple of program types
        The kinds that `first` was chosen for; empty for every kind that it fits.
    fallback : bool
        False asks nobody but the first solver that fits.

    Attributes
    ----------
    counts : dict
        "solves" (programs answered), "iterations" (of all attempts), "fallbacks" (answers by another than the first
        asked), and the answers of each solver under its class name.
    until : float
        Time of `time.monotonic` after which nobody but the first solver is asked.

    Notes
    -----
    `IpoptMPCC("literal")` has no fallback: a formula that is kept to show that it fails must be seen to fail.
    """

    def __init__(self, first: Solver, fallback: bool = True, main: tuple[type, ...] = ()) -> None:
        self.first, self.main = first, main
        self.fallback = fallback
        self.until = math.inf
        self.counts: dict[str, int] = {"solves": 0, "iterations": 0, "fallbacks": 0}
        self._sessions: dict[Solver, Session] = {}
        self._held: Mapping[str, Any] = {}

    def held(self) -> dict[str, Any]:
        """For a checkpoint: counts, and what sessions keep from program to program."""
        sessions = {repr(one): session.held() for one, session in self._sessions.items() if hasattr(session, "held")}
        return {"counts": dict(self.counts), "sessions": {**self._held, **sessions}}

    def hold(self, held: Mapping[str, Any]) -> None:
        """Go on from a checkpoint."""
        self.counts = {str(name): int(count) for name, count in held["counts"].items()}
        self._held = held["sessions"]

    def answer(self, program: Program, guess: Solution | None = None) -> Solution:
        """The first answer whose residual is at most `CERTIFIED`.

        Raises
        ------
        SolverFailed
            If there is none; its message names each solver asked and the worst row of its answer.
        SolverMissing
            If the library of the solver that was asked for is absent.
        """
        attempts: list[Attempt] = []
        for solver in self._asked(program):
            if attempts and time.monotonic() > self.until:
                break
            try:
                session = self._session(solver)
            except SolverMissing as error:
                if solver is self.first:
                    raise
                attempts.append(Attempt(solver, str(error), float("inf"), "nothing solved"))
                continue
            solution = session.solve(program, guess)
            self.counts["iterations"] += solution.iterations
            if program.residual(solution) <= CERTIFIED:
                self._count(solver, fallback=bool(attempts))
                return solution
            row, residual = program.worst(solution)
            attempts.append(Attempt(solver, solution.status, residual, row))
        late = " within the time of a step" if time.monotonic() > self.until else ""
        raise SolverFailed(
            f"No solver solved this {type(program).__name__}{late} to a residual of {CERTIFIED:g}: "
            + ("; ".join(str(attempt) for attempt in attempts) or f"{self.first} does not fit it")
            + ".",
            program=program,
            guess=guess,
            attempts=tuple(attempts),
        )

    def run(self, stepping: Generator[tuple[Program, Solution | None], Solution, Any]) -> Any:
        """What a generator of programs returns, each program solved by `answer`; failures are thrown into it."""
        try:
            program, guess = next(stepping)
            while True:
                try:
                    solution = self.answer(program, guess)
                except SolverFailed as error:
                    program, guess = stepping.throw(error)
                    continue
                program, guess = stepping.send(solution)
        except StopIteration as stop:
            return stop.value

    def _asked(self, program: Program) -> Iterator[Solver]:
        """Those that fit, each once; whether the later ones fit is not looked into before they are needed."""
        literal = isinstance(self.first, IpoptMPCC) and self.first.relaxation == "literal"
        chosen = (not self.main or isinstance(program, self.main)) and self.first.fits(program)
        if chosen:
            yield self.first
            if literal or not self.fallback:
                return
        for solver in CHAIN.get(type(program), ()):
            if not (chosen and solver == self.first) and solver.fits(program):
                yield solver
                if not self.fallback:
                    return

    def _session(self, solver: Solver) -> Session:
        session = self._sessions.get(solver)
        if session is None:
            session = solver.setup()
            if repr(solver) in self._held:
                session.hold(self._held[repr(solver)])  # type: ignore[attr-defined]
            self._sessions[solver] = session
        return session

    def _count(self, solver: Solver, fallback: bool) -> None:
        name = type(solver).__name__
        self.counts["solves"] += 1
        self.counts["fallbacks"] += fallback
        self.counts[name] = self.counts.get(name, 0) + 1
