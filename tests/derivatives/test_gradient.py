"""Derivatives through impacts, slip and rest, against closed forms and against differences of runs."""

import numpy as np
import pytest

from nonsmooth import (
    CircleCircle,
    CirclePlane,
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    InputError,
    Model,
    MoreauJean,
    PlanarBody,
    PointForce,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    SpatialBody,
    SpherePlane,
    Table,
    simulate,
)
from nonsmooth.derivatives import gradient, sensitivities
from nonsmooth.model.closing import closed_start
from nonsmooth_problems import bouncing_ball, slider_crank_revolute, slider_crank_translational

SMOOTH = Rigid(restitution=0.8, friction=0.0)
#: of a complex step, whose derivative has no difference of large numbers
STEP = 1e-30


def ball(h, g, e, bounces, t):
    """Height and velocity of a ball dropped from h at time t, after so many bounces."""
    fall = np.sqrt(2 * h / g)
    speed, landed = np.sqrt(2 * h * g), fall
    for _ in range(bounces - 1):
        speed = e * speed
        landed = landed + 2 * speed / g
    speed, t = e * speed, t - landed
    return np.array([speed * t - g * t**2 / 2, speed - g * t])


@pytest.mark.parametrize(("t_end", "bounces"), [(1.0, 1), (2.0, 3), (3.0, 6)])
def test_a_ball_that_bounces(t_end, bounces):
    """By height, gravity and restitution; 1e-10 is what a run at 1e-12 leaves after six bounces."""
    system = bouncing_ball(height=1.0, contact=SMOOTH).build()
    wrt = ["ball.y", "gravity.acceleration_y", "floor.restitution"]
    found = gradient(system, of=["ball.y", "v:ball.y"], wrt=wrt, t_end=t_end)
    given = np.array([1.0, 9.81, 0.8])
    exact = np.column_stack(
        [ball(*(given + 1j * STEP * one), bounces, t_end).imag / STEP * sign
         for one, sign in zip(np.eye(3), (1, -1, 1), strict=True)]
    )  # fmt: skip
    np.testing.assert_allclose(found.values, exact, rtol=1e-10)
    assert found.sensitivities.exact and found.defect <= 1e-12
    assert [one.kind for one in found.sensitivities.events] == ["impact"] * bounces


def test_after_its_bounces_a_ball_rests_whatever_it_fell_from():
    """The time of the last bounce is (1 + e) / (1 - e) sqrt(2 h / g), less the flights that a run leaves out."""
    system = bouncing_ball(height=1.0, contact=SMOOTH).build()
    control = ErrorControl(1e-12, 1e-14, 1e-9, 0.1)
    wrt = ["ball.y", "gravity.acceleration_y", "floor.restitution"]
    found = gradient(system, of=["ball.y", "v:ball.y"], wrt=wrt, t_end=4.5, dt=control)
    assert np.abs(found.values).max() <= 1e-15
    fall, e = np.sqrt(2 / 9.81), 0.8
    exact = [fall / 2 * 9, fall * 9 / (2 * 9.81), 2 * fall / (1 - e) ** 2]
    np.testing.assert_allclose(found.sensitivities.events[-1].dt, exact, rtol=2e-6)  # flights of 1e-9 s are left out


@pytest.mark.parametrize("e", [1.0, 0.5])
def test_a_ball_thrown_at_a_floor_without_gravity(e):
    """h(T) = r - e (y0 - r + v0 T): as long as it flies, its height falls by e for each metre of the start."""
    model = Model([Ground(), PlanarBody("ball", mass=1.0, inertia=4e-3, position=(-1.0, 1.0), velocity=(2.0, -2.0))])
    model.add(CirclePlane("floor", "ground", "ball", radius=0.1, contact=Rigid(restitution=e, friction=0.0)))
    found = gradient(model.build(), of="ball.y", wrt=["ball.y", "v:ball.y", "floor.restitution"], t_end=1.0)
    np.testing.assert_allclose(found.values[0], [-e, -e, 1.1], rtol=1e-11)


