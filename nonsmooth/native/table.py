"""The numbers that the compiled loops and Python share: fields of records, entries of the table of a mechanism.

A run is one block of doubles, which begins with a header and the records of bodies, gaps, joint rows and joints; each
record has its fields at fixed places. What the mechanism is stands in a table of integers (A) and in records of
integers, which all runs share. Places within a run are offsets in bytes; fields are counted in doubles.
"""

from nonsmooth.tolerances import AT_THE_END as AT_THE_END
from nonsmooth.tolerances import LANDED as LANDED
from nonsmooth.tolerances import LASTING as LASTING
from nonsmooth.tolerances import LEAD as LEAD

# ------------------------------------------------------------------------------------------------------ table A: counts
(
    N_BODIES, N_ROWS, N_GAPS, N_JOINTS, N_BLOCKS, N_JOINT_BLOCKS, N_JOINT_COUPLINGS, N_GROUPS, N_FLOATS,
    ROUGH, VARYING, AHEAD, RECORD, OBSERVE, BRIEF, PROJECTED, SCHEME, ROW_WIDTH, STRUCK_WIDTH,
    # groups of elements, first and last, by what they are evaluated for
    CONTACT_0, CONTACT_1, JOINT_0, JOINT_1, FORCE_0, FORCE_1, STATIC_0, STATIC_1, SURFACE_0, SURFACE_1,
    CLOSURE_0, CLOSURE_1, POTENTIAL_0, POTENTIAL_1,
    # offsets of a run's records and arrays
    GAPS, ROWS, JOINTS, SLOTS, ON, DIAGONAL, X, RHS, RHS_A, PAIRS, LIMITS, LU, MORE, MORE_STEP,
    # addresses of records of integers; of the offsets of all bodies, and of those at contacts and varying forces
    GROUPS, BLOCKS, FACTORS, COUPLINGS, ENTRIES, TARGETS, GAP_BLOCKS, PORTIONS, N_PORTIONS, EVERY, TOUCHED, N_TOUCHED,
    # addresses of functions, the last 0 where a scheme begins with nothing of its own
    SOLVE, STEP, FINISH, START,
    N_TABLE,
) = range(64)  # fmt: skip

# ----------------------------------------------------------------------------------------------- records of integers
#: a group of elements of one kind: its two functions, how many, the address of (body a, body b, outputs) of each, all
#: offsets, offsets of what `prepare` makes and of parameters, whether its power is a loss, how its energy is stored
G_EVALUATE, G_PREPARE, G_SIZE, G_PLACES, G_W, G_P, G_DAMPING, G_STORED, GROUP = range(9)
#: a portion of the mechanism, which the cache keeps while it is worked on: bodies that follow each other, and gaps at
#: these. Where what is looked at in it begins, and ends in the next record, of which there is one more: before all
#: bodies (offset), of those that contacts and varying forces ask for, of gaps, of groups of contacts (all indices), and
#: of the couplings of its gaps (address, where blocks are numbers). Where what is judged ends: the gaps that no later
#: body is at (index), the bodies that no gap after these is at (offset), the gaps at those bodies alone (index).
P_BODIES, P_TOUCHED, P_GAPS, P_GROUPS, P_COUPLINGS, P_NEXT_GAPS, P_DONE_BODIES, P_DONE_GAPS, PORTION = range(9)
#: a block of the matrix, two rows of a joint or those of a gap: offsets of the first row or of the gap, and of its
#: bodies; of gaps, how many couplings have their row
B_FIRST, B_A, B_B, B_COUPLINGS, BLOCK = range(5)
#: and as it is eliminated: the address of its entries of the elimination, how many of those are joints' and how many in
#: all, the address of its targets
F_ENTRY, F_JOINT_ENTRIES, F_ENTRIES, F_TARGET, FACTOR = range(5)
#: by gap, where blocks are numbers: the index of its block, how many couplings have its row
GAP_BLOCK, GAP_COUPLINGS, NUMBER = range(3)
#: a pair of blocks that share a body: index of the column, offsets of the body, the ground where they are coupled by
#: elimination alone, of the block of the matrix below the diagonal, which the one above it follows, and of the first
#: directions of both there; whether another coupling has filled the block before; where the body stands in the row's
#: and in the column's directions (bytes), which is left out where blocks are numbers
C_COLUMN, C_BODY, C_LOWER, C_ROW_FIRST, C_COLUMN_FIRST, C_ADDS, C_ROW_SIDE, C_COLUMN_SIDE, COUPLING = range(9)
SHORT_COUPLING = C_ROW_SIDE
#: a block that comes after another and is coupled to it: its index, the offset of the block of the matrix below the
#: diagonal, which the one above it follows
E_BLOCK, E_LOWER, ENTRY = range(3)

