"""Fits as clearances: worked fits, distributions, everywhere a clearance is taken, and fits that cannot be meant."""

from __future__ import annotations

import copy
import json
import pickle

import numpy as np
import pytest

from nonsmooth import (
    Fit,
    PlanarBody,
    PrismaticClearance,
    RevoluteClearance,
    Rigid,
    Toleranced,
    read_model,
    simulate,
    write_model,
)
from nonsmooth.cli import main
from nonsmooth.declarative import read_text
from nonsmooth.exceptions import DeclarationError, InputError, ModelError
from nonsmooth.model.fits import stated
from nonsmooth_problems import slider_crank_revolute

SMOOTH = Rigid(restitution=0.3, friction=0.0)
#: fit, diameter [mm], hole EI ES, shaft ei es, diametral clearance, mean radial one, its sd; all but the first in um
WORKED = [
    ("H7/g6", 6, (0, 12), (-12, -4), (4, 24), 7, 1.2019), ("H7/g6", 10, (0, 15), (-14, -5), (5, 29), 8.5, 1.4577),
    ("H7/g6", 20, (0, 21), (-20, -7), (7, 41), 12, 2.0582), ("H7/g6", 40, (0, 25), (-25, -9), (9, 50), 14.75, 2.4735),
    ("H7/g6", 100, (0, 35), (-34, -12), (12, 69), 20.25, 3.4450),
    ("H7/h6", 20, (0, 21), (-13, 0), (0, 34), 8.5, 2.0582),
    ("H8/f7", 20, (0, 33), (-41, -20), (20, 74), 23.5, 3.2596),
    ("H9/d9", 20, (0, 52), (-117, -65), (65, 169), 58.5, 6.1283),
    ("H11/c11", 20, (0, 130), (-240, -110), (110, 370), 120, 15.3206),
    ("H11/c11", 40, (0, 160), (-280, -120), (120, 440), 140, 18.8562),
    ("H8/f7", 60, (0, 46), (-60, -30), (30, 106), 34, 4.5765),
    ("H9/d9", 100, (0, 87), (-207, -120), (120, 294), 103.5, 10.2530),
]  # fmt: skip


@pytest.mark.parametrize(("fit", "size", "hole", "shaft", "diametral", "mean", "sd"), WORKED)
def test_worked_fits(fit, size, hole, shaft, diametral, mean, sd):
    """To the digits printed; the number is the mean radial clearance, half of the diametral one."""
    found = stated(f"{size} {fit}")
    assert (found.hole_limits, found.shaft_limits) == (hole, shaft)
    assert found.diametral == pytest.approx(np.array(diametral) * 1e-6, rel=1e-12, abs=1e-18)
    assert [found.lower, found.upper] == pytest.approx(np.array(diametral) * 0.5e-6, rel=1e-12, abs=1e-18)
    assert float(found) == pytest.approx(mean * 1e-6, rel=1e-12) and round(found.sd * 1e6, 4) == sd


def test_a_basic_shaft_gives_the_same_clearance():
    for size in (2, 20, 200):
        one, other = stated(f"{size} G7/h6"), stated(f"{size} H7/g6")
        assert (one.lower, one.upper, one.sd) == (other.lower, other.upper, other.sd)


def test_distributions():
    """Normal with T = 6 sigma of both parts; cut, uniform and at the limits on request."""
    from scipy import stats  # takes half a second

    shares = np.array([0.001, 0.2, 0.5, 0.999])
    normal = stated("20 H7/g6")
    assert normal.ppf(shares) == pytest.approx(stats.norm(12e-6, 2.0581815e-6).ppf(shares), rel=1e-7)
    assert stated("20 H7/g6 uniform").ppf(shares) == pytest.approx(3.5e-6 + 17e-6 * shares)
    cut = stats.truncnorm(-8.5 / 2.0581815, 8.5 / 2.0581815, 12e-6, 2.0581815e-6)
    assert stated("20 H7/g6 truncated").ppf(shares) == pytest.approx(cut.ppf(shares), rel=1e-7)
    assert stated("20 H7/g6 worst").ppf(shares).tolist() == [3.5e-6, 3.5e-6, 20.5e-6, 20.5e-6]
    assert normal.support() == (-np.inf, np.inf) and stated("20 H7/g6 worst").support() == (3.5e-6, 20.5e-6)
    assert Toleranced(0.12, 3e-5).sd == pytest.approx(1e-5)


