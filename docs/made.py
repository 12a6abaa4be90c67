"""Makes every figure and every table of numbers of the documents afresh: ``python docs/made.py [--write] [--quick]``.

A table that a command prints stands in a page between two comments, the first of which holds the command::

    <!-- made by `python docs/accuracy.py slider_crank` -->
    ...
    <!-- made -->

Behind the command may stand which part of its output it is: ``, part 2``, counted by empty lines, or ``, last 3``
lines. Fresh numbers are compared with those of the page, times left out; ``--write`` puts them into the page.
``--quick`` draws the costly figures with fewer rounds. Figures are written where the pages look for them.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
BLOCK = re.compile(r"<!-- made by `([^`]+)`(?:, (part|last) (\d+))? -->\n(.*?)\n<!-- made -->", re.S)
NUMBER = re.compile(r"(?<![\w.])[-+]?\d+(?:\.\d+)?(?:e[-+]?\d+)?(?!\w)")
#: words of a heading, or of a row's name, whose numbers depend on the machine
TIMES = re.compile(r"\btime \[|\btime of the run|\btime of a start")
#: magnitude below which a number is round-off
ROUND_OFF = 1e-11
#: share by which numbers of two machines may differ
SAME = 0.02
#: figures besides those that a command of a table draws; `--quick` goes to those that have it
FIGURES = (
    "python docs/gallery.py",
    "python docs/figures/moving.py",
    *(f"python docs/figures/make.py {name}" for name in (
        "bifurcation_speed", "statistics_slider_crank", "step_size_slider_rod", "tolerance_slider_crank", "analyses",
        "slider_rod_case2 prismatic_clearance revolute_clearance concepts animation_frame fits_yield",
    )),
    "nonsmooth study rigid-limit slider-rod --restitution 0.8 --depth 1e-6 --figure docs/figures/rigid_limit.png",
)  # fmt: skip


def pages() -> list[Path]:
    """Pages with tables that commands print."""
    return [page for page in sorted(HERE.glob("*.md")) if BLOCK.search(page.read_text(encoding="utf-8"))]


def commands() -> list[str]:
    """All of them, each once; the long ones first."""
    tables = [found[1] for page in pages() for found in BLOCK.finditer(page.read_text(encoding="utf-8"))]
    return list(dict.fromkeys([*sorted(tables, key=lambda one: "dual_manipulator" not in one), *FIGURES]))


def output(command: str, quick: bool) -> str:
    """What a command prints."""
    words = shlex.split(command)
    if words[0] == "nonsmooth":
        words = [sys.executable, "-P", "-c", "from nonsmooth.cli import main; raise SystemExit(main())", *words[1:]]
    else:
        words[0] = sys.executable
        if quick and "figures/make.py" in command:
            words.append("--quick")
    clock = time.perf_counter()
    environment = os.environ | {"MPLBACKEND": "agg", "COLUMNS": "160"}
    done = subprocess.run(words, cwd=ROOT, env=environment, capture_output=True, text=True)
    print(f"{time.perf_counter() - clock:6.1f} s  {command}", flush=True)
    if done.returncode:
        raise SystemExit(f"`{command}` ended with {done.returncode}:\n{done.stderr}")
    return done.stdout


def part(printed: str, which: str | None, number: int) -> str:
    """The part of an output that stands in a page."""
    lines = [line.rstrip() for line in printed.strip().splitlines()]
    whole = "\n".join(line for line in lines if not line.startswith("written  "))
    if which == "last":
        return "\n".join(whole.splitlines()[-number:])
    return whole.split("\n\n")[number - 1] if which == "part" else whole


def differences(old: str, new: str) -> list[str]:
    """What differs in two tables, times left out; empty where they agree.

    >>> differences("| a | time [s] |\\n| 1.00 | 5 |", "| a | time [s] |\\n| 1.01 | 9 |")
    []
    >>> differences("| a | time [s] |\\n| 1.00 | 5 |", "| a | time [s] |\\n| 1.1 | 9 |")
    ['1.00 was, 1.1 is, in | 1.1 | 9 |']
    """
    before, after = _lines(old), _lines(new)
    if len(before) != len(after):
        return [f"{len(before)} lines were, {len(after)} are"]
    timed = {i for i, cell in enumerate(_cells(after[0])) if TIMES.search(cell)} if after else set()
    found = []
    for a, b in zip(before, after, strict=True):
        if TIMES.search(b) and not b.startswith("|"):
            continue
        x, y = ([cell for i, cell in enumerate(_cells(line)) if i not in timed] for line in (a, b))
        if [_shape(cell) for cell in x] != [_shape(cell) for cell in y]:
            found.append(f"{a} was, {b} is")
            continue
        numbers = (NUMBER.findall(" | ".join(cells)) for cells in (x, y))
        found += [f"{p} was, {q} is, in {b}" for p, q in zip(*numbers, strict=True) if not _same(p, q)]
    return found


def _lines(table: str) -> list[str]:
    return [" ".join(line.split()) for line in table.splitlines() if line.strip() and not line.startswith("```")]


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")] if line.startswith("|") else [line]


def _shape(cell: str) -> str:
    """A cell without its numbers; those of code are names."""
    return cell if "`" in cell else NUMBER.sub("#", cell)


def _same(old: str, new: str) -> bool:
    """Both round-off, or alike to two per cent, or to one in the last digit that is written, or counts two apart.

    How many steps an accumulation of impacts takes is a matter of round-off.
    """
    x, y = float(old), float(new)
    if max(abs(x), abs(y)) < ROUND_OFF:
        return True
    if old.isdecimal() and new.isdecimal() and min(x, y) >= 10 and abs(x - y) <= 2:
        return True
    return abs(x - y) <= max(SAME * abs(x), 1.01 * min(_last(old), _last(new)))


def _last(number: str) -> float:
    """What one in the last digit is worth."""
    mantissa, _, exponent = number.partition("e")
    return float(10.0 ** (int(exponent or 0) - len(mantissa.partition(".")[2])))


def main(write: bool, quick: bool) -> int:
    """Run everything; 1 if a table differs from its page, or a figure was not made."""
    begin = time.time()
    figures = sorted(path for kind in ("*.png", "*.svg") for path in (HERE / "figures").rglob(kind))
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        wanted = commands()
        printed = dict(zip(wanted, pool.map(lambda one: output(one, quick), wanted), strict=True))
    complaints = []
    for page in pages():
        text = page.read_text(encoding="utf-8")
        for found in BLOCK.finditer(text):
            command, which, number, old = found.groups()
            fresh = part(printed[command], which, int(number or 0))
            table = old.strip()
            complaints += [f"{page.name}, `{command}`: {one}" for one in differences(old, fresh)]
            new = f"```text\n{fresh}\n```" if table.startswith("```") else fresh
            text = text.replace(found[0], found[0].replace(table, new))
        if write:
            page.write_text(text, encoding="utf-8")
    complaints += [f"{path.name} is made by no command" for path in figures if path.stat().st_mtime < begin]
    print(*complaints, sep="\n")
    if complaints and not write:
        print("Where the new numbers are right: python docs/made.py --write")
    print(f"{len(wanted)} commands, {len(figures)} figures, {time.time() - begin:.0f} s")
    return 1 if complaints and not write else 0


if __name__ == "__main__":
    raise SystemExit(main("--write" in sys.argv, "--quick" in sys.argv))
