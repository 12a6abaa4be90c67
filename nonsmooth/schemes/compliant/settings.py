"""Settings of compliant contact, smooth between its beginning and its end, by an integrator with error control."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.system import System
from nonsmooth.schemes.compliant.tolerances import TOUCHED
from nonsmooth.settings import settings
from nonsmooth.step.control import ErrorControl, StepControl
from nonsmooth.step.scheme import Scheme

__all__ = ["CompliantDae", "place_tolerance", "stated_rules"]


@settings
class CompliantDae:
    """Compliant contact, integrated with error control; beginning and end of contact are located.

    Requires ``dt=ErrorControl(rtol, atol, dt_min, dt_max)``. The error of a velocity is kept below atol + rtol |v|. The
    error of a coordinate, since penetrations are small compared with positions, is kept below the smaller of atol and
    rtol times the smallest clearance, plus rtol times its change since the last event. dt_max is the largest step of
    the integrator, dt_min is not used.

    Parameters
    ----------
    samples : int, >= 1
        Rows per integrator step during contact; forces are means between rows.
    baumgarte : (alpha, beta) [1/s], optional
        Baumgarte's feedback ``g'' + 2 alpha g' + beta^2 g = 0`` on ideal joints instead of projection, which leaves
        constraint drift.
    solver : Integrator, optional
        By default the compiled steps of ``Dop853()`` and, where their stability limits them, those of ``Radau()`` until
        contact begins or ends, or as long as they are worth their cost. ``Bdf()``, ``Lsoda()``, ``Cvodes()``, and each
        of the former alone.
    fallback : bool
        Not used: an integrator that was requested has no fallback.

    Notes
    -----
    The approach velocity is stored at the beginning of contact; contacts with initial penetration use their initial gap
    velocity. Integrators are restarted at `trajectory.end`, by default without that of a stiff phase, so that a
    continued run agrees with an uninterrupted one within the tolerances, not bitwise. `counts` has the evaluations of
    the equations of motion and by default, as ``implicit``, the steps of ``Radau()``.

    References
    ----------
    Flores, P., Ambrosio, J. (2010), On the contact detection for contact/impact analysis in multibody systems,
    Multibody Syst. Dyn. 24, 103-122.

    >>> CompliantDae()
    CompliantDae(samples=4, baumgarte=None, solver=None, fallback=True)
    """

    samples: int = 4
    baumgarte: tuple[float, float] | None = None
    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Compliant
    default_solver: ClassVar[str | None] = None
    rescuing_solver: ClassVar[str] = "Dop853"
    compiled: ClassVar[str] = "nonsmooth.schemes.compliant.steps.CompliantSteps"

    def __post_init__(self) -> None:
        if isinstance(self.samples, bool) or not isinstance(self.samples, int) or self.samples < 1:
            raise InputError(f"CompliantDae: samples must be an integer >= 1, got {self.samples!r}.")
        feedback = self.baumgarte
        if feedback is not None and not (len(feedback) == 2 and all(0.0 <= x < np.inf for x in feedback)):
            raise InputError(f"CompliantDae: baumgarte must be two numbers >= 0 [1/s], or None, got {feedback!r}.")

    def scheme(self, control: StepControl) -> Scheme:
        """Declaration of the scheme to the engine."""
        return Scheme(
            text="nonsmooth.schemes.compliant.text",
            state=(
                "Integration.step", "Integration.stored", "Integration.impulse", "Overlap.touches", "Overlap.approach",
                "Overlap.bristle_row",
            ),
        )  # fmt: skip

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps that the scheme does not support, or a solver that does not integrate."""
        if not isinstance(control, ErrorControl):
            raise InputError(
                f"CompliantDae requires dt=ErrorControl(rtol, atol, dt_min, dt_max), got {control!r}; "
                "its steps are as long as the error allows."
            )
        if not (self.solver is None or hasattr(self.solver, "integrate")):
            raise InputError(
                f"CompliantDae requires an integrator, as Radau(), Dop853() or Cvodes(), got {self.solver}."
            )


def place_tolerance(control: ErrorControl, sizes: Array) -> float:
    """Tolerance of coordinates [m, rad], from the typical gaps."""
    return min(control.atol, control.rtol * float(np.min(sizes, initial=1.0)))


def stated_rules(stepper: CompliantDae, tolerance: float) -> dict[str, Any]:
    """Rules and tolerances, for the manifest."""
    return {
        "tolerance of coordinates [m, rad]": tolerance,
        "gap regarded as contact / size": TOUCHED,
        "speed of approach": "stored at first contact, kept until separation",
        "joints": "index 1, rows projected" if stepper.baumgarte is None else "Baumgarte",
    }
