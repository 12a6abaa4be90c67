"""The fields of the memory of a run, one per line, with their units."""

from nonsmooth.compile.records.schema import (
    Block,
    Count,
    Directions,
    Inside,
    Link,
    Many,
    Masses,
    ModalMasses,
    ModalMotion,
    ModeTable,
    MomentTable,
    Motion,
    Number,
    Placement,
    PositionTable,
    Rows,
    Table,
    TangentTable,
    Vector,
    VectorTable,
    VelocityTable,
    Wrenches,
    record,
)
from nonsmooth.step import impact_fields, observation_fields  # noqa: F401  (records that those below contain)

#: differences of rounds that are kept where the turning of directions is found, see `turning`
DEPTH = 6

# ---- bodies


@record
class Secant:
    """Data of the previous fixed-point iteration, of a velocity or an acceleration, for the next one."""

    answer = Motion("m/s, ..", "result of the iteration")
    off = Motion("m/s, ..", "its difference from the value that the iteration began with")


@record
class Difference:
    """Difference of two rounds in which the turning of directions is found, see `turning`."""

    motion = Motion("m/s, rad/s", "of what the rounds began with")
    off = Motion("m/s, rad/s", "of what they changed it by")


@record
class Body:
    """A body, the first one the ground, at rest. Fields that a step uses together stand together, for the cache."""

    q = Motion("m, rad", "position at the start of a step; in space a quaternion for the rotation")
    v = Motion("m/s, rad/s", "velocity there; in space the angular velocity in the frame of the body")
    u = Motion("m/s, rad/s", "velocity with which positions are updated in the step")
    v_next = Motion("m/s, rad/s", "at the end of the step")
    force = Motion("N, N m", "applied force at the point of the step where forces are evaluated")
    joint_impulse = Motion("N s, N m s", "impulse of joints at the start of the step")
    mass = Masses("kg, kg m^2", constant=True)
    inverse_mass = Masses("1/kg, 1/(kg m^2)", constant=True)
    total = Motion("N s, N m s", "sum of all impulses in the step")
    terms = Motion("N s, N m s", "sum of their magnitudes")
    sqrt_mass = Motion("kg^.5", "root of the diagonal", constant=True)
    steady = Motion("N, N m", "of forces that are constant in a run", constant=True)
    at = Motion("m, rad", "position at which elements are evaluated")
    z = Placement("m, -", "placement at that position")
    contact_impulse = Motion("N s, N m s", "impulse of contacts in the step, of the previous iteration")
    force_before = Motion("N, N m", "the same of the previous step")
    delta_v = Motion("m/s, rad/s", "change of velocity in the previous step; 0 after an impact")
    delta2_v = Motion("m/s, rad/s", "second difference of velocity")
    delta3_v = Motion("m/s, rad/s", "third difference of velocity")
    v_terms = Motion("m/s, rad/s", "sum of the magnitudes of the terms of the velocity at the end")
    jump = Motion("m/s, rad/s", "velocity change by the impulses of an impact, or an acceleration")
    left = Motion("m/s, rad/s", "velocity at the end of the step, before its impact")
    projected = Motion("m, rad", "position at the end of the step, projected onto joints and gaps")

    # of flexible bodies: frame, then modes of mass one
    stiffness = ModalMasses("1/s^2", "of deformation", constant=True)
    damping = ModalMasses("1/s", "of deformation", constant=True)
    implicit = ModalMasses("1/kg, 1/(kg m^2)", "inverse mass of a step that is implicit in the forces of deformation")
    mover = Count("-", "address of the code that moves it; 0: as a rigid body", constant=True)
    rater = Count("-", "address of the code for rates of its position; 0: those of a rigid body", constant=True)
    slots = Many(to="Slot", note="of this code, which has no parameters")
    origin = Link(to="Place")
    begun = ModalMotion("m, rad", "position from which it moves")
    going = ModalMotion("m/s, rad/s", "velocity with which it moves")
    lasting = Number("s", "for how long")
    moved = ModalMotion("m, rad", "position to which it moves")

    # of generalised alpha: accelerations without contacts, and pseudo-accelerations, which follow them
    smooth = Motion("m/s^2, rad/s^2", "acceleration at the start of the step")
    acceleration_next = Motion("m/s^2, rad/s^2", "at its end")
    delta_acceleration = Motion("m/s^2, rad/s^2", "change of acceleration in the previous step; 0 after an impact")
    pseudo_acceleration = Motion("m/s^2, rad/s^2", "pseudo-acceleration at the start of the step")
    pseudo_acceleration_next = Motion("m/s^2, rad/s^2", "at its end")
    saved_u = Motion("m/s, rad/s", "u, while elements are evaluated with the velocity at the end")
    reached = Motion("m/s, rad/s", "v_next of the previous iteration")
    friction_displacement = Motion("N s, N m s", "half of the impulses of friction, which displaces bodies")
    direction_correction = Motion("N s, N m s", "impulses along mean directions less those along directions at the end")
    u_found = Inside(of="Secant")
    smooth_found = Inside(of="Secant")

    # of steps by Newton's method, see `turning`
    trial = Motion("m/s, rad/s", "change of u in the pass, of the previous round")
    off = Motion("m/s, rad/s", "by which it differs from that of the round")
    turning = Motion("N s, N m s", "change of impulses as their directions turn with it; forces along it")
    loads = Motion("N, N m", "force at u, while it is evaluated along `trial`")
    differences = Many(to="Difference")

    # of rows
    q_column = Count("-", "columns of positions of the bodies before it", constant=True)
    v_column = Count("-", "of velocities", constant=True)
    modes = Count("-", "number of modes", constant=True)


