"""Steps of `GaussMPCC`: those of `GaussQP`, in which a program with complementarity takes the place of the iteration.

Compiled code calls `advance` here for the equations of a step of given length, `land` for those of an event-locating
step together with its length, see `Callbacks`. They read the start of the step from the records and write u and the
impulses there.
"""

from collections.abc import Generator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.engine.compiled_form import rules_of
from nonsmooth.engine.steps import NEVER, CompiledSteps
from nonsmooth.exceptions import InputError, SolverFailed
from nonsmooth.model.state import State
from nonsmooth.model.system import System
from nonsmooth.programs import Solution
from nonsmooth.schemes.gauss.gauss_mpcc import Found, GaussMPCC, Start, StepPrograms
from nonsmooth.solvers.ipopt import IpoptMPCC
from nonsmooth.step.control import ConstantStep, Landing, StepControl
from nonsmooth.step.scheme import Ask


class MPCCSteps(CompiledSteps):
    """Steps of `GaussMPCC` on one system."""

    takes_solver = False

    @staticmethod
    def rules(system: System, stepper: Any, control: StepControl, values: Array) -> dict[str, Any]:
        rules = rules_of(system, stepper, control)
        rules["programs"] = "of impacts and second halves: semismooth Newton, else a sequence of proximal programs"
        rules["step that is not certified"] = "in parts; counted"
        rules["scales of the unknowns"] = "typical sizes at the start of each step, at least those of the first start"
        if isinstance(control, Landing):
            rules["root of a step"] = "the gap of a loaded contact increases with its impulse; else a shorter step"
        return rules

    def __init__(self, system: System, stepper: GaussMPCC, control: StepControl, values: Array, t_end: float) -> None:
        name = type(stepper).__name__
        assert isinstance(control, ConstantStep | Landing)
        self.programs = StepPrograms(system, values, control)
        solver = IpoptMPCC() if stepper.solver is None else stepper.solver
        everywhere = np.ones(system.nc, dtype=bool)
        start, longest = system.start, self.programs.mechanism.longest
        first = self.programs.start(start.t, start.q, start.v, everywhere, np.zeros(system.nc), np.zeros(system.nt))
        if not solver.fits(self.programs.program(first, longest, longest, everywhere)):
            raise InputError(
                f"{name} formulates programs that {solver} does not solve; "
                f"give {name} an IpoptMPCC(...) or ActiveSet()."
            )
        self._optimises = solver.fits(self.programs.program(first, 0.0, longest, everywhere))
        self._literal = getattr(solver, "relaxation", None) == "literal"
        self._met: Start | None = None
        super().__init__(system, stepper, control, values, t_end)
        self._chunk = 1  # a program may take seconds

    def _set(self, values: Array, t_end: float) -> None:
        super()._set(values, t_end)
        self._whole["least_rest_contacts"] = NEVER  # whether bodies remain at rest is decided by `StepPrograms.rested`
        self._whole["advance"] = self.outside.address(self._advance)
        if self.scheme.locates and self._optimises:
            self._whole["land"] = self.outside.address(self._land)

    def failure(self, state: State) -> str:
        if self._whole["across"][0]:
            dt = float(self._whole["trial"][0])
            return f"a contact force moves a body through its clearance to the opposite wall within dt = {dt:.6g} s."
        return super().failure(state)

    # -------------------------------------------------------------------------------------------------- called by steps

    def _advance(self) -> None:
        """Solve the equations of a step of given length."""
        self._solve(self._advanced())

    def _land(self) -> None:
        """Solve the equations of an event-locating step and its length."""
        self._solve(self._landed())

    def _solve(self, solving: Generator[Ask, Solution, Found]) -> None:
        """Solve a program of the step, and write its solution."""
        assert self.chain is not None
        self.outside.in_time()
        try:
            found = self.chain.run(solving)
        except SolverFailed as error:
            if self._literal:  # a solver that is to fail: no shorter step
                self.outside.raised = error
            raise
        layout, memory, contacts = self.layout, self.memory, self.memory.of["Contact"]
        self._whole["trial"] = found.dt
        layout.put(memory, "u", found.u)
        layout.put_joints(memory, "P", found.P_g)
        contacts["P"][layout.contacts, 0] = found.P_N
        if layout.shape.rows > 1:
            contacts["P"][layout.contacts, 1:] = found.P_T.reshape(-1, self.tangents)
        if self.programs.constant:
            contacts["on"][layout.contacts] = found.P_N > 0.0

    def _advanced(self) -> Generator[Ask, Solution, Found]:
        """The equations of a step of given length; trials of a location begin with the motion of the last one."""
        start, dt, u = self._start_of_step(), float(self._whole["trial"][0]), self._moved("u")
        binding = self._binding()
        if self.programs.constant or np.array_equal(u, start.v):
            program = self.programs.program(start, dt, dt, binding)
            rested = None if self._literal else (yield from self.programs.rested(start, dt, program))
            if rested is not None:
                return rested
            begun = self.programs.free_motion(start, dt, binding)
        else:
            begun = Found(dt, u, self.layout.of_joints(self.memory, "P"), start.P_N, start.P_T)
        if self.programs.constant and not self._literal:
            return (yield from self.programs.with_closing(start, begun))
        return (yield from self.programs.solved(start, begun, binding, dt))

    def _landed(self) -> Generator[Ask, Solution, Found]:
        """The equations of an event-locating step and its length: the longest one, unless a gap closes before."""
        start, binding = self._start_of_step(), self._binding()
        longest, predicted = float(self._whole["dt"][0]), float(self._whole["trial"][0])
        program = self.programs.program(start, 0.0, longest, binding)
        rested = None if self._literal else (yield from self.programs.rested(start, longest, program))
        if rested is not None:
            return rested
        begun = self.programs.free_motion(start, predicted, binding)
        if not self._literal:
            try:
                whole = self.programs.free_motion(start, longest, binding)
                whole = yield from self.programs.solved(start, whole, binding, longest)
                begun = self.programs.before_closing(start, whole, binding)
                if begun is whole:
                    return whole
            except SolverFailed:  # the motion over the whole step may not exist
                pass
        return (yield from self.programs.solved(start, begun, binding, 0.0, longest))

    def _start_of_step(self) -> Start:
        """The start of the present step with the present impulses."""
        t, q, v = float(self._whole["t"][0]), self._moved("q"), self._moved("v")
        contact = self.memory.of["Contact"][self.layout.contacts]
        closed = (contact["on"] if self.programs.constant else contact["closed"]) > 0
        P_T = contact["P"][:, 1:].ravel() if self.layout.shape.rows > 1 else np.zeros(self.system.nt)
        met = self._met
        if met is None or not (met.t == t and np.array_equal(met.q, q) and np.array_equal(met.v, v)):
            self._met = met = self.programs.start(t, q, v, closed, contact["P"][:, 0], P_T)
        return replace(met, closed=closed, P_N=contact["P"][:, 0].copy(), P_T=P_T)

    def _binding(self) -> NDArray[np.bool_]:
        on = self.memory.of["Contact"]["on"][self.layout.contacts] > 0
        return np.ones_like(on) if self.programs.constant else on

    def _moved(self, name: str) -> Array:
        return self.layout.packed(self.memory, name)
