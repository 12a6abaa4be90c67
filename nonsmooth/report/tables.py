"""Tables of a run as HTML text: certificate, energy, parameters, settings, citations. Every value is escaped."""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nonsmooth.report.citations import ENTRIES, bibtex, cited
from nonsmooth.trajectory import Trajectory

UNITS = {"gap_violation": "m", "joint_violation": "m or rad", "complementarity": "-", "motion_residual": "-"}
#: kind of a verdict -> how it looks; others look bad
LOOKS = {"accurate": "good", "not checked": "open", "sensitive": "open"}
#: a digital object identifier, the only thing that becomes an address
DOI = re.compile(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]*[A-Za-z0-9]")


@dataclass(frozen=True)
class Table:
    """Rows of text and numbers under a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class Picture:
    """A figure as SVG, which is shown as a picture: nothing within it can act."""

    svg: str
    alternative: str = "figure"


def parts(given: Iterable[str | Table | Picture]) -> str:
    """Paragraphs, tables and pictures as HTML."""
    made = []
    for one in given:
        if isinstance(one, Table):
            made.append(f'<div class="run-part">{table(one.head, one.rows)}</div>')
        elif isinstance(one, Picture):
            data = base64.b64encode(one.svg.encode()).decode("ascii")
            words = html.escape(one.alternative, quote=True)
            made.append(f'<p class="drawn"><img src="data:image/svg+xml;base64,{data}" alt="{words}"></p>')
        elif one:
            made.append(f"<p>{escaped(one)}</p>")
    return "".join(made)


def escaped(value: Any) -> str:
    """A value as text of HTML, in a direction of its own."""
    return f"<bdi>{html.escape(str(value), quote=True)}</bdi>"


def number(value: Any) -> str:
    """Six digits; other values as they are."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers stand in the columns' own figures."""
    cells = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in head)
    lines = []
    for row in rows:
        made = (
            f'<td class="number">{html.escape(number(value))}</td>'
            if isinstance(value, float | int)
            else f"<td>{escaped(value)}</td>"
            for value in row
        )
        lines.append(f"<tr>{''.join(made)}</tr>")
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def verdict(run: Trajectory) -> tuple[str, str, str, str]:
    """Look (good, open or bad), one word, one line on what the run can be trusted for, and the certificate in short."""
    certified = run.certificate
    said = run.verdict
    summary = (
        f"gaps violated by {certified.gap_violation:.2g} m, joints by {certified.joint_violation:.2g}, "
        f"complementarity {certified.complementarity:.2g}, motion residual {certified.motion_residual:.2g}, "
        f"energy remainder {certified.energy.remainder:.2g} J"
    )
    status, _, reason = run.status.partition(":")
    if status in ("failed", "interrupted"):
        return "bad" if status == "failed" else "open", status, reason.strip() or f"to {run.t[-1]:.6g} s", summary
    return LOOKS.get(said.kind, "bad"), said.kind, said.text, f"{run.status}; {summary}"


def certificate(run: Trajectory) -> str:
    """The verdict's numbers, worst violations and residuals, the balance of energy, and what was counted."""
    worst = dataclasses.asdict(run.certificate)
    ledger = worst.pop("energy")
    flat = [(name, value) for name, value in worst.items() if isinstance(value, float | int | str)]
    rows = [(name.replace("_", " "), value, UNITS.get(name, "")) for name, value in flat]
    energies = [(name.replace("_", " "), value) for name, value in ledger.items()]
    counted = [(name, value) for name, value in run.counts.items() if isinstance(value, float | int | str)]
    return "".join(
        [
            f'<div class="columns"><div>{table(("verdict", "", "unit"), _judged(run))}</div>',
            f"<div>{table(('certificate', 'worst', 'unit'), rows)}</div>",
            f"<div>{table(('energy', '[J]'), energies)}</div>",
            f"<div>{table(('counts', ''), counted)}</div></div>",
        ]
    )


def _judged(run: Trajectory) -> list[tuple[Any, ...]]:
    """Rows of what a verdict has measured."""
    said = run.verdict
    rows: list[tuple[Any, ...]] = [("kind", said.kind, ""), ("sentence", said.text, "")]
    numbers = (
        ("difference of positions / clearance", said.position, "-"),
        ("difference of peak force / peak force", said.force, "-"),
        ("holds until", said.horizon, "s"),
        ("runs part at", said.parted, "s"),
    )
    rows += [one for one in numbers if math.isfinite(one[1])]
    return rows + [("sign of error", sign, "") for sign in said.signs]


def parameters(run: Trajectory) -> str:
    """Values with their provenance, and where the mechanism comes from."""
    model = run.manifest.get("model", {})
    source = f"<p>Source: {escaped(model['source'])}</p>" if model.get("source") else ""
    known = run.manifest.get("parameters", {})
    columns = ("value", "unit", "kind", "source", "note")
    rows = [
        (name, *(entry.get(column, "") for column in columns))
        for name, entry in known.items()
        if isinstance(entry, Mapping)
    ]
    return source + table(("parameter", *columns), rows)


def settings(run: Trajectory) -> str:
    """The manifest without model and parameters."""
    rest = {name: value for name, value in run.manifest.items() if name not in ("model", "parameters")}
    return f"<pre>{html.escape(json.dumps(rest, indent=2, ensure_ascii=False))}</pre>"


def citations(run: Trajectory) -> str:
    """What took part, each entry with a link where it has a digital object identifier, and BibTeX."""
    try:
        keys = dict.fromkeys(key for found in cited(run).values() for key in found)
        text = bibtex(run)
    except (KeyError, TypeError, AttributeError) as error:
        return f"<p>The manifest does not tell what was used ({html.escape(type(error).__name__)}).</p>"
    items = "".join(f"<li>{_entry(ENTRIES[key][1])}</li>" for key in keys if key in ENTRIES)
    return f"<ul>{items}</ul><details><summary>BibTeX</summary><pre>{html.escape(text)}</pre></details>"


def _entry(fields: Mapping[str, str]) -> str:
    words = ("author", "title", "journal", "publisher", "note", "volume", "pages", "year")
    text = ", ".join(_readable(fields[word]) for word in words if fields.get(word))
    found = DOI.fullmatch(fields.get("doi", ""))
    if not found:
        return escaped(text)
    address = html.escape(f"https://doi.org/{found[0]}", quote=True)
    return f'{escaped(text)} <a href="{address}" rel="noreferrer noopener">{html.escape(found[0])}</a>'


ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "c": "\u0327", "v": "\u030c"}
LETTERS = {"\\ss": "ß", "\\o": "ø", "\\O": "Ø", "\\l": "ł", "\\ae": "æ", "\\aa": "å", "\\i": "ı"}


def _readable(text: str) -> str:
    """BibTeX's accents and braces as plain characters."""
    text = re.sub(r"\\([\"'`^~])\{?(\\?\w)\}?", lambda m: m[2].lstrip("\\") + ACCENTS[m[1]], text)
    text = re.sub(r"\\([cv])\{(\w)\}", lambda m: m[2] + ACCENTS[m[1]], text)
    text = re.sub(r"\{?(\\(?:ss|ae|aa|o|O|l|i))\}?", lambda m: LETTERS[m[1]], text)
    return unicodedata.normalize("NFC", re.sub(r"[{}$]", "", text).replace("--", "–").replace("``", '"'))
