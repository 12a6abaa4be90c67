"""The exact slider-rod: against tabulated closed forms, decimal arithmetic, and a nonlinear integration."""

from __future__ import annotations

from decimal import Decimal, localcontext

import numpy as np
import pytest
from loops import some
from scipy.integrate import solve_ivp

from nonsmooth.exceptions import InputError
from nonsmooth_problems.slider_rod_exact import CONTACTS, case, solve

M, J, A, C, F, G = 5.0, 8e-4, 10e-3, 10e-6, 50.0, 9.81
LEFT_LOWER, LEFT_UPPER, RIGHT_LOWER, RIGHT_UPPER = CONTACTS

# Case 2, e = 0, with the heights linear in the angle: each flight is a parabola, the digits are the closed form's.
TABLE = [
    (1.4056302831688, RIGHT_LOWER, 0.0437799770504),
    (1.4656833601216, LEFT_LOWER, 0.0322970700183),
    (2.0765396795755, RIGHT_LOWER, 0.0074531700042),
    (2.2326479664523, LEFT_LOWER, 0.0017199623087),
    (2.2651787763641, RIGHT_LOWER, 0.000396914378923),
]


@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.5, 0.8])
def test_case_1_is_a_bouncing_ball(restitution):
    solution = case(1, restitution=restitution)
    t1 = np.sqrt(2 * C / G)
    first = solution.impacts[0]
    assert first.t == pytest.approx(t1, rel=4e-16)
    assert {impact.contact for impact in solution.impacts[:2]} == {LEFT_LOWER, RIGHT_LOWER}
    assert first.gamma_minus == pytest.approx(-np.sqrt(2 * G * C), rel=4e-16)
    assert first.impulse == pytest.approx((1 + restitution) * 0.5 * M * np.sqrt(2 * G * C), rel=1e-15)
    # the geometric series is cut at 1e-14 of the first speed
    assert solution.rest_time == pytest.approx(t1 * (1 + restitution) / (1 - restitution), rel=1e-13)
    assert solution.rest_force[LEFT_LOWER] == solution.rest_force[RIGHT_LOWER] == pytest.approx(M * G / 2, rel=1e-15)
    # between the first two impacts the height is a parabola
    rebound = restitution * np.sqrt(2 * G * C)
    tau = np.linspace(0.0, 2 * rebound / G, 7)[1:-1]
    y = solution.position(first.t + tau)[1]
    np.testing.assert_allclose(y, -C + rebound * tau - G * tau**2 / 2, rtol=0, atol=1e-19)


def test_case_2_reproduces_the_table():
    solution = case(2, restitution=0.0, small_angles=True)
    for impact, (t, contact, impulse) in zip(solution.impacts, TABLE, strict=False):
        assert impact.t * 1e3 == pytest.approx(t, abs=0.51e-13)
        assert impact.contact == contact
        assert impact.impulse == pytest.approx(impulse, abs=0.51e-13)
    assert solution.rest_time * 1e3 == pytest.approx(2.2757897255584, abs=0.51e-13)
    speeds = [-impact.gamma_minus for impact in solution.impacts[1:12]]
    np.testing.assert_allclose(np.divide(speeds[1:], speeds[:-1]), 3 / 13, rtol=1e-12)
    middle = [1.44e-3, 1.7e-3]
    assert solution.contact_force(middle)[RIGHT_LOWER][0] == pytest.approx(31.146154, abs=1e-6)
    assert solution.contact_force(middle)[LEFT_LOWER][1] == pytest.approx(29.223077, abs=1e-6)
    assert solution.rest_force[LEFT_LOWER] == pytest.approx(23.275, rel=1e-15)
    assert solution.rest_force[RIGHT_LOWER] == pytest.approx(25.775, rel=1e-15)


def test_sine_and_small_angles_differ_by_third_order_only():
    true, small = case(2, restitution=0.0), case(2, restitution=0.0, small_angles=True)
    for mine, other in zip(true.impacts[:5], small.impacts[:5], strict=True):
        assert mine.contact == other.contact
        assert abs(mine.t - other.t) < 2e-13
        assert mine.impulse == pytest.approx(other.impulse, rel=4e-10)
    assert any(mine.t != other.t for mine, other in zip(true.impacts[:5], small.impacts[:5], strict=True))


