"""Writes docs/api.md, a table of the public names of each part of the package: ``python docs/api.py``."""

from __future__ import annotations

from pathlib import Path

import nonsmooth
from nonsmooth import diagnostics, flexible, identification, laws, plots, report, studies

HEAD = """\
# API

All public names, by what they are for; each leads to a page with types, units, equations and examples. Names without a
module are imported from `nonsmooth`, the others as their headings say. This page is written by `python docs/api.py`.
"""
#: heading, what stands below it, module of the names, names
PARTS = {
    "Models": ("Description of the mechanism.", "model declarative"),
    "Fits and tolerances": ("What drawings state, see [From a fit to a decision](fits.md).", "fits"),
    "Laws": ("Rigid and compliant contact laws.", "laws"),
    "Steppers": ("Time discretisation.", "steppers"),
    "Step control": ("Step size control.", "step_control"),
    "Solvers": ("Solvers of the step problems.", "solvers"),
    "Runs": ("Simulation and its results.", "run trajectory notebook"),
    "Errors and warnings": ("Each message says what is wrong, what is accepted, and what to do.", "exceptions"),
}


def section(heading: str, sentence: str, module: str, names: list[str]) -> str:
    """A table of names, each of which leads to a page of its own, which Sphinx writes."""
    rows = "".join(f"   {name}\n" for name in names)
    table = f".. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{rows}"
    return f"## {heading}\n\n{sentence}\n\n```{{eval-rst}}\n{table}```\n"


def page() -> str:
    """The whole page."""
    of_part: dict[str, list[str]] = {}
    for part, names in nonsmooth._NAMES_OF.items():
        of_part.setdefault(part.split(".")[0], []).extend(names)
    sections = [HEAD]
    for heading, (sentence, parts) in PARTS.items():
        names = [name for part in parts.split() for name in of_part.pop(part, [])]
        sections.append(section(heading, sentence, "nonsmooth", sorted(names)))
    if of_part:
        raise SystemExit(f"docs/api.py: say in PARTS where {', '.join(of_part)} belongs")
    every = sorted({laws.by_name(name).__name__ for kind in ("normal", "friction") for name in laws.names(kind)})
    sections.append(section("Compliant laws", "See [Contact laws](laws.md).", "nonsmooth.laws", every))
    for module in (diagnostics, studies, identification, flexible, plots, report):
        name = module.__name__.rpartition(".")[2]
        first = (module.__doc__ or "").strip().splitlines()[0]
        sections.append(section(name.capitalize(), first, module.__name__, sorted(module.__all__)))
    return "\n".join(sections)


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
