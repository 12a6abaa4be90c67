"""The documents: links that lead somewhere, pages as their scripts write them, figures for all, examples that run."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import inspect
import re
import shlex
import warnings
from pathlib import Path
from types import ModuleType

import pytest
from loops import each, some

import nonsmooth
from nonsmooth.cli import main

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.md"))
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *NOTEBOOKS,
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
]
WRITTEN = ["api", "command_line", "declarative", "gallery", "references"]
LARGEST = 60_000  # bytes of a figure


def script(name: str) -> ModuleType:
    """One of the scripts in docs/, which is no package."""
    spec = importlib.util.spec_from_file_location(f"docs_{name}", DOCS / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def links(text: str) -> list[str]:
    """Targets of links and pictures, code left out."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.M | re.S)
    return re.findall(r"\]\(([^()\s]+)\)", text)


def anchor(heading: str) -> str:
    """The name that GitHub and Sphinx give a heading."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).strip().replace(" ", "-")


@each("page", PAGES)
def test_every_relative_link_leads_somewhere(page: Path) -> None:
    broken = []
    for target in links(page.read_text(encoding="utf-8")):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, place = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        known = file.read_text(encoding="utf-8") if place and file.suffix == ".md" and file.is_file() else ""
        headings = map(anchor, re.findall(r"^#+ (.*)$", known, re.M))
        if not (file.exists() and file.is_relative_to(ROOT)) or (place and place not in headings):
            broken.append(target)
    assert not broken


@each("page", PAGES)
def test_links_are_named_by_titles(page: Path) -> None:
    """A reader of a page knows no names of files."""
    assert not re.findall(r"\[`?[\w./-]+\.md`?\]\(", page.read_text(encoding="utf-8"))


def test_the_first_page_opens_with_a_picture_ten_lines_and_four_cards(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The lines run as they are copied, and print the verdict that stands beside them."""
    first = (DOCS / "index.md").read_text(encoding="utf-8").partition("\n## ")[0]
    lines = re.search(r"```python\n(.*?)```", first, re.S)
    assert lines is not None and first.index("moving.svg") < lines.start() < first.index('<div class="cards">')
    assert len([one for one in lines[1].splitlines() if one]) <= 10 and len(re.findall(r"^- \*\*\[", first, re.M)) == 4
    assert "@keyframes" in (DOCS / "figures" / "moving.svg").read_text(encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(lines[1], "index.md", "exec"), {})
    stated = re.search(r"# (accurate: [^%]* %[^,]*),", lines[1])
    assert stated is not None and capsys.readouterr().out.startswith(stated[1])
    assert (tmp_path / "run.png").is_file() and (tmp_path / "run.html").is_file()


@each("page", PAGES)
def test_a_test_that_is_named_is_in_the_file_that_is_linked(page: Path) -> None:
    """`test_...` in a document, with a linked file of tests in the same line, is a function of one of these files."""
    for line in page.read_text(encoding="utf-8").splitlines():
        files = [
            (page.parent / target).resolve() for target in links(line) if target.endswith(".py") and "test_" in target
        ]
        functions = {
            node.name for file in files for node in ast.parse(file.read_text(encoding="utf-8")).body
            if isinstance(node, ast.FunctionDef)
        }  # fmt: skip
        for name in re.findall(r"`(test_\w+)(?:\.\.\.)?`", line) if files else []:
            assert any(one.startswith(name) for one in functions), f"{page.name}: there is no {name} in {files}"


def test_the_recipes_of_contributing_run() -> None:
    page = ROOT / "CONTRIBUTING.md"
    found = doctest.testfile(str(page), module_relative=False)
    assert found.failed == 0 and found.attempted > 10
    assert page.stat().st_size < 11400  # it is read in one go: the house, conventions, recipes


def test_signatures_of_the_page_on_models_name_what_there_is() -> None:
    """All arguments, or `...`; those of a start, and those that make a planar joint spatial, have their own words."""
    start, in_space = {"position", "velocity", "angular_velocity"}, {"axis_a", "axis_b", "quaternion"}
    bearing = {"length", "axial_clearance", "collar_radius", "points", "ends", "parallel"}
    own = {"name", "angle"} | start | in_space | bearing
    found = re.findall(
        r"`([A-Z]\w+)\((name[\w, =]*(?:, \.\.\.)?)\)`", (DOCS / "modelling.md").read_text(encoding="utf-8")
    )
    for name, text in found:
        given = {one.strip("= ") for one in text.split(",")} - {"..."}
        known = set(inspect.signature(getattr(nonsmooth, name)).parameters)
        assert given <= known, f"{name} has no {given - known}"
        assert "..." in text or known - own <= given, f"{name} has {known - own - given} as well"
    assert len(found) > 20


