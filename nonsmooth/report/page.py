"""The page: facts, numbers, styles and scripts in one HTML text. Nothing from a run is ever markup or code."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

from nonsmooth.exceptions import InputError
from nonsmooth.files import write_bytes
from nonsmooth.report import tables
from nonsmooth.report.facts import facts, name_of
from nonsmooth.trajectory import Trajectory

Part = str | tables.Table | tables.Picture

#: bytes of a page's numbers beyond which rows are left out, and rows beyond which they are in any case
SIZE, ROWS = 4_500_000, 20_000
#: rows of a page within a notebook, and its height [pixel]
LIGHT_ROWS, LIGHT_HEIGHT = 1500, 560
#: scripts, in the order in which they need each other
SCRIPTS = (
    "data.js", "clock.js", "view.js", "parts.js", "stage.js", "chart_tools.js", "chart.js",
    "charts.js", "orbits.js", "modes.js", "impacts.js", "record.js", "page.js",
)  # fmt: skip


def page(
    runs: Trajectory | Mapping[str, Trajectory],
    *,
    title: str = "",
    rows: int = ROWS,
    light: bool = False,
    more: Iterable[Part] = (),
) -> str:
    """A complete HTML document of a run, or of several by label, two of which are shown side by side.

    Parameters
    ----------
    runs
        The run, or runs by label.
    title
        Heading; the mechanism's name where omitted.
    rows
        Number of rows of each run above which rows are omitted; fewer if the page would exceed about 5 MB. Rows of
        impacts, of jumps and of changes of contact modes are always kept.
    light
        Without tables and with fewer rows, as within a notebook.
    more
        Paragraphs, tables and pictures that stand below the runs.

    Raises
    ------
    InputError
        Without a run, or for a number of rows that is not positive.
    """
    given = {"": runs} if isinstance(runs, Trajectory) else dict(runs)
    if not given:
        raise InputError("A page needs at least one run, got none.")
    if isinstance(rows, bool) or not isinstance(rows, int) or rows < 1:
        raise InputError(f"rows must be an integer >= 1, the rows that are shown, got {rows!r}.")
    made = [_fitting(run, label, min(rows, LIGHT_ROWS) if light else rows, len(given)) for label, run in given.items()]
    first = next(iter(given.values()))
    heading = title or name_of(first)
    details = "" if light else _section(more) + _details(given)
    contents = {"title": tables.escaped(heading), "verdicts": _verdicts(given), "details": details}
    body = _text("page.html")
    for name, text in contents.items():
        body = body.replace(f"<!-- {name} -->", text)
    shared = {"light": light, "runs": [found for found, _ in made]}
    data = [f'<script type="application/json" id="facts">{_json(shared)}</script>\n']
    data += [f'<script type="text/plain" id="numbers-{k}">{text}</script>\n' for k, (_, text) in enumerate(made)]
    code = "'use strict';\n(() => {\n" + "\n".join(map(_text, SCRIPTS)) + "\n})();"
    return _assembled(heading, body + "".join(data), [code], "light" if light else "")


def study_page(title: str, given: Iterable[Part]) -> str:
    """A complete HTML document of a study whose runs are not kept: paragraphs, tables and pictures."""
    return _assembled(title, f"<header><h1>{tables.escaped(title)}</h1></header>{_section(given)}")


def _section(given: Iterable[Part]) -> str:
    text = tables.parts(given)
    return f'<section class="card wide">{text}</section>' if text else ""


def _assembled(title: str, body: str, scripts: Iterable[str] = (), kind: str = "") -> str:
    """A document with the page's style, whose policy forbids every request and every script but these."""
    style, scripts = _text("page.css"), list(scripts)
    policy = (
        f"default-src 'none'; script-src {_hashes(scripts)}; style-src {_hashes([style])}; img-src data: blob:; "
        "base-uri 'none'; form-action 'none'"
    )
    return "".join(
        [
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n',
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n',
            '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n',
            f"<title>{html.escape(title[:200])}</title>\n<style>{style}</style>\n</head>\n",
            f'<body class="{kind}">\n{body}',
            *(f"<script>{script}</script>\n" for script in scripts),
            "</body>\n</html>\n",
        ]
    )


