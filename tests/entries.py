"""What the tests run and the package has no machine code of, compiled once before: texts of schemes, kernels.

Each process compiles one shape and ends, since numba keeps some hundred megabytes of what it has compiled: the
processes that run the tests only load machine code. Run by `conftest` with ``--all``, or where the code in the package
is not current; a file or test that is named compiles what it needs itself. A text or shape that is missing here costs
time and memory, and nothing else.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth.compile import machine, shipped
from nonsmooth.compile.digests import SOURCES_AT_START, digest_of
from nonsmooth.compile.objects import entry, name_of
from nonsmooth.compile.records.schema import Shape
from nonsmooth.compile.ship import SHAPES, entries, texts_of
from nonsmooth.programs import QP, FrictionContact
from nonsmooth.solvers import ActiveSet, Lemke, ModeEnumeration, SemismoothNewton, SmoothingNewton, kernels
from nonsmooth.solvers.semismooth_newton import SmoothingNewtonSession

#: of slow tests, besides those that come with the package: impact laws and balanced moment arms, and flexible bodies in
#: space
TEXTS = {
    Shape(3, 3, 1): ("event_driven", "landing", "moreau_jean", "observation"),
    Shape(2, 2, 1): ("event_driven", "implicit_euler", "landing", "moreau_jean", "observation"),
    Shape(2, 2, 2): ("event_driven", "landing", "moreau_jean", "observation"),
    Shape(3, 3, 0, 16): ("compliant", "generalized_alpha", "moreau_jean", "observation", "event_driven"),
    Shape(2, 2, 1, 16): ("moreau_jean", "observation"),
}
#: of two processes that take about the same time
SOLVERS = (SemismoothNewton(),), (Lemke(), ModeEnumeration(), ActiveSet(), SmoothingNewton())
#: a QP with a row, and work of `SmoothingNewton` after which it is compiled
BOUND, LONG = QP(np.eye(1), np.ones(1), np.eye(1), np.zeros(1)), 10**9


def compile_texts(*, everything: bool, tell: Callable[[str], None]) -> None:
    """Compile what is neither in the package nor on disk, one process per core; with `everything` for slow tests."""
    wanted = {shape: texts_of(shape) for shape in SHAPES}
    if everything:
        wanted = {shape: [*texts, "generalized_alpha" if shape.modes else "instant"] for shape, texts in wanted.items()}
        wanted |= TEXTS
    versions = [importlib.metadata.version(package) for package in ("numba", "llvmlite")]
    stamp = machine.cache_folder() / f"{machine._filed(repr((wanted, SOURCES_AT_START, versions)))}.compiled"
    if stamp.exists() or not machine.keeps():
        return
    missing = {shape: [text for text in texts if not comes_along(text, shape)] for shape, texts in wanted.items()}
    missing = {shape: texts for shape, texts in missing.items() if texts}
    tell(f"compiling {sum(map(len, missing.values()))} texts of schemes, some minutes, once")
    with ProcessPoolExecutor(os.cpu_count(), get_context("spawn"), max_tasks_per_child=1) as pool:
        for job in as_completed([pool.submit(compile_shape, shape, texts) for shape, texts in missing.items()]):
            job.result()
    stamp.touch(mode=0o600)


def compile_kernels(*, tell: Callable[[str], None]) -> None:
    """Compile the kernels of solvers, which numba keeps: otherwise each process of the tests does."""
    known = [(str(path), path.stat().st_mtime) for path in sorted(Path(kernels.__file__).parent.glob("*.py"))]
    stamp = machine.cache_folder() / f"{machine._filed(repr((known, sys.version)))}.compiled"
    if stamp.exists() or not machine.keeps():
        return
    tell("compiling the kernels of solvers, half a minute, once")
    with ProcessPoolExecutor(len(SOLVERS), get_context("spawn")) as pool:
        for job in [pool.submit(compile_solvers, *some) for some in SOLVERS]:
            job.result()
    stamp.touch(mode=0o600)


def compile_solvers(*solvers: Any) -> None:
    """Solve something with each of them."""
    for solver in solvers:
        for program in (*(FrictionContact(np.eye(d), -np.ones(d), np.ones(1), d) for d in (2, 3)), BOUND):
            if solver.fits(program):
                session = solver.setup()
                if isinstance(session, SmoothingNewtonSession):
                    session.restore(LONG)
                session.solve(program)


def package_is_current() -> bool:
    """Whether the package has the machine code of all its texts, for this processor."""
    return all(comes_along(text, shape) for shape in SHAPES for text in texts_of(shape))


def comes_along(text: str, shape: Shape) -> bool:
    """Whether the package has the machine code of a text, for this processor."""
    try:
        for module, name, schema, _, integers in entry_points(text, shape):
            shipped.code(module, digest_of(module), name_of(module, name, schema, shape, integers))
    except shipped.NotShipped:
        return False
    return True


def compile_shape(shape: Shape, texts: list[str]) -> None:
    """Make or load the entry points of some texts for a shape."""
    for text in texts:
        for one in entry_points(text, shape):
            entry(*one)


def entry_points(text: str, shape: Shape) -> list[tuple[str, str, str, Shape, int]]:
    """As `ship` has them, and that of `Trajectory.instant`, which does not come with the package."""
    return (
        [("nonsmooth.schemes.event_driven.instant_text", "run", "EventRun", shape, 1)]
        if text == "instant"
        else entries(text, shape)
    )
