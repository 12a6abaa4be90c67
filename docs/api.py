"""Writes docs/api.md, every public name under its part of the package: ``python docs/api.py``."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path

import nonsmooth
from nonsmooth import diagnostics, laws, plots, report, studies

#: heading, what stands below it, module of the names, names
PARTS = {
    "Models": ("Description of the mechanism.", "model declarative"),
    "Laws": ("Rigid and compliant contact laws.", "laws"),
    "Steppers": ("Time discretisation.", "steppers"),
    "Step control": ("Step size control.", "step_control"),
    "Solvers": ("Solvers of the step problems.", "solvers"),
    "Runs": ("Simulation and its results.", "simulate batch trajectory engine"),
    "Errors and warnings": ("Each message says what is wrong, what is accepted, and what to do.", "exceptions"),
}


def directive(module: str, name: str) -> str:
    """How Sphinx documents one name."""
    value = getattr(importlib.import_module(module), name)
    kind = "autoclass" if inspect.isclass(value) else "autofunction"
    members = "   :members:\n" if kind == "autoclass" else ""
    if name == "Trajectory":  # some of its methods stand in a part of their own
        members += "   :inherited-members:\n"
    return f".. {kind}:: {module}.{name}\n" + members


def section(heading: str, sentence: str, entries: list[str]) -> str:
    return f"## {heading}\n\n{sentence}\n\n```{{eval-rst}}\n{''.join(entries)}```\n"


def page() -> str:
    """The whole page."""
    of_part: dict[str, list[str]] = {}
    for part, names in nonsmooth._NAMES_OF.items():
        of_part.setdefault(part.split(".")[0], []).extend(names)
    sections = ["# API\n\nAll public names. This page is written by `python docs/api.py`.\n"]
    for heading, (sentence, parts) in PARTS.items():
        names = [name for part in parts.split() for name in of_part.pop(part, [])]
        sections.append(section(heading, sentence, [directive("nonsmooth", name) for name in sorted(names)]))
    if of_part:
        raise SystemExit(f"docs/api.py: say in PARTS where {', '.join(of_part)} belongs")
    every = sorted({laws.by_name(name).__name__ for kind in ("normal", "friction") for name in laws.names(kind)})
    sections.append(section("Compliant laws", "From `nonsmooth.laws`; see [laws.md](laws.md).",
                            [directive("nonsmooth.laws", name) for name in every]))  # fmt: skip
    for module in (diagnostics, studies, plots, report):
        name = module.__name__.rpartition(".")[2]
        first = (module.__doc__ or "").strip().splitlines()[0]
        entries = [directive(module.__name__, each) for each in sorted(module.__all__)]
        sections.append(section(name.capitalize(), f"From `{module.__name__}`. {first}", entries))
    return "\n".join(sections)


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
