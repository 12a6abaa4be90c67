"""Ready mechanisms with their papers' values: one mechanism, one file, one function that returns a `Model`."""

from __future__ import annotations

from nonsmooth_problems.andrews_squeezer import andrews_squeezer
from nonsmooth_problems.beam_on_stop import beam_on_stop
from nonsmooth_problems.bennett import bennett
from nonsmooth_problems.block_on_incline import block_on_incline
from nonsmooth_problems.bouncing_ball import bouncing_ball
from nonsmooth_problems.brick_on_steps import brick_on_steps
from nonsmooth_problems.cam_follower import cam_follower
from nonsmooth_problems.chain import chain
from nonsmooth_problems.crank_rocker import crank_rocker
from nonsmooth_problems.double_pendulum_clearance import double_pendulum_clearance
from nonsmooth_problems.dual_manipulator import dual_manipulator
from nonsmooth_problems.euler_disc import euler_disc
from nonsmooth_problems.flexible_slider_crank import flexible_slider_crank
from nonsmooth_problems.four_bar import four_bar
from nonsmooth_problems.heavy_top import heavy_top
from nonsmooth_problems.loose_journal import loose_journal
from nonsmooth_problems.motor_backlash_load import motor_backlash_load
from nonsmooth_problems.newtons_cradle import newtons_cradle
from nonsmooth_problems.painleve_rod import painleve_rod
from nonsmooth_problems.pendulum_with_stop import pendulum_with_stop
from nonsmooth_problems.polishing_robot import polishing_robot
from nonsmooth_problems.rattleback import rattleback
from nonsmooth_problems.six_rss import six_rss
from nonsmooth_problems.slide_in_guide import slide_in_guide
from nonsmooth_problems.slider_crank_revolute import slider_crank_revolute
from nonsmooth_problems.slider_crank_translational import slider_crank_translational
from nonsmooth_problems.slider_rod import slider_rod
from nonsmooth_problems.socket_pendulum import socket_pendulum
from nonsmooth_problems.spatial_slider_crank import spatial_slider_crank
from nonsmooth_problems.stick_slip_oscillator import stick_slip_oscillator
from nonsmooth_problems.tippe_top import tippe_top
from nonsmooth_problems.turntable_ball import turntable_ball
from nonsmooth_problems.universal_shaft import universal_shaft
from nonsmooth_problems.xy_pointing import xy_pointing

__all__ = [
    "andrews_squeezer",
    "beam_on_stop",
    "bennett",
    "block_on_incline",
    "bouncing_ball",
    "brick_on_steps",
    "cam_follower",
    "chain",
    "crank_rocker",
    "double_pendulum_clearance",
    "dual_manipulator",
    "euler_disc",
    "flexible_slider_crank",
    "four_bar",
    "heavy_top",
    "loose_journal",
    "motor_backlash_load",
    "newtons_cradle",
    "painleve_rod",
    "pendulum_with_stop",
    "polishing_robot",
    "rattleback",
    "six_rss",
    "slide_in_guide",
    "slider_crank_revolute",
    "slider_crank_translational",
    "slider_rod",
    "socket_pendulum",
    "spatial_slider_crank",
    "stick_slip_oscillator",
    "tippe_top",
    "turntable_ball",
    "universal_shaft",
    "xy_pointing",
]
