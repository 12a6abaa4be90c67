"""Checks and rules of both steppers of Gauss' principle; event-locating steps are in `landing`.

Impacts are simultaneous within a window, which is part of the model and stands in the manifest: when one contact
closes, each other one that would close within dt_min at its gap velocity takes part. Otherwise round-off would decide
which of two corners impacts first, and with it the motion that follows.
"""

from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import INCREMENTAL, LAWS
from nonsmooth.model.system import System
from nonsmooth.schemes.gauss.tolerances import LANDED
from nonsmooth.step.control import ConstantStep, Landing, StepControl
from nonsmooth.step.scheme import Scheme
from nonsmooth.step.supported import REST, SHARING, check_impact_laws
from nonsmooth.step.tolerances import CLOSED_GAP, CLOSED_RATE

#: fields with which the next step begins, of both
STATE = ("System.last_dt", "System.proximal", "Body.delta_v", "Body.delta2_v", "Contact.P", "Contact.impulse_scale",
         "Contact.closed", "Contact.left_at")  # fmt: skip


def gauss_scheme(control: StepControl, *, convex: bool = False) -> Scheme:
    """Declaration of steps with this control to the engine."""
    if isinstance(control, Landing):
        return Scheme(text="nonsmooth.schemes.gauss.landing", state=(*STATE, "System.planned"), locates=True)
    state = (*STATE, "System.secant", "Body.delta3_v")
    return Scheme(text="nonsmooth.schemes.gauss.implicit_euler", state=state, convex=convex, tells_lasting=True)


def check_gauss(system: System, parameters: Array, control: StepControl, name: str) -> None:
    """Raise InputError for steps, or laws of contacts, that the stepper `name` does not support."""
    if not isinstance(control, ConstantStep | Landing):
        raise InputError(f"{name} takes dt as a number of seconds or Landing(dt_min, dt_max), got {control}.")
    restitution, laws = system.elementwise.contact_law(parameters)[0], system.impact_laws
    bouncy = np.flatnonzero(restitution > 0)
    if isinstance(control, ConstantStep) and bouncy.size:
        raise InputError(
            f"{name} with a constant step is plastic (restitution 0) by construction, but contact "
            f'"{system.contact_names[bouncy[0]]}" has restitution {restitution[bouncy[0]]:g}; '
            "set it to 0, or use dt=Landing(dt_min, dt_max)."
        )
    check_impact_laws(system, parameters, name)
    if isinstance(control, ConstantStep) and laws and laws[0] in INCREMENTAL:
        raise InputError(
            f"{name} with a constant step distributes impacts over steps, so that {LAWS[laws[0]]}'s law cannot "
            "follow their slip; use dt=Landing(dt_min, dt_max), or impact='newton'."
        )


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
