"""Hand-written loops for one problem each, in numba: a lower bound for the cost of any general library.

Each is specialised to its mechanism, enumerates its contact modes directly and keeps only the final state. Functions of
libm are avoided: sine and cosine of angles bounded by clearances are short Taylor series, those of other angles are
updated from step to step by such series (both exact to round-off). The permissible differences from the library's final
states are checked by `tests/test_benchmarks.py`: P1 and P4 are the library's schemes and agree to round-off; P2 and P3
are in minimal coordinates, whose discrete equations differ by terms of the order of the step.
"""

from __future__ import annotations

from math import cos, sin
from typing import Any

import numpy as np
from numba import njit

__all__ = ["chain", "slider_crank_revolute", "slider_crank_translational", "slider_rod_euler", "slider_rod_moreau"]

compiled = njit(cache=True, error_model="numpy", fastmath=True)
inlined = njit(inline="always", error_model="numpy", fastmath=True)

#: share of a clearance below which the library counts a gap as closed
CLOSED_GAP = 1e-8


@inlined
def small_sine(a: float) -> float:
    """The sine, to round-off for |a| < 0.03."""
    b = a * a
    return a * (1.0 - b / 6.0 * (1.0 - b / 20.0 * (1.0 - b / 42.0)))


@inlined
def small_cosine(a: float) -> float:
    """The cosine, likewise."""
    b = a * a
    return 1.0 - b / 2.0 * (1.0 - b / 12.0 * (1.0 - b / 30.0 * (1.0 - b / 56.0)))


# --------------------------------------------------------------------------------------------------------------------
# P1: slider on a fixed rod. Ends u_L = y - a sin(theta), u_R = y + a sin(theta), both in [-c, c]; net impulses L, R.


@inlined
def end_impulses(
    u_L: float, u_R: float, low: float, high: float, G_d: float, G_o: float, side_L: int, side_R: int
) -> tuple[float, float, int, int]:
    """Impulses that keep low <= u <= high at both ends, u = u_free + G (L, R); begins with the last sides."""
    det = G_d * G_d - G_o * G_o
    for attempt in range(10):
        if attempt > 0:
            side_L, side_R = (attempt - 1) // 3 - 1, (attempt - 1) % 3 - 1
        gap_L = (low if side_L < 0 else high) - u_L
        gap_R = (low if side_R < 0 else high) - u_R
        L = R = 0.0
        if side_L != 0 and side_R != 0:
            L, R = (G_d * gap_L - G_o * gap_R) / det, (G_d * gap_R - G_o * gap_L) / det
        elif side_L != 0:
            L = gap_L / G_d
        elif side_R != 0:
            R = gap_R / G_d
        new_L, new_R = u_L + G_d * L + G_o * R, u_R + G_o * L + G_d * R
        good_L = side_L * L <= 0.0 if side_L != 0 else low <= new_L <= high
        good_R = side_R * R <= 0.0 if side_R != 0 else low <= new_R <= high
        if good_L and good_R:
            return L, R, side_L, side_R
    return np.nan, np.nan, 0, 0


@compiled
def slider_rod_euler(
    m: float, J: float, a: float, c: float, f: float, s: float, g: float, dt: float, steps: int
) -> tuple[float, float, float, float, float, float]:
    """Implicit Euler with contact on positions; (x, y, theta, v_x, v_y, omega) at the end."""
    x = y = angle = v_x = v_y = omega = 0.0
    side_L = side_R = 0
    for _ in range(steps):
        v_x += dt * f / m
        x += dt * v_x
        free_y = y + dt * (v_y - g * dt)
        trial = angle + dt * omega
        while True:
            S, C = small_sine(trial), small_cosine(trial)
            free = angle + dt * (omega - s * f * dt * C / J)
            offset = a * (S + C * (free - trial))
            G_d, G_o = dt * (1.0 / m + a * a * C * C / J), dt * (1.0 / m - a * a * C * C / J)
            L, R, side_L, side_R = end_impulses(free_y - offset, free_y + offset, -c, c, G_d, G_o, side_L, side_R)
            new = free + dt * a * C * (R - L) / J
            change, trial = new - trial, new
            if not abs(change) > 1e-10:
                break
        v_y += (L + R) / m - g * dt
        y += dt * v_y
        omega = (trial - angle) / dt
        angle = trial
    return x, y, angle, v_x, v_y, omega


