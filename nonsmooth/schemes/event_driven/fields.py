"""Further fields of the memory of an event-driven run: one line per field, with its unit."""

from nonsmooth.compile.records.schema import Count, Link, Many, Motion, Number, Rows, Vector, record
from nonsmooth.step import integration_fields  # noqa: F401  (what is integrated)

# Constants that the engine takes as well, without loading the texts, which import numba.
#: degree of polynomials through forces within a step, by the number of the method
DEGREE = (7, 10)
#: level of the rows of closed contacts: gaps, velocities, accelerations with their forces
GAPS, VELOCITIES, FORCES = 0, 1, 2
#: forces of the phase: unique; the least ones, by a raised diagonal, or by least squares outside of the text; those
#: nearest to a reference
UNIQUE, RAISED, SQUARES, REFERRED = 0, 1, 2, 3
#: parts of the work at an instant
PROJECT, MODES = 0, 1


@record
class BodyInstant:
    q = Motion("m, rad")
    v = Motion("m/s, rad/s")
    a = Motion("m/s^2, rad/s^2")
    force = Motion("N, N m", "applied")


@record
class ContactInstant:
    gap = Number("m")
    rates = Rows("m/s", "of the gap, and slip")
    terms = Rows("m/s", "sums of the magnitudes of their terms")
    bias_acceleration = Rows("m/s^2", "acceleration of the gap, rate of the slip")
    P = Rows("N", "forces: normal, tangential")
    mobility = Number("1/kg", "of the normal, where the contact is closed")


@record
class ReactionInstant:
    """Reaction of a joint: its force, or its impulse."""

    force = Vector("N")
    torque = Vector("N m")


@record
class Instant:
    """The motion at one instant."""

    t = Number("s")
    applied = Number("(kg)^.5 m/s^2", "length of the acceleration without joints and contacts")
    moving = Number("(kg)^.5 m/s^2", "length of the acceleration")
    powers = Vector("W", "of loads, taken by damping, of drivers, taken by friction")
    residual = Number("-", "of the equations of motion")
    bodies = Many(to="BodyInstant")
    contacts = Many(to="ContactInstant")
    reactions = Many(to="ReactionInstant")


@record
class Touch:
    """The mode of a contact, and what determines the next one."""

    bias = Rows("m/s^2", "second derivative of the gap and rate of the slip along the motion alone")
    reference = Rows("N", "of forces that are not unique: those from which the forces of the phase differ least")
    kept_reference = Rows("N", "after the last accepted step")
    direction = Rows("-", "of its slip at the start of the step, where it slips")
    directions = Rows("-", "of its slip at the present positions")
    kept_direction = Rows("-", "after the last accepted step")
    sign = Rows("-", "known direction of a slip that vanishes")
    smooth = Rows("N s", "impulse of the step, impacts aside")
    impact = Rows("N s")
    share = Number("N", "reach of its friction cone when it began to stick")
    kept_share = Number("N", "after the last accepted step")
    mode = Count("-", "open, closed, sticking, slipping")
    kept_mode = Count("-", "after the last accepted step")
    before = Count("-", "mode before an event")
    # scales of a step
    least_gap = Number("m", "gap regarded as closed, however well times are resolved", constant=True)
    closed_gap = Number("m", "gap regarded as closed, which the round-off of times and places may be")
    zero_force = Number("N", "force regarded as zero")
    zero_slip = Number("m/s", "slip regarded as zero")
    # events
    refuted = Count("-", "kinds of events that did not occur in the step, as bits")
    released = Count("-", "1: opens at the event")
    known = Count("-", "1: direction of slip given")
    hit = Count("-", "1: closed, or closes in the window of simultaneity, where there is an impact")
    has_impact = Count("-", "1: in the impact")
    touching = Count("-", "1: closed at the event")
    leaving = Count("-", "1: opens after it, by its velocity")
    candidate = Count("-", "1: in the program in accelerations")
    met = Count("-", "1: in one of the impacts at this instant, which come one after the other")
    found = Rows("N", "force that a program has found, where it is not unique")
    restitution = Number("-", "of the impact; 0 where its rebound is too short")
    approach = Number("m/s", "rate with which drivers whose velocities jump let it approach")
    kept_restitution = Number("-", "the same, while a sequence of impacts ends")
    law = Number("-", "restitution of its law", constant=True)
    speed = Number("m/s", "gap velocity after the impact")
    contact = Link(to="Contact")


