"""Randomised tests of the library's guarantees: ``python -m benchmarks.fuzz --minutes N``.

Each seed is one case: a mechanism with a stepper, in the plane or in space; a TOML file or a NetCDF file with some
bytes changed; a run whose solvers return wrong solutions; a file whose writing fails. In every case:

- the case ends within its time budget, with a result or an error of the package in one sentence;
- the numbers of a run are finite, its times increase, and there are as many rows as steps;
- a run reported as finished has a motion residual below the certificate's tolerance;
- the same run, repeated, has the same bytes, and so has one that is interrupted and resumed from its checkpoint;
- a file with changed bytes is refused, or gives the numbers that were written.

Cases run in separate processes, so that a crash or a hang is counted and does not end the tests. Failed cases are
printed with their seed: ``python -m benchmarks.fuzz --seed N`` repeats one; they are collected in ``tests/fuzz``.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from nonsmooth.exceptions import NonsmoothError

__all__ = ["KINDS", "Outcome", "case", "main", "report"]

#: kinds of cases and their relative frequencies
KINDS = {"plane": 50, "space": 18, "toml": 14, "netcdf": 10, "solver": 5, "write": 3}
#: [s] of computing for a run, in addition for the rest of a case, and for a case with changed bytes
BUDGET, GRACE, READING = 2.0, 10.0, 5.0
#: memory [bytes] that a process may need to read a file
MEMORY = 500e6
#: [s] after which a case counts as a hang; loops may have to be compiled first
HANGS = 300.0


@dataclass
class Outcome:
    """The outcome of a case: `fault` is empty if all conditions are satisfied."""

    seed: int
    kind: str
    result: str = ""
    steps: int = 0
    seconds: float = 0.0
    fault: str = ""


def case(seed: int, only: str = "") -> Outcome:
    """Run one case in this process; of the given kind, if any."""
    chance = random.Random(seed)
    kind = chance.choices(list(KINDS), list(KINDS.values()))[0]
    kind = only or kind
    found, begin = Outcome(seed, kind), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            CASES[kind](chance, found)
    except AssertionError as error:
        found.fault = f"{error}"
    except Exception as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        found.fault = f"{type(error).__name__}: {error} ({Path(where.filename).name}:{where.lineno})"
    found.fault = " ".join(found.fault.split())[:300]
    found.seconds = time.perf_counter() - begin
    return found


# --------------------------------------------------------------------------------------------------------------- runs


def _run(chance: random.Random, found: Outcome, space: bool, faulty: Callable[[], Any] | None = None) -> None:
    from benchmarks.fuzz_mechanisms import compliant, controls, log_uniform, planar, rigid, spatial, steppers
    from nonsmooth import CompliantDae, GaussMPCC, SemismoothNewton, SimulationFailed, SolverFailed, simulate

    try:
        law = compliant(chance) if chance.random() < 0.25 else rigid(chance, plastic=chance.random() < 0.4)
        system = (spatial if space else planar)(chance, law).build(assemble=chance.random() < 0.9)
        stepper = steppers(chance, law, space)
        if faulty is not None and not isinstance(stepper, CompliantDae | GaussMPCC):
            stepper = replace(stepper, solver=SemismoothNewton())  # for all programs
    except NonsmoothError as error:
        _one_sentence(error)
        found.result = "refused"
        return
    short = chance.choice([False, False, False, True])
    steps = int(log_uniform(chance, 20, 300 if short else 20_000 if space else 100_000))
    t_end = steps * log_uniform(chance, 1e-6, 3e-3)
    arguments: dict[str, Any] = {
        "t_end": t_end, "dt": controls(chance, stepper, t_end, steps), "record": chance.choice([1, 1, 1, 7]),
    }  # fmt: skip
    if faulty is not None:
        faulty()
    try:
        run = _timed(lambda: simulate(system, stepper, **arguments, max_seconds=BUDGET, max_steps=200_000))
        found.result = run.status.partition(":")[0]
    except SimulationFailed as failure:
        assert isinstance(failure.cause, SolverFailed), f"a run was ended by {failure.cause!r}"
        run, found.result = failure.trajectory, "stopped" if "budget" in str(failure) else "failed"
        _one_sentence(failure)
    except NonsmoothError as error:
        _one_sentence(error)
        found.result = "refused"
        return
    found.steps = int(run.counts["steps"])
    _holds(run, arguments["record"])
    if faulty is not None or run.wall_seconds > BUDGET / 3 or found.result not in ("finished", "untrusted"):
        return
    if chance.random() < 0.3:
        again = simulate(system, stepper, **arguments)
        found.steps += found.steps
        _same(run, again, "the same run again")
    elif chance.random() < 0.5:
        _resumed(chance, lambda **more: simulate(system, stepper, **arguments, **more), run, found)


def _timed(run: Callable[[], Any]) -> Any:
    """A run whose processor time must be within its budget; it is repeated once, since loops may have been compiled."""
    for again in (False, True):
        begin, failure = time.process_time(), None
        try:
            made = run()
        except NonsmoothError as error:
            failure = error
        seconds = time.process_time() - begin
        if seconds < BUDGET + GRACE:
            break
        assert not again, f"a run of {BUDGET:g} s took {seconds:.1f} s"
    if failure is not None:
        raise failure
    return made


def _one_sentence(error: Exception) -> None:
    """Check that a message is one sentence; for TOML files one sentence and line per error."""
    text = str(error)
    longest = max(map(len, text.splitlines()), default=0)
    assert text.strip() and longest < 3000, f"a sentence of {longest} characters"


def _holds(run: Any, record: int) -> None:
    for name in ("t", "q", "v", "gap", "gap_rate", "P_N", "P_T", "reaction"):
        values = run.t if name == "t" else getattr(run, name).array
        assert np.isfinite(values).all(), f"{name} is not finite in a run that is {run.status[:60]}"
    assert np.all(np.diff(run.t) > 0.0), "times do not rise"
    pulls = "CompliantDae" in run.manifest["settings"]["stepper"]  # as damping may
    assert pulls or (run.P_N.array >= 0.0).all() or run.status.startswith("failed"), "a contact pulls"
    steps = int(run.counts["steps"])
    rows = len(run.t) - 1
    assert rows == steps if record == 1 else rows <= steps <= rows * record, f"{rows} rows of {steps} steps"
    if run.status == "finished":
        certified = run.manifest["rules"]["certified residual"]
        assert run.certificate.motion_residual <= certified, f"finished at {run.certificate.motion_residual:.1e}"
        assert run.certificate.joint_violation <= 1e-3, f"joints are open by {run.certificate.joint_violation:.1e}"


def _same(a: Any, b: Any, what: str) -> None:
    for name in ("t", "q", "v", "P_N", "P_T", "mode", "reaction", "energy"):
        x, y = (one.t if name == "t" else getattr(one, name).array for one in (a, b))
        assert x.shape == y.shape and x.tobytes() == y.tobytes(), f"{what} has another {name}"
    counts = [{k: v for k, v in one.counts.items()} for one in (a, b)]
    assert counts[0] == counts[1], f"{what} counts {counts[1]}, not {counts[0]}"


def _resumed(chance: random.Random, run: Callable[..., Any], whole: Any, found: Outcome) -> None:
    from nonsmooth import SimulationFailed

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        try:
            run(checkpoint=path, max_steps=chance.randint(1, max(found.steps - 1, 1)))
        except SimulationFailed:
            found.result += ", resumed"
        _same(whole, run(checkpoint=path), "a run that goes on from its checkpoint")
        again = type(whole).load
        whole.save(path)
        assert again(path).q.array.tobytes() == whole.q.array.tobytes(), "a file gives other numbers"


def _plane(chance: random.Random, found: Outcome) -> None:
    _run(chance, found, space=False)


def _space(chance: random.Random, found: Outcome) -> None:
    _run(chance, found, space=True)


def _solver(chance: random.Random, found: Outcome) -> None:
    """Solvers that occasionally return numbers that are wrong or not finite, no solution, or raise."""
    from nonsmooth import SolverFailed, solvers
    from nonsmooth.solvers.chain import Chain

    seeds, session = random.Random(chance.random()), Chain._session
    rate = chance.choice([0.02, 0.2, 1.0])

    def spoiled(self: Any, solver: Any) -> Any:
        made = session(self, solver)

        class Spoiled:
            def solve(self, program: Any, guess: Any = None) -> Any:
                answer = made.solve(program, guess)
                if seeds.random() > rate:
                    return answer
                kind = seeds.randrange(4)
                if kind == 3:
                    raise SolverFailed("a fault of the solver's own.")
                wrong = [np.nan, np.inf, 1.0 + 1e-3 * seeds.random()][kind]
                return replace(answer, x=answer.x * wrong, y=answer.y * wrong)

        return Spoiled()

    def spoil() -> None:
        Chain._session = spoiled  # type: ignore[method-assign]

    assert solvers
    try:
        _run(chance, found, space=chance.random() < 0.3, faulty=spoil)
    finally:
        Chain._session = session  # type: ignore[method-assign]


def _write(chance: random.Random, found: Outcome) -> None:
    """Writing that fails after some bytes: the old file must be intact, and the message one sentence."""
    from nonsmooth import files
    from nonsmooth.exceptions import NotWritten

    write, left = os.write, [chance.randint(0, 60_000)]

    def failing(handle: int, data: Any) -> int:
        if left[0] < len(data):
            write(handle, data[: left[0]])
            raise OSError(chance.choice([28, 5, 122, 27, 30]), "a fault of the disk")
        left[0] -= len(data)
        return write(handle, data)

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        path.write_bytes(b"old")
        files.os.write = failing  # type: ignore[assignment]
        try:
            _sample().save(path)
            found.result = "written"
        except NotWritten:
            found.result = "refused"
            assert path.read_bytes() == b"old", "the old file is gone"
        finally:
            files.os.write = write
        assert [one.name for one in Path(folder).iterdir()] == ["run.nc"], "something was left behind"


# -------------------------------------------------------------------------------------------------------------- files

_samples: dict[str, Any] = {}


def _sample() -> Any:
    """A short run."""
    if "run" not in _samples:
        from nonsmooth import GaussQP, Landing, simulate
        from nonsmooth_problems import slider_rod

        _samples["run"] = simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-3))
    return _samples["run"]


def _image(run: Any, path: Path, *, old: bool) -> bytes:
    """The bytes of a file of a run; if `old`, in the format of earlier versions, without a checksum."""
    from nonsmooth import files

    if "image" not in _samples:
        run.save(path)
        _samples["image"] = path.read_bytes()
    data: bytes = _samples["image"]
    stated = files.STATED.encode()
    assert stated in data and files.LAST_LINE.search(data)
    return data.replace(stated, b" " * len(stated))[: -files.LENGTH] if old else data


def _turned(chance: random.Random, data: bytes) -> bytes:
    """Data with some bytes changed, removed, inserted or duplicated."""
    changed = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 5, 20])):
        at = chance.randrange(len(changed) + 1)
        span = chance.choice([1, 1, 4, 16, 300])
        what = chance.randrange(5)
        if what == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif what == 1:
            changed[at : at + span] = bytes(chance.randrange(256) for _ in range(min(span, len(changed) - at)))
        elif what == 2:
            del changed[at : at + span]
        elif what == 3:
            changed[at:at] = changed[max(0, at - span) : at]
        else:
            del changed[at if chance.random() < 0.2 else len(changed) - span :]
        if not changed:
            return b""
    return bytes(changed)


def _bounded(work: Callable[[], None]) -> None:
    """Check the time and memory needed to read a file."""
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    try:
        work()
    finally:
        seconds = time.process_time() - begin
        taken = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
        assert seconds < READING, f"it took {seconds:.1f} s"
        assert taken < MEMORY, f"it took {taken / 1e6:.0f} MB"


def _netcdf(chance: random.Random, found: Outcome) -> None:
    from nonsmooth import InputError, Trajectory

    run = _sample()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.nc"
        path.write_bytes(_turned(chance, _image(run, path, old=chance.random() < 0.1)))

        def read() -> None:
            with warnings.catch_warnings(record=True) as said:
                warnings.simplefilter("always")
                try:
                    loaded = Trajectory.load(path)
                except InputError as error:
                    _one_sentence(error)
                    found.result = "refused"
                    return
            warned = any("checksum" in str(one.message) for one in said)
            found.result = "a warning" if warned else "the same"
            if not warned:
                _same(run, loaded, "a file of turned bytes")

        _bounded(read)


#: replacements for values of a TOML file
VALUES = (
    "nan", "inf", "-1", "0", "1e400", "1e-320", '""', "[]", "{}", "true", '"x"', "9" * 400, "[[[[1]]]]", '"\\u0000"',
    "1979-05-27", "0x7fffffffffffffff", "[1, 2, 3, 4]", '"2*t"', '"__import__(\'os\')"', "'''\n'''", "-0.0", "1e308",
)  # fmt: skip


def _toml(chance: random.Random, found: Outcome) -> None:
    from nonsmooth.cli.files import TEMPLATES
    from nonsmooth.declarative import read

    lines = (TEMPLATES / chance.choice(["planar.toml", "spatial.toml"])).read_text(encoding="utf-8").splitlines()
    for _ in range(chance.choice([1, 1, 2, 4])):
        at, what = chance.randrange(len(lines)), chance.randrange(6)
        key, equals, _ = lines[at].partition("=")
        if what <= 1 and equals:
            lines[at] = f"{key}= {chance.choice(VALUES)}"
        elif what == 2:
            del lines[at]
        elif what == 3:
            lines.insert(at, chance.choice(lines))
        elif what == 4:
            lines[at] = _turned(chance, lines[at].encode()).decode(errors="replace")
        else:
            other = chance.randrange(len(lines))
            lines[at], lines[other] = lines[other], lines[at]
        lines = lines or [""]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mechanism.toml"
        path.write_text("\n".join(lines), encoding="utf-8", errors="replace")

        def build() -> None:
            try:
                read(path).build()
                found.result = "built"
            except NonsmoothError as error:
                _one_sentence(error)
                found.result = "refused"

        _bounded(build)


CASES: dict[str, Callable[[random.Random, Outcome], None]] = {
    "plane": _plane, "space": _space, "toml": _toml, "netcdf": _netcdf, "solver": _solver, "write": _write,
}  # fmt: skip


# ---------------------------------------------------------------------------------------------------------- processes


def _work(only: str) -> None:
    """Run the cases whose seeds are read from standard input, with one outcome per line."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # other output must not interfere
    for line in sys.stdin:
        print(json.dumps(asdict(case(int(line), only))), file=out, flush=True)


