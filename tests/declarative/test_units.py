"""Strings with units: values rounded once, dimensions checked."""

from __future__ import annotations

import math

import pytest

from nonsmooth.model.kinds import element_kinds
from nonsmooth.quantities import Wrong, declarations, in_unit, parse_unit

VALUES = [
    ("0.5 mm", "m", 0.5e-3),
    ("0.3mm", "m", 0.0003),
    ("-1.7e2 um", "m", -1.7e-4),
    ("−5 µm", "m", -5e-6),
    ("90 deg", "rad", math.pi / 2),
    ("180°", "rad", math.pi),
    ("120 rpm", "rad/s", 4 * math.pi),
    ("3 rev/min", "rad/s", math.pi / 10),
    ("2 kg", "kg", 2.0),
    ("1e-4 kg m^2", "kg m^2", 1e-4),
    ("800 kg mm²", "kg m^2", 8e-4),
    ("2 N*m", "N m", 2.0),
    ("2 N·m", "N m", 2.0),
    ("9.81 m s^-2", "m/s^2", 9.81),
    ("9.81 m·s⁻²", "m/s^2", 9.81),
    ("207 GPa", "Pa", 207e9),
    ("1 N/mm^2", "Pa", 1e6),
    ("5 N s/m", "N s/m", 5.0),
    ("1 g/cm^3", "kg/m^3", 1000.0),
    ("5 %", "-", 0.05),
    ("2e9 N/m^1.5", "N/m^n", 2e9),
    ("2e9 N/m^1.5", "N/m^1.5", 2e9),
    ("30 deg", "rad or m", 0.5235987755982989),
    ("30 mm", "rad or m", 0.03),
    ("0 mm", "m", 0.0),
    ("1e-320 km", "m", 1e-317),
    ("1e400 m", "m", math.inf),
    ("1e308 km", "m", math.inf),
]
WRONG = [
    ("0.5 kg", "m", "another dimension than m"),
    ("2 rad", "1/s", "another dimension"),
    ("10 Hz", "rad/s", "another dimension"),
    ("0.5", "m", "has no unit; write a number without quotes [m], or a string such as"),
    ("0.5", "-", "number in quotes"),
    ("0,5 mm", "m", "decimal comma"),
    ("0.5 mmm", "m", "Did you mean mm"),
    ("2 Nm", "N m", "Did you mean N m"),
    ("2 m^^2", "m^2", "not of the form"),
    ("2 mm^99999999", "m", "not of the form"),
    ("2 m^1/0", "m", "not of the form"),
    ("1__0 mm", "m", "not of the form"),
    ("wide", "m", "must be a number"),
    ("", "m", "must be a number"),
    ("2 N/s^1.5", "N/m^n", "another dimension"),
    ("2 rpm", "rad or m", "another dimension than rad or m"),
]


@pytest.mark.parametrize(("text", "unit", "value"), VALUES)
def test_a_value_is_the_nearest_float(text, unit, value):
    """Equal, not close: a factor of ten does not disturb the last digit, nor does pi."""
    assert in_unit(text, unit) == value


@pytest.mark.parametrize(("text", "unit", "sentence"), WRONG)
def test_what_is_wrong_is_said(text, unit, sentence):
    with pytest.raises(Wrong) as caught:
        in_unit(text, unit)
    assert sentence in str(caught.value)


@pytest.mark.parametrize("exponent", [-4, -3, -2, -1, 1, 2, 3])
def test_tenths_and_thousandths_are_as_in_python(exponent):
    """What is written "k.k mm" is the float that Python reads with the exponent of metres."""
    for k in range(1, 1000, 7):
        text = f"{k / 10}e{exponent}"
        assert in_unit(f"{text} mm", "m") == float(f"{k / 10}e{exponent - 3}")
        assert in_unit(f"{text} km", "m") == float(f"{k / 10}e{exponent + 3}")


def test_every_declared_unit_is_known():
    units = {
        one.quantity.unit
        for cls in element_kinds().values()
        if cls.__module__.startswith("nonsmooth.")
        for one in declarations(cls).values()
    }
    assert {"kg", "m", "N s/m", "rad or m"} <= units
    for unit in units:
        for one in unit.split(" or "):
            parse_unit(one.replace("^n", ""))
