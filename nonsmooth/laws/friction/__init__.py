"""Friction laws, one file per family: regularised functions of slip, a dead zone that sticks, bristles.

The dynamic coefficient is `friction` in every law, as it is in `Rigid`. The law of Gonthier et al. (2004), whose static
friction grows with the dwell time, is not included: its equations have not been checked against the paper.
"""
