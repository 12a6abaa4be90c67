"""The numbers that the compiled loop of compliant contact shares with Python besides those of `table`.

Entries of its table follow those of `table`; its records of gaps and rows are those of `table` with fields that
impulsive schemes use otherwise. The state is y = (q, v, bristles, integrals), see `steppers.compliant_equations`.
"""

from nonsmooth.native.table import N_TABLE, P_A, SHIFT_J, SHIFT_T, TANGENT

# ------------------------------------------------------------------------------------------------------ table A: more
(
    # lengths in doubles: of y, of what steers the step, of y with its padding; points at which a piece is looked at,
    # rows in a piece while surfaces touch
    I_SIZE, I_CORE, I_WIDTH, I_LOOKS, I_SAMPLES,
    # where parts of y stand, in bytes
    I_BRISTLES, I_NORMAL, I_TANGENTIAL, I_REACTION, I_WORK,
    # offsets of arrays like y: now, at the start of the piece, deviations are from, tried, at a time within the piece,
    # of the last row, its integrals, what they have gained since, that since the last recorded row; tolerances
    I_Y, I_OLD, I_ORIGIN, I_TRIAL, I_AT, I_STATE, I_INTEGRALS, I_GAINED, I_SUMS, I_ATOL,
    # offsets of the stages, of the interpolant, of the method's coefficients, of looks, extremes and running numbers,
    # and of room for contacts that are held
    I_STAGES, I_DENSE, I_METHOD, I_SEEN, I_EXTREMES, I_RUNNING, I_HELD,
    # address of the records of laws, whether any asks what would hold it; addresses of functions
    I_LAWS, I_HOLDS, I_RATES,
    N_COMPLIANT_TABLE,
) = range(N_TABLE, N_TABLE + 31)  # fmt: skip

#: a gap's law, integers: its function, its places, the offset of what is prepared, its bristles, their place in y
#: (bytes), its mode where it touches, whether it asks what would hold it
L_EVALUATE, L_PLACES, L_W, L_BRISTLES, L_FIRST, L_MODE, L_HOLDS, LAW = range(8)

# ------------------------------------------------------------------------------------------ of gaps and rows, otherwise
#: of a gap, at its second side: what its law is asked with, up to three bristles among it, what it answers, as many
#: rates among it, the rate of the gap, and whether it touches (1.0 or 0.0), as before a row
DEPTH, CLOSING, APPROACH, SLIP, HOLDING, BRISTLE, _, _ = range(40, 48)
FORCE_N, FORCE_T, ELASTIC, BRISTLE_RATE, _, _, OPENING, TOUCHES = range(48, 56)
MOST_BRISTLES = 3
#: of a gap: direction of its slip, and what its rate holds besides; of a row: what second derivatives hold besides, and
#: the force
SLIDE, SLIDE_DRIFT, DRIFT, MULTIPLIER = TANGENT, SHIFT_T, SHIFT_J, P_A

# --------------------------------------------------------------------------------------------------- running numbers
(
    # the integrator: time, start of its piece, next length, relative tolerance, longest step, first step (0: to be
    # found), a number whose bits are looked at
    R_T, R_T_OLD, R_LENGTH, R_RTOL, R_LONGEST, R_FIRST, R_BITS,
    # tolerance of coordinates [m, rad], share of a gap's size that counts as touching, Baumgarte's alpha and beta
    R_TOLERANCE, R_TOUCHED, R_ALPHA, R_BETA,
    # of the last row: time, scale of impulses, energy stored in contacts, length of its piece
    R_ROW_T, R_IMPULSE, R_STORED, R_PIECE,
    # rows of the piece: where they end, the time of the event
    R_END, R_EVENT,
    # integers: whether joints are projected, whether they have feedback, the event's gap or -1, the next row of the
    # piece, how many there are (0 before there is a piece), whether to start anew, evaluations
    R_PROJECTED, R_FEEDBACK, R_EVENT_GAP, R_ROW, R_ROWS, R_RESTART, R_EVALUATIONS,
    N_RUNNING,
) = range(25)  # fmt: skip

#: extremes of a gap since they were last looked at: least and largest force, depth and speed of approach
X_FORCE, X_DEPTH, X_APPROACH, EXTREMES = 0, 2, 4, 6
#: the last numbers of a recorded row: kinetic energy, potential and stored energy together, and the works, cumulative,
#: in the order of `steppers.compliant_equations.WORKS`
N_WORKS = 6
ROW_ENERGIES = 2 + N_WORKS

# --------------------------------------------------------------------------------------------------------- the method
#: stages of a step, with those of the interpolant, and its vectors; where the coefficients stand, in doubles: A (16,
#: 16), C (16,), E3 (16,), E5 (16,), D (4, 16)
STAGES, ALL_STAGES, POWERS = 12, 16, 7
M_A, M_C, M_E3, M_E5, M_D, METHOD = 0, 256, 272, 288, 304, 368

#: as in SciPy's step-size control, whose orders are 8 and 7
SAFETY, SLOWEST_CHANGE, FASTEST_CHANGE = 0.9, 0.2, 10.0
#: as in `nonsmooth.steppers.compliant_equations`
SHARED = 1e-9
#: as in `nonsmooth.steppers.compliant`
LOCATED, NEWTON, DRIFTED, CLOSED_JOINT, PROJECTIONS = 1e-16, 60, 10.0, 1e-15, 8
