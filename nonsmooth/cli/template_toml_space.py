"""What `nonsmooth new FILE.toml --space` writes."""

from __future__ import annotations

__all__ = ["TEXT_SPACE"]

TEXT_SPACE = """\
# A rod in space that hangs by a loose ball joint and swings: a starting point for a mechanism of your own.
#
#     nonsmooth describe my_mechanism.toml --figure sketch.png
#     nonsmooth run my_mechanism.toml --figure run.png
#     nonsmooth run my_mechanism.toml --set ball.clearance=1e-4 --set rod.mass=0.5
#
# A plain number is in SI units (m, kg, s, N, rad); a string has a unit of its own: "0.5 mm", "30 deg", "120 rpm".

name = "my mechanism"

# Positions are an initial guess: joints are closed by moving the bodies, with the ball in the middle of its socket.
# With `true` clearances are left as they are, with `false`, or without this line, nothing is moved.
assemble = "centred"

# The law of every contact that has none of its own: rigid here. In its place, for example:
#     kind = "compliant"
#     normal = { kind = "flores", stiffness = "1e9 N/m^1.5", restitution = 0.5 }
[contact]
kind = "rigid"
restitution = 0.5
friction = 0.1

# Elements have names, [elements.NAME], and a kind. This is the frame that does not move.
[elements.ground]
kind = "ground"

# A body's frame sits at its centre of mass; z of this one lies along the rod, which is 0.3 m long. The quaternion
# [w, x, y, z] turns the ground's frame into the body's: cos(a/2), sin(a/2) n for the angle a about the unit vector n.
# Position and velocity are in the ground frame, the angular velocity is in that of the body.
[elements.rod]
kind = "spatial-body"
mass = "200 g"
inertia = ["15 kg cm^2", "15 kg cm^2", "25 kg mm^2"]
position = ["-72 mm", 0, "-132 mm"]
quaternion = [0.96, 0, 0.28, 0]
velocity = [0, "0.2 m/s", 0]

# A joint holds a point of its first body (at_a, in the frame of a) and a point of its second (at_b, in that of b).
# With clearance the ball of b moves in the socket of a; their radii differ by the clearance, radius is the ball's.
[elements.ball]
kind = "spherical-clearance"
a = "ground"
b = "rod"
at_b = [0, 0, "150 mm"]
clearance = "0.5 mm"
radius = "5 mm"

# The same joint without clearance:
#     [elements.ball]
#     kind = "spherical"
#     a = "ground"
#     b = "rod"
#     at_b = [0, 0, "150 mm"]
#
# A hinge, which has an axis in the frame of each body, and a motor about this axis:
#     [elements.hinge]
#     kind = "revolute"
#     a = "ground"
#     b = "rod"
#     at_b = [0, 0, "150 mm"]
#     axis_a = [0, 1, 0]
#     axis_b = [0, 1, 0]
#
#     [elements.motor]
#     kind = "prescribed-motion"
#     a = "ground"
#     b = "rod"
#     coordinate = "angle"
#     axis_a = [0, 1, 0]
#     motion = { kind = "ramp", start = 0.5, rate = "120 rpm" }
#
# A floor under the rod's lower end, a force that depends on time:
#     [elements.floor]
#     kind = "point-plane"
#     a = "ground"
#     b = "rod"
#     at_a = [0, 0, "-290 mm"]
#     at_b = [0, 0, "-150 mm"]
#     normal = [0, 0, 1]
#
#     [elements.push]
#     kind = "point-force"
#     body = "rod"
#     force = [{ kind = "harmonic", amplitude = "2 N", period = "50 ms" }, 0, 0]

[elements.gravity]
kind = "gravity"
acceleration = [0, 0, -9.81]

# What `nonsmooth run` takes where its options say nothing: --t-end, --stepper, --dt-min, --dt-max, --output, ...
[run]
t_end = "0.1 s"
# Scheme and steps are chosen; stepper, dt, dt_min, dt_max, rtol and atol state others, accuracy another accuracy.
"""
