"""Which tests run, in which order, and mechanisms that several test files use."""

import gc
import os
import signal
from collections import Counter
from collections.abc import Iterator
from itertools import count
from typing import Any

# small matrices gain nothing by threads, and lose much where the cores are busy
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest
import variants

LENGTH = 0.1
#: perturbed last bits or other machine code, see variants.py
VARIANT = pytest.StashKey[str]()
tests_run = count(1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--all", action="store_true", help="run slow tests too")
    parser.addoption(
        "--slow", default="0/1", metavar="K/N", help="run slow tests of the K-th of N parts of the files too"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Variant, Ctrl-C, and how tests are divided among processes, ``-n``.

    Where tests are started in the background Ctrl-C is ignored, here and in every process that they start. The tests of
    a file share motions that they compute once: they stay in one process, unless ``--dist`` asks for another division.
    """
    signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[VARIANT] = variants.begin()
    if config.getoption("dist", "no") == "load":  # the default of -n
        config.option.dist = "loadfile"
        config.option.loadscopereorder = False  # the order is that of `pytest_collection_modifyitems`


@pytest.hookimpl(tryfirst=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Kernels of solvers, with ``--all`` also texts of schemes, are compiled before the tests, and not by each process.

    Where files are named, each test compiles what it needs.
    """
    config = session.config
    named = config.args_source != pytest.Config.ArgsSource.TESTPATHS
    if named or config.option.collectonly or hasattr(config, "workerinput"):
        return
    from entries import compile_kernels, compile_texts, package_is_current

    compile_kernels(tell=config.get_terminal_writer().line)
    if config.getoption("all") or not package_is_current():
        compile_texts(everything=config.getoption("all"), tell=config.get_terminal_writer().line)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out slow tests, except named ones; files with many of them come first."""
    slow = [item for item in items if item.get_closest_marker("slow")]
    if not (config.getoption("all") or "slow" in config.option.markexpr):
        part, parts = map(int, config.getoption("slow").split("/"))
        files = {path: k % parts + 1 for k, path in enumerate(sorted({item.path for item in items}))}
        out = {item for item in slow if files[item.path] != part and not _named(item, config)}
        config.hook.pytest_deselected(items=[item for item in items if item in out])
        items[:] = [item for item in items if item not in out]
    if hasattr(config, "workerinput"):
        of_file = Counter(item.path for item in items if item.get_closest_marker("slow"))
        items.sort(key=lambda item: -of_file[item.path])


def _named(item: pytest.Item, config: pytest.Config) -> bool:
    """Whether the command line names this test, or the function whose case it is, with ``::``."""
    words = (word.partition("::") for word in config.args)
    test = item.nodeid.partition("::")[2]
    return any(
        name and f"{test}[".startswith(f"{name}[") and (config.invocation_params.dir / path).resolve() == item.path
        for path, _, name in words
    )


def pytest_report_header(config: pytest.Config) -> str | None:
    return f"variant: {config.stash[VARIANT]}" if config.stash[VARIANT] else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Garbage is collected between tests, by the thread that runs them: see test_reference_cycles.py.

    Frames that `pytest.raises` keeps are reference cycles, and the processes of ``-n`` have a second thread. Tests that
    are marked `exact` are not perturbed.
    """
    variants.active = item.get_closest_marker("exact") is None
    gc.disable()
    gc.collect(1 if next(tests_run) % 200 else 2)
    return (yield)


@pytest.fixture
def loose_chain():
    """A horizontal chain of links under gravity, each journal centred in a bearing with clearance."""

    from nonsmooth import Gravity, Ground, Model, PlanarBody, RevoluteClearance, Rigid

    def build(links, clearance=5e-3, contact=Rigid(restitution=0.0, friction=0.0)):  # noqa: B008
        elements = [Ground(), Gravity(acceleration=(0.0, -9.81))]
        for i in range(1, links + 1):
            before, at_a = ("ground", 0.0) if i == 1 else (f"link{i - 1}", LENGTH / 2)
            elements.append(PlanarBody(f"link{i}", mass=0.1, inertia=1e-4, position=((i - 0.5) * LENGTH, 0.0)))
            elements.append(
                RevoluteClearance(
                    f"joint{i}",
                    before,
                    f"link{i}",
                    clearance=clearance,
                    at_a=(at_a, 0.0),
                    at_b=(-LENGTH / 2, 0.0),
                    contact=contact,
                )
            )
        return Model(elements, name=f"chain of {links}").build()

    return build


@pytest.fixture
def coasting_crank():
    """A free slider-crank, 60 rad/s at a radius of 40 mm, with a loose crank pin."""

    from nonsmooth import Gravity, Ground, Model, PlanarBody, Prismatic, Revolute, RevoluteClearance, Rigid

    crank = PlanarBody("crank", 0.25, 9e-5, (0.02, 0), angular_velocity=60.0)
    rod, law = PlanarBody("rod", 0.18, 2.2e-4, (0.095, 0)), Rigid(restitution=0.35, friction=0.0)
    return Model(
        [
            Ground("frame"), crank, rod, PlanarBody("piston", 0.32, 6e-5, (0.15, 0)), Gravity(acceleration=(0, -9.81)),
            Revolute("main", "frame", crank, at_b=(-0.02, 0)), Revolute("wrist", rod, "piston", at_a=(0.055, 0)),
            RevoluteClearance("pin", crank, rod, at_a=(0.02, 0), at_b=(-0.055, 0), clearance=4e-4, contact=law),
            Prismatic("bore", "frame", "piston"),
        ],
        assemble="centred",
    )  # fmt: skip


@pytest.fixture
def step_by_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps of time loops are taken one at a time, so that progress is told after each."""
    from nonsmooth.engine.run import Run

    run = Run.run

    def one(self: Run, *arguments: Any) -> Any:
        self._chunk = 1
        return run(self, *arguments)

    monkeypatch.setattr(Run, "run", one)
