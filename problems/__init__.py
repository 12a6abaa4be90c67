"""Ready mechanisms with their papers' values: one mechanism, one file, one function that returns a `Model`."""

from __future__ import annotations

from nonsmooth_problems.block_on_incline import block_on_incline
from nonsmooth_problems.bouncing_ball import bouncing_ball
from nonsmooth_problems.cam_follower import cam_follower
from nonsmooth_problems.chain import chain
from nonsmooth_problems.crank_rocker import crank_rocker
from nonsmooth_problems.double_pendulum_clearance import double_pendulum_clearance
from nonsmooth_problems.dual_manipulator import dual_manipulator
from nonsmooth_problems.four_bar import four_bar
from nonsmooth_problems.newtons_cradle import newtons_cradle
from nonsmooth_problems.painleve_rod import painleve_rod
from nonsmooth_problems.pendulum_with_stop import pendulum_with_stop
from nonsmooth_problems.slider_crank_revolute import slider_crank_revolute
from nonsmooth_problems.slider_crank_translational import slider_crank_translational
from nonsmooth_problems.slider_rod import slider_rod
from nonsmooth_problems.stick_slip_oscillator import stick_slip_oscillator

__all__ = [
    "block_on_incline",
    "bouncing_ball",
    "cam_follower",
    "chain",
    "crank_rocker",
    "double_pendulum_clearance",
    "dual_manipulator",
    "four_bar",
    "newtons_cradle",
    "painleve_rod",
    "pendulum_with_stop",
    "slider_crank_revolute",
    "slider_crank_translational",
    "slider_rod",
    "stick_slip_oscillator",
]
