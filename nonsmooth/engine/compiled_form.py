"""The compiled form of a run: its text, the shape of its records, and its rules."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import System
from nonsmooth.step.control import StepControl
from nonsmooth.step.impact_fields import INCREMENTAL, LAWS

L = TypeVar("L")


def cached(system: System, key: Any, make: Callable[[], L]) -> L:
    """Data that follow from a mechanism alone, such as its compiled form, made once for all runs."""
    made = system.compiled_forms
    if key not in made:
        made[key] = make()
    found: L = made[key]
    return found


def rules_of(system: System, stepper: Any, control: StepControl) -> dict[str, Any]:
    """Rules of a scheme, and of how its programs are solved."""
    own = stepper.rules(system, control) if hasattr(stepper, "rules") else {}
    rules: dict[str, Any] = own | {
        "programs": "semismooth Newton from the impulses of the step before, else a sequence of proximal programs",
        "step that is not certified": "in parts, else with other solvers; each counted",
    }
    if stepper.solver is not None:
        rules["programs"] = "all by the requested solver; where it fails, by others, which are counted as fallbacks"
        rules["step that is not certified"] = "in parts, else without the requested solver; each counted"
        if options_of(system) >= INCREMENTAL:
            rules["programs"] += "; rates of change along the impulse of an impact by semismooth Newton"
    return rules


def is_rough(system: System, values: Array) -> bool:
    """Whether there is friction."""
    return system.nc > 0 and bool(np.any(system.elementwise.contact_law(values)[1] > 0))


def options_of(system: System) -> int:
    """Options of shapes for the impact laws of a mechanism."""
    impacts = set(system.impact_laws)
    return 2 if impacts & set(LAWS[INCREMENTAL:]) else 1 if impacts - {"newton"} else 0