# ---- blocks of rows between two bodies


@record
class Trend:
    """Impulses of previous steps, from which the next ones are extrapolated."""

    last = Rows("N s", "those of the previous step")
    first = Rows("N s", "first differences")
    second = Rows("N s", "second differences")
    third = Rows("N s", "third differences")
    known = Count("-", "number of consecutive steps stored")


@record
class Side:
    """The data of a bond at one of its two bodies."""

    directions = Directions("-, m", "of an impulse of one in each row")
    response = Directions("1/kg, 1/(kg m)", "velocity that this impulse gives the body")
    body = Link(to="Body")


@record
class Bond:
    """Rows between two bodies: the common base of contacts and joints, on which alone the program depends. All have the
    rows of the largest contact; joints with fewer are padded, joints with more divided into several bonds."""

    a = Inside(of="Side")
    b = Inside(of="Side")
    on = Count("-", "1: in the program")
    P = Rows("N s", "impulses; of a contact: normal, tangential")
    velocity_offset = Rows("m/s", "terms of the laws that are added to the rates at the end")
    # the program: rates u = W P + couplings + b
    W = Block("1/kg")
    b0 = Rows("m/s", "rates without impulses")
    u = Rows("m/s", "rates")
    couplings = Many(to="Coupling", note="with joints, then with contacts")
    to_joints = Many(to="Coupling", least=2)
    # its elimination
    G = Block("-", "of the linearised law: G u + H P = ...")
    pivot = Block("kg", "inverse of the diagonal block after elimination of earlier bonds")
    y = Rows("N s")
    held = Rows("N s", "impulses of the pass before, whose directions turn")


@record
class Contact(Bond):
    """A contact: a normal row, and tangential ones if there is friction."""

    to_contacts = Many(to="Coupling")
    # the program within joints, which answer: rates u_within + within P + couplings
    within = Block("1/kg")
    u_within = Rows("m/s")
    g = Number("m", "gap in the middle of the step")
    scale = Number("m", "its clearance or another typical length", constant=True)
    restitution = Number(constant=True)
    threshold = Number("m/s", "approach velocity below which there is no rebound", constant=True)
    tangential = Number("-", "tangential restitution", constant=True)
    friction = Number()
    impulse_scale = Number("N s", "typical impulse")
    least = Number("N s", "normal impulse that the expansion of an impact returns at least")
    free = Rows("m/s", "rates without impulses of contacts")
    before = Rows("m/s", "rates at the start of the step")
    after = Rows("m/s", "rates at its end")
    P_before = Rows("N s", "of the previous step")
    trend = Inside(of="Trend")
    has_impact = Count("-", "1: it has an impact in the step")

    # of event-locating steps
    closed = Count("-", "1: loaded at the start of the step")
    left_at = Number("s", "last time at which it opened")
    resolved = Count("-", "1: its flight is long enough for its closing to be located")
    start_a = Directions(
        "-, m", "directions at the start of the step, `directions` at its end; of Moreau-Jean in the middle"
    )
    start_b = Directions("-, m")
    start_g = Number("m", "gap there; of Moreau-Jean in the middle of the step, as a start at rest has it")
    start_rate = Number("m/s", "of the gap")
    start_rates = Rows("m/s")
    first = Rows("N s", "impulses of the first half of the step")
    second = Rows("N s", "of the second half")
    impact = Rows("N s", "of the impact at its end")

    # of generalised alpha
    S = Rows("N s", "impulses that correct the displacement, over the step")
    kept = Rows("N s", "P and friction, while the displacement's program is solved")
    kept_friction = Number()
    is_persistent = Count("-", "1: persistent: closed at the start of the step, neither approaching nor opening")
    near = Count("-", "1: in the displacement's program")
    bound = Count("-", "1: has closed in a late iteration of the step")
    # of rows that are evaluated
    true_gap = Number("m", "between the surfaces themselves")
    true_rate = Number("m/s")
    column = Count("-", "in tables of rows", constant=True)