def test_case_3_closes_two_opposite_corners():
    solution = case(3, restitution=0.0)
    assert solution.events == pytest.approx([1.788854560885345e-3], rel=1e-15)
    assert {impact.contact for impact in solution.impacts} == {LEFT_UPPER, RIGHT_LOWER}
    # theta'^2 = 2 (s f/J) c/a from the energy of the fall to sin(theta) = -c/a
    omega = solution.velocity(solution.events[0], "left")[2]
    assert omega == pytest.approx(-np.sqrt(2 * 10e-3 * F / J * C / A), rel=1e-15)
    assert omega == pytest.approx(-1.118033988749895, rel=1e-15)
    assert solution.impacts[0].impulse == pytest.approx(
        J * 1.118033988749895 / (2 * A * np.sqrt(1 - (C / A) ** 2)), rel=1e-14
    )
    assert solution.rest_force[LEFT_UPPER] == solution.rest_force[RIGHT_LOWER] == pytest.approx(25.0, rel=1e-15)
    assert np.sin(solution.position(0.01)[2]) == pytest.approx(-C / A, rel=1e-15)


def test_case_3_with_gravity_rests_on_the_same_corners():
    table_1 = dict(mass=M, inertia=J, half_length=A, clearance=C, force=F)
    solution = solve(**table_1, offset=10e-3, gravity=G, restitution=0.0)
    assert solution.rest_force[RIGHT_LOWER] == pytest.approx(49.525, rel=1e-14)
    assert solution.rest_force[LEFT_UPPER] == pytest.approx(0.475, rel=1e-14)


@pytest.mark.parametrize("restitution", some([0.0, 0.3, 0.5], 3))
def test_total_impulse_is_the_rest_force_times_time(restitution):
    T = 0.1
    flat = case(1, restitution=restitution).contact_impulse(T)
    assert flat[LEFT_LOWER] == pytest.approx(M * G / 2 * T, rel=1e-14)
    linear = case(2, restitution=restitution, small_angles=True)
    for name, force in linear.rest_force.items():
        assert linear.contact_impulse(T)[name] == pytest.approx(force * T, abs=1e-13)
    # m y' integrates the vertical load exactly, whatever the angle does
    true = case(2, restitution=restitution).contact_impulse(T)
    assert true[LEFT_LOWER] + true[RIGHT_LOWER] == pytest.approx(M * G * T, rel=1e-14)
    assert true[RIGHT_LOWER] == pytest.approx(25.775 * T, abs=1e-11 if restitution == 0.0 else 1e-9)


def test_total_impulse_of_case_3_feels_the_cosine():
    assert case(3, restitution=0.0).contact_impulse(0.1)[RIGHT_LOWER] - 2.5 == pytest.approx(1.79e-8, rel=1e-3)


def _decimal_accumulation(restitution: str) -> tuple[Decimal, list[tuple[Decimal, int]]]:
    """Case 2 with small angles in 50 digits: parabolas and Newton's law; the ends are 0 (left) and 1 (right)."""
    with localcontext() as context:
        context.prec = 50
        m, inertia, a, c, g = Decimal(5), Decimal("8e-4"), Decimal("0.01"), Decimal("1e-5"), Decimal("9.81")
        moment, e = Decimal(50) * Decimal("5e-4"), Decimal(restitution)
        rho = (1 / m - a * a / inertia) / (1 / m + a * a / inertia)
        free = [-g + a * moment / inertia, -g - a * moment / inertia]
        whole = inertia + m * a * a
        lone = [-2 * a * (m * g * a - moment) / whole, 2 * a * (-m * g * a - moment) / whole]
        gap, rate, held = [c, c], [Decimal(0), Decimal(0)], [False, False]
        t, impacts = Decimal(0), []
        while not all(held):
            acceleration = [Decimal(0) if held[i] else (lone[i] if held[1 - i] else free[i]) for i in range(2)]
            landing = [
                Decimal(1)
                if held[i]
                else (-rate[i] - (rate[i] ** 2 - 2 * acceleration[i] * gap[i]).sqrt()) / acceleration[i]
                for i in range(2)
            ]
            i = landing.index(min(landing))
            for j in range(2):
                gap[j] += landing[i] * (rate[j] + acceleration[j] * landing[i] / 2)
                rate[j] += acceleration[j] * landing[i]
            t += landing[i]
            impacts.append((t, i))
            rate[1 - i] -= rho * (1 + e) * rate[i]
            rate[i] *= -e
            gap[i] = Decimal(0)
            for j in range(2):
                held[j] = gap[j] == 0 and rate[j] < Decimal("1e-17")
                rate[j] = Decimal(0) if held[j] else rate[j]
        return t, impacts


