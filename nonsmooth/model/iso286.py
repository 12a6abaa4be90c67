"""Limit deviations of holes and shafts by ISO 286-1 for nominal sizes to 500 mm, computed from its tables.

A tolerance class such as H7 is a letter, the fundamental deviation, and a grade, IT7. The tables contain the grades and
the fundamental deviations of shafts; deviations of holes follow from those of shafts by rules, which stand here as
code. Not covered are js and JS rounded to even numbers, j, J, cd, ef, fg, za, zb and zc, and grades IT01 and IT0.
"""

import difflib
import re
from typing import NamedTuple

from nonsmooth.exceptions import InputError

#: largest nominal size [mm]
LARGEST = 500.0
GRADES = range(1, 19)

#: tolerance [um] of each grade, by ranges of the nominal size [mm], "over" and "up to and including"
_GRADES = """
over_mm to_mm IT1 IT2 IT3 IT4 IT5 IT6 IT7 IT8 IT9 IT10 IT11 IT12 IT13 IT14 IT15 IT16 IT17 IT18
      0     3 0.8 1.2   2   3   4   6  10  14  25   40   60  100  140  250  400  600 1000 1400
      3     6   1 1.5 2.5   4   5   8  12  18  30   48   75  120  180  300  480  750 1200 1800
      6    10   1 1.5 2.5   4   6   9  15  22  36   58   90  150  220  360  580  900 1500 2200
     10    18 1.2   2   3   5   8  11  18  27  43   70  110  180  270  430  700 1100 1800 2700
     18    30 1.5 2.5   4   6   9  13  21  33  52   84  130  210  330  520  840 1300 2100 3300
     30    50 1.5 2.5   4   7  11  16  25  39  62  100  160  250  390  620 1000 1600 2500 3900
     50    80   2   3   5   8  13  19  30  46  74  120  190  300  460  740 1200 1900 3000 4600
     80   120 2.5   4   6  10  15  22  35  54  87  140  220  350  540  870 1400 2200 3500 5400
    120   180 3.5   5   8  12  18  25  40  63 100  160  250  400  630 1000 1600 2500 4000 6300
    180   250 4.5   7  10  14  20  29  46  72 115  185  290  460  720 1150 1850 2900 4600 7200
    250   315   6   8  12  16  23  32  52  81 130  210  320  520  810 1300 2100 3200 5200 8100
    315   400   7   9  13  18  25  36  57  89 140  230  360  570  890 1400 2300 3600 5700 8900
    400   500   8  10  15  20  27  40  63  97 155  250  400  630  970 1550 2500 4000 6300 9700
"""