@record
class Joint(Bond):
    """A joint: bilateral rows."""

    g = Rows("m, rad", "value at the end of the step")
    rate = Rows("m/s, rad/s", "explicit rate there")
    empty = Rows("-", "1 in rows that the joint does not have", constant=True)
    directions_a = Directions("-, m", "directions at the start of the step")
    directions_b = Directions("-, m")
    rate_start = Rows("m/s, rad/s", "explicit rate at the start of the step")
    P_a = Rows("N s", "impulses along these")
    trend = Inside(of="Trend")
    P_near = Rows("N s", "impulses near which redundant rows are solved (proximal term)")
    base = Rows("N s", "impulses that P is a change of, where a pass keeps the matrix of the first one; else 0")
    answer = Rows("N s", "share of P in response to an impact")
    P_b = Rows("N s", "impulses at the end, impacts aside")
    # of joints closed in the middle of the step
    left = Rows("m/s, rad/s", "rates at the end of the previous step")
    bias_acceleration = Rows("m/s^2", "second derivative of g along the motion alone")
    previous_bias_acceleration = Rows("m/s^2", "that of the step before")
    # of generalised alpha
    P_before = Rows("N s", "impulses of the step before")
    lam = Rows("N, N m", "forces without contacts at the start of the step")
    lam_next = Rows("N, N m", "at its end")
    S = Rows("N s", "impulses that correct the displacement, over the step")
    kept = Rows("N s", "P, while the displacement's program is solved")
    # of rows that are evaluated
    closure = Rows("m, rad", "constraint violation")
    # where there are flexible bodies
    wrench = Wrenches("-, m", "of an impulse of one in each row on the second body, about the point of its reaction")
    wrench_start = Wrenches("-, m", "at the start of the step")


@record
class Coupling:
    """Coupling of a bond with one eliminated before it: by a common body, or as fill-in of the elimination."""

    other = Link(to="Bond")
    shares = Many(to="Share")
    joints = Many(to="Meeting", least=2, note="with which both bonds are coupled")
    contacts = Many(to="Meeting", note="eliminated before both contacts, with which they are coupled")
    W = Block("1/kg")
    within = Block("1/kg", "of two contacts, within joints")
    lower = Block()
    upper = Block()


@record
class Share:
    """Two sides at one body."""

    mine = Link(to="Side")
    its = Link(to="Side")


@record
class Meeting:
    """A bond eliminated earlier, with which both bonds are coupled."""

    mine = Link(to="Coupling")
    its = Link(to="Coupling")


# ---- elements


@record
class Group:
    """Elements of one kind, evaluated by the same compiled code."""

    system = Link(to="System")
    ground = Link(to="Body")
    code = Count("-", "its address", constant=True)
    places = Many(to="Place")
    slots = Many(to="Slot")


@record
class Place:
    """Offsets [bytes] from the ground to the bodies and outputs of an element."""

    a = Count(constant=True)
    b = Count(constant=True)
    out = Count(constant=True)


@record
class Slot:
    """A number that depends on parameters alone."""

    value = Number(constant=True)


@record
class Load:
    """Forces of an element on two bodies."""

    on_a = Motion("N, N m")
    on_b = Motion("N, N m")
    a = Link(to="Body")
    b = Link(to="Body")


