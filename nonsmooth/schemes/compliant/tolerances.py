"""Constants of compliant contact, integrated with error control."""

#: share of the typical gap below which surfaces are regarded as touching
TOUCHED = 1e-9
#: intervals of a step, at least, at whose ends gaps are evaluated to find where contact begins or ends
LOOKS = 4
#: gap [m] to which an event is located, below the round-off of positions, so that the search ends at neighbouring times
LOCATED = 1e-16
#: iterations at most for it; bisection alone reaches neighbouring times within a step in about 53
ITERATIONS = 60
#: constraint violation, in tolerances of positions, above which the integrator begins anew from the projected row
DRIFTED = 10.0
#: passes of a projection onto the joints at most
PASSES = 8
#: constraint residual [m] or [rad] above which a projection has not closed the joints: rows that were redundant no
#: longer agree
PARTED = 1e-8
#: regularisation, as a share of the diagonal, that makes the stiction forces of dependent contacts unique
SHARED = 1e-9
#: further steps that stability limits, after which an implicit integrator that was of no use takes over again
PAUSE = 1500

#: why the next row is not certified: the integrator finds no step, joints cannot be closed, the residual is too large
NO_STEP, APART, UNBALANCED = 1, 2, 3
