"""The documents: links that lead somewhere, pages as their scripts write them, figures for all, examples that run."""

from __future__ import annotations

import ast
import importlib.util
import re
import shlex
import warnings
from pathlib import Path
from types import ModuleType

import pytest

from nonsmooth.cli import main

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.md"))
PAGES = [
    *sorted(DOCS.glob("*.md")),
    *NOTEBOOKS,
    *(ROOT / f"{name}.md" for name in ("README", "CONTRIBUTING", "CHANGELOG")),
]
WRITTEN = ["api", "command_line", "gallery", "references"]
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
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


@pytest.mark.parametrize("name", WRITTEN)
def test_a_page_is_what_its_script_writes(name: str) -> None:
    expected, found = script(name).page(), (DOCS / f"{name}.md").read_text(encoding="utf-8")
    assert found == expected, f"run `python docs/{name}.py`"


def test_every_problem_has_a_figure() -> None:
    gallery = script("gallery")
    drawn = {path.stem for path in (DOCS / "figures" / "gallery").glob("*.png")}
    assert drawn == set(gallery.builtin()), "run `python docs/gallery.py NAME`; delete what is of no problem"
    assert set(gallery.RUNS) <= set(gallery.builtin())


@pytest.mark.parametrize("path", sorted(DOCS.rglob("*.png")), ids=lambda path: path.stem)
def test_figures_are_small_and_used(path: Path) -> None:
    used = [page for page in PAGES if path.name in page.read_text(encoding="utf-8")]
    assert used, f"no document shows {path.name}"
    if path.parent.name == "gallery":
        assert path.stat().st_size <= LARGEST


def test_every_command_has_its_example() -> None:
    page = script("command_line")
    names = {name for name, _ in page.commands()}
    assert set(page.EXAMPLES) <= names and set(page.MORE) <= names
    for name, lines in page.EXAMPLES.items():
        assert any(line.startswith(f"nonsmooth {name}") for line in lines)


@pytest.mark.parametrize("name", list(script("command_line").EXAMPLES))
def test_the_examples_of_the_command_line_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for line in script("command_line").EXAMPLES[name]:
        words = shlex.split(line)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            assert main(words[1:]) == 0, capsys.readouterr().err
        files = [word for word in words if re.fullmatch(r"\w+\.(nc|png|py)", word)]
        assert [file for file in files if not (tmp_path / file).is_file()] == []
        assert capsys.readouterr().out
