"""Files whose checksum their forger has computed, or left out: refused before a number is read, nothing else opened."""

from __future__ import annotations

import hashlib
import os
import resource
import subprocess
import sys
import warnings
import zlib
from pathlib import Path

import numpy as np
import pytest
from loops import some

from nonsmooth import GaussQP, InputError, Landing, Trajectory, files, simulate
from nonsmooth.files import LENGTH, STATED, read_dataset
from nonsmooth.trajectory import dataset
from nonsmooth_problems import slider_rod

h5py = pytest.importorskip("h5py")


@pytest.fixture(scope="module")
def image():
    """The bytes of a run, without its checksum."""
    return simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.004, dt=Landing(1e-6, 1e-3))


def instead(file, name, **stated):
    """Another data set in the place of one, with its attributes."""
    facts = {key: file[name].attrs[key] for key in file[name].attrs if key not in ("REFERENCE_LIST", "DIMENSION_LIST")}
    del file[name]
    made = file.create_dataset(name, **stated)
    for key, value in facts.items():
        made.attrs[key] = value
    return made


def bomb(file):
    """2 GB of zeros in 2 MB."""
    made = instead(file, "time", shape=(250_000_000,), chunks=(2_000_000,), dtype="f8", compression="gzip")
    zeros = zlib.compress(bytes(16_000_000), 9)
    for k in range(0, 250_000_000, 2_000_000):
        made.id.write_direct_chunk((k,), zeros)


def unwritten(file):
    instead(file, "time", shape=(125_000_000,), dtype="f8")


def growing(file):
    """A table without rows of an unlimited dimension, which readers of NetCDF fill up."""
    instead(file, "time", shape=(0,), maxshape=(None,), chunks=(1,), dtype="f8")


def external(file):
    made = instead(file, "impact_t", shape=(8,), dtype="u1", external=[("/etc/passwd", 0, 8)])
    assert made.external


def virtual(file):
    layout = h5py.VirtualLayout(shape=file["time"].shape, dtype="f8")
    layout[:] = h5py.VirtualSource("other.h5", "secret", shape=file["time"].shape)
    del file["time"]
    file.create_virtual_dataset("time", layout)


def repeated(file):
    """100 000 texts that are one and the same megabyte."""
    made = instead(file, "impact_contact", data=["x" * 1_000_000], shape=(1,), dtype=h5py.string_dtype())
    place = made.id.get_offset()
    file.create_dataset("contact_force", data=np.frombuffer(bytes(16) * 100_000, "u1"))
    file.flush()
    with open(file.filename, "rb") as opened:
        opened.seek(place)
        text = opened.read(16)
    del file["contact_force"]
    made = instead(file, "impact_contact", shape=(100_000,), dtype=h5py.string_dtype())
    made[0] = ""
    file.flush()
    return made.id.get_offset(), text * 100_000


def far(file):
    file["q"].attrs["_Netcdf4Coordinates"] = np.array([0, 77], "i4")


def strange(file):
    instead(file, "mode", data=np.zeros(file["mode"].shape, dtype=[("a", "i1")]))


def nested(file):
    file.create_group("time2")


def linked(file):
    del file["time"]
    file["time"] = h5py.ExternalLink("other.h5", "/secret")


def ring(file):
    del file["time"]
    file["time"] = h5py.SoftLink("/time")


def more(file):
    file["rows"] = np.zeros(3)


def many(file):
    for k in range(5000):
        file[f"law_memory.{k}"] = 0.0


def wordy(file):
    file.attrs["status"] = np.array(["x" * 50_000] * 2, dtype=h5py.string_dtype())


def crowded(file):
    for k in range(100):
        file["q"].attrs[f"a{k}"] = 1.0


def undecodable(file):
    """A byte that no text in UTF-8 has, which no page or table could be written with."""
    file.attrs.create("status", b"fini\xd5hed", dtype=h5py.string_dtype())


HOSTILE = {
    bomb: "is compressed", unwritten: "is not stored inside|more numbers than it can hold", growing: "dimensions",
    external: "lie in another file", virtual: "lie in another file", repeated: "more numbers than it can hold",
    far: "not that of its dimensions", strange: "neither numbers nor texts", nested: "has no table 'time2'",
    linked: "is a link", ring: "is a link", more: "has no table 'rows'", many: "at most 4096 are read",
    wordy: "has too many values", crowded: "has 1",
    undecodable: "the attribute 'status' of the file is no Unicode text",
}  # fmt: skip


@pytest.mark.parametrize("sealed", [True, False], ids=["sealed", "bare"])
@pytest.mark.parametrize("attack", some(HOSTILE, 7), ids=lambda one: one.__name__)
def test_what_a_forger_puts_in_is_refused_before_it_is_read(image, tmp_path, monkeypatch, attack, sealed):
    """A quarter of a gigabyte above what the process has is room for none of these; the file is a megabyte at most."""
    path = tmp_path / "run.nc"
    image.save(path)
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["secret"] = np.arange(float(len(image.t)))
    data = path.read_bytes()[:-LENGTH]
    path.write_bytes(data)
    with h5py.File(path, "r+") as file:
        patch = attack(file)
    data = bytearray(path.read_bytes())
    if patch is not None:
        place, raw = patch
        data[place : place + len(raw)] = raw
    data = bytes(data)
    if sealed:
        data += f"\nsha256 {hashlib.sha256(data).hexdigest()} of {len(data):020d} bytes\n".encode()
    else:
        data = data.replace(STATED.encode(), b" " * len(STATED))
    path.write_bytes(data)
    monkeypatch.chdir(tmp_path)
    import xarray  # noqa: F401  # which takes room of its own

    before = resource.getrlimit(resource.RLIMIT_AS)
    now = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (now + (1 << 28), before[1]))
    try:
        with pytest.raises(InputError, match=f"is not a trajectory of this package: .*({HOSTILE[attack]})") as told:
            Trajectory.load(path)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                read_dataset(path)  # of any names: refused too, unless names were all there was to refuse
            except InputError as error:
                assert "\n" not in str(error)
            else:
                assert attack in (more,)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
    assert "\n" not in str(told.value)