@record
class EventRun:
    """An event-driven run."""

    # tolerances
    rtol = Number("-", constant=True)
    slip_rtol = Number("-", "share of its terms below which a slip has no direction; 0 in the plane", constant=True)
    slip_atol = Number("m/s", constant=True)
    numbers = Number("-", "that are integrated", constant=True)
    shortest = Number("s", "flight that counts as one", constant=True)
    window = Number("s", "within which impacts are simultaneous", constant=True)
    together = Number("s", "within which forces vanish simultaneously", constant=True)
    steady = Count("-", "1: nothing depends on time", constant=True)
    order = Count("-", "of the method: 0: five, 1: eight", constant=True)
    inner = Count("-", "stages of a step without that at its end", constant=True)
    exponent = Number("-", "of the error, in the length of a step", constant=True)
    # addresses of what solves what this text does not, see `engine.event_programs`; they return 1 if it is solved
    answers = Count("-", "a program that is not solved otherwise", constant=True)
    balances = Count("-", "forces that are not unique", constant=True)
    shares = Count("-", "which of these are admissible, and nearest to the least ones", constant=True)
    clears = Count("-", "positions without the overlaps of open contacts", constant=True)
    reaches = Count("-", "the time at which joints become dependent", constant=True)
    crosses = Count("-", "the motion across this position", constant=True)
    examines = Count("-", "why many steps are short; 0 if there is a reason to end the run", constant=True)
    crowded = Count("-", "1: steps have been short on average")
    half_error = Number("-", "error of half a step then, over its tolerance")
    level = Count("-", "of the rows whose forces or impulses are requested")
    reach = Number("s", "time until joints become dependent")
    half = Number("s", "half of the time that is crossed in one step then")
    across = Count("-", "1: the step is across a singular position, and has no stages")
    failure = Count("-", "why there is no step, see `event_driven`")
    # the step
    length = Number("s", "of the next step")
    next_length = Number("s", "of the one after it")
    tried = Number("s", "length of the step without its event")
    error = Number("-", "of the step, over its tolerance")
    closure = Number("-", "residual of joints and closed contacts at its end")
    dt = Number("s")
    closed = Count("-", "closed contacts")
    current = Count("-", "1: directions and the block LU of joints are those of the present positions")
    dependence = Number("-", "of the rows of joints and contacts: largest ratio by which others reduce their mobility")
    evaluations = Count("-", "of accelerations, in the run")
    ready = Count("-", "1: stage 0 is the motion at the start of the step")
    ends = Number("s", "end of the run", constant=True)
    kinked = Count("-", "1: velocities of drivers jump at the end of the step")
    kept_stop = Count("-", "the next stop at the start of the step")
    shared = Count("-", "of forces that are not unique, see `phase_motion`")
    kept_shared = Count("-", "after the last accepted step")
    coarse = Number("m", "round-off of places, of turned bodies by their angles")
    # its event
    kind = Count("-", "0: none")
    which = Count("-", "contact")
    time = Number("s", "after the start of the step")
    latest = Number("s", "bound of this time")
    # its impact and what it adds to the row
    impact = Count("-", "1: there is one")
    works = Vector("J", "integrals of powers")
    work_impact = Number("J", "of drivers, in the impact")
    # progress
    stall_since = Number("s", "time since which events are counted")
    stall_count = Number("-", "events, and shares of steps without one")
    crawled = Count("-", "steps in a row that were far too short")
    counted = Count("-", "steps of which the mean size is taken")
    counted_since = Number("s")
    # parts
    system = Link(to="System")
    integrated = Many(to="IntegratedBody")
    steering = Many(to="StateBlock", note="positions and velocities, on which the length of a step depends")
    powers = Link(to="StateBlock", note="whose integrals are works")
    touches = Many(to="Touch", note="in the order of contacts")
    stages = Many(to="Instant", note="of a step, that at its end, and further ones of order eight")
    end = Link(to="Instant", note="of these, that at its end")
    nodes = Many(to="Instant", note="within a step, where forces are evaluated")
    left = Link(to="Instant", note="end of the step, before its event")
    after = Link(to="Instant", note="end of the step")
    means = Many(to="ReactionInstant", note="reactions, means over the step")
    kicks = Many(to="ReactionInstant", note="impulses of reactions in the impact")
    curvatures = Many(to="Group", note="evaluate biases of contacts")
    working = Many(to="Group", note="evaluate powers of forces without potential")
    accounts = Many(to="Account", note="of these")
