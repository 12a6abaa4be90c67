"""Files of results: whole or the old one where the disk fails, refused where a byte is wrong, never a crash."""

from __future__ import annotations

import errno
import fcntl
import os
import random
import resource
import warnings

import numpy as np
import pytest
import xarray

from nonsmooth import GaussQP, InputError, Landing, ValidityWarning, files, simulate
from nonsmooth.cli import main
from nonsmooth.exceptions import NotWritten
from nonsmooth.files import LENGTH, read_dataset, remove_unfinished, write_bytes, write_dataset
from nonsmooth.trajectory import Trajectory
from nonsmooth_problems import slider_rod


@pytest.fixture(scope="module")
def trajectory():
    return simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-3))


@pytest.fixture
def written(trajectory, tmp_path):
    path = tmp_path / "run.nc"
    trajectory.save(path)
    return path


@pytest.fixture(scope="module")
def of_before(trajectory):
    """The bytes of a file without a checksum."""
    dataset = trajectory.to_dataset(complete=True)
    encoding = {name: {"_FillValue": None} for name in dataset.variables if dataset[name].dtype.kind == "f"}
    return bytes(dataset.to_netcdf(engine="h5netcdf", encoding=encoding))


def same(a, b):
    """To the same bits, with labels and attributes."""
    x, y = a.to_dataset(complete=True), b.to_dataset(complete=True)
    numbers = [name for name in x.variables if x[name].dtype.kind == "f"]
    return x.identical(y) and all(x[name].values.tobytes() == y[name].values.tobytes() for name in numbers)


def test_a_file_comes_back_to_the_same_bits(trajectory, written):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert same(Trajectory.load(written), trajectory)


SLOW_LIBRARY = """
import sys
import time

time.sleep({seconds})
sys.path.remove({folder!r})
del sys.modules["h5py"]
import h5py
"""


@pytest.mark.parametrize("library", ["loops", "waits", "never runs"])
def test_reading_without_a_checksum_is_limited_in_processor_time(library, of_before, tmp_path, monkeypatch):
    """An HDF5 that loops is ended, as with some damaged files; one that waits longer than that reads a good file."""
    folder, path = tmp_path / "library", tmp_path / "run.nc"
    folder.mkdir()
    path.write_bytes(of_before)
    wait = 1000 if library == "never runs" else 6
    source = "while True: pass" if library == "loops" else SLOW_LIBRARY.format(seconds=wait, folder=str(folder))
    (folder / "h5py.py").write_text(source)
    monkeypatch.setenv("PYTHONPATH", str(folder))
    # limits, in whole seconds rounded up with those of the size: 2 for the loop, 5 for a wait of 6, 2 by the clock
    monkeypatch.setattr(files, "PROCESSOR_TIME", 4.0 if library == "waits" else 1.0)
    if library == "never runs":
        monkeypatch.setattr(files, "WAITING", 1.0)
    if library == "waits":
        with pytest.warns(ValidityWarning, match="checksum"):
            assert Trajectory.load(path).status == "finished"
        return
    why = "is damaged: HDF5 does not finish" if library == "loops" else "could not be checked: HDF5 did not finish"
    with pytest.raises(InputError, match=why):
        Trajectory.load(path)


def test_others_read_the_file_and_find_the_checksum_explained(written):
    with xarray.open_dataset(written) as dataset:
        assert "SHA-256" in dataset.attrs["checksum"]


def test_what_a_file_cannot_hold_leaves_the_old_one(tmp_path):
    """An error of what is written, not of the disk, is told as it is."""
    path = tmp_path / "a.nc"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match="infer dtype on variable 'a'"):
        write_dataset(xarray.Dataset({"a": ("x", np.array([{}, {}], dtype=object))}), path, "The dataset")
    assert path.read_bytes() == b"old" and list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file_whole(written, monkeypatch):
    """The disk takes so many bytes and no more, at thirty sizes from none to all but one."""
    old, write = written.read_bytes(), os.write
    for room in np.linspace(0, len(old) - 1, 30).astype(int):
        left = int(room)

        def on_a_full_disk(handle, data):
            nonlocal left
            if left == 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            done = write(handle, data[: min(left, 777)])
            left -= done
            return done

        with monkeypatch.context() as patched:
            patched.setattr(os, "write", on_a_full_disk)
            with pytest.raises(NotWritten, match=r"The trajectory cannot be written to .*run.nc \(No space left"):
                write_bytes(old[::-1], written, "The trajectory")
        assert written.read_bytes() == old
        assert os.listdir(written.parent) == ["run.nc"]