@compiled
def slider_rod_moreau(
    m: float, J: float, a: float, c: float, f: float, s: float, g: float, dt: float, steps: int
) -> tuple[float, float, float, float, float, float]:
    """Moreau and Jean, theta = 1/2, plastic; the end likewise."""
    x = y = angle = v_x = v_y = omega = 0.0
    closed = CLOSED_GAP * c - c
    for _ in range(steps):
        x += dt * (v_x + dt * f / m / 2.0)
        v_x += dt * f / m
        middle = angle + dt / 2.0 * omega
        S, C = small_sine(middle), small_cosine(middle)
        u_L, u_R = y + dt / 2.0 * v_y - a * S, y + dt / 2.0 * v_y + a * S
        side_L = -1 if u_L <= closed else (1 if u_L >= -closed else 0)
        side_R = -1 if u_R <= closed else (1 if u_R >= -closed else 0)
        G_d, G_o = 1.0 / m + a * a * C * C / J, 1.0 / m - a * a * C * C / J
        free_y, C_h, trial = v_y - g * dt, C, middle
        while True:
            free = omega - s * f * dt * C_h / J
            w_L, w_R = free_y - a * C * free, free_y + a * C * free
            # velocities that must not point outwards
            hit_L, hit_R = side_L * w_L > 0.0, side_R * w_R > 0.0
            L, R = -w_L / G_d if hit_L else 0.0, -w_R / G_d if hit_R else 0.0
            if side_L != 0 and side_R != 0:
                if not (hit_L and side_R * (w_R + G_o * L) <= 0.0) and not (hit_R and side_L * (w_L + G_o * R) <= 0.0):
                    if hit_L or hit_R:
                        det = G_d * G_d - G_o * G_o
                        L, R = (G_o * w_R - G_d * w_L) / det, (G_o * w_L - G_d * w_R) / det
                elif hit_L and side_R * (w_R + G_o * L) <= 0.0:
                    R = 0.0
                else:
                    L = 0.0
            new = free + a * C * (R - L) / J
            half = angle + dt / 4.0 * (omega + new)
            change, trial = half - trial, half
            if not abs(change) > 1e-12:
                break
            C_h = small_cosine(half)
        y += dt / 2.0 * v_y
        v_y = free_y + (L + R) / m
        y += dt / 2.0 * v_y
        angle += dt / 2.0 * (omega + new)
        omega = new
    return x, y, angle, v_x, v_y, omega


# --------------------------------------------------------------------------------------------------------------------
# P2: slider-crank with translational clearance in its three angles; mass matrix and forces at the middle of the step.

OPEN, STICKS = 0, 2


@inlined
def solved_2(a: float, b: float, c: float, d: float, e: float, f: float) -> tuple[float, float]:
    """x, y of a x + b y = e, c x + d y = f."""
    det = a * d - b * c
    return (e * d - b * f) / det, (a * f - e * c) / det


@compiled
def solve_in_place(A: Any, b: Any, size: int) -> None:
    """Gauss with pivots; b becomes the solution."""
    for k in range(size):
        top = k
        for i in range(k + 1, size):
            if abs(A[i, k]) > abs(A[top, k]):
                top = i
        for j in range(size):
            A[k, j], A[top, j] = A[top, j], A[k, j]
        b[k], b[top] = b[top], b[k]
        for i in range(k + 1, size):
            factor = A[i, k] / A[k, k]
            for j in range(k, size):
                A[i, j] -= factor * A[k, j]
            b[i] -= factor * b[k]
    for i in range(size - 1, -1, -1):
        for j in range(i + 1, size):
            b[i] -= A[i, j] * b[j]
        b[i] /= A[i, i]


