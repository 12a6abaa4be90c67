"""The folder of object code: what lies there is run, so nobody but the user may have written it."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from nonsmooth.compile import machine

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows gives each user a folder of their own")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return machine.cache_folder()


def test_it_is_made_for_the_user_alone(folder):
    assert machine.keeps()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_code_that_was_kept_is_read(folder):
    machine.write(folder / "some.o", b"code")
    assert machine.read(folder / "some.o") == b"code"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_code_that_others_could_have_written_is_compiled_anew(folder, mode):
    machine.write(folder / "some.o", b"code")
    folder.chmod(mode)
    assert machine.read(folder / "some.o") is None
    assert not machine.keeps()
    machine.write(folder / "other.o", b"code")
    assert not (folder / "other.o").exists()


def test_code_in_a_folder_of_another_user_is_not_read(folder, monkeypatch):
    machine.write(folder / "some.o", b"code")
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert machine.read(folder / "some.o") is None
    assert not machine.keeps()


WORK = """
import sys, time
from pathlib import Path
from nonsmooth.compile import machine
log, wait = Path(sys.argv[1]), float(sys.argv[2])
with machine.alone("work"):
    if not (machine.cache_folder() / "work.o").exists():
        with log.open("a") as file:
            file.write("compiled\\n")
        print("working", flush=True)
        time.sleep(wait)
        machine.write(machine.cache_folder() / "work.o", b"done")
"""


def working(log, wait):
    return subprocess.Popen([sys.executable, "-c", WORK, str(log), str(wait)], stdout=subprocess.PIPE, text=True)


def test_of_several_processes_one_compiles_and_the_others_wait(folder, tmp_path):
    log = tmp_path / "log"
    processes = [working(log, 0.5) for _ in range(4)]
    assert [process.communicate(timeout=120) and process.returncode for process in processes] == [0] * 4
    assert log.read_text() == "compiled\n"
    assert not list(folder.glob("*.lock"))


def test_a_holder_that_was_killed_holds_nobody_up(folder, tmp_path):
    log = tmp_path / "log"
    holder = working(log, 1e6)
    assert holder.stdout.readline() == "working\n"
    holder.kill()
    holder.communicate()
    other = working(log, 0.0)
    other.communicate(timeout=60)
    assert other.returncode == 0
    assert log.read_text() == "compiled\n" * 2


def test_waiting_ends(folder, tmp_path, monkeypatch):
    holder = working(tmp_path / "log", 1e6)
    assert holder.stdout.readline() == "working\n"
    try:
        monkeypatch.setattr(machine, "PATIENCE", 0.1)
        with machine.alone("work"):
            assert list(folder.glob("*.lock"))
    finally:
        holder.kill()
        holder.communicate()


def test_two_objects_that_were_exchanged_are_not_those_of_their_names(folder):
    for name in ("some", "other"):
        machine.write(folder / f"{name}.o", name.encode())
    (folder / "some.o").rename(folder / "third.o")
    (folder / "other.o").rename(folder / "some.o")
    (folder / "third.o").rename(folder / "other.o")
    assert [machine.read(folder / f"{name}.o") for name in ("some", "other")] == [None, None]