def test_two_equal_balls_exchange_their_motions():
    """The second one ends where the first would have been, and two radii further on: (1, 0, 1) by x1, x2 and v1."""
    model = Model([Ground()])
    for name, x, speed in (("first", 0.0, 1.0), ("second", 0.52, 0.0)):
        model.add(PlanarBody(name, mass=1.0, inertia=4e-3, position=(x, 0.0), velocity=(speed, 0.0)))
    elastic = Rigid(restitution=1.0, friction=0.0)
    model.add(CircleCircle("pair", "first", "second", radius_a=0.1, radius_b=0.1, contact=elastic))
    wrt = ["first.x", "second.x", "v:first.x", "pair.radius_a"]
    found = gradient(model.build(), of="second.x", wrt=wrt, t_end=1.0)
    np.testing.assert_allclose(found.values[0], [1.0, 0.0, 1.0, 1.0], atol=1e-11)


def test_numbers_of_the_whole_motion_of_a_ball():
    """Impulses are changes of momentum, so that g T + v(T) is that of the floor; the first impact is the fastest; the
    mean height is that of a fall and of flights. Trapezoids of v^2 have errors of (g dt)^2 / 6 with steps
    dt of a 500th of the run, that of its derivative by g 3e-4."""
    system = bouncing_ball(height=1.0, contact=SMOOTH).build()
    wrt = ["ball.y", "gravity.acceleration_y", "floor.restitution"]

    def squares(t, q, v):
        return np.trapezoid(v[:, 1] ** 2, t)

    of = ["impulse:floor", "mean-force:floor", "mean:ball.y", "mean:v:ball.y", "largest:v:ball.y", "smallest:v:ball.y",
          "peak-impulse:floor", "fastest-approach:floor", squares]  # fmt: skip
    found = gradient(system, of=of, wrt=wrt, t_end=2.0)

    def exact(h, g, e):
        fall = np.sqrt(2 * h / g)
        fastest = g * fall
        y, v = ball(h, g, e, 3, 2.0)
        flights = [2 * e * fastest / g, 2 * e**2 * fastest / g]
        last = 2.0 - fall - sum(flights)
        upwards = [e * fastest, e**2 * fastest, e**3 * fastest]
        area = h * fall - g * fall**3 / 6 + upwards[2] * last**2 / 2 - g * last**3 / 6
        energy = (fastest**3 + upwards[2] ** 3 - (upwards[2] - g * last) ** 3) / (3 * g)
        for speed, flight in zip(upwards, flights, strict=False):
            area = area + speed * flight**2 / 2 - g * flight**3 / 6
            energy = energy + 2 * speed**3 / (3 * g)
        impulse = 2.0 * g + v
        return np.array([impulse, impulse / 2, area / 2, (y - h) / 2, upwards[0], -fastest, (1 + e) * fastest, fastest,
                         energy])  # fmt: skip

    given, mass = np.array([1.0, 9.81, 0.8]), system.parameters["ball.mass"]
    scale, radius = np.array([mass, mass, 1, 1, 1, 1, mass, 1, 1]), np.array([0, 0, 0.1, 0, 0, 0, 0, 0, 0])
    np.testing.assert_allclose((found.result - radius)[:-1], scale[:-1] * exact(*given)[:-1], rtol=1e-10)
    for column, one, sign in zip(found.values.T, np.eye(3), (1, -1, 1), strict=True):
        slopes = sign * scale * exact(*(given + 1j * STEP * one)).imag / STEP
        np.testing.assert_allclose(column[:-1], slopes[:-1], rtol=1e-10, atol=1e-10)
        assert column[-1] == pytest.approx(slopes[-1], rel=5e-4)


