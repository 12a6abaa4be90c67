"""Make the machine code that comes with the package: ``python -m nonsmooth.compile.ship``.

Only texts that have changed are compiled; with ``--check`` it says whether all are current. numba lowers each text once
for each shape of records, LLVM emits it for each target: it calls nothing but functions of the C library.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

from nonsmooth.compile import machine, shipped
from nonsmooth.compile.digests import INDEX, SOURCES_AT_START, digest_of
from nonsmooth.compile.objects import compiled_text, name_of, symbol_of
from nonsmooth.compile.records.schema import Shape
from nonsmooth.compile.shipped import NotShipped
from nonsmooth.exceptions import NonsmoothError


@dataclass(frozen=True)
class Text:
    """A text: its module, the schema of the record that entry points take, and these with numbers of integers."""

    module: str
    schema: str = "System"
    entries: tuple[tuple[str, int], ...] = (("begin", 0), ("run", 1))


TEXTS = {
    "event_driven": Text("nonsmooth.schemes.event_driven.text", "EventRun", (("run", 1),)),
    "landing": Text("nonsmooth.schemes.gauss.landing"),
    "generalized_alpha": Text("nonsmooth.schemes.generalized_alpha.text"),
    "moreau_jean": Text("nonsmooth.schemes.moreau_jean.text"),
    "implicit_euler": Text("nonsmooth.schemes.gauss.implicit_euler"),
    "compliant": Text("nonsmooth.schemes.compliant.text", "Integration", (("begin", 0), ("run", 1), ("rates", 0))),
    "observation": Text("nonsmooth.step.observation", entries=(("observe", 1),)),
}
#: those of the ready problems: rigid bodies with Newton's impact law, without and with friction or joints, and flexible
#: bodies of up to 16 modes; those that take longest first
SHAPES = (Shape(2, 2, 0, 16), Shape(3, 3), Shape(3, 1), Shape(2, 2), Shape(2, 1))
#: functions of the C library that machine code may call
LIBRARY = frozenset({"sqrt", "sin", "cos", "tan", "atan2", "exp", "log", "pow", "floor", "ceil", "memcpy", "memset"})


def texts_of(shape: Shape) -> list[str]:
    """Texts that are compiled for a shape: with compliant contact blocks always have tangential rows, and generalised
    alpha with flexible bodies is rare and large."""
    none = {"compliant"} if shape.rows == 1 else {"generalized_alpha"} if shape.modes else set[str]()
    return [text for text in TEXTS if text not in none]


def make(folder: Path, texts: Mapping[Shape, Sequence[str]], workers: int = 1) -> None:
    """Make the archives of some texts, for some shapes each, for all targets, and the index of their digests. A process
    takes one shape after the other, of which numba then lowers common functions once."""
    folder.mkdir(parents=True, exist_ok=True)
    objects: dict[tuple[str, str], dict[str, bytes]] = {}
    with ProcessPoolExecutor(workers, get_context("spawn"), max_tasks_per_child=1) as pool:
        pending = [pool.submit(objects_of, shape, some, SOURCES_AT_START) for shape, some in texts.items() if some]
        for job in as_completed(pending):
            for key, found in job.result().items():
                objects.setdefault(key, {}).update(found)
    for (text, target), found in objects.items():
        module = TEXTS[text].module
        data = shipped.pack(digest_of(module), dict(sorted(found.items())))
        shipped.archive(folder, module, target).write_bytes(data)
    digests = {text.module: digest_of(text.module) for text in TEXTS.values()}
    index = json.dumps({"sources": SOURCES_AT_START, "texts": digests}, indent=1)
    (folder / INDEX.name).write_text(f"{index}\n", encoding="utf-8")


def objects_of(shape: Shape, texts: Sequence[str], sources: str) -> dict[tuple[str, str], dict[str, bytes]]:
    """Object code by name, for each text and target, of one shape; NonsmoothError if sources have changed."""
    if SOURCES_AT_START != sources:
        raise NonsmoothError("The sources of nonsmooth have changed while their machine code was made; make it again.")
    objects: dict[tuple[str, str], dict[str, bytes]] = {}
    for text in texts:
        begin = time.perf_counter()
        for entry in entries(text, shape):
            name, lowered = name_of(*entry), compiled_text(*entry)
            for target in shipped.TARGETS:
                objects.setdefault((text, target.name), {})[name] = emitted(lowered, symbol_of(name), target)
        print(f"{shape} {text}: {time.perf_counter() - begin:.0f} s", flush=True)
    return objects


def entries(text: str, shape: Shape) -> list[tuple[str, str, str, Shape, int]]:
    """Arguments of `objects.entry` for the entry points of a text."""
    of = TEXTS[text]
    return [(of.module, name, of.schema, shape, integers) for name, integers in of.entries]


def emitted(lowered: str, symbol: str, target: shipped.Target) -> bytes:
    """Object code of an entry point; NonsmoothError if it calls a function that is not of the C library."""
    import llvmlite.binding as llvm

    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    of = llvm.Target.from_triple(target.triple)
    at = of.create_target_machine(cpu=target.cpu, opt=3, codemodel="jitdefault", jit=True)
    module = machine.module_of(lowered, at)
    for k, function in enumerate(module.functions):
        if not function.is_declaration:
            if function.name != symbol:
                function.name = f"f{k}"  # names of internal functions stand in object code too, and numba's are long
        elif not function.name.startswith("llvm.") and function.name not in LIBRARY:
            raise NonsmoothError(f"{symbol} calls {function.name}; machine code in the package may not.")
    return bytes(at.emit_object(module))


def stale_texts(folder: Path) -> dict[str, str]:
    """Texts whose archives in a folder are not those of the present sources, and why."""
    stale = {}
    for text, of in TEXTS.items():
        expected = {name_of(*entry) for shape in SHAPES if text in texts_of(shape) for entry in entries(text, shape)}
        for target in shipped.TARGETS:
            path = shipped.archive(folder, of.module, target.name)
            try:
                digest, objects = shipped.unpack(path.read_bytes())
            except FileNotFoundError:
                stale[text] = f"{path.name} is missing"
            except NotShipped as reason:
                stale[text] = f"{path.name}: {reason}"
            else:
                if digest != digest_of(of.module):
                    stale[text] = f"{path.name} is of other sources"
                elif lacks := expected - set(objects):
                    stale[text] = f"{path.name} has no {', '.join(sorted(lacks))}"
    return stale


def main(words: Sequence[str] | None = None) -> int:
    """Make the archives, or check them; the status is 1 if they are not current."""
    parser = argparse.ArgumentParser(
        prog="python -m nonsmooth.compile.ship", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument("--check", action="store_true", help="only say whether they are current")
    parser.add_argument("--folder", type=Path, default=shipped.FOLDER, help="where they lie")
    processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    parser.add_argument("--workers", type=int, default=processors, help="processes")
    given = parser.parse_args(words)
    if not given.check:
        stale = stale_texts(given.folder)
        texts = {shape: [text for text in texts_of(shape) if text in stale] for shape in SHAPES}
        make(given.folder, texts, given.workers)
        pairs = [(text.module, target.name) for text in TEXTS.values() for target in shipped.TARGETS]
        current = {shipped.archive(given.folder, *pair) for pair in pairs}
        for path in set(given.folder.glob(f"*{shipped.SUFFIX}")) - current:
            path.unlink()
    why = "; ".join(stale_texts(given.folder).values())
    size = sum(path.stat().st_size for path in given.folder.glob(f"*{shipped.SUFFIX}")) / 1e6
    print(f"machine code in the package, {size:.2f} MB: {f'not current, {why}' if why else 'current'}")
    return int(bool(why))


if __name__ == "__main__":
    sys.exit(main())
