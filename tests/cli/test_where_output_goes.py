"""Names that are none, streams that are closed or full, and interpreters without docstrings."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nonsmooth import InputError, PlanarBody
from nonsmooth.cli import main
from nonsmooth.files import remove_unfinished, write_bytes
from nonsmooth.files.csv_data import _cells
from nonsmooth.flexible import Material
from nonsmooth.model.registry import get_problem

ROD = ["run", "slider-rod", "--case", "2", "--t-end", "1e-3", "--dt", "1e-4"]


def command(words, folder, *, python=(), shell="", **environment):
    line = " ".join([sys.executable, *python, "-m", "nonsmooth", *words, shell])
    # the package of this test wherever it is, with its folder as the working one
    return subprocess.run(
        ["/bin/sh", "-c", line], cwd=folder, env=os.environ | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("name", ["a\0.nc", "a" * 300 + ".nc"], ids=["nul", "long"])
def test_a_name_that_no_file_can_have_is_one_sentence(name, capsys):
    assert main([*ROD, "--output", name]) == 2
    said = capsys.readouterr().err
    assert said.startswith("nonsmooth: ") and "--output" in said and said.count("\n") == 1


@pytest.mark.slow
def test_streams_that_are_closed_or_full(tmp_path):
    """A file is written without stderr, without both, and on a full device for the table of results."""
    for name, shell, code in (("a", "2>&-", 0), ("b", ">&- 2>&-", 0), ("c", "> /dev/full", 1)):
        done = command([*ROD, "--output", f"{name}.nc"], tmp_path, shell=shell)
        assert done.returncode == code, done.stderr
        assert (tmp_path / f"{name}.nc").stat().st_size > 10_000
    assert done.stderr.count("\n") == 1 and "No space left on device" in done.stderr


@pytest.mark.slow
def test_figures_of_the_command_line_need_no_display(tmp_path):
    done = command([*ROD, "--figure", "f.png", "-q"], tmp_path, MPLBACKEND="nope")
    assert done.returncode == 0 and (tmp_path / "f.png").exists(), done.stderr


@pytest.mark.slow
def test_problems_are_found_without_docstrings(tmp_path):
    done = command(["list"], tmp_path, python=("-OO",))
    assert done.returncode == 0 and "slider-rod" in done.stdout


def test_a_cell_that_is_too_long_is_one_sentence():
    with pytest.raises(InputError, match="field larger than field limit"):
        _cells("0," + "1" * 131_073, ",")


def test_a_case_given_twice_and_values_that_are_no_numbers(capsys):
    assert main([*ROD, "--set", "case=3"]) == 2
    assert "--case 2 and --set case=3 exclude each other" in capsys.readouterr().err
    with pytest.raises(InputError, match="case is a number"):
        get_problem("slider-rod")(case=True)
    with pytest.raises(InputError, match="youngs of a Material must be a positive number, got 'x'"):
        Material(youngs="x", shear=1.0, density=1.0)
    with pytest.raises(InputError, match="a non-empty word without dots, got .*x00"):
        PlanarBody("\0", mass=1.0, inertia=1.0)


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_bytes(b"new", path, "It")
    assert path.stat().st_mode & 0o777 == 0o600 and path.read_bytes() == b"new"


def test_what_a_killed_process_left_is_removed_and_what_another_writes_is_not(tmp_path):
    import fcntl

    left, busy, other = (tmp_path / name for name in (".a-deadbeef0123", ".a-deadbeef0124", ".a-note"))
    for path in (left, busy, other):
        path.write_bytes(b"half")
    with busy.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_bytes(b"whole", tmp_path / "a", "It")
        assert sorted(os.listdir(tmp_path)) == [".a-deadbeef0124", ".a-note", "a"]
    remove_unfinished(tmp_path, ".a-")
    assert sorted(os.listdir(tmp_path)) == [".a-note", "a"]
