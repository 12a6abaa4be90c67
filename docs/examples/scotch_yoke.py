"""A Scotch yoke: the pin of a driven crank moves a yoke to and fro between the two walls of its slot."""

from math import pi

import nonsmooth as ns

R = 0.05  # of the crank [m]
PIN = 0.01  # radius of the pin [m]
CONTACT = ns.Rigid(restitution=0.3, friction=0.0)


def build(contact=CONTACT, clearance=1e-4):
    model = ns.Model([ns.Ground("frame")], name="Scotch yoke", silence=["no-gravity"])
    model.add(ns.PlanarBody("crank", mass=0.3, inertia=1e-4, angular_velocity=4 * pi))
    model.add(ns.PlanarBody("yoke", mass=0.5, inertia=1e-3, position=(R, 0.0)))
    model.add(ns.Revolute("main", "frame", "crank"))
    model.add(ns.PrescribedMotion("motor", "frame", "crank", coordinate="angle", motion=ns.Ramp(rate=4 * pi)))
    model.add(ns.Prismatic("guide", "frame", "yoke"))
    # directions of the walls, whose normals point into the slot
    for wall, side in (("left", -1), ("right", 1)):
        place = {"at_a": (side * (PIN + clearance), 0.0), "direction": side * pi / 2, "at_b": (R, 0.0)}
        model.add(ns.CirclePlane(wall, "yoke", "crank", radius=PIN, size=clearance, contact=contact, **place))
    return model


if __name__ == "__main__":
    print(ns.simulate(build().build(), t_end=0.5))
