"""A six-bar with two loose pins: a driven crank-rocker whose rocker moves a slider through a rod."""

from math import atan2, hypot, pi

import nonsmooth as ns

# joints of a drawing [m]; assembly closes the loops
A, B, C, D = (0.0, 0.0), (0.0, 0.05), (0.22, 0.16), (0.2, 0.0)
E = (0.48, 0.16)


def bar(name, start, end, mass):
    """A uniform bar between two points, and half of its length."""
    x, y = end[0] - start[0], end[1] - start[1]
    half = hypot(x, y) / 2
    middle = ((start[0] + end[0]) / 2, (start[1] + end[1]) / 2)
    return ns.PlanarBody(name, mass=mass, inertia=mass * half**2 / 3, position=middle, angle=atan2(y, x)), half


def build(clearance=1e-4, restitution=0.5):
    contact = ns.Rigid(restitution=restitution, friction=0.0)
    model = ns.Model([ns.Ground("frame")], name="six-bar with two loose pins", assemble="centred")
    (crank, a), (coupler, b), (rocker, c), (rod, d) = (
        bar("crank", A, B, 0.1), bar("coupler", B, C, 0.4), bar("rocker", D, C, 0.3), bar("rod", C, E, 0.4)
    )  # fmt: skip
    slider = ns.PlanarBody("slider", mass=0.8, inertia=1e-3, position=E)
    for body in (crank, coupler, rocker, rod, slider):
        model.add(body)
    model.add(ns.Revolute("main", "frame", crank, at_a=A, at_b=(-a, 0.0)))
    model.add(
        ns.PrescribedMotion("motor", "frame", crank, coordinate="angle", motion=ns.Ramp(rate=4 * pi, start=pi / 2))
    )
    model.add(ns.Revolute("knee", crank, coupler, at_a=(a, 0.0), at_b=(-b, 0.0)))
    model.add(ns.Revolute("hinge", "frame", rocker, at_a=D, at_b=(-c, 0.0)))
    pin = {"at_a": (c, 0.0), "clearance": clearance, "contact": contact}
    model.add(ns.RevoluteClearance("upper_pin", rocker, coupler, at_b=(b, 0.0), **pin))
    model.add(ns.Revolute("tip", rocker, rod, at_a=(c, 0.0), at_b=(-d, 0.0)))
    pin = {"at_b": (0.0, 0.0), "clearance": clearance, "contact": contact}
    model.add(ns.RevoluteClearance("slider_pin", rod, slider, at_a=(d, 0.0), **pin))
    model.add(ns.Prismatic("guide", "frame", slider, at_a=(0.0, E[1])))
    model.add(ns.Gravity(acceleration=(0.0, -9.81)))
    return model


if __name__ == "__main__":
    print(ns.simulate(build().build(), t_end=0.05))
