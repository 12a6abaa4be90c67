"""Constants of Moreau and Jean's scheme."""

#: iterations of a step at most, and programs at most of the projection of its end
PASSES = 100
#: change of the velocity from iteration to iteration, as a share of its size, that ends them: round-off
CONVERGED = 1e-14
#: residuals of a step up to which no further pass is taken where joints are closed to round-off in positions, and the
#: change of the velocity by the last pass, as a share of its size, from which on they are evaluated
SETTLED, PROMISING = 1e-11, 1e-7
#: constraint violation, as a share of coordinates, up to which the matrix of joints at a position serves the program at
#: the one where they are closed
NEAR = 1e-14
#: penetration, in clearances, that is accepted after the projection of a position
PENETRATED = 1e-12
#: an impulse of at most this multiple of that of the previous step belongs to a persistent contact, not to an impact
LASTING = 2.0
#: extrapolation of the second derivatives of joints, in steps, for which steady rotation conserves energy
LEAD = 11.0 / 18.0