@pytest.mark.parametrize(
    "text", ["20 H7/g6", "20 H7/g6 max", "20 H7/g6 1e-05 uniform", "0.12 ±3e-05", "-0.12 ±3e-05 worst"]
)
def test_texts_and_copies_state_the_same(text):
    found = stated(text)
    assert found.text == text
    for other in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found), stated(found.text)):
        assert repr(other) == repr(found) and other == found
    assert json.loads(json.dumps(found)) == float(found)


@pytest.mark.exact("compares parameters as given")
def test_everywhere_a_clearance_is_taken(tmp_path):
    """In Python as object and text, in a TOML file and back, as the argument of a problem, as a parameter of a run."""
    for clearance in ("20 H7/g6", Fit(20e-3, "H7", "g6")):
        pin = RevoluteClearance("pin", "a", "b", clearance=clearance, at_a=("0.12 ±3e-5", 0.0), contact=SMOOTH)
        assert pin.numbers()["clearance"] == 1.2e-5 and pin.numbers()["at_a_x"] == 0.12
        assert pin.toleranced() == {"clearance": 1.2e-5, "at_a_x": 0.12}
    with_units = RevoluteClearance("pin", "a", "b", clearance=1e-5, at_a=("120 ±0.03 mm", 0.0), contact=SMOOTH)
    assert with_units.toleranced()["at_a_x"].tolerance == pytest.approx(3e-5, rel=1e-15)
    guide = PrismaticClearance("guide", "a", "b", length=0.04, clearance="40 H8/f7", contact=SMOOTH)
    assert guide.numbers()["clearance"] == pytest.approx((25e-6 + 25e-6 + 39e-6 + 25e-6) / 4)
    system = slider_crank_revolute(clearance=Fit(20e-3, "H7", "g6")).build()
    assert (
        system.parameters["pin.clearance"] == 1.2e-5 and system.provenance["pin.clearance"]["source"] == "fit 20 H7/g6"
    )
    assert (
        system.parameter_vector({"pin.clearance": "20 H8/f7"})[list(system.parameters).index("pin.clearance")]
        == 2.35e-5
    )
    write_model(slider_crank_revolute(clearance=Fit(20e-3, "H7", "g6")), tmp_path / "crank.toml")
    assert 'clearance = "20 H7/g6"' in (tmp_path / "crank.toml").read_text()
    again = read_model(tmp_path / "crank.toml").build()
    assert again.parameters == system.parameters and repr(again.toleranced()) == repr(system.toleranced())


def test_units_in_files():
    text = """
    [elements.ground]
    kind = "ground"
    [elements.rod]
    kind = "planar-body"
    mass = "0.2 kg ±1 g"
    inertia = 1e-3
    position = ["0.1 m", 0]
    [elements.pin]
    kind = "revolute-clearance"
    a = "ground"
    b = "rod"
    at_b = ["-100 ±0.03 mm", 0]
    clearance = "20 H7/g6 max"
    radius = "10 mm"
    contact = { kind = "rigid", restitution = 0.3, friction = "0.1 ±0.02" }
    """
    found = read_text(text).model.build().toleranced()
    assert {name: (float(one), one.upper) for name, one in found.items()} == {
        "rod.mass": (0.2, pytest.approx(0.201)), "pin.clearance": (2.05e-5, 2.05e-5),
        "pin.at_b_x": (-0.1, pytest.approx(-0.09997)),
        "pin.friction": (0.1, pytest.approx(0.12)),
    }  # fmt: skip
    with pytest.raises(DeclarationError, match="elements.pin.clearance: 20 H7/p6 can interfere by up to 35 um"):
        read_text(text.replace("20 H7/g6 max", "20 H7/p6"))


