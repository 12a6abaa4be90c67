"""A rod in space that hangs by a loose ball joint and swings: a starting point for a mechanism of your own.

nonsmooth describe my_mechanism.py --figure sketch.png
nonsmooth run my_mechanism.py --t-end 0.1 --figure run.png
nonsmooth run my_mechanism.py --t-end 0.1 --set clearance=1e-4 --set rod.mass=0.5
"""

from math import cos, sin

from nonsmooth import Gravity, Ground, Model, Rigid, SpatialBody, SphericalClearance

# SI units throughout: m, kg, s, N, rad.
LENGTH = 0.3
RADIUS = 5e-3
MASS = 0.2


def build(clearance: float = 0.5e-3, angle: float = 0.5, restitution: float = 0.5) -> Model:
    """The mechanism. Arguments can be set on the command line: --set angle=1.0"""
    model = Model(name="my mechanism")

    # The frame that does not move.
    ground = model.add(Ground())

    # A body's frame sits at its centre of mass; z of this one lies along the rod. The quaternion (w, x, y, z) turns the
    # ground's frame into the body's: (cos(a/2), sin(a/2) n) for the angle a about the unit vector n. Position and
    # velocity are in the ground frame, the angular velocity is in that of the body.
    across = MASS * LENGTH**2 / 12
    rod = model.add(
        SpatialBody(
            "rod",
            mass=MASS,
            inertia=(across, across, MASS * RADIUS**2 / 2),
            position=(-LENGTH / 2 * sin(angle), 0.0, -LENGTH / 2 * cos(angle)),
            quaternion=(cos(angle / 2), 0.0, sin(angle / 2), 0.0),
            velocity=(0.0, 0.2, 0.0),
        )
    )

    # A joint holds a point of its first body (at_a, in the frame of a) and a point of its second (at_b, in that of b).
    # With clearance the ball of b moves in the socket of a; their radii differ by the clearance, radius is the ball's.
    contact = Rigid(restitution=restitution, friction=0.1)
    top = (0.0, 0.0, LENGTH / 2)
    model.add(SphericalClearance("ball", ground, rod, at_b=top, clearance=clearance, radius=RADIUS, contact=contact))
    # The same joint without clearance, and a hinge, which has an axis in the frame of each body:
    #     model.add(Spherical("ball", ground, rod, at_b=top))
    #     model.add(Revolute("hinge", ground, rod, at_b=top, axis_a=(0.0, 1.0, 0.0), axis_b=(0.0, 1.0, 0.0)))
    # A floor under the rod's lower end, a motor about the axis of the hinge:
    #     model.add(PointPlane("floor", ground, rod, at_a=(0, 0, -0.29), at_b=(0, 0, -LENGTH / 2), normal=(0, 0, 1),
    #                          contact=contact))
    #     model.add(PrescribedMotion("motor", ground, rod, coordinate="angle", axis_a=(0.0, 1.0, 0.0),
    #                                motion=lambda t: 0.5 + 10.0 * t))

    # Loads; others are PointForce, Torque, Spring, Damper, TorsionSpring, Bushing and Load.
    model.add(Gravity(acceleration=(0.0, 0.0, -9.81)))

    # Positions may be an initial guess: `return model.build(assemble=True)` closes the joints, and
    # `model.build(assemble=model.ideal().assemble())` also starts with the ball in the middle of its socket.
    return model


if __name__ == "__main__":
    # The same run from Python. Give a stepper and dt, such as GaussQP() and Landing(1e-6, 1e-4), to choose these.
    from nonsmooth import simulate

    run = simulate(build().build(), t_end=0.1)
    print(run)
    print("velocity at the end [m/s]", *(f"{run.v[f'rod.{axis}'][-1]:.4f}" for axis in "xyz"))
    print("impacts", len(run.impacts), "impulse in the ball joint [N s]", run.P_N["ball"].sum())