def test_extrema_and_forces_of_a_loose_pin_against_differences_of_runs():
    """Largest values between events and at them; differences of 1e-4 of the clearance have errors of 1e-8 to 1e-7."""
    system = slider_crank_revolute(contact=Rigid(restitution=0.6, friction=0.1)).build()
    of = ["largest:v:rod.angle", "smallest:v:rod.angle", "impulse:pin", "peak-force:pin", "peak-impulse:pin"]
    options = {"of": of, "wrt": "pin.clearance", "t_end": 2e-3, "dt": ErrorControl(1e-12, 1e-14, 1e-12, 1e-4)}
    clearance, slopes = system.parameters["pin.clearance"], []
    for width in (2e-4 * clearance, 1e-4 * clearance):
        ends = [gradient(system, **options, parameters={"pin.clearance": clearance + x}) for x in (width, -width)]
        slopes.append((ends[0].result - ends[1].result) / (2 * width))
    found = gradient(system, **options)
    np.testing.assert_allclose(found.values[:, 0], (4 * slopes[1] - slopes[0]) / 3, rtol=1e-6)


def test_the_force_on_a_block_at_rest_is_its_weight():
    """Peak and mean force are m g, and the impulse m g T."""
    found = gradient(block(0.3, 2.0), of=["peak-force:floor", "mean-force:floor", "impulse:floor"],
                     wrt=["block.mass", "gravity.acceleration_y", "floor.friction"], t_end=1.0)  # fmt: skip
    each = np.array([9.81, -1.0, 0.0])
    np.testing.assert_allclose(found.values, [each, each, each], rtol=1e-12, atol=1e-12)


def block(friction, speed):
    model = Model([Ground(), Gravity(acceleration=(0.0, -9.81))])
    model.add(PlanarBody("block", mass=1.0, inertia=1.0, position=(0.0, 0.0), velocity=(speed, 0.0)))
    model.add(PointPlane("floor", "ground", "block", contact=Rigid(restitution=0.0, friction=friction)))
    return model.build()


def test_a_block_slides_until_friction_has_stopped_it():
    """x = v0^2 / (2 mu g) once it rests; it goes on resting for any start and friction."""
    found = gradient(block(0.3, 2.0), of=["block.x", "v:block.x"], wrt=["v:block.x", "floor.friction"], t_end=1.0)
    stop = 2.0 / (0.3 * 9.81)
    np.testing.assert_allclose(found.values[0], [stop, -(2.0**2) / (2 * 0.3**2 * 9.81)], rtol=1e-10)
    assert np.abs(found.values[1]).max() <= 1e-12
    (event,) = found.sensitivities.events
    assert event.kind == "slip ends"
    np.testing.assert_allclose(event.dt, [1 / (0.3 * 9.81), -stop / 0.3], rtol=1e-10)
    # x would be another function of the start if it stopped after the end: from 2.943 m/s on
    assert found.range[0, 1] == pytest.approx(0.3 * 9.81 - 2.0, rel=1e-9)


def test_the_first_impact_of_a_loose_slider_is_later_by_the_clearance_over_its_speed():
    found = gradient(slider_crank_translational().build(), of="slider.x", wrt="guide.clearance", t_end=4e-3)
    first = found.sensitivities.events[0]
    assert first.dt[0] == pytest.approx(1.0 / abs(first.rate), rel=1e-9)


def test_impacts_shrink_the_volume_of_states_by_the_square_of_restitution():
    """det dx(T)/dx(0) = e^(2 n) for n single impacts without friction and without forces that depend on velocities."""
    system = bouncing_ball(height=1.0, contact=SMOOTH).build()
    states = [*system.q_names, *(f"v:{name}" for name in system.v_names)]
    found = gradient(system, of=states, wrt=states, t_end=3.0)
    assert np.linalg.det(found.values) == pytest.approx(0.8 ** (2 * 6), rel=1e-9)


