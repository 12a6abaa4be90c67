"""Constants of impacts integrated along the normal impulse, and of sequences of impacts at one instant."""

#: break points at most per contact, which has three phases; where contacts jam by friction, there is no end
CORNERS = 200
#: rounds, or single impacts of a sequence, at most
ROUNDS = 400
#: share of the first approach velocity at which a sequence has decayed; a plastic impact ends it
DIED = 1e-3
#: share of the length to a break point by which others may be farther and be regarded as the same: round-off
ALIKE = 1e-13
#: share of its terms below which a rate of change is regarded as zero: the residual to which programs are solved
ZERO = 1e-11