@compiled
def enumerate_modes(W: Any, change: Any, rate: Any, slip: Any, mu: float, count: int, impulses: Any) -> bool:
    """All modes of at most two contacts: open, slip forwards, stick, slip backwards; rarely called.

    Rows of W and of `change`, the product of the inverse mass matrix and W, are normal and tangential directions of
    each contact; `rate` and `slip` are the velocities in the law, without impulses. Two sticking contacts are
    redundant; 1e-10 of the diagonal, as in the library, distributes their load.
    """
    size = 2 * count
    G, A, z, modes = np.zeros((4, 4)), np.zeros((4, 4)), np.zeros(4), np.zeros(2, dtype=np.int64)
    for i in range(size):
        for j in range(size):
            G[i, j] = W[i, 0] * change[j, 0] + W[i, 1] * change[j, 1] + W[i, 2] * change[j, 2]
        G[i, i] *= 1.0 + 1e-10
    for code in range(4**count):
        modes[0], modes[1] = code % 4, code // 4
        for i in range(count):
            mode, n, t = modes[i], 2 * i, 2 * i + 1
            for j in range(size):
                A[n, j] = G[n, j] if mode != OPEN else 0.0
                A[t, j] = G[t, j] if mode == STICKS else 0.0
            z[n], z[t] = -rate[i], -slip[i]
            if mode == OPEN:
                A[n, n], z[n] = 1.0, 0.0
            if mode != STICKS:  # ratio of friction to normal impulse
                A[t, t], z[t] = 1.0, 0.0
                A[t, n] = 0.0 if mode == OPEN else mu * (2.0 - mode)
        solve_in_place(A, z, size)
        good = True
        for i in range(count):
            mode, n, t = modes[i], 2 * i, 2 * i + 1
            new_rate, new_slip = rate[i], slip[i]
            for j in range(size):
                new_rate += G[n, j] * z[j]
                new_slip += G[t, j] * z[j]
            good = good and (new_rate >= -1e-12 if mode == OPEN else z[n] >= 0.0)
            if mode == STICKS:
                good = good and abs(z[t]) <= mu * z[n] * (1.0 + 1e-12)
            elif mode != OPEN:
                good = good and (2.0 - mode) * new_slip >= 0.0
        if good:
            for i in range(size):
                impulses[i] = z[i]
            return True
    return False


