"""Further fields of the memory of a run with compliant contact: one line per field, with its unit."""

from nonsmooth.compile.records.schema import Block, Count, Link, Many, Number, Rows, Vector, record
from nonsmooth.step import integration_fields  # noqa: F401  (what is integrated)

#: requests to an integrator outside: to begin anew, its next step, its values at a time within that, and an
#: inexpensive approximation of these
BEGIN, STEP, GO_TO, LOOK = 0, 1, 2, 3


@record
class Overlap:
    """A compliant contact: the arguments of its law, and forces."""

    bristle = Vector("..", "internal states of the friction law")
    bristle_rate = Vector("../s")
    bristle_row = Vector("..", "states at the last row")
    rates = Rows("m/s", "of the gap, and slip")
    holding = Rows("N", "stiction force, along the tangents")
    bias = Rows("m/s^2", "rate of the slip along the motion alone")
    force = Rows("N", "on the second body: normal, along the tangents")
    # of stiction forces
    first = Rows("N", "for which all contacts stick together")
    free = Rows("m/s^2", "rate of the slip without friction that depends on stiction forces")
    given = Rows("N", "friction that does not depend on those of others")
    ridge = Number("1/kg", "on the diagonal of contacts that stick together")
    responses = Many(to="Response", note="of its slip to friction of each contact")
    depth = Number("m")
    closing = Number("m/s")
    approach = Number("m/s", "closing speed when contact began")
    elastic = Number("N", "part of the normal force that stores energy")
    spin = Number("rad/s", "of the tangents about the normal, relative to both bodies")
    touches = Count("-", "1: its law is evaluated")
    began = Number("s", "when it began to touch")
    bristles_count = Count("-", "internal states", constant=True)
    sticks = Count("-", "1: the friction law depends on the stiction force", constant=True)
    held = Count("-", "1: sticks, as far as its law admits it")
    mode = Count("-", "where it touches: closed, or slipping where there is friction", constant=True)
    seen_gap = Number("m", "at the last time at which events were checked")
    seen_rate = Number("m/s")
    # extremes since laws were last compared with their ranges of validity
    least_force = Number("N")
    most_force = Number("N")
    least_depth = Number("m")
    most_depth = Number("m")
    least_approach = Number("m/s")
    most_approach = Number("m/s")
    contact = Link(to="Contact")
    law = Link(to="Group")
    bristles = Link(to="StateBlock")
    impulse = Link(to="StateBlock")


@record
class Response:
    W = Block("1/kg")
    left = Block("1/kg", "what elimination leaves of it")


@record
class Wrench:
    """Impulse of the reaction of a joint."""

    reaction = Link(to="Reaction")
    impulse = Link(to="StateBlock")


@record
class Integration:
    """A run with compliant contact."""

    # the integrator
    t = Number("s", "end of the last step")
    t_start = Number("s", "start of it")
    length = Number("s", "of the next step")
    first = Number("s", "length to begin with; 0: to be found")
    longest = Number("s", "step", constant=True)
    limit = Number("s", "latest end of the next step: a corner of loads or drivers")
    rtol = Number("-", constant=True)
    numbers = Number("-", "on which the step size depends", constant=True)
    failure = Count("-", "why the next row is not certified, see `tolerances.compliant`")
    evaluations = Count("-", "of rates, in the run")
    integrate = Count("-", "address of an integrator outside, 0 if there is none", constant=True)
    always = Count("-", "1: it takes all steps, otherwise those of stiff phases", constant=True)
    outside = Count("-", "1: it takes the next step, otherwise Dormand and Prince's pair")
    limited = Count("-", "steps of the pair whose length stability limits, less those after them that it does not")
    free = Count("-", "steps of the pair in a row that it does not")
    short = Count("-", "steps of the integrator outside in a row that are too short for what they cost")
    implicit = Count("-", "steps that it has taken in stiff phases")
    request = Count("-", "what is requested of it")
    request_time = Number("s", "time for which it is, or at which rates are evaluated")
    # joints
    tolerance = Number("m, rad", "of positions", constant=True)
    projected = Count("-", "1: rows are projected onto the joints", constant=True)
    feedback = Count("-", "1: Baumgarte's terms instead", constant=True)
    alpha = Number("1/s", "of these", constant=True)
    beta = Number("1/s", constant=True)
    # friction that depends on stiction forces
    sticking = Count("-", "1: there is such friction", constant=True)
    pairwise = Count("-", "1: of two contacts in the plane, which are found one by one", constant=True)
    # rows of the last step
    samples = Count("-", "rows of a step in contact", constant=True)
    looks = Count("-", "intervals in which events are checked", constant=True)
    end = Number("s", "where its rows end")
    rows = Count("-", "of the step, 0 before there is one")
    row = Count("-", "the next one, from 1 on")
    event = Number("s", "time of the event")
    changes = Count("-", "contact that begins or ends there, -1 if there is none")
    restart = Count("-", "1: the integrator begins anew at the last row")
    # the last row
    row_t = Number("s")
    step = Number("s", "length of the integrator's step with the last row, 0 before there is one")
    stored = Number("J", "in contacts")
    touched = Number("-", "gap regarded as contact, as a share of its size", constant=True)
    impulse = Number("N s", "typical impulse")
    velocities = Number("-", "how many there are", constant=True)
    # parts
    system = Link(to="System")
    integrated = Many(to="IntegratedBody")
    overlaps = Many(to="Overlap", note="in the order of contacts")
    wrenches = Many(to="Wrench")
    blocks = Many(to="StateBlock")
    steering = Many(to="StateBlock", note="on which the step size depends: positions, velocities, bristles")
    moving = Many(to="StateBlock", note="positions and velocities")
    contact_work = Link(to="StateBlock", note="integrals: stored in contacts, lost there, lost in friction, of drivers")
    load_work = Link(to="StateBlock", note="integrals: of loads, of damping")
    turns = Many(to="Group", note="evaluate spins of tangents and biases of slips")
    working = Many(to="Group", note="evaluate powers of forces without potential")
    accounts = Many(to="Account", note="of these")
