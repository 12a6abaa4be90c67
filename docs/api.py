"""Writes docs/api.md, a table of the public names of each part of the package: ``python docs/api.py``."""

from __future__ import annotations

from pathlib import Path

import nonsmooth
from nonsmooth import derivatives, diagnostics, flexible, identification, laws, plots, report, studies

HEAD = """\
# API

All public names, by what they are for; each leads to a page with types, units, equations and examples. Names without a
module are imported from `nonsmooth`, the others as their headings say. This page is written by `python docs/api.py`.
"""
#: heading, what stands below it, module of the names, names
PARTS = {
    "Models": ("Description of the mechanism.", "model declarative robots"),
    "Fits and tolerances": ("What drawings state, see [From a fit to a decision](fits.md).", "model.fits"),
    "Laws": ("Rigid and compliant contact laws.", "laws"),
    "Steppers": ("Time discretisation.", "schemes"),
    "Step control": ("Step size control.", "step"),
    "Solvers": ("Solvers of the step problems.", "solvers"),
    "Runs": ("Simulation and its results.", "run trajectory report"),
    "Errors and warnings": ("Each message says what is wrong, what is accepted, and what to do.", "exceptions"),
}


def section(heading: str, sentence: str, module: str, names: list[str]) -> str:
    """A table of names, each of which leads to a page of its own, which Sphinx writes."""
    rows = "".join(f"   {name}\n" for name in names)
    table = f".. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: api\n   :nosignatures:\n\n{rows}"
    return f"## {heading}\n\n{sentence}\n\n```{{eval-rst}}\n{table}```\n"


def page() -> str:
    """The whole page."""
    parts_named = " ".join(parts for _, parts in PARTS.values()).split()
    of_part: dict[str, list[str]] = {}
    for name, module in nonsmooth._MODULE_OF.items():
        known = [part for part in parts_named if f"{module}.".startswith(f"nonsmooth.{part}.")]
        if not known:
            raise SystemExit(f"docs/api.py: say in PARTS where {module} belongs")
        of_part.setdefault(max(known, key=len), []).append(name)
    sections = [HEAD]
    for heading, (sentence, parts) in PARTS.items():
        names = [name for part in parts.split() for name in of_part[part]]
        sections.append(section(heading, sentence, "nonsmooth", sorted(names)))
    every = sorted({laws.by_name(name).__name__ for kind in ("normal", "friction") for name in laws.names(kind)})
    sections.append(section("Compliant laws", "See [Contact laws](laws.md).", "nonsmooth.laws", every))
    bases = sorted(name for name in laws.__all__ if name.endswith("Law")) + ["Limit", "Material", "contact_modulus"]
    said = "A law of your own is derived from one of these, see [How do I](how_do_i.md#add-a-contact-law-of-my-own)."
    sections.append(section("Bases of laws, and what they take", said, "nonsmooth.laws", bases))
    for module in (diagnostics, derivatives, studies, identification, flexible, plots, report):
        name = module.__name__.rpartition(".")[2]
        first = (module.__doc__ or "").strip().splitlines()[0]
        sections.append(section(name.capitalize(), first, module.__name__, sorted(module.__all__)))
    return "\n".join(sections)


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
