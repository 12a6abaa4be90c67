"""Accelerations and forces at states of any motion of a mechanism with rigid contacts, by compiled code."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import SolverFailed
from nonsmooth.model.system import System
from nonsmooth.schemes.event_driven.fields import MODES, PROJECT
from nonsmooth.schemes.event_driven.settings import EventDriven
from nonsmooth.schemes.event_driven.steps import EventSteps
from nonsmooth.solvers.chain import Chain
from nonsmooth.solvers.semismooth_newton import SemismoothNewton
from nonsmooth.step.control import ErrorControl
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.tolerances import DONE, OPEN

__all__ = ["EventInstants", "Instant"]

#: velocities regarded as zero in space [-], [m/s], for which the direction of slip is not known
RTOL, ATOL = 1e-9, 1e-12


class Instant(NamedTuple):
    """Coordinates (nq,), accelerations (nv,), forces of joints (ng,) and of contacts (nc,), (nt,), modes (nc,)."""

    q: Array
    a: Array
    lam_g: Array
    lam_N: Array
    lam_T: Array
    mode: NDArray[np.int8]


class EventInstants(EventSteps):
    """The phase that begins at a state, as `EventDriven` finds it.

    Parameters
    ----------
    system, values
    longest : [s] time in which loads change velocities, relative to which others are round-off

    Raises
    ------
    InputError
        If an element has no compiled form.
    """

    @staticmethod
    def scheme_of(stepper: EventDriven, control: ErrorControl) -> Scheme:
        """The text that is run, which has no state."""
        return Scheme(text="nonsmooth.schemes.event_driven.instant_text")

    def __init__(self, system: System, values: Array, longest: float) -> None:
        stepper, control = EventDriven(simultaneity=0.0), ErrorControl(RTOL, ATOL, longest, longest)
        super().__init__(system, stepper, control, values, longest)
        self.use(Chain(SemismoothNewton()))

    @property
    def closed_gap(self) -> Array:
        """Gaps (nc,) regarded as closed [m]."""
        return np.asarray(self.memory.of["Touch"]["closed_gap"][self.layout.contacts])

    def projected(self, t: float, q: Array, v: Array, mode: NDArray[np.int8]) -> tuple[Array, Array]:
        """The nearest q and v, in the mass metric, that satisfy joints, closed contacts and sticking.

        Raises
        ------
        SolverFailed
            If there are none.
        """
        self._put_instant(t, q, v)
        self.memory.of["Touch"]["mode"][self.layout.contacts] = mode
        self._do(PROJECT, t)
        return self.layout.packed(self.memory, "at"), self.layout.packed(self.memory, "u")

    def found(
        self, t: float, q: Array, v: Array, candidates: NDArray[np.bool_], signs: dict[int, Array]
    ) -> Instant:  # fmt: skip
        """Modes of the closed contacts that do not approach, and what follows from them; `signs` contains known
        directions of slips that vanish at this instant.

        Raises
        ------
        SolverFailed
            If no modes are found.
        """
        self._put_instant(t, q, v)
        touches, contacts = self.memory.of["Touch"], self.layout.contacts
        touches["mode"], touches["candidate"], touches["known"] = OPEN, 0, 0
        touches["candidate"][contacts] = candidates
        for i, direction in signs.items():
            touches["known"][contacts[i]], touches["sign"][contacts[i], 1:] = 1, direction
        self._do(MODES, t)
        lam, (ng, nc) = self.programs.forces(), (self.system.ng, self.system.nc)
        return Instant(
            self.layout.packed(self.memory, "at"), self.layout.packed(self.memory, "jump"),
            lam[:ng], lam[ng : ng + nc], lam[ng + nc :], touches["mode"][contacts].astype(np.int8),
        )  # fmt: skip

    def _put_instant(self, t: float, q: Array, v: Array) -> None:
        self._whole["seen"] = t
        self.layout.put(self.memory, "at", q)
        self.layout.put(self.memory, "u", v)

    def _do(self, part: int, t: float) -> None:
        done = self._run(self.memory.address(self.root), part) == DONE
        self._raise()
        if not done:
            why = self.outside.failure or "the modes of its contacts are not certified."
            raise SolverFailed(f"no forces at t = {t:.9g} s: {why}")
