"""Modules of 0.2 that have moved: an import by the old name gives the module at its new place."""

from __future__ import annotations

import importlib
import sys
import warnings
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

__all__ = ["MOVED", "OldNames"]

#: old name -> new name, both below `nonsmooth`
MOVED = {
    "citations": "report.citations",
    "evaluation": "compile.casadi_call",
    "facts": "model.registry",
    "fits": "model.fits",
    "measured": "files.csv_data",
    "notebook": "report.notebook",
    "registry": "model.registry",
    "sets": "programs.projections",
    "step_control": "step.control",
    "steppers.compliant": "schemes.compliant.settings",
    "steppers.event_driven": "schemes.event_driven.settings",
    "steppers.gauss_mpcc": "schemes.gauss.gauss_mpcc",
    "steppers.gauss_qp": "schemes.gauss.gauss_qp",
    "steppers.generalized_alpha": "schemes.generalized_alpha.settings",
    "steppers.moreau_jean": "schemes.moreau_jean.settings",
    "units": "quantities",
}


class OldNames:
    """Finder and loader of modules by their old names, with a DeprecationWarning that says the new one. It has no base
    class: `importlib.abc` would take most of the time of ``import nonsmooth``."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        package, _, name = fullname.partition(".")
        return ModuleSpec(fullname, self) if package == "nonsmooth" and name in MOVED else None  # type: ignore[arg-type]

    def create_module(self, spec: ModuleSpec) -> None:
        """Leave it to Python to make the module."""

    def exec_module(self, module: ModuleType) -> None:
        """Put the module at the new place where that of the old name is looked for."""
        new = f"nonsmooth.{MOVED[module.__name__.partition('.')[2]]}"
        warnings.warn(f"{module.__name__} is {new} now.", DeprecationWarning, stacklevel=2)
        sys.modules[module.__name__] = importlib.import_module(new)
