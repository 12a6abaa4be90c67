"""The words of the documents: terms of multibody dynamics instead of words of this package alone."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from pathlib import Path

from loops import each

ROOT = Path(__file__).resolve().parent.parent
PAGES = [*sorted((ROOT / "docs").glob("*.md")), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
#: folders whose docstrings, comments and messages are checked
FOLDERS = [
    *sorted(f"nonsmooth/{one.parent.name}" for one in (ROOT / "nonsmooth").glob("*/__init__.py")),
    "problems",
    "benchmarks",
]
#: word -> the term of the literature
TERMS = {
    r"misfits?": "constraint residual, constraint violation",
    r"(contact|both) worlds?": "rigid and compliant contact",
    r"half[- ]kicks?": "momentum update, impulse of half a step",
    r"asked for": "requested, required",
    r"looked at|looks at": "evaluated, sampled",
    r"judged|judges": "checked against",
    r"struck|strikes": "impacting contacts, impacts",
    r"settles?|settled": "converges, accepted",
    r"posed|poses (a|one|the|its)": "formulated, assembled",
    r"gets? on with": "no progress",
    r"levers?( arms?)?": "moment arms",
    r"far side": "second root, opposite wall",
    r"rough contacts?": "frictional contacts",
}
ANY = re.compile(rf"\b({'|'.join(TERMS)})\b", re.I)


def prose_of_page(text: str) -> str:
    """A page without its code."""
    return re.sub(r"^```.*?^```$|`[^`\n]*`", "", text, flags=re.M | re.S)


def prose_of_source(source: str) -> str:
    """Docstrings, comments and texts of several words in a module; without code in backticks, examples and fields."""
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.count(" ") > 2
    ]
    texts += [
        token.string
        for token in tokenize.generate_tokens(io.StringIO(source).readline)
        if token.type == tokenize.COMMENT
    ]
    text = re.sub(r"``?[^`]*``?", "", "\n".join(texts))
    return "\n".join(line for line in text.splitlines() if " " in line.strip() and ">>>" not in line)


def coined(text: str) -> list[str]:
    """Each word of `TERMS` in a text, in its line, with what to say instead."""
    return [
        f"{line.strip()[:100]!r}: say {term}"
        for line in text.splitlines()
        if ANY.search(line)
        for word, term in TERMS.items()
        if re.search(rf"\b({word})\b", line, re.I)
    ]


def test_words_are_found_where_they_stand() -> None:
    """In prose, docstrings, comments and messages, and not in code."""
    page = "The misfit of `misfit`.\n\n```python\nmisfit = 1\n```\n"
    assert len(coined(prose_of_page(page))) == 1
    source = (
        '"""A program is posed."""\nposed = 1  # what was asked for\nraise ValueError(f"it is struck by {posed}")\n'
    )
    assert len(coined(prose_of_source(source))) == 3


@each("page", PAGES)
def test_pages_use_the_terms_of_the_literature(page: Path) -> None:
    assert not coined(prose_of_page(page.read_text(encoding="utf-8")))


@each("folder", FOLDERS)
def test_docstrings_and_messages_use_the_terms_of_the_literature(folder: str) -> None:
    found = {
        str(path.relative_to(ROOT)): coined(prose_of_source(path.read_text(encoding="utf-8")))
        for path in sorted((ROOT / folder).rglob("*.py"))
    }
    assert found and not {path: words for path, words in found.items() if words}


#: field of a record, or name of a module, that only this package would understand -> what stands in its place
COINED = {
    "push": "contact_impulse", "hold": "joint_impulse", "gained": "delta_v", "sizes": "v_terms", "pseudo":
    "pseudo_acceleration", "way": "saved_u", "drag": "friction_displacement", "lag": "direction_correction", "bend":
    "bias_acceleration", "along": "directions", "moves": "response", "shift": "velocity_offset", "lasts":
    "is_persistent", "meets": "impact_at_end", "asks": "request, rest_undecided", "many": "least_rest_contacts",
    "facts": "registry", "sets": "projections", "stages": "progress", "inspection": "hdf5_check", "evaluation":
    "casadi_call", "measured": "csv_data", "between": "impacts_between_steps", "door": "external_solver", "beside":
    "files", "stated": "fits",
}  # fmt: skip


def test_fields_of_records_have_names_of_the_field() -> None:
    from nonsmooth.compile.records.schema import SCHEMAS
    from nonsmooth.schemes.compliant import fields as compliant  # noqa: F401
    from nonsmooth.schemes.event_driven import fields as event_driven  # noqa: F401
    from nonsmooth.step import fields  # noqa: F401

    found = {f"{schema.name}.{name}" for schema in SCHEMAS.values() for name in schema.fields if name in COINED}
    assert not found - {"EventRun.stages", "StateBlock.stages"}  # of a Runge-Kutta step


def test_modules_have_names_of_the_field() -> None:
    assert not {path.stem for path in (ROOT / "nonsmooth").rglob("*.py")} & set(COINED)


def test_docstrings_begin_with_what_they_describe() -> None:
    """With a noun or a verb of the field, so that they can be read alone."""
    wrong = []
    for path in sorted((ROOT / "nonsmooth").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.ClassDef):
                text = ast.get_docstring(node) or ""
                if re.match(r"(What|Of|The same)\b", text):
                    wrong.append(f"{path.relative_to(ROOT)}: {node.name}: {text.splitlines()[0]}")
    assert not wrong