def before(file):
    """A row before the first."""
    file["jump.row"][0] = -1


def behind(file):
    file["jump.row"][-1] = file["time"].shape[0]


def backwards(file):
    file["jump.row"][...] = file["jump.row"][()][::-1]


def broken(file):
    instead(file, "jump.row", data=np.arange(float(file["jump.row"].shape[0])))


def wider(file):
    """Velocities of the left limits for gap velocities."""
    facts = file["jump.gap_rate_left"].attrs["_Netcdf4Coordinates"], file["jump.v_left"].attrs["_Netcdf4Coordinates"]
    made = instead(file, "jump.gap_rate_left", data=file["jump.v_left"][()])
    assert len(facts[0]) == 2
    made.attrs["_Netcdf4Coordinates"] = facts[1]


def powered(file):
    """An energy for each velocity."""
    made = instead(file, "energy.kinetic", data=file["v"][0])
    made.attrs["_Netcdf4Coordinates"] = file["v"].attrs["_Netcdf4Coordinates"][1:]


def absent(file):
    del file["energy.start"]


LONG = {
    before: "not a list of rows", behind: "not a list of rows", backwards: "not a list of rows",
    broken: "not a list of rows", wider: "does not fit gap_rate", powered: "no energy at the rows",
    absent: "energy.start",
}  # fmt: skip


@pytest.mark.parametrize("attack", LONG, ids=lambda one: one.__name__)
def test_a_long_file_whose_tables_do_not_fit_is_refused(tmp_path, monkeypatch, attack):
    """With a correct checksum: before a table is put together of the others."""
    monkeypatch.setattr(dataset, "LONG", 1)
    path = tmp_path / "run.nc"
    run = simulate(slider_rod(case=2).build(), GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-3))
    assert run.left.v.table.at.size > 1
    run.save(path)
    path.write_bytes(path.read_bytes()[:-LENGTH])
    with h5py.File(path, "r+") as file:
        attack(file)
    data = path.read_bytes()
    path.write_bytes(data + f"\nsha256 {hashlib.sha256(data).hexdigest()} of {len(data):020d} bytes\n".encode())
    with pytest.raises(InputError, match=f"is not a .*trajectory.*{LONG[attack]}") as told:
        Trajectory.load(path)
    assert "\n" not in str(told.value)


def test_an_escape_that_is_no_character_is_refused(image, tmp_path):
    path = tmp_path / "run.nc"
    image.save(path)
    data = path.read_bytes()[:-LENGTH].replace(b'"slider-rod"', b'"sl\\ud8d5od"', 1)
    path.write_bytes(data + f"\nsha256 {hashlib.sha256(data).hexdigest()} of {len(data):020d} bytes\n".encode())
    with pytest.raises(InputError, match="is not a complete trajectory .*surrogates"):
        Trajectory.load(path)


def test_the_separate_process_needs_nothing_of_the_package():
    """It is started as a script, wherever the package is; a file that is none ends it with an error."""
    from nonsmooth.files import hdf5_check as inspection

    done = subprocess.run(
        [sys.executable, "-P", "-I", inspection.__file__, "10", "", "", os.devnull],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "OSError" in done.stderr


def test_a_file_on_which_hdf5_loops_is_ended_whatever_its_checksum(image, tmp_path, monkeypatch):
    """A text lies in a heap, whose free room is said to be of no size: HDF5 goes from it to itself."""
    path = tmp_path / "run.nc"
    image.save(path)
    data = bytearray(path.read_bytes()[:-LENGTH])
    heap = data.index(b"GCOL")
    data[heap + 16 : heap + 18] = bytes(2)  # the number of the first one: that of free room
    data[heap + 24 : heap + 32] = bytes(8)
    seal = f"\nsha256 {hashlib.sha256(data).hexdigest()} of {len(data):020d} bytes\n".encode()
    path.write_bytes(bytes(data) + seal)
    monkeypatch.setattr(files, "PROCESSOR_TIME", 1.0)
    with pytest.raises(InputError, match="is damaged: HDF5 does not finish|cannot be read"):
        Trajectory.load(path)


def test_many_files_of_other_processes_are_read_by_one(image, tmp_path, monkeypatch):
    paths = [tmp_path / f"{k}.nc" for k in range(3)]
    for path in paths:
        image.save(path)
    monkeypatch.setattr(files, "_READABLE", set())
    begun, run = [], subprocess.run
    monkeypatch.setattr(subprocess, "run", lambda words, **how: begun.append(words) or run(words, **how))
    files.inspect(paths)
    assert [len(Trajectory.load(path).t) for path in paths] == [len(image.t)] * 3
    assert len(begun) == 1
