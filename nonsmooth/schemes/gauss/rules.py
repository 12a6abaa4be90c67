"""What both steppers of Gauss' principle have in common: their steps, checks and rules.

An event-locating step (`Landing`) from (t, q, v), with the set `closed` of contacts whose gap and gap velocity are
zero:

1. *Momentum update of the first half* with the largest step size, up to the limit, for which every open gap is >= 0;
   complementarity is imposed for closed contacts only. It ends at the limit or exactly where a gap closes.
2. *Second half*: M (v_left - u) = dt/2 h + W(q⁺) P with W_N' v_left >= 0 on the contacts still closed.
3. *Impact*, if a closed contact approaches: Newton's law gamma⁺ >= -e gamma⁻, Poisson's in its two phases, or a law
   integrated along the impulse, for all impacting contacts together.

A contact that closes again within dt_min of opening is not located: one step of dt_min with all contacts imposed and
plastic impact resolves the accumulation. Impacts are simultaneous within a window, which is part of the model and in
the manifest: when one contact closes, each other one that would close within dt_min at its gap velocity takes part.
Otherwise round-off would decide which of two corners impacts first.
"""

from typing import Any

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import INCREMENTAL
from nonsmooth.model.system import System
from nonsmooth.schemes.gauss.tolerances import LANDED
from nonsmooth.step.control import ConstantStep, Landing, StepControl
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.supported import REST, SHARING, check_impact_laws, check_plastic
from nonsmooth.step.tolerances import CLOSED_GAP, CLOSED_RATE

#: fields with which the next step begins, of both
STATE = ("System.last_dt", "System.proximal", "Body.delta_v", "Body.delta2_v", "Contact.P", "Contact.impulse_scale",
         "Contact.closed", "Contact.left_at")  # fmt: skip


def gauss_scheme(control: StepControl, *, convex: bool = False) -> Scheme:
    """Declaration of steps with this control to the engine."""
    if isinstance(control, Landing):
        chosen = ("System.planned",) if control.error else ()
        return Scheme(text="nonsmooth.schemes.gauss.landing", state=(*STATE, *chosen), locates=True)
    state = (*STATE, "System.secant", "Body.delta3_v")
    return Scheme(text="nonsmooth.schemes.gauss.implicit_euler", state=state, convex=convex, tells_lasting=True)


def check_gauss(system: System, parameters: Array, control: StepControl, name: str) -> None:
    """Raise InputError for steps, or laws of contacts, that the stepper `name` does not support."""
    if not isinstance(control, ConstantStep | Landing):
        raise InputError(f"{name} takes dt as a number of seconds or Landing(dt_min, dt_max), got {control}.")
    if isinstance(control, ConstantStep):
        check_plastic(system, parameters, name)
    else:
        check_impact_laws(system, parameters, name)


def gauss_rules(system: System, control: StepControl) -> dict[str, Any]:
    """Stated rules of contact detection."""
    rules: dict[str, Any] = {
        "gap regarded as closed / clearance": CLOSED_GAP,
        "gap velocity regarded as zero / its terms": CLOSED_RATE,
        "rest": REST,
    }
    if isinstance(control, Landing):
        rules["closing of a gap located to gap / clearance"] = LANDED
        rules["simultaneous impacts"] = "of closed contacts, and those with gap < dt_min times approach velocity"
        rules["contact that closes again within dt_min"] = "one step of dt_min, contacts imposed, plastic impact"
        if set(system.impact_laws) & set(INCREMENTAL):
            rules["contacts of one impact"] = SHARING
            rules["impact within the step of dt_min"] = "has expansion by Poisson's law"
    return rules
