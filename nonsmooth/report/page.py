"""The page: facts, numbers, tables, styles and scripts in one HTML text. Nothing from a run is ever markup or code."""

import base64
import dataclasses
import hashlib
import html
import json
import math
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from nonsmooth.exceptions import InputError
from nonsmooth.files import write_bytes
from nonsmooth.report.citations import ENTRIES, bibtex, cited
from nonsmooth.report.run_data import facts, name_of
from nonsmooth.settings import checked, require, shown
from nonsmooth.trajectory import Trajectory

UNITS = {"gap_violation": "m", "joint_violation": "m or rad", "complementarity": "-", "motion_residual": "-"}
#: kind of a verdict -> how it looks; others look bad
LOOKS = {"accurate": "good", "not checked": "open", "sensitive": "open"}
#: a digital object identifier, the only thing that becomes an address
DOI = re.compile(r"10\.\d{4,9}/[-._;()/:A-Za-z0-9]*[A-Za-z0-9]")
ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303", "c": "\u0327", "v": "\u030c"}
LETTERS = {"\\ss": "ß", "\\o": "ø", "\\O": "Ø", "\\l": "ł", "\\ae": "æ", "\\aa": "å", "\\i": "ı"}
#: bytes of a page's numbers beyond which rows are left out, and rows beyond which they are in any case
SIZE, ROWS = 4_500_000, 20_000
LIGHT_ROWS, LIGHT_HEIGHT = 1500, 560  # rows of a page within a notebook, and its height [pixel]
#: scripts, in the order in which they need each other
SCRIPTS = (
    "data.js", "clock.js", "view.js", "parts.js", "stage.js", "chart_tools.js", "chart.js",
    "charts.js", "orbits.js", "modes.js", "impacts.js", "record.js", "page.js",
)  # fmt: skip
#: a number with the unit behind it, between which no line is broken
MEASURED = re.compile(r"(?<![\w#.])-?\d[\d.]*(?:e[-+]?\d+)? (?:%|[µnmk]?(?:m|N|s|J|rad))(?!\w)")


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


Part = str | Table | Picture


def _section(given: Iterable[Part]) -> str:
    """Paragraphs, tables and pictures as HTML; nothing for none."""
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
    return f'<section class="card wide">{"".join(made)}</section>' if made else ""


def escaped(value: Any) -> str:
    """A value as text of HTML, in a direction of its own; numbers keep their units beside them."""
    text = MEASURED.sub(r'<span class="number">\g<0></span>', html.escape(str(value), quote=True))
    return f"<bdi>{text}</bdi>"