@pytest.mark.parametrize(("restitution", "digits"), [("0", 1e-14), ("0.3", 1e-14), ("0.5", 1e-13)])
def test_case_2_against_fifty_digits(restitution, digits):
    accumulation, impacts = _decimal_accumulation(restitution)
    solution = case(2, restitution=float(restitution), small_angles=True)
    assert solution.rest_time == pytest.approx(float(accumulation), rel=digits)
    for mine, (t, end) in zip(solution.impacts[:20], impacts[:20], strict=True):
        assert mine.contact == (LEFT_LOWER, RIGHT_LOWER)[end]
        assert mine.t == pytest.approx(float(t), rel=digits)


def _integrated(offset: float, gravity: float, restitution: float, t_end: float) -> list[tuple[float, str, float]]:
    """Impacts (time, contact, impulse) from DOP853 on (y, angle, rates), with events on the true gaps.

    One end may be held by its wall, with the force that keeps its height constant. Stops when both ends are held.
    """
    signs = {name: (1.0 if "lower" in name else -1.0, 1.0 if "right" in name else -1.0) for name in CONTACTS}

    def gap(name, y):
        n, side = signs[name]
        return C + n * (y[0] + side * A * np.sin(y[1]))

    def direction(name, y):
        n, side = signs[name]
        return n * np.array([1.0, side * A * np.cos(y[1])])

    mass = np.diag([M, J])
    state, t, held, found = np.zeros(4), 0.0, None, []
    while t < t_end:

        def rates(_, y, held=held):
            load = np.array([-M * gravity, -offset * F * np.cos(y[1])])
            if held is None:
                return [*y[2:], *np.linalg.solve(mass, load)]
            w = direction(held, y)
            n, side = signs[held]
            bend = -n * side * A * np.sin(y[1]) * y[3] ** 2  # w' . velocity
            force = -(w @ np.linalg.solve(mass, load) + bend) / (w @ np.linalg.solve(mass, w))
            assert force >= 0.0
            return [*y[2:], *np.linalg.solve(mass, load + force * w)]

        events = []
        for name in CONTACTS:
            if name == held:
                continue

            def event(_, y, name=name):
                return (gap(name, y)) / C

            event.terminal, event.direction = True, -1.0
            events.append((name, event))
        run = solve_ivp(
            rates, (t, t_end), state, "DOP853", events=[e for _, e in events], rtol=1e-13, atol=1e-20, max_step=2e-5
        )
        state, t = run.y[:, -1].copy(), float(run.t[-1])
        struck = [
            name for name, _ in events if abs(gap(name, state)) < 1e-12 * C and direction(name, state) @ state[2:] < 0
        ]
        if not struck:
            break
        closed = struck + ([held] if held else [])
        W = np.column_stack([direction(name, state) for name in struck])
        before = W.T @ state[2:]
        P = np.linalg.solve(W.T @ np.linalg.solve(mass, W), -(1 + restitution) * before)
        state[2:] += np.linalg.solve(mass, W @ P)
        found += [(t, name, float(p)) for name, p in zip(struck, P, strict=True)]
        staying = [name for name in closed if abs(direction(name, state) @ state[2:]) < 1e-12]
        if len(staying) == 2:
            break
        held = staying[0] if staying else None
    return found


@pytest.mark.parametrize(("number", "count"), [(1, 2), (2, 5), (3, 2)])
@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_against_a_nonlinear_integration_with_events(number, count, restitution):
    solution = case(number, restitution=restitution)
    expected = solution.impacts[: count if restitution == 0.0 else 6]
    offset = {1: 0.0, 2: 0.5e-3, 3: 10e-3}[number]
    # each search ends a little after the last impact that is compared
    found = _integrated(offset, 0.0 if number == 3 else G, restitution, expected[-1].t + 1e-7)
    assert len(found) >= len(expected)
    for mine, (t, contact, impulse) in zip(
        sorted(expected, key=lambda impact: (round(impact.t, 9), impact.contact)),
        sorted(found[: len(expected)], key=lambda one: (round(one[0], 9), one[1])),
        strict=True,
    ):
        assert mine.contact == contact
        assert abs(mine.t - t) < 1e-14  # seconds: the event search stops at 4 eps of the gap's scale
        assert mine.impulse == pytest.approx(impulse, rel=1e-9)