@compiled
def slider_crank_translational(p: Any, dt: float, steps: int) -> tuple[Any, int]:
    """Moreau and Jean; the three angles and speeds at the end, and the number of steps without an admissible mode.

    `p`: l1, l2, half length a, half height b, clearance, m1, m2, m3, J1, J2, J3, g, e, mu, omega1, omega2.
    """
    l1, l2, a, b, c, m1, m2, m3, J1, J2, J3, g, e, mu = p[0], p[1], p[2], p[3], p[4], p[5], p[6], p[7], p[8], p[9], p[
        10
    ], p[11], p[12], p[13]  # fmt: skip
    M11, k, M22 = J1 + (m1 / 4 + m2 + m3) * l1 * l1, (m2 / 2 + m3) * l1 * l2, J2 + (m2 / 4 + m3) * l2 * l2
    G1, G2 = g * l1 * (m1 / 2 + m2 + m3), g * l2 * (m2 / 2 + m3)
    q1 = q2 = q3 = v3 = 0.0
    v1, v2 = p[14], p[15]
    c1, s1, c2, s2 = 1.0, 0.0, 1.0, 0.0
    at1 = at2 = 0.0
    closed = CLOSED_GAP * c
    W, change, rate, slip = np.zeros((4, 3)), np.zeros((4, 3)), np.zeros(2), np.zeros(2)
    impulses = np.zeros(4)
    lost = 0
    for _ in range(steps):
        turn1, turn2 = q1 + dt / 2 * v1 - at1, q2 + dt / 2 * v2 - at2
        at1 += turn1
        at2 += turn2
        S, C = small_sine(turn1), small_cosine(turn1)
        c1, s1 = c1 * C - s1 * S, s1 * C + c1 * S
        S, C = small_sine(turn2), small_cosine(turn2)
        c2, s2 = c2 * C - s2 * S, s2 * C + c2 * S
        at3 = q3 + dt / 2 * v3
        s3, c3 = small_sine(at3), small_cosine(at3)
        M12, gyro = k * (c1 * c2 + s1 * s2), k * (s2 * c1 - c2 * s1)
        det = M11 * M22 - M12 * M12
        I11, I12, I22 = M22 / det, -M12 / det, M11 / det
        n1, n2 = v1, v2
        for _ in range(2):  # forces that depend on the velocity: at its mean
            u1, u2 = (v1 + n1) / 2, (v2 + n2) / 2
            h1, h2 = gyro * u2 * u2 - G1 * c1, -gyro * u1 * u1 - G2 * c2
            n1, n2 = v1 + dt * (I11 * h1 + I12 * h2), v2 + dt * (I12 * h1 + I22 * h2)
        n3 = v3
        y, tilt, room = l1 * s1 + l2 * s2, a * s3, c - b * (c3 - 1.0)
        count = 0
        if min(room + y - tilt, room - y + tilt, room + y + tilt, room - y - tilt) <= closed:
            for i in range(4):
                end, up = -1.0 if i < 2 else 1.0, 1.0 if i % 2 == 0 else -1.0  # left first, lower first
                if room + up * (y + end * tilt) <= closed and count < 2:
                    row, count = 2 * count, count + 1
                    # position of the corner relative to the slider's centre, in the ground frame
                    rx, ry = end * a * c3 + up * b * s3, end * a * s3 - up * b * c3
                    W[row, 0], W[row, 1], W[row, 2] = up * l1 * c1, up * l2 * c2, up * rx
                    W[row + 1, 0], W[row + 1, 1], W[row + 1, 2] = -l1 * s1, -l2 * s2, -ry
                    for j in range(row, row + 2):
                        change[j, 0] = I11 * W[j, 0] + I12 * W[j, 1]
                        change[j, 1] = I12 * W[j, 0] + I22 * W[j, 1]
                        change[j, 2] = W[j, 2] / J3
        if count > 0:
            for i in range(count):
                before = W[2 * i, 0] * v1 + W[2 * i, 1] * v2 + W[2 * i, 2] * v3
                rate[i] = W[2 * i, 0] * n1 + W[2 * i, 1] * n2 + W[2 * i, 2] * n3 + e * min(before, 0.0)
                slip[i] = W[2 * i + 1, 0] * n1 + W[2 * i + 1, 1] * n2 + W[2 * i + 1, 2] * n3
            # all contacts continue to slip: normal velocities by W_N - sign mu W_T
            good = False
            f0 = -mu if slip[0] > 0.0 else mu
            a00 = t00 = 0.0
            for j in range(3):
                force = change[0, j] + f0 * change[1, j]
                a00 += W[0, j] * force
                t00 += W[1, j] * force
            if count == 1:
                P0, P1, f1 = max(0.0, -rate[0] / a00), 0.0, 0.0
                good = (slip[0] + t00 * P0) * slip[0] > 0.0
            else:
                f1 = -mu if slip[1] > 0.0 else mu
                a01 = a10 = a11 = t01 = t10 = t11 = 0.0
                for j in range(3):
                    first, second = change[0, j] + f0 * change[1, j], change[2, j] + f1 * change[3, j]
                    a10 += W[2, j] * first
                    t10 += W[3, j] * first
                    a01 += W[0, j] * second
                    t01 += W[1, j] * second
                    a11 += W[2, j] * second
                    t11 += W[3, j] * second
                P0, P1 = solved_2(a00, a01, a10, a11, -rate[0], -rate[1])
                if P0 < 0.0 or P1 < 0.0:
                    P0, P1 = max(0.0, -rate[0] / a00), 0.0
                    if rate[1] + a10 * P0 < 0.0:
                        P0, P1 = 0.0, max(0.0, -rate[1] / a11)
                good = rate[0] + a00 * P0 + a01 * P1 >= -1e-12 and rate[1] + a10 * P0 + a11 * P1 >= -1e-12
                good = good and (slip[0] + t00 * P0 + t01 * P1) * slip[0] > 0.0
                good = good and (slip[1] + t10 * P0 + t11 * P1) * slip[1] > 0.0
            if good:
                impulses[0], impulses[1], impulses[2], impulses[3] = P0, f0 * P0, P1, f1 * P1
            elif not enumerate_modes(W, change, rate, slip, mu, count, impulses):
                lost += 1
                impulses[:] = 0.0
            for j in range(2 * count):
                n1 += change[j, 0] * impulses[j]
                n2 += change[j, 1] * impulses[j]
                n3 += change[j, 2] * impulses[j]
        q1 += dt / 2 * (v1 + n1)
        q2 += dt / 2 * (v2 + n2)
        q3 += dt / 2 * (v3 + n3)
        v1, v2, v3 = n1, n2, n3
    return (q1, q2, q3, v1, v2, v3), lost


