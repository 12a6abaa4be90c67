"""The folder of object code: what lies there is run, so nobody but the user may have written it."""

from __future__ import annotations

import os
import stat

import pytest

from nonsmooth.native import compiler

pytestmark = pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows gives each user a folder of their own")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    return compiler.cache_folder()


def test_it_is_made_for_the_user_alone(folder):
    assert compiler.keeps()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_code_that_was_kept_is_read(folder):
    compiler._write(folder / "some.o", b"code")
    assert compiler._read(folder / "some.o") == b"code"


@pytest.mark.parametrize("mode", [0o777, 0o770, 0o702])
def test_code_that_others_could_have_written_is_compiled_anew(folder, mode):
    compiler._write(folder / "some.o", b"code")
    folder.chmod(mode)
    assert compiler._read(folder / "some.o") is None
    assert not compiler.keeps()
    compiler._write(folder / "other.o", b"code")
    assert not (folder / "other.o").exists()


def test_code_in_a_folder_of_another_user_is_not_read(folder, monkeypatch):
    compiler._write(folder / "some.o", b"code")
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert compiler._read(folder / "some.o") is None
    assert not compiler.keeps()
