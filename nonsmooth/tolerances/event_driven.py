"""Constants of the event-driven scheme."""

import numpy as np

# ---- closed contacts, and location of events

#: gap [m] to which the closing of a contact is located
LANDED = 1e-15
#: height [m] of a rebound that is lost in the round-off of positions
LOWEST = 4 * LANDED
#: share of the contact's size below which a gap is regarded as closed: less than in time stepping, where closings are
#: not located to `LANDED`
CLOSED_GAP = 1e-10
#: time [s], the shortest flight at most, within which forces vanish simultaneously
TOGETHER = 1e-7
#: size, relative to what is typical, below which the sign of a force or slip is round-off
ROUND_OFF = 1e-11
#: the same of forces that are not unique, which a program has shared
SHARED = 1e-8
#: tolerance of a located force or slip, relative to what is round-off of it
LOCATED = 1e-2
#: trial sizes at most of the step that ends at an event, and share of the time by which they must differ
ITERATIONS, SAME_TIME = 40, 1e-16
#: evaluations without a change of sign after which an event is regarded as unconfirmed
PATIENCE = 6
#: events at most to which a step is shortened one after the other, and changes of phase at most at its start
EVENTS = 30
#: shares of a step at which quintics through gaps are evaluated, denser towards its ends
PLACES = (1 - np.cos(np.pi * np.arange(49) / 48)) / 2

# ---- loss of contact and of sticking within a step

#: share of its range in a step below which a force at a stage causes a search within the step
NEAR = 0.5
#: share of the largest force in a step by which one along the extension must be negative to be significant
RESOLVED = 1e-9
#: intervals at whose ends polynomials through forces are evaluated, per degree
FINE = 12

# ---- modes after an event

#: share of the sum of its terms below which an acceleration is regarded as zero, and of the largest normal force below
#: which a contact is unloaded
ZERO = 1e-9
#: share of the sum of its terms below which a slip at an event vanishes
STILL = 1e-10
#: share of the friction cone's radius by which the force of a sticking contact may be outside
OUTSIDE = 1e-9
#: share of the largest normal force by which forces of dependent contacts may be tensile or leave their cones
ADMISSIBLE = 1e-9
#: separation of the accelerations of slipping contacts from those of contacts that may stick, and trials for it, each
#: by this factor larger
APART, TRIALS = 1e3, 3

# ---- smooth motion

#: passes of a projection of positions onto joints and closed contacts, near which a step ends
PASSES = 4
#: share of the applied forces below which the resultant is regarded as zero, and share of the velocity that the applied
#: forces cause in the longest step below which a mechanism is at rest
BALANCED = 1e-12

#: largest change of velocity, as a share of it, in a step across a singular position
KICK = 0.1

# ---- step sizes

#: least share of the step before that the step after a singular position has
BEYOND = 1e-2
#: how often the time that a failed step may take is halved
HALVINGS = 4
#: why there is no step: no length of it is accurate, its motion or its event is not found, a program is not solved, no
#: modes are consistent, there is no progress
INACCURATE, NO_MOTION, UNLOCATED, UNSOLVED, NO_MODES, SLOW = 1, 2, 3, 4, 5, 6
#: largest factor from one step size to the next, for which the error estimate of the former still tells something
GROW = 5.0
#: trials of one step at most; each at least shortens it by a tenth
REJECTIONS = 60
#: share of what is left before the end of a step's range above which a step takes all of it, and leaves no sliver
WHOLE = 0.99
#: size of positions and velocities, or of their rates, in tolerances, below which the first step is the longest one;
#: the share of their ratio that it is otherwise, see Hairer, Norsett, Wanner (1993), II.4
IDLE, FIRST = 1e-5, 0.1

# ---- progress

#: number of events within the shortest flight after which a run makes no progress, and the weight of a step without one
STALLED, SMOOTH = 2000, 0.02
#: share of the shortest flight below which steps are too short, and the number of consecutive ones after which their
#: cause is examined
CRAWL, CRAWLED = 0.1, 1000
#: number of steps per longest step, averaged over the last `CRAWLED` steps, above which the cause is examined
CROWDED = 50