# --------------------------------------------------------------------------------------------------------------------
# P3: slider-crank with clearance in the pin; the crank's motion is known, rod angle and slider position are not.


@compiled
def slider_crank_revolute(
    r: float, rod: float, m2: float, J2: float, m3: float, c: float, e: float, speed: float, dt: float, steps: int
) -> tuple[float, float, float, float, float]:
    """Moreau and Jean; (theta, x, theta', x') at the end and the deepest penetration [m]."""
    mass = J2 + m2 * rod * rod / 4.0
    driving = dt * m2 * rod / 2.0 * speed * speed * r / mass
    theta, x, v_theta, v_x = 0.0, r + rod, -r * speed / rod, 0.0
    C, S = cos(speed * dt), sin(speed * dt)
    c_crank, s_crank = cos(speed * dt / 2.0), sin(speed * dt / 2.0)
    c_rod, s_rod, at, farthest = 1.0, 0.0, 0.0, 0.0
    for _ in range(steps):
        turn = theta + dt / 2.0 * v_theta - at
        at += turn
        sine, cosine = small_sine(turn), small_cosine(turn)
        c_rod, s_rod = c_rod * cosine - s_rod * sine, s_rod * cosine + c_rod * sine
        n_theta = v_theta + driving * (s_crank * c_rod - c_crank * s_rod)
        e_x, e_y = x + dt / 2.0 * v_x - r * c_crank - rod * c_rod, -r * s_crank - rod * s_rod
        square = e_x * e_x + e_y * e_y
        farthest = max(farthest, square)
        n_x = v_x
        if c * c - square <= 2.0 * c * CLOSED_GAP * c:
            W_theta, W_x = rod * (e_y * c_rod - e_x * s_rod) / c, -e_x / c
            driven = speed * r * (e_y * c_crank - e_x * s_crank) / c
            before = W_theta * v_theta + W_x * v_x + driven
            rate = W_theta * n_theta + W_x * n_x + driven + e * min(before, 0.0)
            if rate < 0.0:
                P = -rate / (W_theta * W_theta / mass + W_x * W_x / m3)
                n_theta += W_theta * P / mass
                n_x += W_x * P / m3
        theta += dt / 2.0 * (v_theta + n_theta)
        x += dt / 2.0 * (v_x + n_x)
        v_theta, v_x = n_theta, n_x
        c_crank, s_crank = c_crank * C - s_crank * S, s_crank * C + c_crank * S
    return theta, x, v_theta, v_x, max(0.0, np.sqrt(farthest) - c)


# --------------------------------------------------------------------------------------------------------------------
# P4: chain of links with clearance in each joint; joint k connects the head of link k to the foot of link k - 1 or the
# ground.


