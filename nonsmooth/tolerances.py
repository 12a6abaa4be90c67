"""Contact modes, tolerances and codes that all formulations share, compiled or not."""

__all__ = [
    "AT_THE_END", "CLOSED", "CLOSED_GAP", "CLOSED_RATE", "DONE", "EDGE", "FLOOR", "FULL", "LANDED", "LASTING", "LEAD",
    "OPEN", "PRESSING", "PROXIMAL", "SLIPPING", "STICKING", "TURN", "TURNED", "UNCERTAIN",
]  # fmt: skip

#: how compiled steps end: all taken, the next one not certified, no room for its row
DONE, UNCERTAIN, FULL = 0, 1, 2
#: contact modes; closed ones are frictionless or unloaded
OPEN, CLOSED, STICKING, SLIPPING = 0, 1, 2, 3
#: share of the clearance below which a gap is regarded as closed
CLOSED_GAP = 1e-8
#: share of the sum of its terms below which a gap velocity is regarded as zero
CLOSED_RATE = 1e-10
#: share of the friction cone's radius by which a sticking force is inside
EDGE = 1e-6
#: share of the whole motion, in the mass metric, below which a row of the equations is not scaled by its own terms
FLOOR = 1e-3
#: an impulse of at most this multiple of that of the previous step belongs to a persistent contact, not to an impact
LASTING = 2.0
#: share of the largest impulse below which a contact is unloaded
PRESSING = 1e-9
#: extrapolation of the second derivatives of joints, in steps, for which steady rotation conserves energy
LEAD = 11.0 / 18.0
#: largest rotation of a body by contacts and joints per step [rad]
TURN = 1.5
#: least cosine, in the mass metric, between the normals at both ends of a step for which their mean is used
TURNED = 0.5
#: share of the clearance to which the closing of a gap is located
LANDED = 1e-13
#: a gap that closes later than this share of the step closes at its end
AT_THE_END = 1.0 - 1e-9
#: share of its diagonal that keeps a program, whose contacts are redundant, near the impulses of the pass before
PROXIMAL = 1e-9