# ------------------------------------------------------------------------------------------------- a run: the header
TIME = 0  # of the kernels, of the state
DT, RESIDUAL, COMPLEMENTARITY, WORK_DRIVERS, WORK_DRIVERS_IMPACT, LOSS_FRICTION, HITS, N_SCALARS = range(8)
#: scalars of a step, and their sums since the last row
SCALARS, SUM_SCALARS = 2, 10
#: address of the row that a step may write while it is judged, or 0, and whether it has
ROW_AHEAD, WRITTEN = 9, 17
T_LOADS, T_DRIVERS, T_IMPACTS, T_FRICTION, T_DAMPING, N_TOTALS = range(6)
#: kinetic and potential energy of a row, and sums over the run for the balance of energy
ENERGY, TOTALS, LAST_POWER = 18, 20, 25
#: what was done of a program ahead of it: NOT_AHEAD, SOME_OPEN or ALL_CLOSED
FILLED = 27
W_GAP, W_JOINT, W_COMPLEMENTARITY, W_RESIDUAL, N_WORST = range(5)
#: the worst of a run
WORST = 28
# steps, rows, steps since the last row, programs, rounds, those over hashed subsets and single rows, passes
K_STEPS, K_ROWS, K_SINCE, K_SOLVES, K_ROUNDS, K_HASHED, K_SINGLE, K_PASSES, N_COUNTERS = range(9)
COUNTERS = 32
(
    O_THETA, O_LONGEST, O_CLOSED_GAP, O_CLOSED_RATE, O_EDGE, O_FLOOR, O_TURN, O_CERTIFIED, O_PROJECTED, O_SHORTEST,
    N_OPTIONS,
) = range(11)  # fmt: skip
#: numbers that a scheme is told
OPTIONS = 40
#: whether a step had an impact; whether a diagonal of the joints' matrix was raised; which side is the step's start
HIT, RAISED, PARITY = 50, 51, 52
#: of Moreau-Jean, what of a step was looked at in the one before: NOT_LOOKED, NONE_CLOSED or SOME_CLOSED; the length of
#: the next step, where this one may look at it, else 0
LOOKED, NEXT_DT = 53, 54
#: length of the last step
LAST_DT = 55
#: a direction along which nothing moves
NOTHING, HEADER = 56, 64

# ---------------------------------------------------------------------------------------------- a run: its records
#: of a body: vectors of three components and a zero, two to a line of the cache, which many loops need together
Q, V, VP, BASE, INVERSE, FORCE, MASS, WORK, BODY = range(0, 36, 4)
#: and in further records of the same length, which follow all of these, so that the cache keeps what each step needs
U, Q1, KICK, PUSH, QM, ZM, Z0, Z1 = range(BODY, 2 * BODY, 4)
ROOT_MASS, CONSTANT_FORCE, S_LEFT = range(2 * BODY, 2 * BODY + 12, 4)
#: of a gap, eight doubles to a line of the cache, those together that a pass asks for: its bodies, modes and impulses;
#: at each of two sides, start and end of a step, the gap, at the first one beside it its size, laws, the impulses of
#: the step before, what was off by the impulse that was guessed and the rate before the step; in bytes, the normal and
#: tangential direction there, and from side to side
(
    GAP_A, GAP_B, S_MODE, ACTIVE, MODE, P_N, P_T, SHIFT_N,
    GAP_G, SCALE, RESTITUTION, THRESHOLD, BEFORE_N, BEFORE_T, GUESS_OFF, S_MINUS,
) = range(16)  # fmt: skip
NORMAL, TANGENT, GAP_SIDE = 8 * 16, 8 * 24, 8 * 24
#: beside the gap at the second side: round-off of a gap in a step of implicit Euler, 0 where it was open, and by how
#: much it is off; whether it strikes; of a landing step, tangential impulse of impacts, and that of the second half
TANGENTIAL, ROUND_OFF, OFF, STRUCK, S_PTI, S_END, LEFT_AT = range(33, 40)
#: what friction alone asks for, 1 / Y_SCALE, the rate that the step leaves for its row, 1 / SCALE, earlier impulses;
#: the true gap and its direction, sums
(
    FRICTION, SHIFT_T, PER_Y, S_PLUS, PER_SCALE, HISTORY_N, _, _, HISTORY_T, _, _, _, S_PNI, CLOSED, Y_SCALE, TRUE,
) = range(56, 72)  # fmt: skip
TRUE_RATE, SUM_PN, SUM_PT, SUM_PNI, OLD_N, OLD_T, OLD_FRICTION = 72, 80, 81, 82, 83, 84, 85
#: the mode that it wants, where that is another one, and the gap before it of which the same is true
WANTED, WANTS_BEFORE, GAP = 86, 87, 88
#: of steps without joints, in place of earlier impulses: the one guessed for this step, and whether guesses are good
GUESS, STEADY = HISTORY_N + 1, HISTORY_N + 2
#: of a body, in steps without joints: what the velocity gained
GAINED = PUSH
#: of a joint's row: its bodies, impulses at the start and the end of a step and their earlier ones, what is asked of
#: its rate, its misfit, g / dt at the end of the step and of the one before, the share of P_A that closed that; in the
#: first row of a joint the point of the reaction
(
    ROW_A, ROW_B, P_A, P_B, BEFORE_A, BEFORE_B, SHIFT_J, MISFIT, HISTORY_J, _, _, _, KEPT, LEFT_OPEN, WAS_OPEN, MENDED,
    POINT, _, _, _,
) = range(20)  # fmt: skip
#: at two sides the row's value and its explicit rate; in bytes, its direction, and from side to side
ROW_G, ROW_RATE, DIRECTION, ROW_SIDE = 20, 21, 8 * 24, 8 * 12
#: of a step with joints in its middle: their rates there and their second derivatives, as the step before left them,
#: and as this one does
RATE_LEFT, BEND_LEFT, RATE_NEXT, BEND_NEXT = 8, 9, 10, 11
ROW = 44
#: of a joint: its second body, its first row and how many pairs of rows, reactions of a step and of its impact, their
#: sums
JOINT_B, JOINT_FIRST, JOINT_PAIRS, _, S_REACTION, S_REACTION_I, SUM_REACTION, SUM_REACTION_I, JOINT = (
    0, 1, 2, 3, 4, 8, 12, 16, 20,
)  # fmt: skip
#: of a gap's block of two rows: addresses of the directions of both, the second nothing unless it sticks, and of the
#: one that the first row's impulse pushes along, which stands in the slot where it slips (bytes)
S_NORMAL, S_TANGENT, S_PUSH, S_TILTED, SLOT = 0, 1, 2, 8 * 4, 12
#: bytes from record to record, and the offset of the ground, the first body
BODY_STEP, GAP_STEP, ROW_STEP, JOINT_STEP, SLOT_STEP = 8 * BODY, 8 * GAP, 8 * ROW, 8 * JOINT, 8 * SLOT
#: rows come in pairs, of which the second may be empty; bytes of a block of two rows and columns, and of two numbers
PAIR_STEP, SQUARE, PAIR = 2 * ROW_STEP, 8 * 4, 8 * 2
GROUND = 8 * HEADER