@pytest.mark.parametrize(("friction", "t_end", "rel"), [(0.0, 1e-3, 2e-4), (0.1, 1e-3, 2e-4)])
def test_a_loose_pin_against_differences_of_runs(friction, t_end, rel):
    """Impacts, with friction slip, stick and an accumulation of impacts. Differences have an optimum of about 1e-7."""
    system = slider_crank_revolute(contact=Rigid(restitution=0.6, friction=friction)).build()
    control = ErrorControl(1e-12, 1e-14, 1e-12, 1e-4)
    wrt = ["pin.clearance", "pin.restitution", "rod.mass"]
    of = ["rod.angle", "v:rod.angle"]
    found = gradient(system, of=of, wrt=wrt, t_end=t_end, dt=control)
    assert found.defect <= 1e-12 and found.sensitivities.exact

    def end(changes):
        run = simulate(system, EventDriven(), t_end=t_end, dt=control, parameters=changes)
        return np.array([run.q["rod.angle"][-1], run.v["rod.angle"][-1]])

    for column, name in zip(found.values.T, wrt, strict=True):
        value, slopes = system.parameters[name], []
        for width in (rel * value, rel * value / 2):
            slopes.append((end({name: value + width}) - end({name: value - width})) / (2 * width))
        np.testing.assert_allclose(column, (4 * slopes[1] - slopes[0]) / 3, rtol=2e-6)


def test_lengths_of_joints_move_the_start_so_that_they_stay_closed():
    """The rows of joints have no derivative, at any row, by parameters and by starts that would open them."""
    system = slider_crank_revolute().build()
    control = ErrorControl(1e-12, 1e-14, 1e-12, 1e-4)
    run = simulate(system, EventDriven(), t_end=5e-4, dt=control)
    found = sensitivities(run, ["crank.x", "pin.clearance"])
    p = system.parameter_values
    for row in (0, len(run.t) - 1):
        t, q, step = run.t[row], run.q.array[row], 1e-7
        change = np.concatenate([found.q[row], np.zeros((0, 2))])[:, 0]
        ends = [np.asarray(system.g(t, q + sign * step * change, p)).ravel() for sign in (1, -1)]
        assert np.abs(ends[0] - ends[1]).max() / (2 * step) <= 1e-6 * np.abs(change).max()


def test_a_length_moves_the_start_as_assembly_does():
    """The start and the end after one impact, against runs from starts whose joints were closed for other cranks;
    differences of 1e-6 m have errors of 1e-8."""
    system, name = slider_crank_revolute().build(), "knee.at_a_x"
    control = ErrorControl(1e-12, 1e-14, 1e-12, 1e-5)
    found = sensitivities(simulate(system, EventDriven(), t_end=3e-4, dt=control), name)
    ends, step = [], 1e-6
    for length in (system.parameters[name] + step, system.parameters[name] - step):
        start = closed_start(system, system.start, system.parameter_vector({name: length}))
        run = simulate(system, EventDriven(), t_end=3e-4, dt=control, parameters={name: length}, state=start)
        ends.append(np.array([np.r_[run.q.array[row], run.v.array[row]] for row in (0, -1)]))
    slopes = (ends[0] - ends[1]) / (2 * step)
    for row, exact in zip((0, -1), slopes, strict=True):
        own = np.r_[found.q[row, :, 0], found.v[row, :, 0]]
        np.testing.assert_allclose(own, exact, atol=1e-6 * np.abs(exact).max())


def test_a_pendulum_whose_pivot_starts_to_move_at_once():
    """The pivot, l above the centre, gets the velocity V at a given time: a pendulum of mass m and of inertia J about
    its pivot turns with -V m l / J from rest, without gravity for ever."""
    model = Model([Ground()])
    motion = Table(times=(0.0, 0.1, 1.0), values=(0.0, 0.0, 1.8))
    model.add(PlanarBody("cart", mass=1.0, inertia=1.0, position=(0.0, 0.0)))
    model.add(PlanarBody("bar", mass=2.0, inertia=0.3, position=(0.0, -0.5)))
    model.add(Prismatic("guide", "ground", "cart"))
    model.add(PrescribedMotion("drive", "ground", "cart", coordinate="x", motion=motion))
    model.add(Revolute("pivot", "cart", "bar", at_b=(0.0, 0.5)))
    found = gradient(model.build(), of=["v:bar.angle", "bar.angle"], wrt=["bar.mass", "bar.inertia"], t_end=0.4)

    def exact(m, J):
        return -2.0 * m * 0.5 / (J + m * 0.25)

    given = np.array([2.0, 0.3])
    slopes = np.array([exact(*(given + 1j * STEP * one)).imag / STEP for one in np.eye(2)])
    np.testing.assert_allclose(found.values, [slopes, 0.3 * slopes], rtol=1e-10)


