"""Friction laws, one file per family: regularised functions of slip, a dead zone that sticks, bristles.

The dynamic coefficient is `friction` in every law, as it is in `Rigid`. The law of Gonthier et al. (2004), with
friction that grows over the time of rest, is left out: its equations have not been checked against the paper.
"""