# ------------------------------------------------------------------------------------------------- what is recorded
# addresses: rows, what was seen of each, what rows with an impact hold besides, and the impacts
(
    REC_ROWS, REC_GAP, REC_RATE, REC_RATE_LEFT, REC_ENERGY, REC_CAPACITY, REC_STRUCK, REC_STRUCK_CAPACITY,
    REC_STRUCK_COUNT, REC_IMPACTS, REC_IMPACT_CAPACITY, REC_IMPACT_COUNT, N_REC,
) = range(13)  # fmt: skip

# ------------------------------------------------------------------------------------------------------- constants
GAUSS, MOREAU_JEAN, LANDING, MIDPOINT = range(4)
OPEN, STICK, FORWARD, BACKWARD = 0, 1, 2, 3
DONE, FULL, UNCERTAIN, OPEN_START = 0, 1, 2, 3
#: how the passes of a step without joints ended: not, by a program, by impulses as at rest, by a program whose impulses
#: velocities are yet to follow, the same where all go on from the step before, so that nothing strikes
UNSOLVED, SOLVED, STEADY_STATE, TO_FOLLOW, GOING_ON = 0, 1, 2, 3, 4
#: whether a program's matrix was filled ahead of it, and whether the mode of some active gap was to be open then
NOT_AHEAD, SOME_OPEN, ALL_CLOSED = 0, 1, 2
NOT_LOOKED, NONE_CLOSED, SOME_CLOSED = 0, 1, 2
#: where bodies stand before forces are asked for
ELSEWHERE, NEARBY, THERE = 0, 1, 2
TINY = 2.2250738585072014e-308
#: a turn [rad] whose third power, over six, is less than the round-off of a sine
LITTLE = 5e-6
#: raises a diagonal that elimination has emptied, relative to what it was
RIDGE, EMPTIED = 1e-10, 1e-9
ALL_AT_ONCE, HASHED, SINGLE = 12, 40, 400
#: share of its terms below which a rate counts as zero, in the choice of modes
SIGN = 1e-13
PASSES = 50
#: bodies of a portion
TOGETHER = 12
#: share of its terms below which an error is round-off of their sum, whatever else there is
SUMMED = 1e-14
#: as in `nonsmooth.steppers.landing` and, of a half kick's residual, `gauss_qp`; closings looked for in a step
TRIALS, ACCEPTABLE, LANDINGS = 40, 1e-11, 100
#: of the impulses at the start within a pass
CORRECTIONS = 4
#: share of its terms that is a gap's round-off, and of its size that this may be
ROUNDED, UNSEEN = 4e-15, 5e-12
#: kinetic energy of a start at rest, relative to that at the end of the step
AT_REST = 1e-16