def test_a_bar_that_lands_flat_has_a_derivative_only_where_it_stays_flat():
    """By height both ends land together, whatever it is; by angle one of them lands first, either one."""
    model = Model([Ground(), Gravity(acceleration=(0.0, -9.81))])
    model.add(PlanarBody("bar", mass=1.0, inertia=0.1, position=(0.0, 1.0)))
    for name, x in (("left", -0.5), ("right", 0.5)):
        model.add(PointPlane(name, "ground", "bar", at_b=(x, 0.0), contact=Rigid(restitution=0.5, friction=0.0)))
    run = simulate(model.build(), EventDriven(), t_end=0.6, dt=ErrorControl(1e-12, 1e-14, 1e-9, 1e-2))
    assert sensitivities(run, "bar.y").exact
    found = sensitivities(run, "bar.angle")
    assert not found.exact
    assert found.verdict == "no derivatives from t = 0.451524 s on: left and right strike together"
    ends = int(np.flatnonzero(run.t == run.impacts["t"][0])[0])
    assert np.isfinite(found.q[:ends]).all() and np.isnan(found.q[ends:]).all()


def test_a_slip_in_space_that_begins_from_rest_has_no_derivative():
    """Its direction has none; the matrix of its first step was not finite, which ended in a LinAlgError."""
    model = Model(
        [Ground(), Gravity(acceleration=(0.0, 0.0, -9.81)), PointForce("push", "ball", force=(3.0, 1.0, 0.0))]
    )
    model.add(SpatialBody("ball", mass=1.0, inertia=(1e-2, 1e-2, 1e-2), position=(0.0, 0.0, 0.1)))
    law = Rigid(restitution=0.0, friction=0.1)
    model.add(SpherePlane("floor", "ground", "ball", radius=0.1, normal=(0.0, 0.0, 1.0), contact=law))
    found = gradient(model.build(), of="ball.x", wrt="ball.mass", t_end=0.2)
    assert found.verdict.endswith("on: a slip in space begins or ends, which is not differentiated")
    assert np.isnan(found.values).all() and np.isfinite(found.defect)


def test_what_cannot_be_differentiated_is_refused_with_a_reason():
    system = bouncing_ball(contact=SMOOTH).build()
    run = simulate(system, MoreauJean(), t_end=0.1, dt=1e-3)
    with pytest.raises(InputError, match=r"event-driven run .* got a run by MoreauJean"):
        sensitivities(run, "floor.restitution")
    with pytest.raises(InputError, match=r"no parameter or coordinate 'floor.restitutio'. Did you mean floor.rest"):
        gradient(system, of="ball.y", wrt="floor.restitutio", t_end=0.1)
    with pytest.raises(InputError, match=r"no coordinate or velocity 'ball.z'. Did you mean"):
        gradient(system, of="ball.z", wrt="floor.restitution", t_end=0.1)
    with pytest.raises(InputError, match=r"every step, record=1"):
        gradient(system, of="ball.y", wrt="floor.restitution", t_end=1.0, record=3)
    routh = bouncing_ball(contact=Rigid(restitution=0.8, friction=0.0, impact="routh")).build()
    with pytest.raises(InputError, match=r"Newton's impact law; floor has another one"):
        gradient(routh, of="ball.y", wrt="floor.restitution", t_end=0.1)
