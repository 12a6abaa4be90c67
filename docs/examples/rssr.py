"""An RSSR with a loose ball: a driven crank about z moves a rocker about x through a coupler between two balls."""

from math import pi

import nonsmooth as ns

X, Z = (1.0, 0.0, 0.0), (0.0, 0.0, 1.0)
FOOT = (0.2, 0.2, 0.0)  # of the rocker [m]


def build(clearance=1e-4, restitution=0.5):
    contact = ns.Rigid(restitution=restitution, friction=0.0)
    # positions are a rough guess: assembly closes the joints, with the ball in the middle of its socket
    model = ns.Model([ns.Ground()], name="RSSR with a loose ball", assemble="centred")
    model.add(ns.SpatialBody("crank", mass=0.2, inertia=(1e-5, 1e-4, 1e-4), position=(0.04, 0.0, 0.0)))
    model.add(ns.SpatialBody("coupler", mass=0.3, inertia=(1e-4, 2e-3, 2e-3), position=(0.14, 0.1, 0.08)))
    model.add(ns.SpatialBody("rocker", mass=0.3, inertia=(7e-4, 1e-4, 7e-4), position=(0.2, 0.2, 0.08)))
    model.add(ns.Revolute("main", "ground", "crank", at_b=(-0.04, 0.0, 0.0), axis_a=Z, axis_b=Z))
    turn = ns.Ramp(rate=2 * pi)
    model.add(ns.PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=turn, axis_a=Z))
    model.add(ns.Spherical("ball", "crank", "coupler", at_a=(0.04, 0.0, 0.0), at_b=(-0.13, 0.0, 0.0)))
    ends = {"at_a": (0.13, 0.0, 0.0), "at_b": (0.0, 0.0, 0.08)}
    sizes = {"clearance": clearance, "radius": 0.01, "contact": contact}
    model.add(ns.SphericalClearance("socket", "coupler", "rocker", **ends, **sizes))
    model.add(ns.Revolute("hinge", "ground", "rocker", at_a=FOOT, at_b=(0.0, 0.0, -0.08), axis_a=X, axis_b=X))
    model.add(ns.Gravity(acceleration=(0.0, 0.0, -9.81)))
    return model.build()


if __name__ == "__main__":
    print(ns.simulate(build(), t_end=0.1))