def test_the_changelog_is_a_page_per_release() -> None:
    releases = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), flags=re.M)[1:]
    assert releases and all(len(text.encode()) <= 5000 for text in releases)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_is_what_its_script_writes(name: str) -> None:
    expected, found = script(name).page(), (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert found == expected, f"run `python docs/{name}.py`"


def test_every_problem_has_a_figure() -> None:
    gallery = script("gallery")
    drawn = {path.stem for path in (DOCS / "figures" / "gallery").glob("*.png")}
    assert drawn == set(gallery.builtin()), "run `python docs/gallery.py NAME`; delete what is of no problem"
    assert set(gallery.RUNS) <= set(gallery.builtin())
    for folder in (gallery.SKETCHES, gallery.SMALL):
        assert {path.stem for path in folder.glob("*.png")} == set(gallery.builtin())
    assert {path.stem for path in gallery.ANIMATIONS.glob("*.gif")} == set(gallery.ANIMATED) <= set(gallery.builtin())
    assert all(path.stat().st_size <= 300_000 for path in gallery.ANIMATIONS.glob("*.gif"))


FIGURES = sorted(path for kind in ("*.png", "*.svg") for path in DOCS.rglob(kind))


@each("path", FIGURES)
def test_figures_are_small_and_used(path: Path) -> None:
    used = [page for page in PAGES if path.name in page.read_text(encoding="utf-8")]
    assert used, f"no document shows {path.name}"
    assert path.stat().st_size <= (LARGEST if path.parent.name == "gallery" else 350_000)


def test_numbers_that_differ_are_found() -> None:
    made = script("made")
    table = "| step | error | time [s] |\n|---|---|---|\n| `Landing(1e-6, 2e-4)` | 4.2e-07 | 1.5 |"
    assert made.differences(table, table.replace("1.5 |", "9.9 |").replace("4.2e", "4.3e")) == []
    assert "4.2e-07 was, 4.8e-07 is" in made.differences(table, table.replace("4.2e", "4.8e"))[0]
    assert "3e-4" in made.differences(table, table.replace("2e-4", "3e-4"))[0]
    assert "was" in made.differences(table, table.replace("Landing", "Constant"))[0]
    assert made.differences(table, f"{table}\n| more | 1 | 2 |") == ["3 lines were, 4 are"]
    printed = "case 1   rigid\noverlap  3e-18\ntime of the run [s]  0.1"
    assert made.differences(printed, printed.replace("3e-18", "8e-17").replace("0.1", "0.7")) == []
    assert made.part(f"{printed}\nwritten  figure.png\n", "last", 2) == "overlap  3e-18\ntime of the run [s]  0.1"
    assert made.part("a\n\nb\nc\n\nd", "part", 2) == "b\nc"


def test_every_figure_is_made_by_a_command() -> None:
    """The folder of the gallery by its script, the others under their own name."""
    made = script("made")
    words = [word for command in made.commands() for word in shlex.split(command)]
    for path in (one for one in FIGURES if one.parent == DOCS / "figures"):
        names = {path.stem, path.relative_to(ROOT).as_posix(), path.with_suffix(".py").relative_to(ROOT).as_posix()}
        assert names & set(words), f"no command makes {path.name}"
    assert "docs/gallery.py" in words


def test_tables_of_numbers_are_of_scripts_that_exist() -> None:
    """The count is that of the comments; a table whose comment is misspelt would be compared with nothing."""
    made = script("made")
    for page in sorted(DOCS.glob("*.md")):
        text = page.read_text(encoding="utf-8")
        assert text.count("<!-- made by") == text.count("<!-- made -->") == len(made.BLOCK.findall(text)), page.name
    scripts = [shlex.split(command)[1] for command in made.commands() if command.startswith("python ")]
    assert scripts and all((ROOT / name).is_file() for name in scripts)


def test_every_command_has_its_example() -> None:
    page = script("command_line")
    names = {name for name, _ in page.commands()}
    assert set(page.EXAMPLES) <= names and set(page.MORE) <= names
    for name, lines in page.EXAMPLES.items():
        assert any(line.startswith(f"nonsmooth {name}") for line in lines)


#: examples of seconds
LONG = {"identify estimate", "plot", "run"}
EXAMPLES = [pytest.param(name, marks=[pytest.mark.slow] * (name in LONG)) for name in script("command_line").EXAMPLES]


@pytest.mark.parametrize("name", some(EXAMPLES, 3))
def test_the_examples_of_the_command_line_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in script("command_line").EXAMPLES[name]:
        words = shlex.split(line)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert main(words[1:]) == 0, capsys.readouterr().err
        files = [word for word in words if re.fullmatch(r"\w+\.(nc|png|py|toml)", word)]
        assert [file for file in files if not (tmp_path / file).is_file()] == []
        assert capsys.readouterr().out


@pytest.mark.slow
def test_the_commands_of_the_short_answers_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the order of the page and in one folder, as a reader would type them; its Python is a doctest."""
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```sh\n(.*?)^```", (DOCS / "how_do_i.md").read_text(encoding="utf-8"), re.M | re.S)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    assert len(lines) >= len(blocks) > 5
    for line in lines:
        words = shlex.split(line)
        assert words[0] == "nonsmooth"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert main(words[1:]) == 0, f"{line}: {capsys.readouterr().err}"
        files = [word for word in words if re.fullmatch(r"\w+\.(nc|png|pdf|csv|gif|html|py|toml)", word)]
        assert [file for file in files if not (tmp_path / file).is_file()] == []


#: what a stranger asks, and where the answer stands
QUESTIONS = {
    "own mechanism": "model-my-own-mechanism",
    "chaos": "get-numbers-from-a-chaotic-motion",
    "clearance sweep": "sweep-a-clearance",
    "export to CSV": "export-a-run-as-a-table-or-as-csv",
    "plot again": "plot-a-saved-run-again",
    "choose a tolerance": "choose-the-tolerance-of-a-clearance",
    "restart": "continue-a-run-or-restart-it",
    "compare with measurements": "compare-a-run-with-measurements",
    "cite": "cite-what-i-used",
    "joint in space": "model-a-joint-with-clearance-in-space",
    "add a law": "add-a-contact-law-of-my-own",
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_questions_are_answered_one_click_from_the_index(question: str) -> None:
    """With a command, which the test above runs, or a script, which is run as a doctest."""
    place = QUESTIONS[question]
    assert f"how_do_i.md#{place}" in links((DOCS / "index.md").read_text(encoding="utf-8"))
    sections = re.split(r"^## (.*)$", (DOCS / "how_do_i.md").read_text(encoding="utf-8"), flags=re.M)
    answers = {anchor(heading): text for heading, text in zip(sections[1::2], sections[2::2], strict=True)}
    assert re.search(r"^```sh\nnonsmooth |^>>> ", answers[place], re.M)


def formulas(text: str) -> list[str]:
    """Formulas of a page, those of a line of their own first; code left out."""
    text = re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.M | re.S)
    blocks = re.findall(r"\$\$(.*?)\$\$", text, re.S)
    return blocks + re.findall(r"\$([^$]+)\$", re.sub(r"\$\$.*?\$\$", "", text, flags=re.S))


def test_formulas_become_mathml() -> None:
    """Whatever the translator does not know it leaves as text, with its backslash or its ampersand."""
    pytest.importorskip("latex2mathml")
    pytest.importorskip("docutils")
    mathml = script("rendering").mathml
    found = [one for page in PAGES for one in formulas(page.read_text(encoding="utf-8"))]
    assert len(found) > 100
    for one in found:
        made = mathml(one, display=False)
        assert made.startswith("<math") and "\\" not in made and "<mi>&</mi>" not in made, one
    assert mathml(r"\begin{aligned} a &= b \\ c &= d \end{aligned}", display=True).count("<mtr>") == 2


def test_types_are_shown_without_quantities() -> None:
    pytest.importorskip("docutils")
    plain = script("rendering").plain
    assert plain('Annotated[float | Components, Quantity("N m", positive=True)]') == "float | Components"
    assert plain("tuple[Annotated[float, Quantity('m')], np.ndarray] | None") == "tuple[float, ndarray] | None"
