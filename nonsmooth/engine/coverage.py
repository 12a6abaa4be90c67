"""Which runs of `MoreauJean`, `GaussQP` and `GeneralizedAlpha` are compiled, by which scheme, and their rules."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np

from nonsmooth.engine.layout import Layout, NotCompiled, impact_laws
from nonsmooth.evaluation import Array
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.system import System
from nonsmooth.schemes.impact_fields import INCREMENTAL, LAWS
from nonsmooth.step_control import Landing, StepControl
from nonsmooth.steppers.gauss import GaussFormulation
from nonsmooth.steppers.gauss_mpcc import GaussMPCC
from nonsmooth.steppers.gauss_qp import GaussQP
from nonsmooth.steppers.generalized_alpha import GeneralizedAlpha, GeneralizedAlphaFormulation
from nonsmooth.steppers.moreau_jean import MoreauJean, MoreauJeanFormulation

__all__ = [
    "elements_why_not",
    "is_associated",
    "is_balanced",
    "is_rough",
    "layout_of",
    "made_once",
    "options_of",
    "rules_of",
    "scheme_of",
    "why_not",
]

L = TypeVar("L", bound=Layout)


def elements_why_not(system: System, layout: Callable[[], Layout], *, deformable: bool = False) -> str | None:
    """Why elements of a mechanism have no compiled form, as a clause; None if all have one.

    `layout` makes it; `deformable` tells whether the steps move flexible bodies.
    """
    for e in system.elements:
        if isinstance(e, FlexibleBody) and not deformable:
            return f'"{e.name}" is a flexible body, which runs in Python only'
    try:
        layout()
    except NotCompiled as error:
        return str(error)
    return None


def made_once(system: System, key: Any, make: Callable[[], L]) -> L:
    """The compiled form of a mechanism, made once for all runs."""
    made = system.compiled_forms
    if key not in made:
        made[key] = make()
    found: L = made[key]
    return found


def why_not(system: System, stepper: Any, control: StepControl, values: Array) -> str | None:
    """Why a run of these steppers has no compiled form, as a clause; None if it has one."""
    return elements_why_not(system, lambda: layout_of(system, values, stepper), deformable=True)


def rules_of(system: System, stepper: Any, control: StepControl) -> dict[str, Any]:
    """Rules of the Python formulation, and those of compiled steps alone."""
    gauss = {GaussQP: GaussFormulation, GaussMPCC: GaussFormulation}
    of: Any = (gauss | {MoreauJean: MoreauJeanFormulation}).get(type(stepper), GeneralizedAlphaFormulation)
    law = max((LAWS.index(one) for one in impact_laws(system.elements)), default=0)
    same = SimpleNamespace(control=control, stepper=stepper, between=law > 0)
    same.mechanism = SimpleNamespace(incremental=law >= INCREMENTAL)
    same.balanced = is_balanced(stepper)
    rules: dict[str, Any] = of.rules(same)
    rules |= {
        "programs": "semismooth Newton from the impulses of the step before, else a sequence of proximal programs",
        "step that is not certified": "in parts, else with other solvers, else by the Python formulation; each counted",
    }
    if stepper.solver is not None:
        rules["programs"] = "all by the requested solver; where it fails, by others, which are counted as fallbacks"
        rules["step that is not certified"] = "in parts, else without the requested solver; each counted"
        if law >= INCREMENTAL:
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
    impacts = impact_laws(system.elements)
    return 2 if impacts & set(LAWS[INCREMENTAL:]) else 1 if impacts - {"newton"} else 0


def layout_of(system: System, values: Array, stepper: Any) -> Layout:
    """The compiled form of a mechanism, made once for all runs."""
    rough, accelerations = is_rough(system, values), type(stepper) is GeneralizedAlpha
    options = max(options_of(system), 1 if is_balanced(stepper) or is_associated(stepper) else 0)
    make = partial(Layout, system, rough=rough, accelerations=accelerations, options=options)
    return made_once(system, (rough, accelerations, options), make)
