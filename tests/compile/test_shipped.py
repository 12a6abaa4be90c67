"""Machine code that comes with the package: it is that of these sources and gives the bits of compiled code."""

from __future__ import annotations

import ast
import ctypes
import importlib.util
import json
import os
import shutil
import subprocess
import sys
import types
from pathlib import Path

import pytest

from nonsmooth import (
    Compliant,
    CompliantDae,
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    InputError,
    Landing,
    MoreauJean,
    simulate,
)
from nonsmooth.compile import digests, machine, objects, ship, shipped
from nonsmooth.compile.records.schema import Shape
from nonsmooth.compile.shipped import NotShipped, Target
from nonsmooth.engine.compiled_form import is_rough, options_of
from nonsmooth.engine.layout import shape_of
from nonsmooth.laws import LankaraniNikravesh
from nonsmooth.model.registry import find_problems
from nonsmooth_problems import slider_rod

V3, V2 = "x86-64-v3", "x86-64-v2"


# ---- which processors


@pytest.mark.parametrize(
    ("system", "triple", "features", "names"),
    [
        ("linux", "x86_64-unknown-linux-gnu", shipped.V3 | {"avx512f"}, [V3, V2]),
        ("linux", "x86_64-unknown-linux-gnu", shipped.V3 - {"avx2"}, [V2]),  # of 2012
        ("linux", "x86_64-unknown-linux-gnu", shipped.V2 - {"sse4.2"}, []),  # of 2007
        ("linux", "x86_64-unknown-linux-gnu", set(), []),  # unknown to LLVM
        ("linux", "aarch64-unknown-linux-gnu", set(), ["aarch64-linux"]),
        ("darwin", "arm64-apple-darwin23.1.0", set(), ["arm64-macos"]),
        ("darwin", "x86_64-apple-darwin23.1.0", shipped.V3, []),
        ("win32", "x86_64-pc-windows-msvc", shipped.V3, []),
    ],
)
def test_a_processor_gets_the_fastest_code_that_it_can_run(monkeypatch, system, triple, features, names):
    monkeypatch.setattr(sys, "platform", system)
    assert [target.name for target in shipped.TARGETS if target.serves(triple, features)] == names


# ---- archives


def test_an_archive_holds_objects_by_name():
    given = {"first": b"\x00\n" * 9, "empty": b"", "second": bytes(range(256))}
    assert shipped.unpack(shipped.pack("d" * 64, given)) == ("d" * 64, given)


