"""Make the machine code that comes with the package: ``python -m nonsmooth.compile.ship``.

With ``--check`` it says whether that is current. Each text is lowered by numba once for each
shape of records, and emitted by LLVM for each target. Nothing in it depends on the interpreter, on numba or on this
machine: the only functions that it calls are those of the C library.
"""

from __future__ import annotations

import argparse
import importlib
import os
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from nonsmooth.compile import machine, shipped
from nonsmooth.compile.objects import SOURCES_AT_START, compiled_text, name_of, symbol_of
from nonsmooth.compile.shipped import NotShipped
from nonsmooth.exceptions import NonsmoothError
from nonsmooth.records.schema import Shape

__all__ = ["SHAPES", "TEXTS", "Text", "main", "make", "texts_of", "why_not_current"]


@dataclass(frozen=True)
class Text:
    """A scheme: the schema of the record that its entry points take, their names, and numbers of further integers."""

    schema: str
    entries: tuple[tuple[str, int], ...]


STEPS = Text("System", (("begin", 0), ("run", 1)))
#: modules of `nonsmooth.schemes`
TEXTS = {
    "event_driven": Text("EventRun", (("run", 1),)),
    "landing": STEPS,
    "generalized_alpha": STEPS,
    "moreau_jean": STEPS,
    "implicit_euler": STEPS,
    "compliant": Text("Integration", (("begin", 0), ("run", 1), ("rates", 0))),
    "observation": Text("System", (("observe", 1),)),
}
#: those of the ready problems: rigid bodies with Newton's impact law, without and with friction or joints, and flexible
#: bodies of up to 16 modes; those that take longest first
SHAPES = (Shape(2, 2, 0, 16), Shape(3, 3), Shape(3, 1), Shape(2, 2), Shape(2, 1))
#: modules that define the schemas of records
SCHEMAS = ("fields", "observation_fields", "impact_fields", "event_fields", "compliant_fields")
#: functions of the C library that machine code may call
LIBRARY = frozenset({"sqrt", "sin", "cos", "tan", "atan2", "exp", "log", "pow", "floor", "ceil", "memcpy", "memset"})


def texts_of(shape: Shape) -> list[str]:
    """Texts that are compiled for a shape: with compliant contact blocks always have tangential rows, and generalised
    alpha with flexible bodies is rare and large."""
    none = {"compliant"} if shape.rows == 1 else {"generalized_alpha"} if shape.modes else set[str]()
    return [text for text in TEXTS if text not in none]


def make(folder: Path, texts: Mapping[Shape, Sequence[str]], workers: int = 1) -> None:
    """Make the archives of some shapes, with some texts of each, for all targets, and remove others.

    Parameters
    ----------
    folder : is made
    workers : processes; each takes one shape after the other, of which numba then lowers common functions once
    """
    folder.mkdir(parents=True, exist_ok=True)
    made = set()
    with ProcessPoolExecutor(workers, get_context("spawn"), max_tasks_per_child=1) as pool:
        pending = {pool.submit(archives, shape, texts[shape], SOURCES_AT_START): shape for shape in texts}
        for job in as_completed(pending):
            for target, data in job.result().items():
                path = shipped.archive(folder, str(pending[job]), target, SOURCES_AT_START)
                path.write_bytes(data)
                made.add(path)
    for path in folder.glob(f"*{shipped.SUFFIX}"):
        if path not in made:
            path.unlink()


def archives(shape: Shape, texts: Sequence[str], digest: str) -> dict[str, bytes]:
    """Archives of one shape by names of targets, of the sources with this digest.

    Raises
    ------
    NonsmoothError
        If this process has imported other sources.
    """
    if SOURCES_AT_START != digest:
        raise NonsmoothError("The sources of nonsmooth have changed while their machine code was made; make it again.")
    for module in SCHEMAS:
        importlib.import_module(f"nonsmooth.schemes.{module}")
    objects: dict[str, dict[str, bytes]] = {target.name: {} for target in shipped.TARGETS}
    for text in texts:
        begin = time.perf_counter()
        for entry in entries(text, shape):
            name, lowered = name_of(*entry), compiled_text(*entry)
            for target in shipped.TARGETS:
                objects[target.name][name] = emitted(lowered, symbol_of(name), target)
        print(f"{shape} {text}: {time.perf_counter() - begin:.0f} s", flush=True)
    return {target: shipped.pack(found) for target, found in objects.items()}


def entries(text: str, shape: Shape) -> list[tuple[str, str, str, Shape, int]]:
    """Arguments of `objects.entry` for the entry points of a text."""
    of = TEXTS[text]
    return [(f"nonsmooth.schemes.{text}", name, of.schema, shape, integers) for name, integers in of.entries]


def emitted(lowered: str, symbol: str, target: shipped.Target) -> bytes:
    """Object code of an entry point.

    Raises
    ------
    NonsmoothError
        If it calls a function that is not of the C library.
    """
    at = target_machine(target)
    module = machine.module_of(lowered, at)
    for k, function in enumerate(module.functions):
        if not function.is_declaration:
            if function.name != symbol:
                function.name = f"f{k}"  # names of internal functions stand in object code too, and numba's are long
        elif not function.name.startswith("llvm.") and function.name not in LIBRARY:
            raise NonsmoothError(f"{symbol} calls {function.name}; machine code in the package may not.")
    return bytes(at.emit_object(module))


def target_machine(target: shipped.Target) -> Any:
    """LLVM's target machine."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(target.triple).create_target_machine(
        cpu=target.cpu, opt=3, codemodel="jitdefault", jit=True
    )


def why_not_current(folder: Path) -> str:
    """Why the archives in a folder are not those of the present sources; empty if they are."""
    expected = {
        shipped.archive(folder, str(shape), target.name, SOURCES_AT_START): shape
        for shape in SHAPES
        for target in shipped.TARGETS
    }
    missing = [path.name for path in expected if not path.exists()]
    if len(missing) == len(expected):
        return "they are of other sources, or there are none"
    if missing:
        return f"missing: {', '.join(missing)}"
    foreign = sorted(path.name for path in folder.iterdir() if path not in expected)
    if foreign:
        return f"not made of these sources: {', '.join(foreign)}"
    for path, shape in expected.items():
        try:
            objects = shipped.unpack(path.read_bytes())
        except NotShipped as reason:
            return f"{path.name}: {reason}"
        lacks = {name_of(*entry) for text in texts_of(shape) for entry in entries(text, shape)} - set(objects)
        if lacks:
            return f"{path.name} has no {', '.join(sorted(lacks))}"
    return ""


def main(words: Sequence[str] | None = None) -> int:
    """Make the archives, or check them; the status is 1 if they are not current."""
    parser = argparse.ArgumentParser(
        prog="python -m nonsmooth.compile.ship", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--check", action="store_true", help="only say whether they are current")
    parser.add_argument("--folder", type=Path, default=shipped.FOLDER, help="where they lie")
    parser.add_argument("--workers", type=int, default=_processors(), help="processes")
    given = parser.parse_args(words)
    if not given.check:
        make(given.folder, {shape: texts_of(shape) for shape in SHAPES}, given.workers)
    why = why_not_current(given.folder)
    size = sum(path.stat().st_size for path in given.folder.glob(f"*{shipped.SUFFIX}")) / 1e6
    print(f"machine code in the package, {size:.2f} MB: {f'not current, {why}' if why else 'current'}")
    return int(bool(why))


def _processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if __name__ == "__main__":
    sys.exit(main())
