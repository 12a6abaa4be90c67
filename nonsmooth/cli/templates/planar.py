"""A rod that hangs from a loose bearing and is let go: a starting point for a mechanism of your own.

nonsmooth describe my_mechanism.py --figure sketch.png
nonsmooth run my_mechanism.py --t-end 0.1 --figure run.png
nonsmooth run my_mechanism.py --t-end 0.1 --set clearance=1e-4 --set rod.mass=0.5
"""

from math import cos, sin

from nonsmooth import Gravity, Ground, Model, PlanarBody, RevoluteClearance, Rigid

# SI units throughout: m, kg, s, N, rad.
LENGTH = 0.3
MASS = 0.2


def build(clearance: float = 0.5e-3, angle: float = 0.5, restitution: float = 0.5) -> Model:
    """The mechanism. Arguments can be set on the command line: --set angle=1.0"""
    model = Model(name="my mechanism")

    # The frame that does not move.
    ground = model.add(Ground())

    # A body's frame sits at its centre of mass. Position, angle and velocities are those of the start; angles count
    # counter-clockwise. Here the rod hangs down where its angle is 0.
    rod = model.add(
        PlanarBody(
            "rod",
            mass=MASS,
            inertia=MASS * LENGTH**2 / 12,
            position=(LENGTH / 2 * sin(angle), -LENGTH / 2 * cos(angle)),
            angle=angle,
        )
    )

    # A joint holds a point of its first body (at_a, in the frame of a) and a point of its second (at_b, in that of b).
    # The journal of b moves in the bearing of a; their radii differ by the clearance. Friction would need
    # the journal's radius as well: radius=5e-3.
    contact = Rigid(restitution=restitution, friction=0.0)
    model.add(
        RevoluteClearance(
            "pin", ground, rod, at_a=(0.0, 0.0), at_b=(0.0, LENGTH / 2), clearance=clearance, contact=contact
        )
    )
    # The same joint without clearance:
    #     model.add(Revolute("pin", ground, rod, at_b=(0.0, LENGTH / 2)))
    # A slide with clearance, a wall for the rod's lower end, a motor:
    #     model.add(PrismaticClearance("guide", ground, slider, length=0.1, clearance=1e-4, contact=contact))
    #     model.add(PointPlane("floor", ground, rod, at_a=(0.0, -0.29), at_b=(0.0, -LENGTH / 2), contact=contact))
    #     model.add(PrescribedMotion("motor", ground, rod, coordinate="angle", motion=lambda t: 0.5 + 10.0 * t))

    # Loads; others are PointForce, Torque, Spring, Damper, TorsionSpring, Bushing and Load.
    model.add(Gravity(acceleration=(0.0, -9.81)))
    return model


if __name__ == "__main__":
    # The same run from Python. Give a stepper and dt, such as GaussQP() and Landing(1e-6, 1e-4), to choose these.
    from nonsmooth import simulate

    run = simulate(build().build(), t_end=0.1)
    print(run)
    print("angle at the end [rad]", run.q["rod.angle"][-1])
    print("impacts", len(run.impacts), "impulse in the pin [N s]", run.P_N["pin"].sum())
