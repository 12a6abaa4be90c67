"""Nonsmooth generalized-alpha: smooth motion of second order, contacts and joints at position and velocity level."""

from __future__ import annotations

from typing import Any, ClassVar

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.system import System
from nonsmooth.settings import settings
from nonsmooth.step.control import ConstantStep, StepControl
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.supported import REST
from nonsmooth.step.tolerances import CLOSED_GAP, CLOSED_RATE


@settings
class GeneralizedAlpha:
    """Generalized-alpha for the smooth part of the motion; impulses impose contacts and joints at both levels.

    The smooth acceleration b does not include contacts; the pseudo-acceleration a is derived from it. Their motion is
    corrected in positions by S and in velocities by P ::

        M b⁺ = h(t⁺, q⁺, v⁺) + W_g lam,    W_g' b⁺ + bias = 0
        (1 - alpha_m) a⁺ + alpha_m a = (1 - alpha_f) b⁺ + alpha_f b
        q⁺ = q moved by u for dt,   M (u - v - dt (1/2 - beta) a - dt beta a⁺) = W(q⁺) S + W_T P_T / 2
        M (v⁺ - v - dt (1 - gamma) a - dt gamma a⁺) = W P
        g(t⁺, q⁺) = 0,          0 <= g_N(q⁺)  ⟂  S_N >= 0
        W_g' v⁺ = -g_t,         0 <= gamma_N⁺ + e min(gamma_N⁻, 0)  ⟂  P_N >= 0  on contacts closed at q⁺

    with Coulomb's law between P_T and gamma_T⁺ + e_T gamma_T⁻. Without impacts it is of second order, also in
    persistent contact: there W is the mean of the directions at both ends of the step. If a contact closes, W is
    evaluated at the end of the step, so that an impact does no work in joints, and a is reset to b; if a normal turns
    by more than 60 degrees in the step, in the mass metric, W is also evaluated at its end. Through impacts the scheme
    is of first order.

    Parameters
    ----------
    spectral_radius : rho [-], 0 <= rho <= 1
        Amplification of vibrations much faster than the step: 1 without damping, 0 for annihilation in one step.
    solver : settings of a solver of QPs or LCPs, or of friction where there is any, optional
        None for the semismooth Newton method of its text.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is too large.

    Notes
    -----
    Gaps and joints have no drift, and closed contacts do not approach. Sticking is exact in velocities; a sticking
    contact under varying load creeps by O(dt^2). Constant steps only.

    Newton's impact law only: P also contains the impulses of contact forces, of which Poisson's law would return the
    share e (see `MoreauJean`).

    References
    ----------
    Bruls, O., Acary, V., Cardona, A. (2014), Simultaneous enforcement of constraints at position and velocity levels in
    the nonsmooth generalized-alpha scheme, Comput. Methods Appl. Mech. Eng. 281, 131-161.
    """

    spectral_radius: float = 0.8
    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "SemismoothNewton"
    rescuing_solver: ClassVar[str] = "ActiveSet"
    compiled: ClassVar[str] = "nonsmooth.engine.steps.CompiledSteps"

    def __post_init__(self) -> None:
        if not 0.0 <= self.spectral_radius <= 1.0:
            raise InputError(f"GeneralizedAlpha: spectral_radius must lie in [0, 1], got {self.spectral_radius!r}.")

    def scheme(self, control: StepControl) -> Scheme:
        """Declaration of the scheme to the engine."""
        return Scheme(
            text="nonsmooth.schemes.generalized_alpha.text",
            state=(
                "System.last_dt", "System.proximal", "Body.smooth", "Body.pseudo_acceleration",
                "Body.delta_acceleration", "Joint.lam", "Joint.P", "Contact.P",
            ),
            settings={"radius": self.spectral_radius}, accelerations=True,
        )  # fmt: skip

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        if not isinstance(control, ConstantStep):
            raise InputError(f"GeneralizedAlpha requires a constant step, got {control}; give dt in seconds.")
        for name, impact in zip(system.contact_names, system.impact_laws, strict=False):
            if impact != "newton":
                raise InputError(
                    f"GeneralizedAlpha supports Newton's impact law only, but contact '{name}' has "
                    f"Rigid(impact='{impact}'); give it impact='newton', or step it with EventDriven(), MoreauJean(), "
                    "or GaussQP() with dt=Landing(...)."
                )

    def rules(self, system: System, control: StepControl) -> dict[str, Any]:
        """Stated rules: definitions of closed and of impacting contacts."""
        return {
            "active contacts": "gap closed at the end of the step",
            "impacts": "contacts that close, or that approach or open at the start of the step",
            "gap regarded as closed / clearance": CLOSED_GAP,
            "gap velocity regarded as zero / its terms": CLOSED_RATE,
            "rest": REST,
        }
