"""`nonsmooth describe`: what it says of a ready problem and of a file, and what it refuses."""

from __future__ import annotations

import re

import pytest

from nonsmooth.cli import main

FILE = """
from nonsmooth import *

def build(clearance=1e-3, stiffness=100.0):
    model = Model(name="ball in a hole", provenance={"ball.mass": {"kind": "given", "source": "scales"}})
    model.add(Ground("hole"))
    model.add(PlanarBody("ball", mass=0.25, inertia=1e-3, velocity=(0.5, 0.0)))
    contact = Rigid(restitution=0.5, friction=0.0)
    model.add(RevoluteClearance("rim", "hole", "ball", clearance=clearance, contact=contact))
    model.add(Spring("spring", "hole", "ball", stiffness=stiffness))
    model.add(PointForce("push", "ball", force=lambda t: (t, 0.0)))
    return model
"""

LINK = """
from nonsmooth import *

def build():
    coupler = SpatialBody("coupler", mass=0.2, inertia=(1e-5, 0.000896667, 0.000896667),
                          quaternion=(0.6, 0.0, -0.8, 0.0), position=(0.115123, 0.0751, 0.0602),
                          velocity=(0.362491, 0.314159, 0.271828), angular_velocity=(1.23456, 1.03627, -4.00421))
    return Model([Ground(), coupler], name="link")
"""


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def described(capsys, *words):
    assert main(["describe", *words]) == 0
    return " ".join(capsys.readouterr().out.split())


def test_a_problem(capsys):
    shown = described(capsys, "slider-crank-translational")
    assert "degrees of freedom 3 = 9 velocities - 6 constraints" in shown
    assert re.search(r"rod 0\.038 0\.00059 x 0\.306 y 11\.475, angle -75", shown.replace("0.306,", "0.306"))
    assert "rod-slider Revolute rod, slider x [m], y [m]" in shown
    assert "guide PrismaticClearance ground," in shown and "0.001 m" in shown
    assert re.search(r"guide\.clearance 0\.001 m given SCConst\.h", shown)


def test_arguments_and_parameters_change_what_is_shown(capsys):
    assert "degrees of freedom 1 = 9 velocities - 8 constraints" in described(
        capsys, "slider-crank-translational", "--set", "clearance=false"
    )
    assert "chain of 7" in described(capsys, "chain", "--set", "n=7", "--set", "link3.mass=0.75")
    shown = described(capsys, "chain", "--set", "link3.mass=0.75")
    assert "link3 0.75" in shown and "link4 0.1" in shown
    assert "radial clearance" not in shown  # which is said where a fit is


def test_a_file_with_every_parameter(folder, capsys):
    (folder / "ball.py").write_text(FILE, encoding="utf-8")
    shown = described(capsys, "ball.py", "--set", "stiffness=250", "--figure", "ball.svg")
    assert "mechanism: ball in a hole" in shown and "3 = 3 velocities - 0 constraints" in shown
    assert "ball 0.25 0.001 0 x 0.5" in shown
    assert "rim RevoluteClearance hole, ball" in shown and "Rigid," in shown
    assert "spring Spring hole, ball stiffness 250 N/m" in shown
    assert "push PointForce ball force: function of time" in shown
    assert "ball.mass 0.25 kg given, scales" in shown and "rim.restitution 0.5 -" in shown
    assert "<svg" in (folder / "ball.svg").read_text(encoding="utf-8")


def test_a_file_with_tolerances(folder, capsys):
    """Of 20 H7/f7 the hole is 0 to 21 um, the shaft 41 to 20 um smaller: 10 to 31 um radially, 20.5 in the middle. A
    body within its own hole has no size with which the clearance could be compared."""
    text = FILE.replace("clearance=1e-3", 'clearance=Fit(20e-3, "H7", "f7")').replace("0.25", "Toleranced(0.25, 0.01)")
    (folder / "ball.py").write_text(text, encoding="utf-8")
    with pytest.warns(UserWarning) as said:
        shown = described(capsys, "ball.py")
    assert "rim.clearance 20 H7/f7 +0, +21 -41, -20 20 to 62 10 to 31 20.5" in shown
    assert "ball.mass 0.25 ±0.01 0.24 to 0.26 kg normal, sd 0.003333" in shown
    assert not any("large-clearance" in str(one.message) for one in said)


@pytest.mark.parametrize("width", [80, 60])
def test_numbers_are_not_broken(folder, capsys, monkeypatch, width):
    """Each number of six digits is on a line of its own or with others; no line is longer than the screen is wide."""
    monkeypatch.setenv("COLUMNS", str(width))
    (folder / "link.py").write_text(LINK, encoding="utf-8")
    assert main(["describe", "link.py"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= width
    cells = {cell for line in lines for cell in line.split()}
    for number in ("0.000896667,", "(0.115123,", "(0.362491,", "(1.23456,", "0.314159,"):
        assert number in cells


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["chian"], "Did you mean chain?"),
        (["chain", "--set", "solver.eps=1"], "a description has no solver"),
        (["chain", "--set", "link9.mass=1"], 'Unknown parameter "link9.mass"'),
        (["chain", "--set", "links=4"], "chain has no argument 'links'"),
        (["chain", "--figure", "sketch.gif"], "the name must end in .png, .pdf or .svg"),
        (["nowhere.py"], "nowhere.py is not a file"),
    ],
)
def test_what_is_refused(words, sentence, folder, capsys):
    assert main(["describe", *words]) == 2
    out, err = capsys.readouterr()
    assert out == "" and sentence in err
    assert list(folder.iterdir()) == []


def test_a_flexible_body(capsys):
    """Its inertia without its frequencies, which are in Hz: the first of free-free bending, 22.3733 of h / L^2."""
    shown = described(capsys, "beam-on-stop")
    assert "beam 0.2355 0.00176625 x 0.14999" in shown
    row = re.search(r"beam 12 (\S+), .* 0\.005 .*clamp, node1, .*deformed", shown)
    assert row is not None
    # E I / (rho A) = E h^2 / (12 rho); the frequency of four cubic elements is too high by 1e-3
    exact = 22.3733 / (2 * 3.141593) * (2.1e11 / 7850 / 12) ** 0.5 * 5e-3 / 0.3**2
    assert float(row[1]) == pytest.approx(exact, rel=2e-3)
