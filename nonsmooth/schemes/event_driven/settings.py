"""Settings of event-driven steps: smooth motion at high order, with steps that end exactly at events; see `text`."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.system import System
from nonsmooth.schemes.event_driven.tolerances import CLOSED_GAP, LANDED, LOWEST, ORDERS, TOGETHER
from nonsmooth.settings import settings
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.supported import check_impact_laws

__all__ = ["EventDriven", "check_control", "stated_rules", "window_of"]


@settings
class EventDriven:
    """Smooth motion at high order between events that are located to round-off; the most accurate stepper.

    Persistent contacts are treated as joints, steps end exactly where a gap closes, and impacts satisfy the impact law
    and Coulomb's law at all closed contacts together. Requires ``dt=ErrorControl(rtol, atol, dt_min, dt_max)``; each
    step is a row.

    Parameters
    ----------
    order : "dopri5" or "dop853"
        Dormand and Prince's pair of order 5, or that of order 8 for tight tolerances.
    simultaneity : [s], >= 0, optional
        Contacts that close within this time impact simultaneously; dt_min by default. This is part of the model:
        simultaneous and successive impacts of two corners lead to different motions, however short the time between
        them. With 0 impacts are never simultaneous: contacts that close at the same time impact one after the other,
        the fastest first, and a decaying sequence of such impacts dissipates all normal velocity.
    solver : settings of a solver of QPs, and of planar friction where there is any, optional
        By default the Newton method of the compiled text, and ``SemismoothNewton()`` where that fails.
    fallback : bool
        Whether other solvers are tried if the residual of the solution of the first one is too large.

    Notes
    -----
    Flights shorter than dt_min are treated as rest. Rigid contact only.

    References
    ----------
    Hairer, Norsett, Wanner (1993), Solving Ordinary Differential Equations I, II.4-II.6.
    Pfeiffer, Glocker (1996), Multibody Dynamics with Unilateral Contacts.

    >>> EventDriven(order="dop853")
    EventDriven(order='dop853', simultaneity=None, solver=None, fallback=True)
    """

    order: str = "dopri5"
    simultaneity: float | None = None
    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "SemismoothNewton"
    rescuing_solver: ClassVar[str] = "SemismoothNewton"
    compiled: ClassVar[str] = "nonsmooth.schemes.event_driven.steps.EventSteps"

    def __post_init__(self) -> None:
        if self.order not in ORDERS:
            raise InputError(f"EventDriven: order must be one of {', '.join(ORDERS)}, got {self.order!r}.")
        if self.simultaneity is not None and not 0.0 <= self.simultaneity < np.inf:
            raise InputError(
                f"EventDriven: simultaneity must be a time >= 0 in seconds, or None, got {self.simultaneity!r}."
            )

    def scheme(self, control: StepControl) -> Scheme:
        """Declaration of the scheme to the engine."""
        return Scheme(
            text="nonsmooth.schemes.event_driven.text",
            state=(
                "EventRun.length", "EventRun.stall_since", "EventRun.stall_count", "EventRun.kept_shared",
                "Contact.impulse_scale", "Touch.kept_mode", "Touch.kept_share", "Touch.kept_direction",
                "Touch.kept_reference", "Joint.lam_next",
            ),
        )  # fmt: skip

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        check_control(control)
        check_impact_laws(system, parameters, "EventDriven")


def check_control(control: StepControl) -> None:
    """Raise InputError unless this is an `ErrorControl` whose shortest and longest steps are known."""
    if not isinstance(control, ErrorControl):
        raise InputError(
            f"EventDriven requires dt=ErrorControl(rtol, atol, dt_min, dt_max), got {control!r}; "
            "its steps are as long as the error allows."
        )
    if control.dt_min is None or control.dt_max is None:
        raise InputError(
            f"EventDriven: dt_min and dt_max of {control} depend on the length of the run; give them, or its "
            "over(t_start, t_end)."
        )


def window_of(stepper: EventDriven, control: ErrorControl) -> float:
    """Time [s] within which impacts are simultaneous."""
    return control.dt_min if stepper.simultaneity is None else float(stepper.simultaneity)


def stated_rules(stepper: EventDriven, control: ErrorControl) -> dict[str, Any]:
    """Rules and tolerances, for the manifest."""
    window = window_of(stepper, control)
    return {
        "simultaneity window [s]": window,
        "simultaneous impacts": (
            "closed ones, and open ones with g_N < window |gamma_N| that approach"
            if window > 0.0
            else "none except those at rest: one after the other, the fastest first, until the sequence has decayed"
        ),
        "rebound treated as rest": f"flight below {control.dt_min:g} s, or height below {LOWEST:g} m",
        "flight and height of a rebound": "2 gamma_N / |g_N''|, gamma_N^2 / (2 |g_N''|)",
        "forces that vanish together": f"within {min(control.dt_min, TOGETHER):g} s",
        "gap regarded as closed / size": CLOSED_GAP,
        "closing of a gap located to [m]": LANDED,
        "method between events": stepper.order,
        "shared forces": "least squares in the mass metric of those that are compressive and in their cones",
    }