class _Worker:
    def __init__(self, only: str = "") -> None:
        command = [sys.executable, "-m", "benchmarks.fuzz", "--work", "--only", only]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
            env=environment, bufsize=1,
        )  # fmt: skip
        self.done, self.only = 0, only

    def ask(self, seed: int) -> Outcome:
        """The outcome of a seed, which may be a crash or a hang of its process."""
        import selectors

        assert self.process.stdin is not None and self.process.stdout is not None
        with contextlib.suppress(BrokenPipeError):  # it has crashed already
            print(seed, file=self.process.stdin, flush=True)
        with selectors.DefaultSelector() as ready:
            ready.register(self.process.stdout, selectors.EVENT_READ)
            said = self.process.stdout.readline() if ready.select(HANGS) else None
        self.done += 1
        if said:
            return Outcome(**json.loads(said))
        kind = self.only or random.Random(seed).choices(list(KINDS), list(KINDS.values()))[0]
        if said is None:
            self.process.kill()
        code = self.process.wait()
        self.end()
        fault = f"hangs for {HANGS:g} s" if said is None else f"the process crashed ({code})"
        return Outcome(seed, kind, "crash" if said == "" else "hang", fault=fault)

    def end(self) -> None:
        self.process.kill()
        with contextlib.suppress(BrokenPipeError):
            self.process.communicate()