def test_a_limit_on_file_sizes_leaves_the_old_file_whole(trajectory, written):
    """As a quota does; the limit is the system's own."""
    old = written.read_bytes()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(old) // 2, before[1]))
    try:
        with pytest.raises(NotWritten, match="File too large"):
            trajectory.save(written)
        with pytest.raises(NotWritten, match="The study cannot be written"):
            write_dataset(trajectory.to_dataset(), written, "The study")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert written.read_bytes() == old
    assert os.listdir(written.parent) == ["run.nc"]


@pytest.mark.parametrize("ending", ["csv", "mat", "pkl", "xlsx"])
def test_a_name_of_another_kind_of_file_is_refused(trajectory, tmp_path, ending):
    table = f"; to_{ending} writes a table" if ending in ("csv", "mat") else ""
    with pytest.raises(InputError, match=f"run.{ending}: save writes a NetCDF file, .* ends in .nc{table}"):
        trajectory.save(tmp_path / f"run.{ending}")
    assert not os.listdir(tmp_path)
    trajectory.save(tmp_path / "run-0.5")
    assert len(Trajectory.load(tmp_path / "run-0.5").t) == len(trajectory.t)


@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
def test_a_signal_while_writing_leaves_the_old_file_whole(trajectory, written, monkeypatch, call):
    old = written.read_bytes()

    def interrupted(*given):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(os, call, interrupted)
        with pytest.raises(KeyboardInterrupt):
            trajectory.save(written)
    assert written.read_bytes() == old
    assert os.listdir(written.parent) == ["run.nc"]


def test_a_folder_that_vanishes_is_told(trajectory, tmp_path, monkeypatch):
    folder = tmp_path / "gone"
    folder.mkdir()
    replace = os.replace

    def without_folder(source, target):
        os.unlink(source)
        folder.rmdir()
        replace(source, target)

    monkeypatch.setattr(os, "replace", without_folder)
    with pytest.raises(NotWritten, match="No such file or directory"):
        trajectory.save(folder / "run.nc")


def test_a_link_stays_a_link(tmp_path):
    (tmp_path / "there").mkdir()
    link = tmp_path / "run.nc"
    link.symlink_to(tmp_path / "there" / "real.nc")
    write_bytes(b"new", link, "It")
    assert link.is_symlink()
    assert (tmp_path / "there" / "real.nc").read_bytes() == b"new"


def test_a_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "a"
    path.write_bytes(b"old")
    path.chmod(0o600)
    write_bytes(b"new", path, "It")
    assert path.stat().st_mode & 0o777 == 0o600 and path.read_bytes() == b"new"