@compiled
def chain(
    q: Any, v: Any, half: float, m: float, J: float, c: float, g: float, dt: float, steps: int
) -> tuple[float, int]:
    """Moreau and Jean, plastic, frictionless; q and v (N, 3) are updated in place.

    A link's angle is measured from the downward vertical. The Delassus matrix is tridiagonal; the active rows are kept
    from step to step and changed until all signs are correct. Returns the deepest penetration [m] and the number of
    iterations in addition to the first.
    """
    n = q.shape[0]
    cosine, sine, at = np.cos(q[:, 2]), np.sin(q[:, 2]), q[:, 2].copy()
    e_x, e_y, arm_a, arm_b = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    diagonal, coupling, rate = np.empty(n), np.empty(n), np.empty(n)
    pivot, right, P = np.empty(n), np.empty(n), np.empty(n)
    closed, pushes = np.zeros(n, dtype=np.bool_), np.ones(n, dtype=np.bool_)
    worst, rounds = 0.0, 0
    for _ in range(steps):
        # geometry at the middle of the step, rates without impulses
        foot_x = foot_y = foot_vx = foot_vy = foot_c = foot_s = 0.0
        mass_a = J_a = 0.0
        for k in range(n):
            v[k, 1] -= g * dt
            w = v[k, 2]
            turn = q[k, 2] + dt / 2.0 * w - at[k]
            at[k] += turn
            square = turn * turn
            S = turn * (1.0 - square / 6.0 * (1.0 - square / 20.0))
            C = 1.0 - square / 2.0 * (1.0 - square / 12.0 * (1.0 - square / 30.0))
            c_k, s_k = cosine[k] * C - sine[k] * S, sine[k] * C + cosine[k] * S
            cosine[k], sine[k] = c_k, s_k
            x = q[k, 0] + dt / 2.0 * v[k, 0]
            y = q[k, 1] + dt / 2.0 * (v[k, 1] + g * dt)
            # head at +half along (-sin, cos), foot at -half
            ex, ey = (x - half * s_k - foot_x) / c, (y + half * c_k - foot_y) / c
            e_x[k], e_y[k] = ex, ey
            square = ex * ex + ey * ey
            shut = 1.0 - square <= 2.0 * CLOSED_GAP
            worst = max(worst, square)
            closed[k] = shut
            b = -half * (ex * c_k + ey * s_k)  # e times the derivative of the head's position with respect to the angle
            a = half * (ex * foot_c + ey * foot_s)  # and that of the foot above
            arm_b[k], arm_a[k] = b, a
            vx, vy = v[k, 0] - half * c_k * w, v[k, 1] - half * s_k * w
            rate[k] = -(ex * (vx - foot_vx) + ey * (vy - foot_vy))
            diagonal[k] = square * (1.0 / m + mass_a) + b * b / J + a * a * J_a
            if k > 0:  # joints k - 1 and k share link k - 1
                coupling[k] = -(ex * e_x[k - 1] + ey * e_y[k - 1]) / m - a * arm_b[k - 1] / J
            foot_x, foot_y, foot_c, foot_s = x + half * s_k, y - half * c_k, c_k, s_k
            foot_vx, foot_vy = v[k, 0] + half * c_k * w, v[k, 1] + half * s_k * w
            mass_a, J_a = 1.0 / m, 1.0 / J
        for _ in range(60):
            before = False
            for k in range(n):
                if closed[k] and pushes[k]:
                    if before:
                        factor = coupling[k] / pivot[k - 1]
                        pivot[k] = diagonal[k] - factor * coupling[k]
                        right[k] = -rate[k] - factor * right[k - 1]
                    else:
                        pivot[k], right[k] = diagonal[k], -rate[k]
                    before = True
                else:
                    before = False
            settled = True
            later = 0.0
            for i in range(n):
                k = n - 1 - i
                if closed[k] and pushes[k]:
                    P[k] = (right[k] - (coupling[k + 1] * later if i > 0 else 0.0)) / pivot[k]
                    if P[k] < 0.0:
                        settled = False
                else:
                    P[k] = 0.0
                later = P[k]
            for k in range(n):
                if closed[k]:
                    if pushes[k]:
                        if P[k] < 0.0:
                            pushes[k] = False
                    else:
                        new = rate[k]
                        if k > 0:
                            new += coupling[k] * P[k - 1]
                        if k < n - 1:
                            new += coupling[k + 1] * P[k + 1]
                        if new < 0.0:
                            pushes[k], settled = True, False
                else:
                    pushes[k] = True
            if settled:
                break
            rounds += 1
        for k in range(n):
            vx, vy, w = v[k, 0], v[k, 1], v[k, 2]
            dx, dy, dw = -P[k] * e_x[k], -P[k] * e_y[k], -P[k] * arm_b[k]
            if k < n - 1:
                dx += P[k + 1] * e_x[k + 1]
                dy += P[k + 1] * e_y[k + 1]
                dw += P[k + 1] * arm_a[k + 1]
            new_x, new_y, new_w = vx + dx / m, vy + dy / m, w + dw / J
            q[k, 0] += dt / 2.0 * (vx + new_x)
            q[k, 1] += dt / 2.0 * (vy + g * dt + new_y)
            q[k, 2] += dt / 2.0 * (w + new_w)
            v[k, 0], v[k, 1], v[k, 2] = new_x, new_y, new_w
    return c * (np.sqrt(max(worst, 1.0)) - 1.0), rounds