def report(outcomes: Sequence[Outcome]) -> str:
    """A table of kinds: cases, steps, results, faults."""
    by_kind: dict[str, list[Outcome]] = defaultdict(list)
    for one in outcomes:
        by_kind[one.kind].append(one)
    lines = ["| kind | cases | steps | results | longest [s] | faults |", "|---|---|---|---|---|---|"]
    for kind in (*KINDS, "all"):
        those = list(outcomes) if kind == "all" else by_kind[kind]
        results = Counter(one.result.partition(",")[0] or "fault" for one in those)
        said = ", ".join(f"{count} {name}" for name, count in results.most_common()) if kind != "all" else ""
        longest = max((one.seconds for one in those), default=0.0)
        steps, faults = sum(one.steps for one in those), sum(bool(one.fault) for one in those)
        lines.append(f"| {kind} | {len(those)} | {steps} | {said} | {longest:.1f} | {faults} |")
    return "\n".join(lines)


def main(words: Sequence[str] | None = None) -> int:
    """Print a table of cases, and those that failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=3.0, help="at most")
    parser.add_argument("--cases", type=int, default=sys.maxsize, help="at most")
    parser.add_argument("--only", default="", choices=["", *KINDS], help="cases of this kind")
    parser.add_argument("--first", type=int, default=0, help="seed of the first case")
    parser.add_argument("--seed", type=int, help="repeat this case alone, here")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(words)
    if given.work:
        _work(given.only)
        return 0
    if given.seed is not None:
        print(case(given.seed, given.only))
        return 0
    outcomes, worker, seed = list[Outcome](), _Worker(given.only), given.first
    end = time.monotonic() + 60 * given.minutes
    while time.monotonic() < end and len(outcomes) < given.cases:
        found = worker.ask(seed)
        outcomes.append(found)
        if found.fault:
            print(f"seed {seed} ({found.kind}): {found.fault}", flush=True)
        if found.result in ("crash", "hang") or worker.done >= 200:  # compiled kinds take memory
            worker.end()
            worker = _Worker(given.only)
        seed += 1
    worker.end()
    print(report(outcomes))
    return int(any(one.fault for one in outcomes))


if __name__ == "__main__":
    sys.exit(main())