def write(
    runs: Trajectory | Mapping[str, Trajectory],
    path: str | os.PathLike[str],
    *,
    title: str = "",
    rows: int = ROWS,
    more: Iterable[Part] = (),
) -> None:
    """Write `page` to a file.

    Raises
    ------
    InputError
        If the path cannot be written, or is not one of an HTML file; and as `page` does.
    """
    if Path(path).suffix.lower() not in (".html", ".htm"):
        raise InputError(f"A report is a file .html, got {Path(path).name!r}.")
    write_text(page(runs, title=title, rows=rows, more=more), path)


def write_text(text: str, path: str | os.PathLike[str]) -> None:
    """Write a document under a temporary name, then rename it, so that the named file is complete."""
    write_bytes(text.encode(), path, "The page")


def frame(run: Trajectory) -> str:
    """The light page as a notebook shows it: in a frame that reaches nothing else, but may save files."""
    document = html.escape(page(run, light=True), quote=True)
    style = f"width:100%;height:{LIGHT_HEIGHT}px;border:0"
    return f'<iframe sandbox="allow-scripts allow-downloads" title="run" style="{style}" srcdoc="{document}"></iframe>'


def _fitting(run: Trajectory, label: str, most: int, runs: int) -> tuple[dict[str, Any], str]:
    """Facts and numbers of a run with as many rows as its share of the page has room for."""
    room = SIZE / runs
    found, text = facts(run, label, most)
    for _ in range(4):
        if len(text) <= room or found["shown"] > most:  # the latter: rows of impacts alone are more
            break
        most = max(int(0.9 * min(most, found["shown"]) * room / len(text)), 50)
        found, text = facts(run, label, most)
    return found, text


def _verdicts(runs: Mapping[str, Trajectory]) -> str:
    lines = []
    for k, (label, run) in enumerate(runs.items()):
        look, word, line, summary = tables.verdict(run)
        name = f"<b>{tables.escaped(label)}</b> " if label else ""
        badge = f'<span class="badge {look}">{tables.escaped(word)}</span>'
        certified = f'<span class="certified">{tables.escaped(summary)}</span>'
        lines.append(f'<p class="verdict" data-run="{k}">{badge} {name}{tables.escaped(line)}{certified}</p>')
    return "".join(lines)


def _details(runs: Mapping[str, Trajectory]) -> str:
    """The tables of each run, of which the page shows those of the chosen runs."""
    made = []
    for title, of, opened in (
        ("Certificate", tables.certificate, True),
        ("Parameters and where they come from", tables.parameters, True),
        ("How it was run", tables.settings, False),
        ("Citations", tables.citations, False),
    ):
        parts = []
        for k, (label, run) in enumerate(runs.items()):
            heading = f"<h3>{tables.escaped(label)}</h3>" if label else ""
            parts.append(f'<div class="run-part" data-run="{k}">{heading}{of(run)}</div>')
        state = " open" if opened else ""
        made.append(
            f'<section class="card wide tables"><details{state}><summary><h2>{title}</h2></summary>'
            f'<div class="pair">{"".join(parts)}</div></details></section>'
        )
    return "".join(made)


def _text(name: str) -> str:
    """A file of the page."""
    text = (files("nonsmooth.report") / "assets" / name).read_text(encoding="utf-8").replace("\r\n", "\n")
    if name.endswith(".js") and ("</script" in text.lower() or "<!--" in text):
        raise ValueError(f"{name} would end its own script element.")
    return text


def _json(shared: Any) -> str:
    text = json.dumps(shared, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _hashes(texts: Iterable[str]) -> str:
    digests = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
    return " ".join(f"'sha256-{digest}'" for digest in digests) or "'none'"
