"""Contact modes, codes and constants that texts and Python share; those of impacts are in `impact_tolerances`."""

#: how compiled steps end: all taken, the next one not certified, no room for its row
DONE, UNCERTAIN, FULL = 0, 1, 2
#: contact modes; closed ones are frictionless or unloaded
OPEN, CLOSED, STICKING, SLIPPING = 0, 1, 2, 3

# ---- contacts

#: share of the clearance below which a gap is regarded as closed
CLOSED_GAP = 1e-8
#: share of the sum of its terms below which a gap velocity is regarded as zero
CLOSED_RATE = 1e-10
#: share of the friction cone's radius by which a sticking force is inside
EDGE = 1e-6
#: share of the largest impulse below which a contact is unloaded
PRESSING = 1e-9
#: share of its diagonal that keeps a program, whose contacts are redundant, near the impulses of the pass before
PROXIMAL = 1e-9

# ---- equations

#: largest rotation of a body by contacts and joints per step [rad]
TURN = 1.5
#: residual of the velocities of joints above which a pass is repeated with their matrix at the end of the step
CLOSED_JOINTS = 1e-13

#: share of the whole motion, in the mass metric, below which a row of the equations is not scaled by its own terms
FLOOR = 1e-3
#: velocity, in the mass metric, that is regarded as rest, relative to what loads or the step make of it: the root of
#: round-off, since energies of such velocities are the round-off of others
AT_REST = 1e-8
#: largest residual of Coulomb's law of an accepted state of rest
CERTAIN = 1e-11
#: change of velocities, as a share of their size, that may end iterations of a step if they no longer reduce it, where
#: joints or stiff loads amplify round-off; and near a singular position of the joints at most
ACCEPTABLE, MOST_AMPLIFIED = 1e-11, 1e-7
#: constraint residual [m] or [rad] at which a projection of positions ends: some units of round-off of 1 m or 1 rad
PROJECTED = 1e-15
#: share of the constraint residual to which a pass of a projection must reduce it for another one to follow; near the
#: solution a pass of Newton's method squares it, so that less is gained only at round-off
GAINING = 0.25

# ---- step sizes

#: a gap that closes, or another event, later than this share of the step is at its end
AT_THE_END = 1.0 - 1e-9
#: share of a step below which no step is left for the end of the run: a step that ends so near to it ends there
REMAINDER = 1e-9
#: share of a step by which a time may be before a point of the grid of constant steps and be regarded as this point
ON_GRID = 1e-6
#: share of the step size predicted by an error estimate that is taken, since few repeated steps are cheaper than many
SAFETY = 0.9
#: least factor from one step size to the next by an error estimate, which is of no use for larger changes
SHRINK = 0.2

# ---- numbers

#: a number differs from the next one by at most this share
EPSILON = 2.0**-52
#: least divisor: 0 / TINY = 0, and quotients of ordinary numbers by it do not overflow
TINY = 1e-300
