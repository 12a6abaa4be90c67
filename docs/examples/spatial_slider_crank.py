"""A spatial slider-crank with a loose ball joint: the crank turns about x, the slider moves along x beside it."""

from math import pi

import nonsmooth as ns

X, CENTRE = (1.0, 0.0, 0.0), (0.0, 0.1, 0.12)


def build(clearance=1e-4, restitution=0.5, friction=0.1):
    contact = ns.Rigid(restitution=restitution, friction=friction)
    model = ns.Model(name="spatial slider-crank with a loose ball joint")
    model.add(ns.Ground())
    model.add(ns.SpatialBody("crank", mass=0.12, inertia=(1e-4, 1e-4, 1e-4), position=CENTRE))
    model.add(ns.SpatialBody("rod", mass=0.5, inertia=(4e-3, 4e-3, 4e-4), position=(0.1, 0.05, 0.1)))
    model.add(ns.SpatialBody("slider", mass=2.0, inertia=(1e-4, 1e-4, 1e-4), position=(0.2, 0.0, 0.0)))
    model.add(ns.Revolute("bearing", "ground", "crank", at_a=CENTRE, axis_a=X, axis_b=X))
    turn = ns.Ramp(rate=2 * pi)
    model.add(ns.PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=turn, axis_a=X))
    model.add(ns.Spherical("ball", "crank", "rod", at_a=(0.0, 0.0, 0.08), at_b=(0.0, 0.0, 0.15)))
    ball = {"at_b": (0.0, 0.0, -0.15), "clearance": clearance, "radius": 0.01}
    model.add(ns.SphericalClearance("socket", "slider", "rod", contact=contact, **ball))
    model.add(ns.Prismatic("guide", "ground", "slider", axis_a=X))
    model.add(ns.Gravity(acceleration=(0.0, 0.0, -9.81)))
    # positions are a rough guess: start where the joints are closed and the ball is in the middle of its socket
    return model.build(assemble=model.ideal().assemble())


if __name__ == "__main__":
    run = ns.simulate(build(), t_end=0.05)
    print(run)
    print("slider's velocity at the end [m/s]", run.v["slider.x"][-1])
    print("force on the rod at the end [N]", run.contact_force["socket"][-1])
