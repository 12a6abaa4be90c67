"""The compiled form of a run: its text, the shape of its records, and its rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np

from nonsmooth.engine.layout import Layout
from nonsmooth.evaluation import Array
from nonsmooth.model.system import System
from nonsmooth.schemes.impact_fields import INCREMENTAL, LAWS
from nonsmooth.step_control import Landing, StepControl
from nonsmooth.steppers.generalized_alpha import GeneralizedAlpha
from nonsmooth.steppers.moreau_jean import MoreauJean

__all__ = [
    "is_associated",
    "is_balanced",
    "is_rough",
    "layout_of",
    "made_once",
    "options_of",
    "rules_of",
    "scheme_of",
]

L = TypeVar("L")


def made_once(system: System, key: Any, make: Callable[[], L]) -> L:
    """What follows from a mechanism alone, such as its compiled form, made once for all runs."""
    made = system.compiled_forms
    if key not in made:
        made[key] = make()
    found: L = made[key]
    return found


def rules_of(system: System, stepper: Any, control: StepControl) -> dict[str, Any]:
    """Rules of a scheme, and of how its programs are solved."""
    rules: dict[str, Any] = stepper.rules(system, control) | {
        "programs": "semismooth Newton from the impulses of the step before, else a sequence of proximal programs",
        "step that is not certified": "in parts, else with other solvers; each counted",
    }
    if stepper.solver is not None:
        rules["programs"] = "all by the requested solver; where it fails, by others, which are counted as fallbacks"
        rules["step that is not certified"] = "in parts, else without the requested solver; each counted"
        if options_of(system) >= INCREMENTAL:
            rules["programs"] += "; rates of change along the impulse of an impact by semismooth Newton"
    return rules


def scheme_of(stepper: Any, control: StepControl) -> str:
    """The module of `schemes` with the source of the scheme."""
    if isinstance(control, Landing):
        return "landing"
    return {MoreauJean: "moreau_jean", GeneralizedAlpha: "generalized_alpha"}.get(type(stepper), "implicit_euler")


def is_rough(system: System, values: Array) -> bool:
    """Whether there is friction."""
    return system.nc > 0 and bool(np.any(system.elementwise.contact_law(values)[1] > 0))


def is_balanced(stepper: Any) -> bool:
    return getattr(stepper, "moment_arms", "predicted") == "balanced"


def is_associated(stepper: Any) -> bool:
    return getattr(stepper, "cone", "coulomb") == "convex"


def options_of(system: System) -> int:
    """Options of shapes for the impact laws of a mechanism."""
    impacts = set(system.impact_laws)
    return 2 if impacts & set(LAWS[INCREMENTAL:]) else 1 if impacts - {"newton"} else 0


def layout_of(system: System, values: Array, stepper: Any) -> Layout:
    """The compiled form of a mechanism, made once for all runs."""
    rough, accelerations = is_rough(system, values), type(stepper) is GeneralizedAlpha
    options = max(options_of(system), 1 if is_balanced(stepper) or is_associated(stepper) else 0)
    make = partial(Layout, system, rough=rough, accelerations=accelerations, options=options)
    return made_once(system, (rough, accelerations, options), make)
