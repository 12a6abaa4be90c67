"""Limit deviations of ISO 286: every cell of its tables, the rules for holes, and slips of public tables.

The two CSV files contain the tables of the standard in micrometres, as three independent transcriptions have them;
where public tables differ from each other, the slips are tests of their own below.
"""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.model.iso286 import GRADES, HOLES, SHAFTS, hole, it_grade, parts_of, shaft

HERE = Path(__file__).parent


def rows(name: str) -> list[dict[str, str]]:
    with open(HERE / f"iso286_{name}.csv", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def sizes(row: dict[str, str]) -> tuple[float, float]:
    """Just above the lower bound, of the first step above 1 mm, and at the upper bound, which belongs to the step."""
    return max(float(row["over_mm"]) + 1e-6, 1.5), float(row["to_mm"])


def test_every_grade():
    """13 steps of 18 grades."""
    seen = [(it_grade(grade, size), float(row[f"IT{grade}"]))
            for row in rows("it_grades") for grade in GRADES for size in sizes(row)]  # fmt: skip
    assert len(seen) == 2 * 13 * 18 and all(found == expected for found, expected in seen)


def test_every_deviation_of_shafts():
    """25 steps of 20 letters; empty cells are refused, and the grade moves only the other limit."""
    count = 0
    for row in rows("shaft_deviations"):
        for letter, cell in list(row.items())[2:]:
            for size in sizes(row):
                count += 1
                if not cell:
                    with pytest.raises(InputError, match=f"does not define {letter} at"):
                        shaft(letter, 6, size)
                    continue
                expected = float(cell)
                for grade in range(4, 8):
                    found = shaft(letter, grade, size)
                    assert (found.upper if letter <= "h" else found.lower) == expected
                    assert found.upper - found.lower == it_grade(grade, size)
                if letter <= "h":
                    assert hole(letter.upper(), 7, size).lower == -expected
    assert count == 2 * 25 * 20


def test_grades_are_a_series():
    """IT(n+5) = 10 IT(n) from IT6, and each grade is 1.6 times the last, both rounded: by up to 7 % and 13 %."""
    tenfold = []
    for row in rows("it_grades"):
        tenfold += [float(row[f"IT{grade + 5}"]) / float(row[f"IT{grade}"]) for grade in range(6, 14)]
        for grade in range(6, 18):
            assert float(row[f"IT{grade + 1}"]) / float(row[f"IT{grade}"]) == pytest.approx(10**0.2, rel=0.13)
    assert tenfold == pytest.approx([10.0] * 13 * 8, rel=0.07) and tenfold.count(10.0) > 0.9 * len(tenfold)


#: ES [um] of a published table of limits, at the upper ends of the steps from 3-6 to 315-400 mm
STEPS = (6, 10, 18, 30, 50, 80, 120, 180, 250, 315, 400)
PUBLISHED = {
    "K6": (2, 2, 2, 2, 3, 4, 4, 4, 5, 5, 7), "K7": (3, 5, 6, 6, 7, 9, 10, 12, 13, 16, 17),
    "K8": (5, 6, 8, 10, 12, 14, 16, 20, 22, 25, 28), "M6": (-1, -3, -4, -4, -4, -5, -6, -8, -8, -9, -10),
    "M7": (0,) * 11, "M8": (2, 1, 2, 4, 5, 5, 6, 8, 9, 9, 11),
    "N6": (-5, -7, -9, -11, -12, -14, -16, -20, -22, -25, -26),
    "N7": (-4, -4, -5, -7, -8, -9, -10, -12, -14, -14, -16), "N8": (-2, -3, -3, -3, -3, -4, -4, -4, -5, -5, -5),
    "P6": (-9, -12, -15, -18, -21, -26, -30, -36, -41, -47, -51),
    "P7": (-8, -9, -11, -14, -17, -21, -24, -28, -33, -36, -41),
    "P8": (-12, -15, -18, -22, -26, -32, -37, -43, -50, -56, -62),
    "R6": (-12, -16, -20, -24, -29, -37, -47, -61, -75, -89, -103),
    "R7": (-11, -13, -16, -20, -25, -32, -41, -53, -67, -78, -93),
}  # fmt: skip


@pytest.mark.parametrize("name", PUBLISHED)
def test_holes_by_the_rules(name):
    """With Delta up to IT8 (K, M, N) and IT7 (P, R), without it above; M6 of 250 to 315 mm is the exception, -9."""
    letter, grade = parts_of(name, "hole")
    assert [hole(letter, grade, size).upper for size in STEPS] == list(PUBLISHED[name])


def test_holes_without_delta():
    assert hole("K", 9, 20.0).upper == 0.0 and hole("N", 9, 20.0).upper == 0.0 and hole("N", 9, 3.0).upper == -4.0
    assert hole("M", 9, 20.0).upper == -8.0 and hole("M", 6, 250.0).upper == -8.0 and hole("M", 6, 316.0).upper == -10.0
    assert hole("P", 7, 3.0) == (-16.0, -6.0)  # no Delta up to 3 mm
    assert shaft("k", 8, 20.0) == (0.0, 33.0) and shaft("k", 7, 20.0) == (2.0, 23.0)
    assert shaft("js", 7, 20.0) == hole("JS", 7, 20.0) == (-10.5, 10.5)


def test_the_same_clearance_on_a_basic_hole_and_on_a_basic_shaft():
    """That is what Delta is for: H7/p6 and P7/h6, H8/n7 and N8/h7 have the same limits."""
    for row in rows("shaft_deviations")[1:]:
        size = float(row["to_mm"])
        for letter, fine in (("k", 7), ("m", 7), ("n", 7), ("p", 6), ("r", 6), ("s", 6)):
            basic, other = hole("H", fine + 1, size), shaft(letter, fine, size)
            turned, shaft_h = hole(letter.upper(), fine + 1, size), shaft("h", fine, size)
            assert basic.lower - other.upper == turned.lower - shaft_h.upper


SLIPS = [
    ("rubensdmd/mechanical_fits: IT1 without its decimal point", it_grade(1, 3.0), 0.8),
    ("rubensdmd/mechanical_fits: a of 400 to 500 mm with the wrong sign", shaft("a", 9, 450.0).upper, -1500.0),
    ("rubensdmd/mechanical_fits: b of 250 to 280 mm -460", shaft("b", 9, 280.0).upper, -480.0),
    ("Ralul/TI-84: IT9 of 3 to 6 mm 20", it_grade(9, 6.0), 30.0),
    ("georgievm/py-tkinter-iso-fits: f5 of 6 to 10 mm -29", shaft("f", 5, 10.0).lower, -19.0),
    ("georgievm/py-tkinter-iso-fits: F6 of 30 to 50 mm 2", hole("F", 6, 40.0).lower, 25.0),
    ("georgievm/py-tkinter-iso-fits: E7 of 315 to 400 mm 185", hole("E", 7, 400.0).upper, 182.0),
    ("ISO 286-2:1988, corrigendum 1: A13 of 315 to 355 mm", hole("A", 13, 340.0).upper, 2090.0),
    ("ISO 286-2:1988, corrigendum 1: E8 of 80 to 120 mm", hole("E", 8, 100.0).upper, 126.0),
    ("ISO 286-2:1988, corrigendum 1: R10 of 18 to 30 mm", hole("R", 10, 25.0).upper, -28.0),
    ("ISO 286-2:1988, corrigendum 1: f9 of 250 to 315 mm", shaft("f", 9, 300.0).lower, -186.0),
]


@pytest.mark.parametrize(("slip", "found", "right"), SLIPS, ids=[slip for slip, *_ in SLIPS])
def test_slips_of_public_tables_are_not_repeated(slip, found, right):
    assert found == right


@pytest.mark.parametrize(
    ("text", "kind", "message"),
    [
        ("q6", "shaft", "q is no letter of a shaft in ISO 286; the nearest is p6"),
        ("fg6", "shaft", "fg is not covered; the nearest is g6"),
        ("h7", "hole", "write H7 instead of h7"),
        ("H19", "hole", "the nearest is H18"),
        ("g0", "shaft", "the nearest is g1"),
        ("7H", "hole", "a letter and a grade, as H7"),
    ],
)
def test_classes_that_do_not_exist(text, kind, message):
    with pytest.raises(InputError, match=message):
        parts_of(text, kind)


def test_every_letter_is_read():
    assert [parts_of(f"{one}7", "shaft") for one in SHAFTS] == [(one, 7) for one in SHAFTS]
    assert [parts_of(f"{one}7", "hole") for one in HOLES] == [(one, 7) for one in HOLES]
