"""Moreau-Jean time stepping: impacts and friction in velocities, joints at both ends or in the middle of a step."""

from __future__ import annotations

from typing import Any, ClassVar

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import INCREMENTAL, Rigid
from nonsmooth.model.system import System
from nonsmooth.settings import settings
from nonsmooth.step.control import ConstantStep, StepControl
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.supported import REST, SHARING, check_impact_laws
from nonsmooth.step.tolerances import CLOSED_GAP


@settings
class MoreauJean:
    """Contact laws are imposed on the velocities at both ends of a step; positions follow.

    With u the velocity that moves the positions, q⁺ = q moved by u for dt, and forces at the point theta of the step, q
    moved by u for theta dt, with the velocity u ::

        M (u - v)  = theta dt h + W_g(q) P_a + theta W P,            g(t⁺, q⁺) = 0
        M (v⁺ - u) = (1 - theta) dt h + W_g(q⁺) P_b + (1 - theta) W P,   W_g(q⁺)' v⁺ = -g_t
        0 <= gamma_N⁺ + e min(gamma_N⁻, 0)  ⟂  P_N >= 0,  Coulomb's law between P_T and gamma_T⁺ + e_T gamma_T⁻

    for the contacts whose gap at q moved by v for dt/2 is closed; W = (W_N, W_T) is evaluated there. Joints are
    satisfied exactly at both levels, as in RATTLE; without contact the scheme is symmetric for theta = 1/2, hence of
    second order. ``joints="midpoint"`` has one set of joint impulses instead of two, see the notes. Through impacts it
    is of first order. The penetration is about dt times the approach velocity; `projection` removes it.

    Parameters
    ----------
    theta : [-], 1/2 <= theta <= 1
        Point of the step at which the forces are evaluated; 1/2 for least dissipation.
    projection : None or "combined"
        "combined" moves the bodies, by the least change in the mass metric, until no gap is negative and joints are
        satisfied. The order remains one.
    moment_arms : "predicted" or "balanced"
        Moment arms of contact forces. "predicted": those of the configuration in which gaps are evaluated. "balanced":
        those about the centres of mass moved by u for (1 - theta) dt, for which the discrete balance of angular
        momentum is exact; gamma_N⁻ remains that of the gap. See the notes.
    joints : "rattle" or "midpoint"
        "rattle": satisfied at the end of each step in positions and velocities, by impulses along the directions at
        both ends. "midpoint": one impulse along the directions in the middle of the step, where contacts are evaluated
        as well, with a constraint residual of third order; one evaluation and one program per step, for ``theta=0.5``
        and without projection.
    solver : settings of a solver of LCPs or QPs, or of friction where there is any, optional
        None for the semismooth Newton method of its text.
    fallback : bool
        Whether other solvers are tried in turn where the residual of the first one's solution is not below tolerance.

    Notes
    -----
    Forces that depend on the velocity are iterated; stiff springs need dt below the period over 2 pi. The stiffness and
    damping of flexible bodies are treated implicitly, by M + theta dt D + (theta dt)² K instead of M, so that modes
    much faster than the step are stable. Constant steps only.

    The impulse of a step is that of impacts and of forces together, which only Newton's law treats as one: with another
    law a body at rest would leave its support with e times the velocity that its weight causes in a step. With the
    other laws of `Rigid` steps are therefore plastic, e = 0 above, and impacts are applied between them: at the end of
    a step, to the contacts whose gap would close within dt/2, in the directions there. The rotation of the direction of
    a persistent contact within the step does not cause an impact.

    Linear momentum is conserved to round-off, angular momentum only with ``moment_arms="balanced"``: otherwise the
    moment arms have an error of dt/2 (u - v), which for theta = 1/2 changes angular momentum by O(dt) at impacts with
    Newton's law and by O(dt²) in persistent contact. Balanced moment arms are updated with u in each iteration (a step
    without joints otherwise requires only one).

    With ``joints="midpoint"``, Q = q moved by v for dt/2 and q⁺ = Q moved by v⁺ for dt/2, all at Q and t + dt/2 ::

        M (v⁺ - v) = dt h + W_g P + W P,            W_g' v⁺ + g_t = -g/dt - 3/8 dt (k + 11/18 (k - k0))
        k = (W_g' v + g_t - s)/dt

    with s the constraint velocities of the previous step at its own Q, which lies dt v behind: k is therefore the
    second derivative of g along the motion, without another evaluation, and k0 that of the previous step. With these
    weights g at q⁺ is of third order in dt, and the constraint residual of the previous step is eliminated within two
    steps; an impact causes a residual of dt² times the change of k. With the factor 11/18 the energy error of a body in
    steady rotation, by w rad per step, is least: a gain of about w⁴/30 per radian (w³/3 without it). For conservative
    motions over very many revolutions use "rattle", which has no gain. Without impacts the order is two; the velocities
    of joints at the ends of steps differ from 0 by terms of that order. Reactions are those in the middle of the step.

    References
    ----------
    Jean, M. (1999), The non-smooth contact dynamics method, Comput. Methods Appl. Mech. Eng. 177, 235-257.
    """

    theta: float = 0.5
    projection: str | None = None
    moment_arms: str = "predicted"
    joints: str = "rattle"
    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str] = "SemismoothNewton"
    rescuing_solver: ClassVar[str] = "SemismoothNewton"
    compiled: ClassVar[str] = "nonsmooth.engine.steps.CompiledSteps"

    def __post_init__(self) -> None:
        if not 0.5 <= self.theta <= 1.0:
            raise InputError(f"MoreauJean: theta must lie in [1/2, 1], got {self.theta!r}.")
        if self.projection not in (None, "combined"):
            raise InputError(f'MoreauJean: projection must be None or "combined", got {self.projection!r}.')
        if self.moment_arms not in ("predicted", "balanced"):
            raise InputError(f'MoreauJean: moment_arms must be "predicted" or "balanced", got {self.moment_arms!r}.')
        if self.joints not in ("rattle", "midpoint"):
            raise InputError(f'MoreauJean: joints must be "rattle" or "midpoint", got {self.joints!r}.')
        if self.joints == "midpoint" and (self.theta != 0.5 or self.projection is not None):
            raise InputError(
                f'MoreauJean: joints="midpoint" requires theta=0.5 and projection=None, got theta={self.theta!r} and '
                f'projection={self.projection!r}; use joints="rattle" for others.'
            )

    def scheme(self, control: StepControl) -> Scheme:
        """Declaration of the scheme to the engine."""
        midpoint, trend = self.joints == "midpoint", ("last", "first", "second", "third", "known")
        trends = tuple(f"{bond}.trend.{name}" for bond in ("Joint", "Contact") for name in trend)
        return Scheme(
            text="nonsmooth.schemes.moreau_jean.text",
            state=(
                "System.t", "System.last_dt", "System.proximal", "Body.force", "Contact.P", "Contact.impulse_scale",
                *trends,
                *(("Joint.left", "Joint.previous_bias_acceleration", "Joint.P") if midpoint else ()),
            ),
            stale=("Body.force", *(name for name in trends if not name.endswith(".last"))),
            settings={"theta": self.theta, "projected": self.projection is not None},
            balanced=self.moment_arms == "balanced", midpoint=midpoint, between=True,
        )  # fmt: skip

    def check(self, system: System, parameters: Array, control: StepControl) -> None:
        """Raise InputError for steps, or laws of contacts, that the scheme does not support."""
        if not isinstance(control, ConstantStep):
            raise InputError(f"MoreauJean requires a constant step, got {control}; give dt as a number of seconds.")
        if self.moment_arms == "balanced" and system.dimension == 3:
            raise InputError('MoreauJean: moment_arms="balanced" exists in the plane only; use "predicted".')
        check_impact_laws(system, parameters, "MoreauJean")

    def rules(self, system: System, control: StepControl) -> dict[str, Any]:
        """Stated rules: definition of active contacts, and when impacts are applied."""
        laws = set(system.impact_laws)
        rules: dict[str, Any] = {
            "active contacts": "gap closed at q moved by v for dt/2",
            "gap that counts as closed / clearance": CLOSED_GAP,
            "rest": REST,
        }
        if self.joints == "midpoint":
            rules["joints"] = "one impulse along the directions in the middle of the step, satisfied to third order"
        if self.moment_arms == "balanced":
            rules["moment arms"] = "about centres of mass moved by the velocity of the step for (1 - theta) dt"
        if laws - {"newton"}:
            rules["impacts"] = "at the end of a step, of contacts whose gap would close within dt/2; steps are plastic"
        if laws & set(INCREMENTAL):
            rules["contacts of one impact"] = SHARING
        return rules
