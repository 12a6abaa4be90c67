"""Files of measured data: one reader with units for plots, fits and estimates."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.files.csv_data import read_table
from nonsmooth.identification import Measurement


def written(tmp_path, text):
    path = tmp_path / "measured.csv"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("head", "row", "t", "angle"),
    [
        ("t,crank.angle", "0.5,1.5", 0.5, 1.5),
        ("t [ms],crank.angle [deg]", "500,90", 0.5, np.pi / 2),
        ("time [ms];crank.angle [mrad]", "500,0;1,5", 0.5, 1.5e-3),  # decimal commas
        ("t [s]\tcrank.angle [rev]", "0.5\t0.25", 0.5, np.pi / 2),
    ],
)
def test_units_of_columns(tmp_path, head, row, t, angle):
    """A unit in brackets scales its column, none leaves it: exact but for one rounding."""
    read = read_table(written(tmp_path, f"# a comment\n{head}\n{row}\n"))
    assert read.times() == pytest.approx([t], rel=1e-15)
    assert read.column("crank.angle", "rad or m") == pytest.approx([angle], rel=1e-15)


def test_units_of_forces_and_motions_of_drives(tmp_path):
    t = np.arange(30.0)
    rows = "\n".join(f"{k},{10 * k},{k % 7},{k + 1}" for k in t)
    path = written(tmp_path, f"t [ms],motor.q [deg],motor.force [mN m],motor.v [rpm]\n{rows}\n")
    read = Measurement.from_csv(path, ["motor"])
    assert read.t == pytest.approx(1e-3 * t) and read.q[:, 0] == pytest.approx(np.deg2rad(10 * t))
    assert read.force[:, 0] == pytest.approx(1e-3 * (t % 7)) and read.a is None
    assert read.v[:, 0] == pytest.approx((t + 1) * np.pi / 30)


def test_a_delimiter_behind_the_last_column_is_none_of_another(tmp_path):
    for text in ("t,a,\n0,1,\n1,,\n", "t,a,\n0,1\n1,nan\n"):
        read = read_table(written(tmp_path, text))
        assert read.names == ("t", "a") and read.times().tolist() == [0.0, 1.0]
        np.testing.assert_array_equal(read.column("a", "rad"), [1.0, np.nan])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("t,a\n1,x\n", 'line 2: "x" in column "a" is not a number'),
        ("t,a\n1\n", "line 2: 2 columns are named, got 1"),
        ("t,a [N]\n1,2\n", "the column a has the unit N, which is of another dimension than rad"),
        ("t,a [wombat]\n1,2\n", 'unknown unit "wombat"'),
        ("b,a\n1,2\n", 'has no column "t" of times'),
        ("t,b\n1,2\n", 'has no column "a"'),
        ("", "is empty"),
        ("t,a\n0,inf\n", 'line 2: "inf" in column "a" is not a number'),
        ("t,a\n0,1e999\n", 'line 2: "1e999" in column "a" is not a number'),
        ("t,a\n0,1_000\n", 'line 2: "1_000" in column "a" is not a number'),
        ("t,a\n0,\u0661\u0662\n", "is not a number"),  # Arabic digits
        ("t,a\n1,1\n0,2\n", "times must increase, but 1 s is followed by 0 s"),
        ("t,a\n0,1\n1,2\n1,3\n", "times must increase, but 1 s is followed by 1 s"),
        ("t,a\nnan,1\n1,2\n", "every line needs a time in its column 't'"),
        ("t,,a\n0,1,2\n", "column 2 has no name"),
        ("t,a,a\n0,1,2\n", 'two columns are called "a"'),
        ("t,a\n0," + "1" * 131_073 + "\n", "field larger than field limit"),
    ],
)
def test_wrong_files_get_one_sentence(tmp_path, text, sentence):
    path = written(tmp_path, text)
    with pytest.raises(InputError) as error:
        read = read_table(path)
        read.times(), read.column("a", "rad")
    assert sentence in str(error.value) and "\n" not in str(error.value)
