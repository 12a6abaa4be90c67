"""Modes over time: runs whose modes are known, and made-up ones."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from nonsmooth import ErrorControl, EventDriven, GaussQP, Landing, MoreauJean, simulate
from nonsmooth.diagnostics import contact_share, mode_timeline
from nonsmooth.diagnostics.modes import CORNERS
from nonsmooth.exceptions import InputError
from nonsmooth.trajectory import Columns
from nonsmooth_problems import slider_rod, stick_slip_oscillator

CONTROL = ErrorControl(rtol=1e-8, atol=1e-10, dt_min=1e-6, dt_max=1e-2)


def made_up(pushing, modes=None, stepper="GaussQP()"):
    """What a timeline reads of a run, with steps of 1 s in which the given corners push."""
    n = len(pushing)
    force = np.zeros((n + 1, 4))
    for k, corners in enumerate(pushing):
        force[k + 1, [CORNERS.index(corner) for corner in corners]] = 3.0
    names = [f"guide.{corner}" for corner in CORNERS]
    mode = np.zeros((n + 1, 4), int) if modes is None else modes
    return SimpleNamespace(
        t=np.arange(n + 1.0),
        lam_N=Columns("contact", names, force, ["N"] * 4),
        gap=Columns("contact", names, 0 * force, ["m"] * 4),
        mode=Columns("contact", names, mode, ["1"] * 4),
        manifest={"settings": {"stepper": stepper}},
        modes_follow=stepper.startswith("EventDriven"),
    )


def test_modes_of_a_slider():
    lower = ("left_lower", "right_lower")
    run = made_up([(), lower, lower, ("left_lower",), ("left_lower", "right_upper"), ("right_lower", "left_upper"),
                   ("left_lower", "left_upper"), ("left_upper", "right_upper")])  # fmt: skip
    found = mode_timeline(run, "guide")
    words = [found.modes[i] for i in found.mode]
    assert words == ["free", "face", "one-sided", "crosswise", "other", "face"]
    np.testing.assert_array_equal(found.start, [0, 1, 3, 4, 6, 7])
    np.testing.assert_array_equal(found.end, [1, 3, 4, 6, 7, 8])
    assert found.durations() == {"free": 1, "one-sided": 1, "crosswise": 2, "face": 3, "other": 1}
    assert sum(found.shares().values()) == pytest.approx(1.0) and found.shares()["face"] == 3 / 8


def test_a_row_of_an_event_driven_run_has_the_mode_of_the_step_to_come():
    pushing = [("left_lower",)] * 3 + [()]
    modes = np.zeros((5, 4), int)
    modes[:, 0] = [0, 2, 3, 3, 0]  # in the rows
    after = mode_timeline(made_up(pushing, modes), "guide.left_lower")
    assert [after.modes[i] for i in after.mode] == ["stick", "slip", "open"]
    modes[:, 0] = [2, 3, 3, 0, 0]
    before = mode_timeline(made_up(pushing, modes, "EventDriven(...)"), "guide.left_lower")
    assert [before.modes[i] for i in before.mode] == ["stick", "slip", "open"]
    np.testing.assert_array_equal(before.start, after.start)


def test_the_slider_on_a_rod_flies_and_then_lies():
    run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=0.02, dt=Landing(1e-6, 1e-3))
    found = mode_timeline(run, "guide")
    assert [found.modes[i] for i in found.mode] == ["free", "face"]
    landing = float(slider_rod.exact(case=1).events[0])
    assert found.end[0] == pytest.approx(landing, abs=1e-12)
    assert mode_timeline(run, "guide.left_lower").shares()["open"] == pytest.approx(landing / 0.02)
    assert mode_timeline(run, "guide.left_lower").shares()["closed"] == pytest.approx(
        contact_share(run)["guide.left_lower"]
    )


@pytest.mark.parametrize("stepper, dt", [(EventDriven(), CONTROL), (MoreauJean(), 1e-3)], ids=["events", "steps"])
def test_stick_and_slip_alternate(stepper, dt):
    run = simulate(stick_slip_oscillator().build(), stepper, t_end=3.0, dt=dt)
    found = mode_timeline(run, "right")
    words = [found.modes[i] for i in found.mode]
    assert set(words) == {"stick", "slip"}
    assert all(a != b for a, b in zip(words[:-1], words[1:], strict=True))
    assert found.start[0] == 0.0 and found.end[-1] == run.t[-1]
    np.testing.assert_array_equal(found.end[:-1], found.start[1:])
    assert "intervals; " in repr(found)


def test_other_names_are_refused():
    run = made_up([()])
    with pytest.raises(InputError, match="no slider in a guide 'gude'. There are: guide, guide.left_lower, "):
        mode_timeline(run, "gude")
