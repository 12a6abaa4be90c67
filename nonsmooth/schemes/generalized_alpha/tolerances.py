"""Constants of the generalised-alpha method."""

#: iterations of a step at most
PASSES = 50
#: relative change of the motion per iteration at which a step is solved
CONVERGED = 1e-13
#: residuals of a step up to which no further iteration is made, and the relative change from which on they are
#: evaluated
SETTLED, PROMISING = 1e-12, 1e-7
#: relative change at which it may end if iterations no longer reduce it, where joints amplify round-off
ACCEPTABLE = 1e-11
#: the same after many iterations, if stiff springs amplify round-off
STALLED = 1e-9
#: least cosine, in the mass metric, between the normals at both ends of a step for which their mean is used
TURNED = 0.5
