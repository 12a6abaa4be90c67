"""The table of integers that says what a mechanism is, and the numbers that the compiled loops and Python share.

A run is one block of doubles; entries of the table are counts, addresses of integer arrays, and offsets in bytes into
that block.
"""

(
    N_BODIES, N_ROWS, N_GAPS, N_JOINTS, N_BLOCKS, N_JOINT_BLOCKS, N_LU, ROUGH, VARYING, RECORD, OBSERVE,
    PROJECTED, N_COUPLINGS, N_JOINT_COUPLINGS, N_JOINT_LU, SCHEME, N_FLOATS,
    CONTACT_0, CONTACT_1, JOINT_0, JOINT_1, FORCE_0, FORCE_1, STATIC_0, STATIC_1, SURFACE_0, SURFACE_1,
    CLOSURE_0, CLOSURE_1, POTENTIAL_0, POTENTIAL_1, N_GROUPS,
    # addresses of integer arrays, by group of elements
    G_EVALUATE, G_PREPARE, G_SIZE, G_A, G_B, G_W, G_P, G_OUT, G_STRIDE, G_DAMPING, G_STORED,
    # by gap, by joint row, by joint
    GAP_A, GAP_B, GAP_G, GAP_N, GAP_T, GAP_D, GAP_R, ROW_A, ROW_B, ROW_G, ROW_J, ROW_T, ROW_C,
    JOINT_B, JOINT_FIRST, JOINT_ROWS, JOINT_POINT,
    # by block, by coupling, by step of the elimination
    B_FIRST, B_COUNT, B_SLOT, B_DIAGONAL, B_SIZE, B_OUT, B_A, B_B,
    C_ROW, C_COLUMN, C_ROW_SIDE, C_COLUMN_SIDE, C_BODY, C_LOWER, C_UPPER,
    E_FIRST, E_JOINT_LAST, E_BLOCK, E_LOWER, E_UPPER, E_UPDATE, E_TARGET,
    # offsets in bytes of floating-point arrays: state, placements, masses
    TIME, Q, V, U, VP, Q1, QM, Z0, Z1, ZM, MASS, ROOT_MASS, INVERSE, CONSTANT_FORCE, FORCE, KICK, PUSH, BASE, WORK,
    OUT_J0, OUT_J1, OUT_C0, OUT_C1,
    # laws of gaps, impulses and rates
    RESTITUTION, FRICTION, TANGENTIAL, SCALE, THRESHOLD, Y_SCALE, P_N, P_T, P_A, P_B, CLOSED, LEFT_AT,
    SHIFT_N, SHIFT_T, SHIFT_J, ACTIVE, MODE, WANTED, COUNT, R, C, X, RHS, LU, RHS_A, IDENTITY,
    DIAGONAL, RAISED, HISTORY,
    OLD_N, OLD_T, OLD_FRICTION, STRUCK, BEFORE,
    # what a step leaves for its row: velocities, impulses, modes, rates, reactions, scalars
    S_LEFT, S_PNI, S_MODE, S_MINUS, S_PLUS, S_REACTION, S_REACTION_I, S_SCALARS, S_ENERGY,
    SUM_PN, SUM_PNI, SUM_PT, SUM_REACTION, SUM_REACTION_I, SUM_SCALARS, WORST, TOTALS, LAST_POWER, COUNTERS, OPTIONS,
    ROW_WIDTH, STRUCK_WIDTH, BRIEF, HIT, SOLVE, STEP, FINISH,
    N_TABLE,
) = range(167)  # fmt: skip

# scalars of a step
DT, RESIDUAL, COMPLEMENTARITY, WORK_DRIVERS, WORK_DRIVERS_IMPACT, LOSS_FRICTION, HITS, N_SCALARS = range(8)
# sums over a run, for the balance of energy
T_LOADS, T_DRIVERS, T_IMPACTS, T_FRICTION, T_DAMPING, N_TOTALS = range(6)
# the worst of a run
W_GAP, W_JOINT, W_COMPLEMENTARITY, W_RESIDUAL, N_WORST = range(5)
# counters: steps, rows, steps since the last row, programs, rounds, those over hashed subsets and single rows, passes
K_STEPS, K_ROWS, K_SINCE, K_SOLVES, K_ROUNDS, K_HASHED, K_SINGLE, K_PASSES, N_COUNTERS = range(9)
# numbers that a scheme is told
(
    O_THETA, O_LONGEST, O_CLOSED_GAP, O_CLOSED_RATE, O_EDGE, O_FLOOR, O_TURN, O_CERTIFIED, O_PROJECTED, N_OPTIONS,
) = range(10)  # fmt: skip
# addresses of what is recorded: rows, what was seen of each, what rows with an impact hold besides, and the impacts
(
    REC_ROWS, REC_GAP, REC_RATE, REC_RATE_LEFT, REC_ENERGY, REC_CAPACITY, REC_STRUCK, REC_STRUCK_CAPACITY,
    REC_STRUCK_COUNT, REC_IMPACTS, REC_IMPACT_CAPACITY, REC_IMPACT_COUNT, N_REC,
) = range(13)  # fmt: skip

GAUSS, MOREAU_JEAN = 0, 1
OPEN, STICK, FORWARD, BACKWARD = 0, 1, 2, 3
DONE, FULL, UNCERTAIN, OPEN_START = 0, 1, 2, 3
#: as in `nonsmooth.steppers.moreau_jean`
LASTING = 2.0
TINY = 2.2250738585072014e-308
#: raises a diagonal that elimination has emptied, relative to what it was
RIDGE, EMPTIED = 1e-10, 1e-9
ALL_AT_ONCE, HASHED, SINGLE = 12, 40, 400
#: share of its terms below which a rate counts as zero, in the choice of modes
SIGN = 1e-13
PASSES = 50
#: of the impulses at the start within a pass
CORRECTIONS = 4
