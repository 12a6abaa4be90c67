"""The law card: what it holds, and its figure."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import plots
from nonsmooth.exceptions import InputError
from nonsmooth.laws import Flores, Hertz, Johnson, KelvinVoigt, LankaraniNikravesh, Material
from nonsmooth.studies import free_impact, law_card

STEEL = Material(2.07e11, 0.3, density=7800.0)
JOINT = {"radius": 9.5e-3, "clearance": 0.5e-3, "length": 15e-3}


def test_an_impact_without_loss():
    impact = free_impact(Hertz(stiffness=2e9), speed=0.4, mass=3.0)
    assert impact.restitution == pytest.approx(1.0, abs=1e-9)
    assert impact.penetration_number == pytest.approx(0.5, abs=1e-9)
    assert impact.peak_depth == pytest.approx((1.25 * 3.0 * 0.4**2 / 2e9) ** 0.4, rel=1e-9)
    # Hertz' duration, 2.94 delta/v
    assert impact.duration == pytest.approx(2.9432752 * impact.peak_depth / 0.4, rel=1e-6)


def test_the_loop_encloses_the_energy_that_is_lost():
    impact = free_impact(Flores(stiffness=1e9, restitution=0.6), speed=0.4, mass=3.0)
    lost = -np.trapezoid(impact.depth, impact.force)
    assert lost == pytest.approx(1.5 * 0.4**2 * (1 - impact.restitution**2), rel=1e-3)


def test_validity():
    law = LankaraniNikravesh(stiffness=Johnson(STEEL, STEEL), restitution=0.5)
    card = law_card(law, speed=0.5, mass=0.1, geometry=JOINT, requested=(0.5,))
    kept = {each.limit.quantity: each.kept for each in card.validity}
    assert kept == {"force": True, "restitution": False, "approach": False}
    assert "approach <= 0.05152: 0.5, NOT kept" in str(card)


@pytest.mark.parametrize(
    ("law", "titles"),
    [
        (LankaraniNikravesh(stiffness=Johnson(STEEL, STEEL), restitution=0.5), {"Restitution", "Peak penetration"}),
        (KelvinVoigt(stiffness=1e6, damping=300.0), {"Penetration", "Force"}),
    ],
)
def test_figure(law, titles):
    card = law_card(law, speed=0.5, mass=0.1, geometry=JOINT, requested=(0.3, 0.9))
    figure = plots.law_card(card)
    axes = figure.axes
    assert {axis.get_title(loc="left") for axis in axes} == titles | {"Force over penetration", ""}
    assert all("[" in axis.get_xlabel() and "[" in axis.get_ylabel() for axis in axes[:3])
    shown = [text.get_text() for text in axes[3].texts]
    assert f"returned restitution {card.impact.restitution:.4f}" in shown
    assert sum(text.startswith("OUTSIDE") for text in shown) == sum(not each.kept for each in card.validity)
    figure.canvas.draw()


def test_input_errors():
    law = Flores(stiffness=1e9, restitution=0.6)
    with pytest.raises(InputError, match="speed must be a positive number, got 0"):
        free_impact(law, speed=0, mass=1.0)
    with pytest.raises(InputError, match="needs geometry: give length"):
        joint = {"radius": 1e-2, "clearance": 1e-3}
        free_impact(Flores(stiffness=Johnson(STEEL, STEEL), restitution=0.6), speed=1, mass=1.0, geometry=joint)
    with pytest.raises(InputError, match="law must be a normal law"):
        law_card(Flores, speed=1.0, mass=1.0)
    for requested in ((0.0, 0.5), (0.5, 2.0), "half", (None,)):
        with pytest.raises(InputError, match="requested must be"):
            law_card(law, speed=1.0, mass=1.0, requested=requested)
    with pytest.raises(InputError, match="mass must be a positive number, got True"):
        law_card(law, speed=1.0, mass=True)
    with pytest.raises(InputError, match="geometry must be values by name"):
        law_card(law, speed=1.0, mass=1.0, geometry=1e-3)