#: fundamental deviation [um] of shafts: es of a to h, ei of k (grades 4 to 7) to z; "-" is not defined
_DEVIATIONS = """
over_mm to_mm     a    b    c    d    e   f   g h k  m  n  p   r   s   t   u   v   x    y    z
      0     3  -270 -140  -60  -20  -14  -6  -2 0 0  2  4  6  10  14   -  18   -  20    -   26
      3     6  -270 -140  -70  -30  -20 -10  -4 0 1  4  8 12  15  19   -  23   -  28    -   35
      6    10  -280 -150  -80  -40  -25 -13  -5 0 1  6 10 15  19  23   -  28   -  34    -   42
     10    14  -290 -150  -95  -50  -32 -16  -6 0 1  7 12 18  23  28   -  33   -  40    -   50
     14    18  -290 -150  -95  -50  -32 -16  -6 0 1  7 12 18  23  28   -  33  39  45    -   60
     18    24  -300 -160 -110  -65  -40 -20  -7 0 2  8 15 22  28  35   -  41  47  54   63   73
     24    30  -300 -160 -110  -65  -40 -20  -7 0 2  8 15 22  28  35  41  48  55  64   75   88
     30    40  -310 -170 -120  -80  -50 -25  -9 0 2  9 17 26  34  43  48  60  68  80   94  112
     40    50  -320 -180 -130  -80  -50 -25  -9 0 2  9 17 26  34  43  54  70  81  97  114  136
     50    65  -340 -190 -140 -100  -60 -30 -10 0 2 11 20 32  41  53  66  87 102 122  144  172
     65    80  -360 -200 -150 -100  -60 -30 -10 0 2 11 20 32  43  59  75 102 120 146  174  210
     80   100  -380 -220 -170 -120  -72 -36 -12 0 3 13 23 37  51  71  91 124 146 178  214  258
    100   120  -410 -240 -180 -120  -72 -36 -12 0 3 13 23 37  54  79 104 144 172 210  254  310
    120   140  -460 -260 -200 -145  -85 -43 -14 0 3 15 27 43  63  92 122 170 202 248  300  365
    140   160  -520 -280 -210 -145  -85 -43 -14 0 3 15 27 43  65 100 134 190 228 280  340  415
    160   180  -580 -310 -230 -145  -85 -43 -14 0 3 15 27 43  68 108 146 210 252 310  380  465
    180   200  -660 -340 -240 -170 -100 -50 -15 0 4 17 31 50  77 122 166 236 284 350  425  520
    200   225  -740 -380 -260 -170 -100 -50 -15 0 4 17 31 50  80 130 180 258 310 385  470  575
    225   250  -820 -420 -280 -170 -100 -50 -15 0 4 17 31 50  84 140 196 284 340 425  520  640
    250   280  -920 -480 -300 -190 -110 -56 -17 0 4 20 34 56  94 158 218 315 385 475  580  710
    280   315 -1050 -540 -330 -190 -110 -56 -17 0 4 20 34 56  98 170 240 350 425 525  650  790
    315   355 -1200 -600 -360 -210 -125 -62 -18 0 4 21 37 62 108 190 268 390 475 590  730  900
    355   400 -1350 -680 -400 -210 -125 -62 -18 0 4 21 37 62 114 208 294 435 530 660  820 1000
    400   450 -1500 -760 -440 -230 -135 -68 -20 0 5 23 40 68 126 232 330 490 595 740  920 1100
    450   500 -1650 -840 -480 -230 -135 -68 -20 0 5 23 40 68 132 252 360 540 660 820 1000 1250
"""

#: letters with clearance, in the order of decreasing clearance, and the others
LOOSE, TIGHT = "abcdefgh", ("js", "k", "m", "n", "p", "r", "s", "t", "u", "v", "x", "y", "z")
SHAFTS = (*LOOSE, *TIGHT)
HOLES = tuple(letter.upper() for letter in SHAFTS)
#: letters of the standard that are not covered
MISSING = ("cd", "ef", "fg", "j", "za", "zb", "zc")
#: grades of k with the deviation of the table; 0 in others
GRADES_OF_K = range(4, 8)


class Limits(NamedTuple):
    """Limit deviations [um]: lower EI or ei, upper ES or es."""

    lower: float
    upper: float


#: by the largest size [mm] of a range, in ascending order, the values [um] by head
_Table = dict[float, dict[str, float | None]]


def _table(text: str) -> _Table:
    (_, _, *heads), *rows = (line.split() for line in text.strip().splitlines())
    cells = ((to, [None if cell == "-" else float(cell) for cell in row]) for _, to, *row in rows)
    return {float(to): dict(zip(heads, row, strict=True)) for to, row in cells}


_IT, _SHAFTS = _table(_GRADES), _table(_DEVIATIONS)


def _row(table: _Table, size: float) -> dict[str, float | None]:
    check_size(size)
    return next(row for to, row in table.items() if size <= to)


def check_size(size: float) -> None:
    """Raise InputError for a nominal size [mm] outside of the tables."""
    if not 0.0 < size <= LARGEST:
        near = "1" if not size > 0.0 else f"{LARGEST:g}"
        raise InputError(
            f"ISO 286 fits are for nominal sizes over 0 up to {LARGEST:g} mm, got {size:g} mm; the nearest is {near} "
            "mm; other clearances are given as numbers in metres."
        )


def it_grade(grade: int, size: float) -> float:
    """Tolerance [um] of a grade, 1 to 18, at a nominal size [mm]; InputError for what the tables do not contain."""
    if grade not in GRADES:
        near = min(max(grade, GRADES[0]), GRADES[-1])
        raise InputError(f"There is no grade IT{grade} in the tables: grades are IT1 to IT18; the nearest is IT{near}.")
    value = _row(_IT, size)[f"IT{grade}"]
    assert value is not None
    return value


