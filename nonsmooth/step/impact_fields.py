"""The fields of impacts by other laws than Newton's, one per line, with their units."""

from nonsmooth.compile.records.schema import Count, Link, Number, Rows, record

#: impact laws by their number in a `System`
LAWS = ("newton", "poisson", "routh", "stronge")
#: from this number on laws are integrated along the impulse
INCREMENTAL = 2
#: in the place of a phase of an impact: friction is associated, its cones convex
CONVEX = 3


@record
class Impact:
    """Data of a contact in an impact, in addition to its impulse."""

    contact = Link(to="Contact")
    kept = Rows("N s", "impulse of the step, while impacts after it are computed")
    kept_on = Count("-", "1: in the program of the step")
    before = Rows("m/s", "rates before the impact")
    after = Rows("m/s", "rates after it")

    # integrated along the impulse
    closed = Count("-", "1: takes part if it approaches")
    touched = Count("-", "1: has taken part in a round")
    presses = Count("-", "1: its expansion has not ended")
    slips = Count("-", "1: its friction is given")
    sticks = Count("-", "1: its slip remains zero")
    e = Number("-", "restitution, 0 below the threshold")
    weight = Number("-", "of its normal impulse; at first its approach velocity [m/s]")
    normal_rate = Number("-", "normal impulse per s, 0 after its expansion")
    given_P = Rows("-", "impulse per s, if it slips")
    start = Rows("m/s", "rates before the round")
    rates = Rows("m/s", "rates at the last break point")
    P = Rows("N s", "impulse since the start of the round")
    slip_ends = Number("N s", "length to where its slip vanishes")
    turns = Number("N s", "to where its gap velocity vanishes")
    ends = Number("N s", "to where its expansion ends")
    stored = Number("J, N s", "remaining expansion: work by Stronge's law, impulse by Routh's")
    taken = Number("J", "work of compression, <= 0")
    given = Number("J", "of expansion")
    stopping = Number("N s", "normal impulse of compression")
    off = Number("m/s", "error of Coulomb's law")
