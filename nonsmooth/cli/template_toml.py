"""What `nonsmooth new FILE.toml` writes."""

from __future__ import annotations

__all__ = ["TEXT"]

TEXT = """\
# A rod that hangs from a loose bearing and is let go: a starting point for a mechanism of your own.
#
#     nonsmooth describe my_mechanism.toml --figure sketch.png
#     nonsmooth run my_mechanism.toml --figure run.png
#     nonsmooth run my_mechanism.toml --set pin.clearance=1e-4 --set rod.mass=0.5
#
# A plain number is in SI units (m, kg, s, N, rad); a string has a unit of its own: "0.5 mm", "30 deg", "120 rpm".

name = "my mechanism"

# The law of every contact that has none of its own: rigid here. In its place, for example:
#     kind = "compliant"
#     normal = { kind = "flores", stiffness = "1e9 N/m^1.5", restitution = 0.5 }
[contact]
kind = "rigid"
restitution = 0.5
friction = 0

# Elements have names, [elements.NAME], and a kind. This is the frame that does not move.
[elements.ground]
kind = "ground"

# A body's frame sits at its centre of mass. Position, angle and velocities are those of the start; angles count
# counter-clockwise. The rod is 0.3 m long and hangs down where its angle is 0.
[elements.rod]
kind = "planar-body"
mass = "200 g"
inertia = "1.5e-3 kg m^2"
position = [0.0719138307906305, -0.13163738428355591]
angle = 0.5

# A joint holds a point of its first body (at_a, in the frame of a) and a point of its second (at_b, in that of b).
# The journal of b moves in the bearing of a; their radii differ by the clearance. Friction would need the
# journal's radius as well: radius = "5 mm".
[elements.pin]
kind = "revolute-clearance"
a = "ground"
b = "rod"
at_b = [0, "150 mm"]
clearance = "0.5 mm"

# The same joint without clearance:
#     [elements.pin]
#     kind = "revolute"
#     a = "ground"
#     b = "rod"
#     at_b = [0, "150 mm"]
#
# A wall for the rod's lower end, a spring, a motor:
#     [elements.floor]
#     kind = "point-plane"
#     a = "ground"
#     b = "rod"
#     at_a = [0, "-290 mm"]
#     at_b = [0, "-150 mm"]
#
#     [elements.spring]
#     kind = "spring"
#     a = "ground"
#     b = "rod"
#     at_a = ["0.2 m", 0]
#     stiffness = "20 N/m"
#
#     [elements.motor]
#     kind = "prescribed-motion"
#     a = "ground"
#     b = "rod"
#     coordinate = "angle"
#     motion = { kind = "ramp", start = 0.5, rate = "120 rpm" }

# A flexible rod of aluminium; its nodes can be used in place of bodies, then without at_b:
#     [elements.rod]
#     kind = "planar-flexible-body"
#     position = [0.0719138307906305, -0.13163738428355591]
#     angle = 0.5
#
#     [elements.rod.modes]
#     kind = "beam"
#     start = [0, "150 mm", 0]
#     end = [0, "-150 mm", 0]
#     section = { kind = "rectangle", y = "10 mm", z = "25 mm" }
#     material = { youngs = "70 GPa", shear = "26.5 GPa", density = "2700 kg/m^3" }
#     names = { top = 0, end = 1 }
#     interface = ["top", "end"]
#     keep = 2
#     damping = 0.01
#
#     [elements.pin]
#     kind = "revolute-clearance"
#     a = "ground"
#     b = "rod.top"
#     clearance = "0.5 mm"

[elements.gravity]
kind = "gravity"
acceleration = [0, -9.81]

# What `nonsmooth run` takes where its options say nothing: --t-end, --stepper, --dt-min, --dt-max, --output, ...
[run]
t_end = "0.1 s"
# Scheme and steps are chosen; stepper, dt, dt_min, dt_max, rtol and atol state others, accuracy another accuracy.
"""