def shaft(letter: str, grade: int, size: float) -> Limits:
    """Limit deviations ei, es [um] of a shaft at a size [mm]; a to h ``ei = es - IT``, k to z ``es = ei + IT``."""
    tolerance = it_grade(grade, size)
    if letter == "js":
        return Limits(-tolerance / 2, tolerance / 2)
    deviation = 0.0 if letter == "k" and grade not in GRADES_OF_K else _deviation(letter, letter, grade, size)
    return Limits(deviation - tolerance, deviation) if letter in LOOSE else Limits(deviation, deviation + tolerance)


def hole(letter: str, grade: int, size: float) -> Limits:
    """Limit deviations EI, ES [um] of a hole at a size [mm]. A to H: ``EI = -es`` of the shaft with the same letter. K,
    M, N up to IT8 and P to Z up to IT7: ``ES = -ei + Delta`` with ``Delta = IT(n) - IT(n-1)``, 0 up to 3 mm, so that
    H7/p6 and P7/h6 have the same clearance. Coarser ones: ``ES = -ei``, and 0 for K and N."""
    tolerance, small = it_grade(grade, size), letter.lower()
    if small == "js":
        return Limits(-tolerance / 2, tolerance / 2)
    deviation = _deviation(letter, small, grade, size)
    if small in LOOSE:
        return Limits(0.0 - deviation, tolerance - deviation)
    if letter == "M" and grade == 6 and 250.0 < size <= 315.0:
        upper = -9.0  # an exception of the standard: -11 by the rule
    elif grade <= (8 if letter in "KMN" else 7):
        upper = -deviation
        if size > 3.0:
            if grade == GRADES[0]:
                raise InputError(f"{letter}{grade} is not covered, since it needs IT0; the nearest is {letter}2.")
            upper = upper + tolerance - it_grade(grade - 1, size)
    elif letter in "KN":
        upper = -4.0 if letter == "N" and size <= 3.0 else 0.0
    else:
        upper = -deviation
    return Limits(upper - tolerance, upper)


def _deviation(letter: str, small: str, grade: int, size: float) -> float:
    row = _row(_SHAFTS, size)
    known = {one: x for one, x in row.items() if x is not None and not (one in "ab" and size <= 1.0)}
    if small in known:
        return known[small]
    order = list(row)
    near = min(known, key=lambda one: abs(order.index(one) - order.index(small)))
    near = near.upper() if letter.isupper() else near
    raise InputError(f"ISO 286 does not define {letter} at {size:g} mm; the nearest that it does is {near}{grade}.")


def parts_of(text: str, kind: str) -> tuple[str, int]:
    """Letter and grade of a tolerance class of a "hole" or "shaft", such as ``H7``; InputError for an unknown one."""
    known, example = (HOLES, "H7") if kind == "hole" else (SHAFTS, "g6")
    found = re.fullmatch(r"\s*([A-Za-z]+)\s*(\d+)\s*", text)
    if found is None:
        raise InputError(f"A {kind} is a letter and a grade, as {example}, got {text.strip()!r}.")
    letter, grade = found[1], int(found[2])
    nearest = min(max(grade, GRADES[0]), GRADES[-1])
    if letter not in known:
        turned, low = letter.lower() if kind == "shaft" else letter.upper(), letter.lower()
        if turned in known:
            case = "capital" if kind == "hole" else "small"
            raise InputError(f"A {kind} has {case} letters: write {turned}{nearest} instead of {letter}{nearest}.")
        small = [one.lower() for one in known]
        near = difflib.get_close_matches(low, small, n=1, cutoff=0.6)
        # the one before it in the alphabet
        near = near or [one for one in sorted(small, reverse=True) if one < low] or ["a"]
        best = near[0].upper() if kind == "hole" else near[0]
        why = "is not covered" if low in MISSING else f"is no letter of a {kind} in ISO 286"
        raise InputError(f"{letter} {why}; the nearest is {best}{nearest} (the letters are {', '.join(known)}).")
    if found[2] == "01" or grade not in GRADES:
        raise InputError(f"There is no {text.strip()}: grades are IT1 to IT18; the nearest is {letter}{nearest}.")
    return letter, grade