@record
class Account:
    """Energy and power of a force, or of the weight of a body."""

    potential = Number("J")
    power = Number("W", "of what has no potential")
    damping = Number("W", "of what dissipates")


@record
class Reaction:
    """Reaction of a joint on its second body, from all its bonds."""

    joints = Many(to="Joint")
    point = Vector("m", "where it is reported, in the frame of the body", constant=True)
    impulse = Vector("N s", "of an impact between two steps")
    twist = Vector("N m s")
    start_z = Placement("m, -", "of the body at the start of the step")
    column = Count("-", "in tables of rows", constant=True)


# ---- the whole


@record
class Convergence:
    """By how much the passes of a step change its motion, see `convergence`."""

    change = Number("-", "in the last pass; infinite before there is one")
    before = Number("-", "in the pass before it")
    least = Number("-", "the smallest of all")
    stalled = Count("-", "passes that changed the motion by no less than the one before")
    stuck = Count("-", "the last passes, of which none halved the smallest change")
    further = Count("-", "passes that follow the one that is done")
    along_secants = Count("-", "1: the pass is followed by a secant")
    led = Count("-", "1: a pass of the step was")


@record
class Stop:
    """A time at which a step ends: a corner of loads or drivers."""

    t = Number("s", constant=True)
    before = Number("s", "where its left limit is evaluated", constant=True)


@record
class System:
    """A mechanism in a step of a scheme."""

    t = Number("s", "start of the step")
    dt = Number("s")
    t_next = Number("s", "end of the step")
    origin = Number("s", "of the grid of steps", constant=True)
    t_end = Number("s", "of the run", constant=True)
    last_dt = Number("s", "length of the step before")
    seen = Number("s", "time at which elements are evaluated")
    now = Number("s", "the same, where it is no left limit")
    stops = Many(to="Stop", note="the next ones in order, the last at infinity")
    stop = Count("-", "of these the next one")
    bound = Number("s", "latest time at which elements are evaluated before it")
    renewed = Count("-", "1: the step begins at a corner, where accelerations may jump")
    theta = Number("-", "point of the step where forces are taken", constant=True)
    radius = Number("-", "spectral radius of generalised alpha", constant=True)
    mean = Count("-", "1: impulses of a step are along means of directions at its two ends, else along the latter")
    longest = Number("s", "length of steps, but the last one; of event-locating steps the largest", constant=True)
    shortest = Number("s", "shortest flight whose end is located", constant=True)
    certified = Number("-", "largest residual of an accepted step", constant=True)
    reach = Number("m", "largest coordinate", constant=True)
    error = Number("-", "tolerated local error of a step, as a share of the clearance; 0: any", constant=True)
    planned = Number("s", "longest next step, by the local error of the last one or after halvings of it")
    rejected = Count("-", "steps of the run that were repeated for their local error")
    too_long = Count("-", "1: the local error of the last attempt is too large")
    noise = Number("(kg)^.5 m/s", "round-off of velocities of joints, times a step", constant=True)
    acceptable = Number("-", "change that may end iterations that no longer reduce it, as a share of velocities")
    ridge = Number("1/kg", "on the diagonal of joints whose rows are redundant, else 0", constant=True)
    law_of_impact = Count("-", "its number among `impact_fields.LAWS`", constant=True)
    alone = Count("-", "1: of contacts that approach, only the fastest is in an impact", constant=True)
    phase_of_impact = Count(
        "-",
        "1: the program is that of an expansion, 2: of rates of change along the impulse; 3: friction is associated",
    )
    impact_at_end = Count("-", "1: there is an impact at the end of the step, before the next one")
    work_impact = Number("J", "of drivers in an impact between two steps")
    secant = Number("-", "share of the secant of a pass that begins with the result of the one before; 0: not known")
    proximal = Number("-", "proximal term, as a share of the diagonal of contacts; 0 at first")
    midpoint = Count("-", "1: joints closed in the middle of the step", constant=True)
    balanced = Count("-", "1: moment arms of contacts follow u", constant=True)
    projected = Count("-", "1: positions at the end of a step are projected onto joints and gaps", constant=True)
    turns = Count("-", "1: the step is taken by Newton's method, in which directions turn or loads change")
    least_rest_contacts = Count("-", "number of closed contacts with friction that may sustain rest", constant=True)
    varying = Count("-", "1: forces or directions depend on the last iteration", constant=True)
    residual = Number("-", "of momentum and of rates of joints")
    law = Number("-", "of the laws of contacts")
    law_start = Number("-", "of the laws of contacts in the first half of a step")
    complementarity = Number("-", "natural map of gaps and impulses")
    size = Number("(kg)^.5 m/s", "magnitude of the velocities of the step")
    convergence = Inside(of="Convergence")
    passes = Count("-", "iterations of the run")
    solves = Count("-", "programs of the run")
    rounds = Count("-", "of Newton's method in these")
    solved = Count("-", "1: programs of the attempt were solved, whether or not it is certified")
    shortened = Count("-", "steps of the run that were repeated with half their length")
    divided = Count("-", "steps of the run that were not certified as a whole and are taken in parts")
    chained = Count("-", "steps of the run that were certified only with solvers outside, or without those requested")
    steps = Count("-", "rows that are written")
    solver = Count("-", "address of what solves its programs outside; 0: Newton's method here", constant=True)
    rest_undecided = Count(
        "-", "1: a step was not accepted since bodies at rest may have to remain so, which is decided outside"
    )
    advance = Count("-", "address of what solves the equations of a step of given length; 0: none", constant=True)
    close = Count(
        "-", "address of what closes joints near a singular position; 0: their matrix at the end", constant=True
    )
    land = Count("-", "address of what solves them with their length, of event-locating steps; 0: none", constant=True)
    trial = Number("s", "length of the step that is solved there")
    across = Count("-", "1: a solution was rejected, since a contact is loaded at the opposite wall")
    ground = Link(to="Body")
    bodies = Many(to="Body", note="without the ground")
    contacts = Many(to="Contact", note="in the order of elimination, as joints, which come first")
    impacts = Many(to="Impact", note="of contacts with another law than Newton's")
    joints = Many(to="Joint", least=2, note="which have as many rows as there are dimensions")
    surfaces = Many(to="Group", note="evaluate contacts")
    constraints = Many(to="Group", least=2, note="evaluate joints")
    biases = Many(to="Group", least=2, note="evaluate second derivatives of joints along the motion alone")
    forces = Many(to="Group", note="evaluate loads")
    loads = Many(to="Load")
    true_surfaces = Many(to="Group", note="evaluate true gaps and their rates; these and the next two for rows")
    closures = Many(to="Group", least=2, note="evaluate constraint violations of joints")
    powers = Many(to="Group", note="evaluate energies and powers of forces and weights")
    accounts = Many(to="Account")
    reactions = Many(to="Reaction", least=2)
    rows = Inside(of="StepTables")
    views = Inside(of="ViewTables")


