"""The measurements as figures by key, and as tables for the terminal or for a document."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from benchmarks.measure import Row
from benchmarks.steps import Timing

__all__ = ["BEGIN", "END", "Table", "print_tables", "summary", "tables", "write_tables"]

#: required keys of each problem's entry
FIGURES = ("ns_per_step", "limit_ratio", "mujoco_ratio", "violation")
#: lines of a document between which its tables stand
BEGIN, END = "<!-- python -m benchmarks: begin -->", "<!-- python -m benchmarks: end -->"


@dataclass(frozen=True)
class Table:
    """A heading, and text in columns."""

    title: str
    headings: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def summary(rows: Sequence[Row], missing: Sequence[str] = ()) -> dict[str, Any]:
    """The figures by key; P1 is the slowest of its schemes and cases, P4_N a chain of N links, null if it failed."""
    found = {row.key: asdict(row) | {"ns_per_link": row.ns_per_link} for row in rows}
    rods = [row for row in rows if row.part == "P1"]
    if rods:
        found = {"P1": found[max(rods, key=lambda row: row.ns_per_step).key]} | found
    return found | {key: dict.fromkeys(FIGURES) for key in missing}


def tables(rows: Sequence[Row], report: dict[str, Any], timings: dict[str, list[Timing]]) -> list[Table]:
    """All measurements."""
    found = [_costs(rows), _exactness(rows)] if rows else []
    if chains := [row for row in rows if row.part == "P4" and row.key == f"P4_{row.size}"]:
        found.append(_per_link(chains))
    if "start" in report:
        found.append(_start(report["start"]))
    if "build" in report:
        found.append(_build(report["build"]))
    if "memory" in report:
        found.append(_memory(report["memory"]))
    if report.get("batch"):
        found.append(_batch(report["batch"]))
    if "others" in report and report["others"]["rows"]:
        found.append(_others(report["others"]["rows"]))
    return found + [_steps(title, group) for title, group in timings.items()]


def _costs(rows: Sequence[Row]) -> Table:
    headings = ("what", "ours", "whole call", "limit", "MuJoCo", "ours/limit", "MuJoCo/ours")
    cells = [
        (
            row.title + (f", {row.fallbacks} fallbacks" if row.fallbacks else ""),
            *(_digits(value) for value in (row.ns_per_step, row.ns_per_step_call, row.limit_ns, row.mujoco_ns)),
            *(_digits(value) for value in (row.limit_ratio, row.mujoco_ratio)),
        )
        for row in rows
    ]
    return Table("Cost per step [ns], one thread, ours with every step recorded; medians", headings, cells)


def _exactness(rows: Sequence[Row]) -> Table:
    headings = ("what", "dt [s]", "violation [m]", "MuJoCo's", "compared", "error", "limit's", "MuJoCo's")
    cells = [
        (
            row.title,
            row.dt,
            _size(row.violation),
            _size(row.mujoco_violation),
            row.compared,
            *(_size(value) for value in (row.error, row.limit_error, row.mujoco_error)),
        )
        for row in rows
    ]
    return Table("Deepest penetration, and error of one number at the end", headings, cells)


def _per_link(chains: Sequence[Row]) -> Table:
    cells = []
    for row in chains:
        costs = (row.ns_per_step, row.limit_ns, row.mujoco_ns)
        cells.append((str(row.size), *(_digits(None if cost is None else cost / row.size) for cost in costs)))
    return Table("Chains, ns per link and step", ("N", "ours", "limit", "MuJoCo"), cells)


def _start(found: list[dict[str, Any]]) -> Table:
    cells = [(r["what"], *(_digits(r[key]) for key in ("cold_s", "cold_cpu_s", "warm_s", "warm_cpu_s"))) for r in found]
    headings = ("what", "caches empty", "CPU", "caches filled", "CPU")
    return Table("A new process, to the end of its first step [s, wall and CPU]", headings, cells)


def _build(found: list[dict[str, Any]]) -> Table:
    cells = [
        (r["what"], *(_digits(r[key]) for key in ("wall_ms", "cpu_ms")), _count(r["compiled"]), _digits(r["peak_mib"]))
        for r in found
    ]
    headings = ("what", "wall", "CPU", "functions compiled", "peak [MiB]")
    return Table("To the end of the first step in a warm process, of long chains in a new one [ms]", headings, cells)


def _memory(found: list[dict[str, Any]]) -> Table:
    cells = [(r["what"], f"{r['kept_bytes']:.0f}", f"{r['peak_bytes']:.0f}") for r in found]
    return Table("Memory per recorded step [bytes]", ("what", "kept", "peak of the process"), cells)


def _batch(found: list[dict[str, Any]]) -> Table:
    cells = [
        (r["what"], _digits(r["seconds"]), _digits(r["ns_per_step"]), str(r["threads"]), "yes" if r["equal"] else "NO")
        for r in found
    ]
    headings = ("what", "s", "ns/step", "threads", "equal to single runs")
    return Table("Batches, only ends kept [wall]", headings, cells)


def _others(found: list[dict[str, Any]]) -> Table:
    cells = [(r["what"], _digits(r["ns_per_step"]), _size(r["violation"]), _size(r["error"])) for r in found]
    headings = ("slider-rod, worst case, dt = 1e-5", "ns/step, wall", "violation [m]", "error of the end in y [m]")
    return Table("Other programs", headings, cells)


def _steps(title: str, timings: list[Timing]) -> Table:
    cells = []
    for timing in timings:
        target = f"{timing.target:g}" if timing.target else ""
        ratio = timing.microseconds / timings[0].microseconds
        cells.append((timing.what, f"{timing.microseconds:.0f}", f"{ratio:.2f}", target))
    return Table(title, ("what", "us", "of the first", "target us"), cells)


def print_tables(console: Console, found: Sequence[Table]) -> None:
    """Print tables to a terminal."""
    for table in found:
        shown = RichTable(title=escape(table.title))
        for i, heading in enumerate(table.headings):
            shown.add_column(escape(heading), justify="left" if i == 0 else "right", no_wrap=i == 0)
        for row in table.rows:
            shown.add_row(*map(escape, row))
        console.print(shown)


def holds_tables(path: Path, marks: tuple[str, str] = (BEGIN, END)) -> bool:
    """Whether it is a document with one place for these tables."""
    text = path.read_text(encoding="utf-8") if path.is_file() else ""
    begin, end = marks
    return text.count(begin) == text.count(end) == 1 and text.index(begin) < text.index(end)


def write_tables(
    path: Path, found: Sequence[Table], lines: Sequence[str], marks: tuple[str, str] = (BEGIN, END)
) -> None:
    """Write tables into a document, replacing those between its markers."""
    begin, end = marks
    text = path.read_text(encoding="utf-8")
    before, rest = text.split(begin)
    _, after = rest.split(end)
    blocks = [*lines]
    for table in found:
        align = ["---", *["---:"] * (len(table.headings) - 1)]
        grid = [table.headings, align, *table.rows]
        blocks.append(f"**{table.title}**\n\n" + "\n".join("| " + " | ".join(row) + " |" for row in grid))
    path.write_text(f"{before}{begin}\n\n" + "\n\n".join(blocks) + f"\n\n{end}{after}", encoding="utf-8")


def _digits(value: float | None) -> str:
    """Three digits."""
    if value is None:
        return ""
    return f"{value:.3g}" if value < 1000 else f"{value:.0f}"


def _count(value: int | None) -> str:
    return "" if value is None else str(value)


def _size(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"
