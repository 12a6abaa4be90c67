"""Constants of event-driven steps that stand in their rules and messages, or in several modules of their text."""

#: methods between events, by their number
ORDERS = ("dopri5", "dop853")

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
#: events at most to which a step is shortened one after the other, and changes of phase at most at its start
EVENTS = 30
#: passes of a projection of positions onto joints and closed contacts, near which a step ends
PASSES = 4

# ---- ends of runs

#: why there is no step: no length of it is accurate, its motion or its event is not found, a program is not solved, no
#: modes are consistent, there is no progress
INACCURATE, NO_MOTION, UNLOCATED, UNSOLVED, NO_MODES, SLOW = 1, 2, 3, 4, 5, 6
#: number of events within the shortest flight after which a run makes no progress, and the weight of a step without one
STALLED, SMOOTH = 2000, 0.02
#: share of the shortest flight below which steps are too short, and the number of consecutive ones after which their
#: cause is examined
CRAWL, CRAWLED = 0.1, 1000
