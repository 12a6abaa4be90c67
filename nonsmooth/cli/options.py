"""Kinds and groups of options of all commands, see `nonsmooth.cli.commands`; the line of what a command does."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import typer

from nonsmooth.progress import Advance, Line, Share
from nonsmooth.quantities import NUMBER, Wrong, in_own_unit, in_unit, parse_unit
from nonsmooth.robots import ENDINGS


def duration(text: str) -> float:
    """Seconds of a number, or of a number with a unit."""
    with contextlib.suppress(ValueError):
        return float(text)
    try:
        return in_unit(text, "s")
    except Wrong:
        raise typer.BadParameter(
            f"{text!r} is not a number of seconds, nor a number with a unit of time (s, ms, us, ns, min, h), as in 10ms"
        ) from None


def elastic(text: str) -> float:
    """Stiffness [N/m^n] of a number, or of a number with such a unit."""
    with contextlib.suppress(ValueError):
        return float(text)
    with contextlib.suppress(Wrong):
        found = NUMBER.match(text.strip())
        metres, *others = parse_unit(text.strip()[found.end() :] if found else "").powers
        if metres < 1 and others == [1, -2, 0]:
            return in_own_unit(text)
    raise typer.BadParameter(f"{text!r} is not a stiffness: a number [N/m^n], or one with its unit, as 10kN/mm^1.5")


def processes(text: str | int) -> int | str:
    """Number of processes, which may be a default, or the address of a Dask scheduler."""
    return int(text) if str(text).strip().lstrip("-").isdigit() else text


def completed(kind: str) -> Callable[[str], list[str]]:
    """A function that offers names of a kind for the shell's completion, also of files in the working folder."""

    def offer(incomplete: str) -> list[str]:
        names: Iterable[str]
        if kind in ("problem", "run"):
            ends = (".py", ".toml", *ENDINGS) if kind == "problem" else (".nc",)
            names = sorted(name for name in os.listdir() if name.endswith(ends))
            if kind == "problem":
                from nonsmooth.model.registry import find_problems

                names = [*sorted(find_problems()), *names]
        else:
            from nonsmooth import laws, solvers, steppers

            names = laws.names("normal") if kind == "law" else (steppers if kind == "stepper" else solvers).names()
        return [name for name in names if name.startswith(incomplete)]

    return offer


@contextlib.contextmanager
def line() -> Iterator[None]:
    """Show what the command does, after half a second, on standard error where that is a terminal."""
    shown = Line()
    LINES.append(shown)
    try:
        with shown.above():
            yield
    finally:
        if shown in LINES:
            LINES.remove(shown)
        shown.end()


@contextlib.contextmanager
def progress_bar(report: Callable[[], Advance | Share] = Share) -> Iterator[Any]:
    """A function that updates the line: of what a study does and the share done, or as `Advance`; None without one."""
    if not (LINES and sys.stderr.isatty()):
        yield None
        return
    reported = report()
    for shown in LINES:
        shown.reports.append(reported)
    try:
        yield reported
    finally:
        for shown in LINES:
            shown.reports.remove(reported)


LINES: list[Line] = []  # lines at the end of the terminal that say what the command does
#: words of which a shell offers the rest; times, and numbers whose unit the command knows, also with their unit
Executor: TypeAlias = Any
Law: TypeAlias = str
Number: TypeAlias = str
Problem: TypeAlias = str
Saved: TypeAlias = Path
Scheme: TypeAlias = str
Seconds: TypeAlias = float
Solver: TypeAlias = str
Stiffness: TypeAlias = float
MANY = (list[float], list[str], list[Path])  # types of options that are repeated
#: annotations that options may have, their type, and what Typer is told of them
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "bool": (bool, {}), "float": (float, {}), "int": (int, {}), "str": (str, {}), "Path": (Path, {}),
    "tuple[float, ...]": (list[float], {}), "tuple[str, ...]": (list[str], {}), "tuple[Path, ...]": (list[Path], {}),
    "Sequence[str]": (list[str], {}),
    "tuple[Stiffness, ...]": (list[float], {"parser": elastic, "metavar": "K"}),
    "Executor": (str, {"parser": processes, "metavar": "NUMBER|ADDRESS"}),
    "Law": (str, {"autocompletion": completed("law")}),
    "Number": (str, {"metavar": "NUMBER"}),
    "Problem": (str, {
        "autocompletion": completed("problem"), "metavar": "PROBLEM|FILE",
        "help": "A ready problem, or a file: TOML, a robot (.xml, .urdf), or Python that defines `model` or `build()`.",
    }),
    "Saved": (Path, {
        "autocompletion": completed("run"), "metavar": "RUN.nc",
        "help": "A trajectory written by `nonsmooth run --output`.",
    }),
    "Scheme": (str, {"autocompletion": completed("stepper")}),
    "Seconds": (float, {"parser": duration, "metavar": "TIME"}),
    "Solver": (str, {"autocompletion": completed("solver")}),
}  # fmt: skip