@pytest.mark.parametrize("number", [1, 2, 3])
def test_the_motion_obeys_its_own_equation(number):
    solution = case(number, restitution=0.4)
    t = np.linspace(1e-5, 3e-3, 400)
    keep = np.min(np.abs(t[:, None] - solution.events), axis=1) > 2e-6
    t, h = t[keep], 1e-6
    forces = solution.contact_force(t)
    lift = forces[LEFT_LOWER] + forces[RIGHT_LOWER] - forces[LEFT_UPPER] - forces[RIGHT_UPPER]
    vy = (solution.velocity(t + h)[1] - solution.velocity(t - h)[1]) / (2 * h)
    np.testing.assert_allclose(M * vy, lift - M * solution.gravity, rtol=0, atol=1e-6 * M * G)
    vx = (solution.position(t + h)[0] - solution.position(t - h)[0]) / (2 * h)
    np.testing.assert_allclose(vx, solution.velocity(t)[0], rtol=0, atol=1e-9)
    sample = solution.sample(t)
    for gap in sample.gap.values():
        assert np.all(gap >= -1e-20)
    np.testing.assert_allclose(sample.gap[LEFT_LOWER] + sample.gap[LEFT_UPPER], 2 * C, rtol=1e-14)


def test_a_jump_has_two_limits():
    solution = case(1, restitution=0.5)
    t = solution.impacts[0].t
    left, right = solution.sample(t, "left"), solution.sample(t, "right")
    assert right.v["slider.y"] == pytest.approx(-0.5 * left.v["slider.y"], rel=1e-14)
    assert left.impulse[LEFT_LOWER] == 0.0
    assert right.impulse[LEFT_LOWER] == solution.impacts[0].impulse
    assert left.q["slider.y"] == pytest.approx(-C, rel=1e-15)


def test_offset_below_the_centre_mirrors_left_and_right():
    table_1 = dict(mass=M, inertia=J, half_length=A, clearance=C, force=F, gravity=G, restitution=0.3)
    up, down = solve(**table_1, offset=0.5e-3), solve(**table_1, offset=-0.5e-3)
    swap = {LEFT_LOWER: RIGHT_LOWER, RIGHT_LOWER: LEFT_LOWER}
    assert [swap[impact.contact] for impact in up.impacts] == [impact.contact for impact in down.impacts]
    assert up.rest_time == pytest.approx(down.rest_time, rel=1e-14)


def test_a_motion_goes_on_from_its_own_state():
    table_1 = dict(mass=M, inertia=J, half_length=A, clearance=C, force=F, offset=0.5e-3, gravity=G, restitution=0.5)
    whole = solve(**table_1)
    t, contact = whole.impacts[3].t, whole.impacts[3].contact
    state, side = whole.sample(t), np.array([-1.0, 1.0])
    heights = state.q["slider.y"] + side * A * np.sin(state.q["slider.angle"])
    rates = state.v["slider.y"] + side * A * np.cos(state.q["slider.angle"]) * state.v["slider.angle"]
    heights[0 if "left" in contact else 1] = -C
    rest = solve(**table_1, start=(heights, rates))
    assert [impact.contact for impact in rest.impacts[:10]] == [impact.contact for impact in whole.impacts[4:14]]
    assert t + rest.rest_time == pytest.approx(whole.rest_time, rel=1e-11)
    still = solve(**table_1, start=([-C, -C], [0.0, 0.0]))
    assert (still.rest_time, still.impacts) == (0.0, ())
    for start in (([-2 * C, 0.0], [0.0, 0.0]), ([-C, 0.0], [-1e-3, 0.0])):
        with pytest.raises(InputError, match="beyond its wall or moves into it"):
            solve(**table_1, start=start)
    with pytest.raises(InputError, match="two heights and two rates, finite"):
        solve(**table_1, start=([0.0], [0.0]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"restitution": 1.0}, r"restitution must lie in \[0, 1\), got 1.0"),
        ({"mass": 0.0}, "mass must be a positive number, got 0.0"),
        ({"clearance": 0.02}, "must be less than half_length"),
        ({"offset": float("nan")}, "must be finite"),
        ({"offset": 0.0, "gravity": 0.0}, "never meets the rod"),
    ],
)
def test_bad_values_are_named(changes, message):
    values = dict(mass=M, inertia=J, half_length=A, clearance=C, force=F, offset=0.0, gravity=G, restitution=0.0)
    with pytest.raises(InputError, match=message):
        solve(**(values | changes))


def test_bad_questions_are_named():
    solution = case(1, restitution=0.0)
    with pytest.raises(InputError, match="starts at t = 0"):
        solution.position([-1e-3, 0.0])
    with pytest.raises(InputError, match="side must be"):
        solution.velocity(0.0, "both")
    with pytest.raises(InputError, match="cases 1, 2 and 3, got 4"):
        case(4, restitution=0.0)
