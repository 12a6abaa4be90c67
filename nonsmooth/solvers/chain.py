"""The fallback chain: which solver is tried next if a solution does not pass the residual test."""

from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from nonsmooth.exceptions import SolverFailed, SolverMissing
from nonsmooth.programs import LCP, MPCC, QP, ConeQP, FrictionContact, Program, Session, Solution, Solver
from nonsmooth.solvers.external import Conic, Osqp
from nonsmooth.solvers.first_order import Admm
from nonsmooth.solvers.ipopt import IpoptMPCC
from nonsmooth.solvers.pivoting import ActiveSet, Lemke, ModeEnumeration
from nonsmooth.solvers.semismooth_newton import SemismoothNewton, SmoothingNewton

#: largest residual [-] of an accepted solution, of any solver
CERTIFIED = 1e-9

#: solvers in the order in which they are tried, if they fit: `Lemke` for friction in the plane, `ModeEnumeration` for
#: few such contacts, `SmoothingNewton` for friction in space
CHAIN: dict[type, tuple[Solver, ...]] = {
    LCP: (ActiveSet(), Lemke(), Conic()),
    QP: (ActiveSet(), Osqp(), Conic()),
    FrictionContact: (
        SemismoothNewton(), Lemke(), ModeEnumeration(), SmoothingNewton(), SemismoothNewton("fischer-burmeister"),
        Admm(), Conic(),
    ),
    ConeQP: (Conic(), Admm()),
    MPCC: (IpoptMPCC(), ActiveSet(), IpoptMPCC("scholtes")),
}  # fmt: skip


@dataclass(frozen=True)
class Attempt:
    """One rejected solution: its solver, the solver's status, the residual [-] and the row that has it."""

    solver: Solver
    status: str
    residual: float
    worst: str

    def __str__(self) -> str:
        return f"{self.solver} said {self.status!r}, residual {self.residual:.1e} at {self.worst}"


class Chain:
    """Tries one solver after the other until the residual evaluated by the program certifies a solution.

    A program of another kind than that of the solver `first`, such as the impact LCP after an MPCC, is passed to the
    chain of its kind; this is not a fallback. Without `fallback` only the first solver that fits is tried, as always
    with `IpoptMPCC("literal")`, whose purpose is to demonstrate that it fails.
    """

    def __init__(self, first: Solver, fallback: bool = True) -> None:
        self.first, self.fallback = first, fallback
        #: how many more calls of other solvers than the first there are; None for any number
        self.others_left: int | None = None
        #: how often each solver was called, by its class name, whether it succeeded or not; the same object for life
        self.called: dict[str, int] = {}
        #: programs solved, iterations of all attempts, solutions by another solver than the first, and those of each
        self.counts: dict[str, int] = {"solves": 0, "iterations": 0, "fallbacks": 0}
        self._sessions: dict[Solver, Session] = {}
        self._held: Mapping[str, Any] = {}

    def snapshot(self) -> dict[str, Any]:
        """For a checkpoint: counts, and internal states of sessions."""
        able = {repr(one): session for one, session in self._sessions.items() if hasattr(session, "snapshot")}
        sessions = {**self._held, **{name: session.snapshot() for name, session in able.items()}}
        return {"counts": dict(self.counts), "called": dict(self.called), "sessions": sessions}

    def restore(self, saved: Mapping[str, Any]) -> None:
        """Continue from a checkpoint."""
        self.counts = {str(name): int(count) for name, count in saved["counts"].items()}
        self.called.update({str(name): int(count) for name, count in saved["called"].items()})
        self._held = saved["sessions"]

    def answer(self, program: Program, guess: Solution | None = None) -> Solution:
        """The first solution whose residual is at most `CERTIFIED`; SolverFailed, which names each solver and the worst
        row of its solution, if there is none; SolverMissing if the library of the requested solver is absent."""
        attempts: list[Attempt] = []
        late = ""
        for solver in self._candidates(program):
            if attempts and self.others_left == 0:
                late = " within the calls of a step"
                break
            try:
                session = self._session(solver)
            except SolverMissing as error:
                if solver is self.first:
                    raise
                attempts.append(Attempt(solver, str(error), float("inf"), "nothing solved"))
                continue
            name = type(solver).__name__
            self.called[name] = self.called.get(name, 0) + 1
            if attempts and self.others_left is not None:
                self.others_left -= 1
            solution = session.solve(program, guess)
            self.counts["iterations"] += solution.iterations
            if program.residual(solution) <= CERTIFIED:
                self.counts["solves"] += 1
                self.counts["fallbacks"] += bool(attempts)
                self.counts[name] = self.counts.get(name, 0) + 1
                return solution
            row, residual = program.worst(solution)
            attempts.append(Attempt(solver, solution.status, residual, row))
        why = "; ".join(map(str, attempts)) or f"{self.first} does not fit it"
        message = f"No solver solved this {type(program).__name__}{late} to a residual of {CERTIFIED:g}: {why}."
        raise SolverFailed(message, program=program, guess=guess, attempts=tuple(attempts))

    def _session(self, solver: Solver) -> Session:
        if solver not in self._sessions:
            session = solver.setup()
            if repr(solver) in self._held:
                session.restore(self._held[repr(solver)])  # type: ignore[attr-defined]
            self._sessions[solver] = session
        return self._sessions[solver]

    def run(self, stepping: Generator[tuple[Program, Solution | None], Solution, Any]) -> Any:
        """The result of a generator of programs, each solved by `answer`; failures are thrown into it."""
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

    def _candidates(self, program: Program) -> Iterator[Solver]:
        """The solvers that fit, each once; whether the later ones fit is evaluated only when they are needed."""
        literal = isinstance(self.first, IpoptMPCC) and self.first.relaxation == "literal"
        chosen = self.first.fits(program)
        if chosen:
            yield self.first
            if literal or not self.fallback:
                return
        for solver in CHAIN.get(type(program), ()):
            if not (chosen and solver == self.first) and solver.fits(program):
                yield solver
                if not self.fallback:
                    return
