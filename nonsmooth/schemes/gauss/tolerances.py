"""Constants of Gauss' principle: steps by implicit Euler, and event-locating steps."""

from nonsmooth.step.tolerances import CLOSED_GAP

#: iterations of a step at most: in very small clearances the normal turns with the impulses, and they converge slowly
PASSES = 100
#: change of u, as a share of its size, that ends iterations
CONVERGED = 1e-13
#: residual of a step up to which no further pass is taken, and the change of u by the last pass, as a share of its
#: size, from which on it is evaluated
SETTLED, PROMISING = 1e-12, 1e-7
#: trial sizes at most of a step that ends when a gap closes, and closings at most that are located for one
TRIALS = 40
#: share of the clearance to which the closing of a gap is located
LANDED = 1e-13
#: share of the clearance by which a gap must become negative within a step to close in it; what is less is round-off
DIPPED = 1e-2 * CLOSED_GAP
#: largest factor from one step length to the next by the local error, and the order of the estimate of that
LONGER, ORDER = 3.0, 3.0
#: a step of at most this multiple of the shortest flight is not shortened
AT_LEAST = 1.0 + 1e-9
