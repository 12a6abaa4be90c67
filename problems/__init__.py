"""Ready mechanisms with their papers' values: one mechanism, one file, one function that returns a `Model`."""

from __future__ import annotations

from nonsmooth_problems.block_on_incline import block_on_incline
from nonsmooth_problems.bouncing_ball import bouncing_ball
from nonsmooth_problems.newtons_cradle import newtons_cradle
from nonsmooth_problems.painleve_rod import painleve_rod
from nonsmooth_problems.pendulum_with_stop import pendulum_with_stop
from nonsmooth_problems.slider_crank_translational import slider_crank_translational
from nonsmooth_problems.slider_rod import slider_rod
from nonsmooth_problems.stick_slip_oscillator import stick_slip_oscillator

__all__ = [
    "block_on_incline",
    "bouncing_ball",
    "newtons_cradle",
    "painleve_rod",
    "pendulum_with_stop",
    "slider_crank_translational",
    "slider_rod",
    "stick_slip_oscillator",
]