def test_what_a_killed_process_left_is_removed_and_what_another_writes_is_not(tmp_path):
    left, busy, other = (tmp_path / name for name in (".a-deadbeef0123", ".a-deadbeef0124", ".a-note"))
    for path in (left, busy, other):
        path.write_bytes(b"half")
    with busy.open("rb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        write_bytes(b"whole", tmp_path / "a", "It")
        assert sorted(os.listdir(tmp_path)) == [".a-deadbeef0124", ".a-note", "a"]
    remove_unfinished(tmp_path, ".a-")
    assert sorted(os.listdir(tmp_path)) == [".a-note", "a"]


@pytest.mark.parametrize("path", ["/dev/null", "/dev/full", "."])
def test_what_is_no_file_is_not_replaced(trajectory, path):
    with pytest.raises(NotWritten, match="a folder or a device of that name exists"):
        trajectory.save(path)


def mutations(data, count, seed):
    """Copies with bits flipped, bytes overwritten, put in, taken out, exchanged, and cut off."""
    chance = random.Random(seed)
    for k in range(count):
        copy, i, j = bytearray(data), chance.randrange(len(data) - 64), chance.randrange(len(data) - 64)
        match k % 7:
            case 0:
                copy[i] ^= 1 << chance.randrange(8)
            case 1:
                copy[i : i + 64] = chance.randbytes(64)
            case 2:
                copy[i:i] = chance.randbytes(8)
            case 3:
                del copy[i : i + chance.choice([1, 8, 512])]
            case 4:
                copy[i : i + 64], copy[j : j + 64] = copy[j : j + 64], copy[i : i + 64]
            case 5:
                del copy[i:]
            case 6:
                copy[-chance.randrange(1, LENGTH) :] = chance.randbytes(chance.randrange(200))
        if copy != data:
            yield bytes(copy)


def test_every_damage_is_refused_in_one_sentence(written):
    """Also that of the checksum itself; HDF5 sees none of these."""
    seen = set()
    for copy in mutations(written.read_bytes(), 700, seed=1):
        written.write_bytes(copy)
        with pytest.raises(InputError, match="is damaged|is incomplete|is not a NetCDF file") as told:
            Trajectory.load(written)
        assert "\n" not in str(told.value)
        seen.add(str(told.value).split(str(written))[1].split(":")[0])
    assert {" is damaged", " is incomplete"} <= seen  # the campaign is one


def test_a_truncated_file_says_how_much_is_there(written):
    data = written.read_bytes()
    written.write_bytes(data[:5000])
    stated = f"is incomplete: it contains 5000 bytes, and {len(data) - LENGTH} were written"
    with pytest.raises(InputError, match=stated):
        Trajectory.load(written)


def test_a_file_without_its_checksum_is_refused(written):
    written.write_bytes(written.read_bytes()[:-LENGTH])
    with pytest.raises(InputError, match="the checksum at its end is missing"):
        Trajectory.load(written)


def test_a_file_of_an_earlier_version_is_read_with_a_warning(trajectory, of_before, tmp_path):
    path = tmp_path / "old.nc"
    path.write_bytes(of_before)
    with pytest.warns(ValidityWarning, match="no checksum, like files of earlier versions") as told:
        loaded = Trajectory.load(path)
    assert same(loaded, trajectory)
    assert len(told) == 1


@pytest.mark.slow
def test_damaged_files_of_earlier_versions_never_crash(of_before, tmp_path):
    """Without a checksum numbers can be other ones, with the warning; all else is refused in one sentence."""
    path = tmp_path / "old.nc"
    for copy in mutations(of_before, 30, seed=2):
        path.write_bytes(copy)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                Trajectory.load(path)
            except InputError as error:
                assert "\n" not in str(error)
            else:
                assert [one.category for one in told] == [ValidityWarning]


@pytest.mark.parametrize("manifest", ["[" * 100_000, "{}", "null", '{"parameters": 3}'], ids=[*"abcd"])
def test_facts_that_are_none_are_refused(trajectory, tmp_path, manifest):
    path = tmp_path / "run.nc"
    dataset = trajectory.to_dataset().assign_attrs(manifest=manifest, counts="[" * 100_000)
    write_dataset(dataset, path, "The dataset")
    with pytest.raises(InputError, match="is not a complete trajectory"):
        Trajectory.load(path, slider_rod(case=1).build())


@pytest.mark.parametrize("facts", [{"manifest": "[]"}, {"manifest": "3"}, {"counts": "[]"}], ids=str)
def test_a_manifest_that_is_no_table_is_refused(trajectory, tmp_path, facts):
    write_dataset(trajectory.to_dataset(complete=True).assign_attrs(facts), tmp_path / "run.nc", "The trajectory")
    with pytest.raises(InputError, match="not a complete trajectory .*its manifest or its counts are no table"):
        Trajectory.load(tmp_path / "run.nc")


@pytest.mark.parametrize(
    "change", [lambda t: t[::-1], lambda t: -t, lambda t: np.where(t > 0.01, np.nan, t), lambda t: t + np.inf]
)
def test_times_that_are_none_are_refused(trajectory, tmp_path, change):
    dataset = trajectory.to_dataset(complete=True)
    write_dataset(dataset.assign_coords(time=("time", change(trajectory.t))), tmp_path / "run.nc", "The trajectory")
    with pytest.raises(InputError, match="not a complete trajectory .*its times are not finite, ascending numbers"):
        Trajectory.load(tmp_path / "run.nc")


@pytest.mark.parametrize("left_out", ["time", "q", "gap_rate_left", "impact_contact", "contact", "energy_term"])
def test_a_missing_table_is_refused_by_name(trajectory, tmp_path, left_out):
    path = tmp_path / "run.nc"
    write_dataset(trajectory.to_dataset().drop_vars(left_out), path, "The dataset")
    with pytest.raises(InputError, match=f"is not a complete trajectory.*{left_out}"):
        Trajectory.load(path)


def test_a_study_comes_back_as_it_was(tmp_path):
    path = tmp_path / "study.nc"
    dataset = xarray.Dataset({"a": ("x", [1.0, np.nan]), "b": ("x", np.array(["u", ""], dtype=object))}, attrs={"n": 3})
    write_dataset(dataset, path, "The study")
    xarray.testing.assert_identical(read_dataset(path), dataset)


@pytest.mark.parametrize("command", ["cite", "report"])
def test_commands_tell_of_damage_in_one_sentence(written, command, capsys):
    written.write_bytes(written.read_bytes()[:-1000])
    assert main([command, str(written)]) == 2
    said = capsys.readouterr()
    assert said.err.startswith(f"nonsmooth: {written} is incomplete")
    assert said.err.count("\n") == 1 and not said.out