BAD = [
    (
        "20 H7/p6",
        "can interfere by up to 35 um; the nearest that cannot are 20 H7/h6 .0 to 34 um. and 20 H7/g6 .7 to 41",
    ),
    ("20 P7/h6", "the nearest that cannot are 20 H7/h6 .0 to 34 um. and 20 G7/h6"),
    ("20 i7/g6", "i is no letter of a hole in ISO 286; the nearest is H7"),
    ("20 H01/g6", "There is no H01: grades are IT1 to IT18; the nearest is H1"),
    ("20 H19/g6", "There is no H19: grades are IT1 to IT18; the nearest is H18"),
    ("600 H7/g6", "over 0 up to 500 mm, got 600 mm; the nearest is 500 mm"),
    ("12 H7/t6", "does not define t at 12 mm; the nearest that it does is s6"),
    ("H7/g6", 'has no size; write the nominal diameter in mm before the fit, as "20 H7/g6"'),
    (
        "20 H7/g6 24e-6",
        'is the mean diametral clearance of 20 H7/g6, .* give 1.2e-05 m, or the fit alone, as "20 H7/g6"',
    ),
    ("20 H7/g6 7e-6", 'is the least diametral clearance .* as "20 H7/g6 min"'),
    ("20 H7/g6 30e-6", 'radial clearances from 3.5 to 20.5 um, not 30 um; the nearest is "max"'),
    ("20 g6/H7", "write G6 instead of g6"),
    ("20 H7/g6 most", "after a fit come min, mean, max"),
    ("0.12 ±x", 'no toleranced dimension; .* as "0.12 ±3e-5"'),
    ("0.12 ±0", "tolerance must be positive"),
]


@pytest.mark.parametrize(("text", "message"), BAD, ids=[text for text, _ in BAD])
def test_bad_fits_are_one_sentence_with_the_nearest_that_works(text, message):
    with pytest.raises(InputError, match=message) as caught:
        stated(text)
    assert str(caught.value).count("\n") == 0 and str(caught.value).count(". ") == 0
    with pytest.raises(ModelError, match=f'RevoluteClearance "pin": clearance: .*{message}'):
        RevoluteClearance("pin", "a", "b", clearance=text, contact=SMOOTH)


def test_fits_where_none_is_taken():
    with pytest.raises(ModelError, match="radius takes no fit, which states a clearance"):
        RevoluteClearance("pin", "a", "b", clearance=1e-5, radius="20 H7/g6", contact=SMOOTH)
    with pytest.raises(ModelError, match="position takes no tolerance, since it is no parameter"):
        PlanarBody("rod", 1.0, 1e-3, position=(Toleranced(0.1, 1e-5), 0.0))
    with pytest.raises(ModelError, match="clearance must be a positive number"):
        RevoluteClearance("pin", "a", "b", clearance="20 H7/h6 min", contact=SMOOTH)
    system = slider_crank_revolute().build()
    with pytest.raises(ModelError, match="mass takes no fit"):
        simulate(system, t_end=1e-4, parameters={"rod.mass": "20 H7/g6"})


def test_command_line(capsys):
    assert main(["fits", "20 H7/g6", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["fits"][0]
    assert found["radial"] == [3.5e-6, 1.2e-5, 2.05e-5] and found["diametral"] == [7e-6, 4.1e-5]
    assert main(["fits", "20 H7/g6", "40 H11/c11"]) == 0
    printed = capsys.readouterr().out
    assert "20.0000 to 20.0210" in printed and "39.7200 to 39.8800" in printed and "Joints take the radial" in printed
    assert main(["describe", "slider-crank-revolute", "--set", "clearance=20 H7/g6"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "pin.clearance 20 H7/g6 +0, +21 -20, -7 7 to 41 3.5 to 20.5 12" in printed
    assert printed.count("half of the diametral one") == 1
    words = ["describe", "slider-crank-revolute", "--set", "clearance=20 H7/g6", "--set", "pin.clearance=41e-6"]
    assert main(words) == 2
    assert "the largest diametral clearance of 20 H7/g6" in capsys.readouterr().err