@pytest.mark.parametrize("where", [0.0, 0.3, 0.6, 0.9])
def test_a_damaged_archive_is_refused(where):
    whole = shipped.pack("d" * 64, {"code": os.urandom(4000)})
    at = int(where * len(whole))
    with pytest.raises(NotShipped, match="damaged"):
        shipped.unpack(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
    with pytest.raises(NotShipped, match="damaged"):
        shipped.unpack(whole[:at])


@pytest.fixture
def host(monkeypatch):
    """A processor whose code is called `here`."""
    only = Target("here", "", "", sys.platform, ())
    monkeypatch.setattr(shipped, "served", lambda: [only])
    yield only
    shipped._objects.cache_clear()


def test_code_of_other_sources_is_not_read(tmp_path, monkeypatch, host):
    monkeypatch.setattr(shipped, "FOLDER", tmp_path)
    module = "nonsmooth.schemes.one.text"
    with pytest.raises(NotShipped, match=f"no machine code of {module}"):
        shipped.code(module, "a" * 64, "run")
    shipped.archive(tmp_path, module, host.name).write_bytes(shipped.pack("a" * 64, {"run": b"code"}))
    assert shipped.code(module, "a" * 64, "run") == b"code"
    with pytest.raises(NotShipped, match="no machine code of begin"):
        shipped.code(module, "a" * 64, "begin")
    with pytest.raises(NotShipped, match="of other sources"):
        shipped.code(module, "b" * 64, "run")


def forbidden():
    raise AssertionError("not to be called")


def test_the_cache_comes_first_and_then_the_package(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    text = "define i64 @{}() {{\n  ret i64 {}\n}}\n"
    cached, brought = (machine._compiled(text.format(*given), True) for given in (("seven", 7), ("eight", 8)))
    machine.write(machine.cache_folder() / f"{machine._filed('seven')}.o", cached)
    (seven,) = machine.functions("seven", forbidden, ["seven"], forbidden)
    (eight,) = machine.functions("eight", forbidden, ["eight"], lambda: brought)
    assert [ctypes.CFUNCTYPE(ctypes.c_int64)(address)() for address in (seven, eight)] == [7, 8]
    assert len(list(machine.cache_folder().iterdir())) == 1  # what the package brings is not stored a second time


# ---- the digest

MOREAU_JEAN, LANDING = "nonsmooth.schemes.moreau_jean.text", "nonsmooth.schemes.gauss.landing"


@pytest.fixture
def sources(tmp_path):
    """A copy of the sources of compiled code."""
    for pattern in digests.SOURCES:
        for file in digests.ROOT.glob(pattern):
            copy = tmp_path / "nonsmooth" / file.relative_to(digests.ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, copy)
    return tmp_path / "nonsmooth"


def test_a_digest_sees_changes_of_code_alone(sources):
    """Neither comments nor docstrings, nor line breaks and blanks."""
    (sources.parent / "math.py").write_text("A = 1\n", encoding="utf-8")  # other libraries are no part of it
    before = digests.tree_digest(MOREAU_JEAN, sources)
    assert before == digests.tree_digest(MOREAU_JEAN) and digests.source_digest(sources) == digests.source_digest()
    file = sources / "step" / "program.py"
    text = file.read_text(encoding="utf-8")
    for old, new in (
        ('"""The program of a step', '"""Another sentence. The program of a step'),
        ("def phase(", "# a remark\ndef phase("),
        ("    system.solves += 1\n", "    system.solves += (\n        1\n    )\n\n"),
    ):  # fmt: skip
        assert old in text
        file.write_text(text.replace(old, new), encoding="utf-8")
        assert digests.tree_digest(MOREAU_JEAN, sources) == before
        assert digests.source_digest(sources) != digests.source_digest()
    file.write_text(text.replace("system.solves += 1", "system.solves += 2"), encoding="utf-8")
    assert digests.tree_digest(MOREAU_JEAN, sources) != before


@pytest.mark.parametrize(
    ("changed", "stale"),
    [
        ("schemes/moreau_jean/midpoint.py", {MOREAU_JEAN}),
        ("schemes/gauss/first_half.py", {LANDING}),
        ("step/program.py", {MOREAU_JEAN, LANDING}),
        ("step/observation_fields.py", {MOREAU_JEAN, LANDING}),  # records of all texts contain these
        ("compile/records/packed.py", {MOREAU_JEAN, LANDING}),
        ("compile/lower.py", {MOREAU_JEAN, LANDING}),
    ],
)
def test_a_change_makes_the_texts_that_use_it_stale(sources, changed, stale):
    before = {text: digests.tree_digest(text, sources) for text in (MOREAU_JEAN, LANDING)}
    with (sources / changed).open("a", encoding="utf-8") as file:
        file.write("\nFURTHER = 1\n")
    assert {text for text in before if digests.tree_digest(text, sources) != before[text]} == stale


@pytest.mark.parametrize("package", [True, False], ids=["package", "folder"])
def test_a_text_of_a_user_is_found_by_what_it_and_the_modules_beside_it_say(package, tmp_path, monkeypatch):
    """Else a changed text ran on by the machine code of its former self."""
    name = f"own_{package}".lower()
    own = tmp_path / name
    own.mkdir()
    texts = {
        "text": f"from nonsmooth.step import rows\nfrom . import helper\nfrom {name}.constants import THETA\n",
        "helper": "import json\n\ndef share():\n    return 1.0\n",
        "constants": "THETA = 0.5\n",
    }
    for file, text in (texts | ({"__init__": ""} if package else {})).items():
        (own / f"{file}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    seen = [digests.tree_digest(f"{name}.text")]
    changes = [("text", "A = 1"), ("helper", "B = 1"), ("constants", "C = 1"), ("helper", "# said")]
    for file, more in [*changes, *([("__init__", "D = 1")] if package else [])]:
        with (own / f"{file}.py").open("a", encoding="utf-8") as opened:
            opened.write(f"{more}\n")
        digests.digest_of.cache_clear()
        seen.append(digests.digest_of(f"{name}.text"))
    assert len(set(seen)) == len(seen) - 1  # a remark changes nothing


def test_a_text_of_a_script_is_that_of_its_file(tmp_path, monkeypatch):
    script = tmp_path / "script.py"
    script.write_text("A = 1\n", encoding="utf-8")
    main = types.ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", main)
    with pytest.raises(InputError, match="is in no file; write it in a module"):
        digests.tree_digest("__main__")
    main.__file__ = str(script)
    before = digests.tree_digest("__main__")
    script.write_text("A = 2\n", encoding="utf-8")
    assert digests.tree_digest("__main__") != before


def test_the_digest_covers_what_sources_import():
    """But for exceptions and for words on what is done, which are not compiled."""
    covered = {file for pattern in digests.SOURCES for file in digests.ROOT.glob(pattern)}
    for text in ship.TEXTS.values():
        pending, seen = [text.module], set()
        while pending:
            name = pending.pop()
            file = origin(name)
            if file is None or file in seen:
                continue
            assert file in covered, f"{text.module} uses {name}"
            seen.add(file)
            for node in ast.parse(file.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ImportFrom) and str(node.module).startswith("nonsmooth."):
                    pending += [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]


def origin(name: str) -> Path | None:
    """The file of a module; None for packages, whose folders are covered, and for names in modules."""
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        return None
    return Path(found.origin) if found and found.origin and not found.submodule_search_locations else None


# ---- what is shipped


def test_every_entry_point_that_steppers_call_is_shipped(monkeypatch):
    """Interpreted runs call the same ones."""
    called, text = set(), objects._text

    def noted(*entry):
        called.add(entry)
        return text(*entry)

    monkeypatch.setattr(objects, "_text", noted)
    events = ErrorControl(rtol=1e-4, atol=1e-6, dt_min=1e-6, dt_max=1e-4)
    soft = Compliant(LankaraniNikravesh(stiffness=1e8, restitution=0.9))
    for contact, stepper, dt in (
        ({}, MoreauJean(), 1e-4), ({}, GaussQP(), 1e-4), ({}, GaussQP(), Landing(1e-6, 1e-4)),
        ({}, GeneralizedAlpha(), 1e-4), ({}, EventDriven(), events),
        ({"contact": soft}, CompliantDae(), events),  # and makes ready what stiff phases, which it does not have, call
    ):  # fmt: skip
        simulate(slider_rod(**contact).build(), stepper, t_end=2e-4, dt=dt, interpreted=True)
    known = {entry[:4] for shape in ship.SHAPES for text in ship.texts_of(shape) for entry in ship.entries(text, shape)}
    assert called <= known
    assert {entry[:2] for entry in called} == {entry[:2] for entry in known}  # no entry point without a stepper


@pytest.mark.slow
def test_every_ready_problem_has_a_shape_that_is_shipped():
    for name, problem in find_problems().items():
        system = problem().build()
        shape = shape_of(system, rough=is_rough(system, system.parameter_values), options=options_of(system))
        assert shape in ship.SHAPES, name


def test_what_is_not_current_is_named(tmp_path):
    assert set(ship.stale_texts(tmp_path)) == set(ship.TEXTS)
    for text, of in ship.TEXTS.items():
        shapes = [shape for shape in ship.SHAPES if text in ship.texts_of(shape)]
        names = [objects.name_of(*entry) for shape in shapes for entry in ship.entries(text, shape)]
        for target in shipped.TARGETS:
            path = shipped.archive(tmp_path, of.module, target.name)
            path.write_bytes(shipped.pack(digests.digest_of(of.module), dict.fromkeys(names, b"")))
    assert ship.stale_texts(tmp_path) == {}
    whole = path.read_bytes()
    for data, why in (
        (whole[:-9], "damaged"), (shipped.pack("0" * 64, {}), "of other sources"),
        (shipped.pack(digests.digest_of(of.module), {}), f"has no {sorted(names)[0]}"),
    ):  # fmt: skip
        path.write_bytes(data)
        assert list(ship.stale_texts(tmp_path)) == [text] and why in ship.stale_texts(tmp_path)[text]
    path.unlink()
    assert ship.stale_texts(tmp_path) == {text: f"{path.name} is missing"}


# ---- made, loaded and run

BEGIN = """
import hashlib, json, logging, sys
from pathlib import Path
logging.basicConfig(level=logging.INFO)
from nonsmooth.compile import shipped
shipped.FOLDER = Path(sys.argv[1])
shipped.TARGETS = tuple(target for target in shipped.TARGETS if target.name in sys.argv[2:])
"""
#: the least of what is compiled: the kinetic energy of 2 kg at 3 m/s
OBSERVE = """
import numpy as np
from nonsmooth import Ground, Model, PlanarBody
from nonsmooth.engine.layout import Layout
from nonsmooth.engine.tables import Viewer
system = Model([Ground(), PlanarBody("body", mass=2.0, inertia=1.0)]).build()
layout = Layout(system, rough=False)
view, still = Viewer(layout, layout.filled(system.parameter_values)), np.zeros((4, 3))
moving = np.tile([3.0, 0.0, 0.0], (4, 1))
seen = view(np.arange(4.0), still, moving, np.arange(4), still)
assert list(seen.energies["kinetic"]) == [9.0] * 4 and list(seen.energies_left["kinetic"]) == [0.0] * 4
found = b"".join(one.tobytes() for one in (*seen.energies.values(), *seen.energies_left.values(), seen.gap))
"""
#: impacts with friction, 2000 steps
RUN = """
from nonsmooth import MoreauJean, Rigid, simulate
from nonsmooth_problems import slider_crank_revolute
system = slider_crank_revolute(contact=Rigid(restitution=0.5, friction=0.1)).build()
run = simulate(system, MoreauJean(), t_end=0.02, dt=1e-5)
assert len(run.t) > 2000 and run.gap.array.max() > 0.0 and run.P_T.array.any()
found = b"".join(getattr(run, name).array.tobytes() for name in ("q", "v", "P_N", "P_T", "gap"))
"""
END = """
print(json.dumps([hashlib.sha256(found).hexdigest(), "numba" in sys.modules]))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Machine code for all targets: a scheme in the plane with friction, and what evaluates its rows."""
    made = tmp_path_factory.mktemp("shipped")
    ship.make(made, {Shape(2, 2): ["moreau_jean", "observation"], Shape(2, 1): ["observation"]})
    return made


def ran(script: str, folder: Path, cache: Path, *targets: str) -> tuple[str, bool, str]:
    """Hash of what a script found in a new process, whether it compiled, and what it said."""
    command = [sys.executable, "-W", "ignore", "-c", BEGIN + script + END, str(folder), *targets]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return (*json.loads(done.stdout), done.stderr)


@pytest.fixture
def names():
    """Targets whose code this processor runs."""
    served = [target.name for target in shipped.served()]
    if not served:
        pytest.skip("no code is shipped for this processor")
    return served


@pytest.mark.slow
def test_shipped_code_gives_the_bits_of_compiled_code(folder, names, tmp_path):
    """Contraction of products and sums into one rounding, with which targets would differ, is off."""
    rows, compiled, said = ran(RUN, folder, tmp_path / "own")
    assert compiled and "no machine code for this kind of processor" in said
    for name in names:
        found, compiled, said = ran(RUN, folder, tmp_path / name, name)
        assert (found, compiled) == (rows, False), name
        assert "a time loop" not in said


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["stale", "damaged"])
def test_code_that_cannot_be_used_is_compiled_with_a_word(folder, names, tmp_path, fault):
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    for path in copy.iterdir():
        if fault == "stale" and path.suffix == shipped.SUFFIX:
            path.write_bytes(shipped.pack("0" * 64, shipped.unpack(path.read_bytes())[1]))
        elif path.suffix == shipped.SUFFIX:
            path.write_bytes(path.read_bytes()[:-100])
    found, compiled, said = ran(OBSERVE, copy, tmp_path / "cache", *names)
    word = {"stale": "of other sources", "damaged": "damaged"}[fault]
    assert compiled and f"once per machine; the machine code in the package is {word}" in said
    assert ran(OBSERVE, folder, tmp_path / "other", *names)[:2] == (found, False)


def test_code_that_calls_what_only_numba_has_is_not_shipped():
    text = "declare i64 @numba_gil_ensure()\ndefine i64 @f() {\n  %x = call i64 @numba_gil_ensure()\n  ret i64 %x\n}\n"
    with pytest.raises(shipped.NonsmoothError, match="calls numba_gil_ensure"):
        ship.emitted(text, "f", shipped.TARGETS[0])