# ---- rows of recorded steps


@record
class StepTables:
    """Tables of what steps record, one row each; the last ones only at rows with jumps of velocities or an impact."""

    room = Count("-", "rows that may be written", constant=True)
    t = Table("s")
    dt = Table("s")
    residual = Table()
    complementarity = Table()
    work_drivers = Table("J")
    loss_friction = Table("J")
    q = PositionTable("m, rad", column="q_column")
    v = VelocityTable("m/s, rad/s", column="v_column")
    P_N = Table("N s", column="column")
    P_T = TangentTable("N s", column="column")
    mode = ModeTable(column="column")
    force = VectorTable("N", "mean over the step, impacts aside, in the ground frame", column="column")
    torque = MomentTable("N m", column="column")
    # of schemes that integrate them
    work_loads = Table("J")
    loss_damping = Table("J")
    loss_contact = Table("J")
    stored = Table("J", "in contacts at the end of the step")

    jumps = Table("-", "1 where velocities jump or an impulse is that of an impact, 0 elsewhere")
    v_left = VelocityTable("m/s, rad/s", "before the jump", column="v_column")
    P_N_impact = Table("N s", "share of P_N that is an impact's", column="column")
    P_T_impact = TangentTable("N s", column="column")
    gamma_minus = Table("m/s", "rate of the gap before the impact", column="column")
    gamma_plus = Table("m/s", "after it", column="column")
    impulse = VectorTable("N s", "of the impact", column="column")
    twist = MomentTable("N m s", column="column")
    work_drivers_impact = Table("J")
