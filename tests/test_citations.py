"""What to cite: an entry for everything that can take part in a run, read from the run alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from loops import each

from nonsmooth import (
    Compliant,
    CompliantDae,
    Cvodes,
    ErrorControl,
    GaussMPCC,
    GaussQP,
    IpoptMPCC,
    Landing,
    MoreauJean,
    RevoluteClearance,
    Rigid,
    Trajectory,
    __version__,
    laws,
    simulate,
    solvers,
    steppers,
)
from nonsmooth.cli import main
from nonsmooth.laws import Bai, Flores, Johnson, Material
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.kinds import element_kinds
from nonsmooth.model.registry import Provenance, find_problems, problem
from nonsmooth.report.citations import (
    CITED,
    ELEMENTS,
    ENTRIES,
    PACKAGE,
    PROBLEMS,
    STUDIES,
    VARIANTS,
    bibtex,
    cited,
    quoted,
)
from nonsmooth_problems import beam_on_stop, slider_rod

ROOT = Path(__file__).resolve().parent.parent
LAWS = [laws.by_name(name).__name__ for kind in ("normal", "friction") for name in laws.names(kind)]
NAMES = [
    *(steppers.by_name(name).__name__ for name in steppers.names()),
    *(name for name in dir(solvers) if name[0].isupper()),
    "Rigid",
    *LAWS,
]
BUILTIN = {name: one for name, one in find_problems().items() if one.function.__module__.startswith("nonsmooth_")}


def doi(text: str) -> set[str]:
    return set(re.findall(r"10\.\d{4,}/[^\s,;]+[^\s,;.]", text))


@each("name", NAMES)
def test_every_stepper_solver_and_law_has_an_entry_or_is_stated_to_have_none(name: str) -> None:
    assert name in CITED or quoted(name), (
        f"give {name} a section References in its docstring, or say in nonsmooth.report.citations.CITED on what it "
        "is based; () if on nothing"
    )


def test_every_ready_problem_likewise() -> None:
    missing = set(BUILTIN) - set(PROBLEMS)
    assert not missing, (
        f"say in nonsmooth.report.citations.PROBLEMS where {', '.join(missing)} comes from; () if from nowhere"
    )


@each("name", BUILTIN)
def test_the_source_of_a_problem_is_the_one_that_is_cited(name: str) -> None:
    cites = {ENTRIES[key][1].get("doi", "") for key in PROBLEMS.get(name, ())}
    assert doi(BUILTIN[name].source) <= cites
    assert bool(PROBLEMS.get(name)) or not re.search(r"\d{4}\)", BUILTIN[name].source)


def test_every_entry_is_used_and_every_key_is_there() -> None:
    from nonsmooth.report.citations import ALWAYS, IMPACTS

    tables = (CITED, ELEMENTS, IMPACTS, PROBLEMS, STUDIES, VARIANTS)
    used = {key for table in tables for keys in table.values() for key in keys}
    assert used | {*ALWAYS} == set(ENTRIES)
    names = set(NAMES)
    assert set(CITED) <= names, "CITED names a class that is gone"


def test_flexible_bodies_are_cited_with_their_reduction() -> None:
    """Both kinds that there are; a run names the one it has, with the floating frame and both bases of modes."""
    assert set(ELEMENTS) == {cls.__name__ for cls in element_kinds().values() if issubclass(cls, FlexibleBody)}
    run = simulate(beam_on_stop(elements=1).build(), MoreauJean(), t_end=1e-4, dt=1e-4)
    assert cited(run)["body PlanarFlexibleBody"] == ("shabana2013", "schwertassek1999", "craig1968", "rubin1975")
    assert "@article{craig1968," in bibtex(run) and "% body PlanarFlexibleBody\n@book{shabana2013," in bibtex(run)


@each("key", ENTRIES)
def test_an_entry_is_well_formed(key: str) -> None:
    kind, fields = ENTRIES[key]
    needed = {"article": {"author", "title", "journal", "year"}, "book": {"author", "title", "publisher", "year"}}
    assert needed.get(kind, {"title"}) <= set(fields)
    assert all(text.isascii() and text.count("{") == text.count("}") for text in fields.values())
    assert "doi" not in fields or {fields["doi"]} == doi(fields["doi"])


def test_dois_of_the_docstrings_are_the_same() -> None:
    """A law or stepper that names an identifier in its docstring cites that one."""
    for name in LAWS:
        text = next(laws.by_name(one) for kind in ("normal", "friction") for one in laws.names(kind)
                    if laws.by_name(one).__name__ == name).__doc__ or ""  # fmt: skip
        cites = {ENTRIES[key][1].get("doi", "") for key in CITED.get(name, ())}
        assert name not in CITED or doi(text) <= cites, name


def test_a_law_without_an_entry_is_cited_by_the_references_of_its_docstring(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(CITED, "Gonthier")
    law = Compliant(laws.by_name("gonthier")(stiffness=1e10, restitution=0.5))
    control = ErrorControl(1e-6, 1e-9, 1e-6, 1e-3)
    text = bibtex(simulate(slider_rod(case=1, contact=law).build(), CompliantDae(), t_end=1e-3, dt=control))
    assert "@misc{gonthier," in text and "Gonthier, Y., McPhee, J., Lange, C., Piedboeuf, J.-C. (2004)" in text
    assert "no entry: law" not in text


def test_the_package_is_cited_as_in_its_citation_file() -> None:
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    found = dict(re.findall(r'^(title|version): "?([^"\n]*)"?$', text, re.M))
    authors = re.findall(r'^  - name: "(.*)"$', text.partition("references:")[0], re.M)
    assert found == {"title": PACKAGE[1]["title"], "version": __version__}
    assert PACKAGE[1]["author"] == " and ".join(f"{{{author}}}" for author in authors)


def test_the_solvers_are_those_that_answered() -> None:
    system = slider_rod(case=1).build()
    landing = simulate(system, GaussMPCC(solver=IpoptMPCC("scholtes")), t_end=4e-3, dt=Landing(1e-6, 1e-3))
    found = cited(landing)
    assert found["setting relaxation='scholtes'"] == ("scholtes2001",)
    assert "solver IpoptMPCC" in found and "solver Osqp" not in found
    run = simulate(system, GaussQP(), t_end=4e-3, dt=1e-3)
    assert cited(run)["solver SemismoothNewton"][0] == "alart1991" and "lam2015" in cited(run)["libraries"]
    assert "solver ActiveSet" not in cited(run)


def test_the_laws_are_cited_with_what_they_are_made_of() -> None:
    steel = Material(young=2e11, poisson=0.3)
    bai = Bai(friction=0.1, static_friction=0.15, static_speed=0.1, dynamic_speed=1.0)
    soft = slider_rod(case=1, contact=Compliant(Flores(stiffness=1e10, restitution=0.5), bai)).build()
    control = ErrorControl(1e-6, 1e-9, 1e-6, 1e-3)
    found = cited(simulate(soft, CompliantDae(solver=Cvodes(), baumgarte=(5.0, 5.0)), t_end=1e-3, dt=control))
    assert {"solver Cvodes", "law Flores", "law Bai", "setting baumgarte="} <= set(found)
    assert found["solver Cvodes"] == ("hindmarsh2005",)

    journal = Compliant(Flores(stiffness=Johnson(steel, steel), restitution=0.5))
    pin = RevoluteClearance("pin", "rod", "slider", clearance=1e-4, radius=0.01, length=0.01, contact=journal)
    poisson = {"contact": {"kind": "Rigid", "impact": "poisson"}}

    class Saved:
        manifest = {
            "settings": {"stepper": "EventDriven(solver=Lemke())"},
            "model": {"elements": [pin.describe(), poisson, {"name": "no contact"}]},
        }
        counts = {"solves": 0}

    found = cited(Saved())
    assert found["law Johnson"] == ("johnson1985",) and found["law Poisson's impact law"][0] == "glocker1995"
    poisson["contact"]["impact"] = "stronge"
    assert cited(Saved())["law Stronge's impact law"] == ("stronge1990", "keller1986")
    assert "solver Lemke" in found and not [what for what in found if what.startswith("problem")]


def test_a_foreign_problem_is_cited_by_its_own_source() -> None:
    @problem(tags=(), source="A. Author: A book (2001)", parameters={"x": Provenance(1.0, "m", "given", "page 1")})
    def my_rod():
        """A rod of mine."""
        return slider_rod.function()

    run = simulate(my_rod().build(), GaussQP(), t_end=1e-3, dt=1e-3)
    text = bibtex(run)
    assert "@misc{my-rod," in text and "note = {A. Author: A book (2001)}" in text and "chaturvedi" in text


def test_cite_prints_bibtex_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "run.nc"
    contact = Rigid(restitution=0.0, friction=0.0)
    run = simulate(slider_rod(case=1, contact=contact).build(), GaussQP(), t_end=4e-3, dt=Landing(1e-6, 1e-3))
    run.save(path)
    assert main(["cite", str(path)]) == 0
    seen = capsys.readouterr()
    assert seen.err == "" and seen.out == bibtex(run) == bibtex(Trajectory.load(path))
    assert f"note = {{version {__version__}}}" in seen.out
    keys = re.findall(r"^@(?:article|book|misc)\{([\w-]+),$", seen.out, re.M)
    assert keys[0] == "nonsmooth" and len(keys) == len(set(keys)) and "chaturvedi" in keys
    assert seen.out.count("{") == seen.out.count("}")


def test_cite_needs_a_trajectory(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "run.nc").write_text("no trajectory")
    for name in ("nowhere.nc", "run.nc"):
        assert main(["cite", str(tmp_path / name)]) == 2
        seen = capsys.readouterr()
        assert seen.out == "" and name in seen.err and seen.err.count("\n") == 1