def table(head: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A table; numbers stand in the columns' own figures."""
    cells = "".join(f'<th scope="col">{html.escape(word)}</th>' for word in head)
    lines = []
    for row in rows:
        made = ""
        for k, value in enumerate(row):
            text = f"{value:.6g}" if isinstance(value, float) else str(value)
            plain = isinstance(value, float | int) or "unit" in head[k : k + 1]
            made += f'<td class="number">{html.escape(text)}</td>' if plain else f"<td>{escaped(value)}</td>"
        lines.append(f"<tr>{made}</tr>")
    return f"<table><thead><tr>{cells}</tr></thead><tbody>{''.join(lines)}</tbody></table>"


def verdict(run: Trajectory) -> tuple[str, str, str, str]:
    """Look (good, open or bad), one word, one line on what the run can be trusted for, and the certificate in short."""
    certified, said = run.certificate, run.verdict
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
    said = run.verdict
    numbers = (
        ("difference of positions / clearance", said.position, "-"),
        ("difference of peak force / peak force", said.force, "-"),
        ("holds until", said.horizon, "s"), ("runs part at", said.parted, "s"),
    )  # fmt: skip
    known = [("kind", said.kind, ""), ("sentence", said.text, ""), *(one for one in numbers if math.isfinite(one[1]))]
    known += [("sign of error", sign, "") for sign in said.signs]
    worst = dataclasses.asdict(run.certificate)
    ledger = worst.pop("energy").items()
    flat, counts = (
        [(name, value) for name, value in values.items() if isinstance(value, float | int | str)]
        for values in (worst, run.counts)
    )
    tables = (
        table(("verdict", "", "unit"), known),
        table(("certificate", "worst", "unit"), [(k.replace("_", " "), x, UNITS.get(k, "")) for k, x in flat]),
        table(("energy", "[J]"), [(name.replace("_", " "), value) for name, value in ledger]),
        table(("counts", ""), counts),
    )
    return f'<div class="columns">{"".join(f"<div>{one}</div>" for one in tables)}</div>'


def parameters(run: Trajectory) -> str:
    """Values with their provenance, and where the mechanism comes from."""
    model = run.manifest.get("model", {})
    source = f"<p>Source: {escaped(model['source'])}</p>" if model.get("source") else ""
    known = run.manifest.get("parameters", {})
    columns = ("value", "unit", "kind", "source", "note")
    entries = [(name, entry) for name, entry in known.items() if isinstance(entry, Mapping)]
    rows = [(name, *(entry.get(column, "") for column in columns)) for name, entry in entries]
    return source + table(("parameter", *columns), rows)


def settings(run: Trajectory) -> str:
    """The manifest without model and parameters."""
    rest = {name: value for name, value in run.manifest.items() if name not in ("model", "parameters")}
    return f"<pre>{html.escape(json.dumps(rest, indent=2, ensure_ascii=False))}</pre>"


def citations(run: Trajectory) -> str:
    """Cited entries, with a link where there is a digital object identifier, and BibTeX."""
    try:
        keys = dict.fromkeys(key for found in cited(run).values() for key in found)
        text = bibtex(run)
    except (KeyError, TypeError, AttributeError) as error:
        return f"<p>The manifest does not tell what was used ({html.escape(type(error).__name__)}).</p>"
    items = ""
    for fields in (ENTRIES[key][1] for key in keys if key in ENTRIES):
        words = ("author", "title", "journal", "publisher", "note", "volume", "pages", "year")
        said = ", ".join(fields[word] for word in words if fields.get(word))
        # BibTeX's accents and braces as plain characters
        said = re.sub(r"\\([\"'`^~])\{?(\\?\w)\}?", lambda m: m[2].lstrip("\\") + ACCENTS[m[1]], said)
        said = re.sub(r"\\([cv])\{(\w)\}", lambda m: m[2] + ACCENTS[m[1]], said)
        said = re.sub(r"\{?(\\(?:ss|ae|aa|o|O|l|i))\}?", lambda m: LETTERS[m[1]], said)
        said = re.sub(r"[{}$]", "", said).replace("--", "–").replace("``", '"')
        item = escaped(unicodedata.normalize("NFC", said))
        if found := DOI.fullmatch(fields.get("doi", "")):
            address = html.escape(f"https://doi.org/{found[0]}", quote=True)
            item += f' <a href="{address}" rel="noreferrer noopener">{html.escape(found[0])}</a>'
        items += f"<li>{item}</li>"
    return f"<ul>{items}</ul><details><summary>BibTeX</summary><pre>{html.escape(text)}</pre></details>"


@checked
def page(
    runs: Trajectory | Mapping[str, Trajectory], *, title: str = "", rows: int = ROWS, light: bool = False,
    more: Iterable[Part] = (),
) -> str:  # fmt: skip
    """A complete HTML document of a run, or of several by label, two of which are shown side by side.

    InputError without a run, or for a number of rows that is not positive.

    Parameters
    ----------
    runs : the run, or runs by label
    title : heading; the mechanism's name where omitted
    rows
        Number of rows of each run above which rows are omitted; fewer if the page would exceed about 5 MB. Rows of
        impacts, of jumps and of changes of contact modes are always kept.
    light : without tables and with fewer rows, as within a notebook
    more : paragraphs, tables and pictures that stand below the runs
    """
    given = {"": runs} if isinstance(runs, Trajectory) else dict(runs)
    every = bool(given) and all(isinstance(run, Trajectory) for run in given.values())
    require(every, "A page needs at least one run, and runs alone", runs)
    require(rows >= 1, "rows must be an integer >= 1, the rows that are shown", rows)
    made, room = [], SIZE / len(given)
    for label, run in given.items():  # with as many rows as its share of the page has room for
        most = min(rows, LIGHT_ROWS) if light else rows
        found, text = facts(run, label, most)
        for _ in range(4):
            if len(text) <= room or found["shown"] > most:  # the latter: rows of impacts alone are more
                break
            most = max(int(0.9 * min(most, found["shown"]) * room / len(text)), 50)
            found, text = facts(run, label, most)
        made.append((found, text))
    heading = title or name_of(next(iter(given.values())))
    details = "" if light else _section(more)
    for what, of, state in () if light else (
        ("Certificate", certificate, " open"), ("Parameters and where they come from", parameters, " open"),
        ("How it was run", settings, ""), ("Citations", citations, ""),
    ):  # fmt: skip
        parts = ""  # of which the page shows those of the chosen runs
        for k, (label, run) in enumerate(given.items()):
            name = f"<h3>{escaped(label)}</h3>" if label else ""
            parts += f'<div class="run-part" data-run="{k}">{name}{of(run)}</div>'
        details += (
            f'<section class="card wide tables"><details{state}><summary><h2>{what}</h2></summary>'
            f'<div class="pair">{parts}</div></details></section>'
        )
    verdicts = ""
    for k, (label, run) in enumerate(given.items()):
        look, word, line, summary = verdict(run)
        name = f"<b>{escaped(label)}</b> " if label else ""
        badge = f'<span class="badge {look}">{escaped(word)}</span>'
        certified = f'<span class="certified">{escaped(summary)}</span>'
        verdicts += f'<p class="verdict" data-run="{k}">{badge} {name}{escaped(line)}{certified}</p>'
    body = _text("page.html")
    for name, text in {"title": escaped(heading), "verdicts": verdicts, "details": details}.items():
        body = body.replace(f"<!-- {name} -->", text)
    shared = {"light": light, "runs": [found for found, _ in made]}
    plain = json.dumps(shared, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    plain = plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
    data = [f'<script type="application/json" id="facts">{plain}</script>\n']
    data += [f'<script type="text/plain" id="numbers-{k}">{text}</script>\n' for k, (_, text) in enumerate(made)]
    code = "'use strict';\n(() => {\n" + "\n".join(map(_text, SCRIPTS)) + "\n})();"
    return _assembled(heading, body + "".join(data), [code], "light" if light else "")


@checked
def study_page(title: str, given: Iterable[Part]) -> str:
    """A complete HTML document of a study whose runs are not kept: paragraphs, tables and pictures."""
    return _assembled(title, f"<header><h1>{escaped(title)}</h1></header>{_section(given)}")


def _assembled(title: str, body: str, scripts: Iterable[str] = (), kind: str = "") -> str:
    """A document with the page's style, whose policy forbids every request and every script but these."""
    style, scripts = _text("page.css"), list(scripts)

    def hashes(texts: list[str]) -> str:
        digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"

    policy = (
        f"default-src 'none'; script-src {hashes(scripts)}; style-src {hashes([style])}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    code = "".join(f"<script>{script}</script>\n" for script in scripts)
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{html.escape(title[:200])}</title>\n<style>{style}</style>\n</head>\n"
        f'<body class="{kind}">\n{body}{code}</body>\n</html>\n'
    )


@checked
def write(
    runs: Trajectory | Mapping[str, Trajectory], path: str | os.PathLike[str], *, title: str = "", rows: int = ROWS,
    more: Iterable[Part] = (),
) -> None:  # fmt: skip
    """Write `page` to a file.

    InputError if the path cannot be written, or is not one of an HTML file; and as `page` does.
    """
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"A report is a file .html, got {shown(Path(path).name)}.")
    write_text(page(runs, title=title, rows=rows, more=more), path)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a document under a temporary name, then rename it, so that the named file is complete."""
    write_bytes(text.encode(), path, "The page")


@checked
def frame(run: Trajectory) -> str:
    """The light page as a notebook shows it: in a frame that reaches nothing else, but may save files."""
    document = html.escape(page(run, light=True), quote=True)
    style = f"width:100%;height:{LIGHT_HEIGHT}px;border:0"
    return f'<iframe sandbox="allow-scripts allow-downloads" title="run" style="{style}" srcdoc="{document}"></iframe>'


def _text(name: str) -> str:
    text = (files("nonsmooth.report") / "assets" / name).read_text(encoding="utf-8").replace("\r\n", "\n")
    if name.endswith(".js") and ("</script" in text.lower() or "<!--" in text):
        raise ValueError(f"{name} would end its own script element.")
    return text