@dataclass(frozen=True)
class Runs:
    """Mechanism, scheme and steps of one run or of many.

    Parameters
    ----------
    case
        Case of the problem.
    t_end
        End of the run, such as 0.02 or 20ms; that of a ready problem if omitted; required if no file has it.
    stepper : default: gauss-qp, or chosen with the step
        One of {steppers}.
    solver
        Solver instead of the stepper's default.
    dt
        Constant step, such as 1e-5 or 10us.
    dt_min
        Shortest step; with --dt-max, steps end exactly at impacts.
    dt_max
        Longest step.
    rtol
        Relative error per step, with --atol, --dt-min and --dt-max; for event-driven and compliant-dae.
    atol
        Absolute error per step, in SI units; for event-driven and compliant-dae.
    settings : --set NAME=VALUE
        Argument of the problem, element.parameter, solver.field or stepper.field; repeatable.
    """

    problem: Problem
    _: KW_ONLY
    case: str | None = None
    t_end: Seconds | None = None
    stepper: Scheme | None = None
    solver: Solver | None = None
    dt: Seconds | None = None
    dt_min: Seconds | None = None
    dt_max: Seconds | None = None
    rtol: float | None = None
    atol: float | None = None
    settings: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Processes:
    """Processes that compute the runs of a study.

    Parameters
    ----------
    executor : default: one process per core
        Number of processes, or of threads of a batch; or tcp://HOST:PORT of a Dask scheduler.
    """

    executor: Executor | None = None


@dataclass(frozen=True, kw_only=True)
class Shown:
    """Figures and printed output of a command.

    Parameters
    ----------
    figure
        Figure to write (.png, .pdf, .svg).
    page : --report
        Page to write (.html).
    as_json : --json
        Write a single JSON object to standard output.
    quiet : -q --quiet
        Print nothing but errors and what --json asks for.
    """

    output: ClassVar[Path | None] = None
    figure: Path | None = None
    page: Path | None = None
    as_json: bool = False
    quiet: bool = False

    def __post_init__(self) -> None:
        from nonsmooth.cli.files import FIGURE_FORMATS, PAGE_FORMATS, check_writable

        check_writable("--report", self.page, PAGE_FORMATS)
        check_writable("--output", self.output, (".nc",))
        check_writable("--figure", self.figure, FIGURE_FORMATS)


@dataclass(frozen=True, kw_only=True)
class Written(Shown):
    """Dataset, figures and printed output of a study.

    Parameters
    ----------
    output
        Dataset to write (NetCDF, .nc).
    """

    output: Path | None = None  # type: ignore[misc]


@dataclass(frozen=True, kw_only=True)
class Design:
    """Values for which a mechanism is run.

    Parameters
    ----------
    grids : --grid NAME=LOW:HIGH:N
        Or NAME=LOW:HIGH:N:log, NAME=V1,V2; all combinations; repeatable.
    lists : --list NAME=V1,V2,...
        The first values together, then the second; repeatable.
    samples : --sample NAME=DISTRIBUTION
        NAME=LOW:HIGH, NAME=LOW:HIGH:log, or NAME=normal:MEAN:SD, cut at three SD; repeatable.
    runs
        Runs of --sample.
    method
        sobol, halton, latin or random, of --sample.
    seed
        Of --sample.
    check
        Repeat each run with finer steps, for its verdict.
    output
        Dataset to write (NetCDF, .nc); makes the sweep resumable.
    """

    grids: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    samples: tuple[str, ...] = ()
    runs: int = 256
    method: str = "sobol"
    seed: int = 0
    check: bool = False
    output: Path | None = None


@dataclass(frozen=True)
class Identified:
    """Mechanism and drives whose parameters are identified.

    Parameters
    ----------
    drives : --drive NAME
        A PrescribedMotion; repeatable, in the order of the data. All if omitted.
    friction
        Friction of the drives to identify: viscous, coulomb, offset, rotor; repeatable.
    settings : --set NAME=VALUE
        Argument of the problem; repeatable.
    """

    problem: Problem
    _: KW_ONLY
    drives: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Comparing:
    """Mechanism and runs of the studies that compare rigid and compliant contact.

    Parameters
    ----------
    problem
        A ready problem, a TOML file, or a Python file with `build(contact)`.
    t_end
        End of the runs; required for a file, unless its [run] has it.
    restitution : E
        Restitution that all contacts deliver; required for a file, unless all its contacts are rigid with the same.
    stiffness : K
        Stiffness of a compliant case, in N/m^n or with its unit; repeatable, and required for a file by compare, while
        rigid-limit takes powers of ten from 1e10.
    friction : MU|LAW[:NAME=VALUE,...], default: that of the problem
        Coefficient of all contacts, 0 for none, or a law of compliant contact, as
        ambrosio:dead_speed=0,slip_speed=1e-3; repeatable.
    solver
        Integrator of compliant cases; else dop853, and radau where they are stiff.
    dt_max : default: of the problem, or 1/500 of the run
        Longest step of all runs; constant steps are a tenth of it.
    settings : --set NAME=VALUE
        Argument of the problem, or element.parameter; repeatable.
    """

    problem: Problem
    _: KW_ONLY
    case: str | None = None
    t_end: Seconds | None = None
    restitution: float | None = None
    stiffness: tuple[Stiffness, ...] = ()
    friction: tuple[str, ...] = ()
    solver: str | None = None
    dt_max: Seconds | None = None
    settings: tuple[str, ...] = ()


#: by the annotation of a function's argument
GROUPS = {one.__name__: one for one in (Runs, Processes, Shown, Written, Design, Comparing, Identified)}
