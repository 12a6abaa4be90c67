"""What is read from runs in space: momentum, orientations between rows, modes and crossings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import (
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    InputError,
    Model,
    MoreauJean,
    Rigid,
    SpatialBody,
    SpherePlane,
    simulate,
)
from nonsmooth.diagnostics import (
    agreement,
    contact_share,
    coordinates,
    dissipated,
    impacts,
    mode_timeline,
    momentum,
    pieces,
    poincare,
    sampled,
    signature_timeline,
    spectrum,
    stroboscope,
)
from nonsmooth.diagnostics.motion import bow
from nonsmooth.trajectory import Trajectory

CONTROL = ErrorControl(1e-9, 1e-11, 1e-6, 1e-2)


def top(inertia: tuple[float, ...] = (1.0, 2.0, 3.0)) -> Model:
    """A free body that turns about no principal axis and flies past the origin."""
    turn = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_quat(scalar_first=True)
    body = SpatialBody(
        "top", mass=2.0, inertia=inertia, position=(1.0, 2.0, 3.0), quaternion=tuple(turn), velocity=(0.1, -0.2, 0.3),
        angular_velocity=(1.0, 2.0, 0.5),
    )  # fmt: skip
    return Model([body], name="free top")


def bouncing(friction: float = 0.3) -> Trajectory:
    """A ball that bounces on a floor with a slip across."""
    model = Model(
        [Ground(), SpatialBody("ball", 0.1, (1.6e-5,) * 3, position=(0.0, 0.0, 0.022), velocity=(0.3, 0.1, 0))]
    )
    contact = Rigid(restitution=0.5, friction=friction)
    model.add(SpherePlane("floor", "ground", "ball", radius=0.02, normal=(0.0, 0.0, 1.0), contact=contact))
    model.add(Gravity(acceleration=(0.0, 0.0, -9.81)))
    return simulate(model.build(), EventDriven(), t_end=0.12, dt=ErrorControl(1e-9, 1e-11, 1e-6, 2e-3))


@pytest.mark.parametrize("inertia", [(1.0, 2.0, 3.0), (1.5, 2.0, 3.0, 0.1, -0.2, 0.3)])
def test_momentum_of_a_free_body_is_kept(inertia: tuple[float, ...]) -> None:
    """Against the definition at the start; kept to the tolerance of the steps, though omega is not."""
    run = simulate(top(inertia).build(), EventDriven(), t_end=2.0, dt=CONTROL)
    found = momentum(run)
    xx, yy, zz, xy, xz, yz = (*inertia, 0.0, 0.0, 0.0)[:6]
    matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    turn = Rotation.from_rotvec([0.3, -0.2, 0.9]).as_matrix()
    linear = 2.0 * np.array([0.1, -0.2, 0.3])
    angular = turn @ matrix @ [1.0, 2.0, 0.5] + np.cross([1.0, 2.0, 3.0], linear)
    assert found.bodies == ("top",) and found.angular.shape == (len(run.t), 1, 3)
    assert found.total_linear == pytest.approx(np.tile(linear, (len(run.t), 1)), abs=1e-12)
    assert found.total_angular == pytest.approx(np.tile(angular, (len(run.t), 1)), abs=1e-7)
    assert np.ptp(run.v["top.wx"]) > 0.4


def test_an_impulse_is_the_change_of_momentum() -> None:
    """Of normal impulse and friction together, in the ground frame, with gravity's part taken off."""
    run = bouncing()
    found, weight = momentum(run), np.array([0.0, 0.0, -0.981])
    total = found.total_linear[-1] - found.total_linear[0] - weight * (run.t[-1] - run.t[0])
    assert total[2] == pytest.approx(run.P_N["floor"].sum(), rel=1e-9)
    # the slip keeps its direction until it ends, so that lengths add up
    assert np.hypot(*total[:2]) == pytest.approx(np.linalg.norm(run.P_T["floor"].sum(axis=0)), rel=1e-9)
    assert total[0] / total[1] == pytest.approx(3.0, rel=1e-9)


def test_orientations_are_cubic_between_rows() -> None:
    """An even rotation is known: halving the steps of an exact run divides the error of a cubic by 2^4."""
    body = SpatialBody("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), angular_velocity=(3.0, -2.0, 1.0))
    system, t = Model([body]).build(), np.linspace(0.0, 1.0, 401)
    half = np.sqrt(14.0) * t[:, None] / 2
    exact = np.hstack([np.cos(half), np.sin(half) * np.array([3.0, -2.0, 1.0]) / np.sqrt(14.0)])
    errors = []
    for steps in (10, 20, 40):
        run = simulate(system, EventDriven(), t_end=1.0, dt=ErrorControl(1e-6, 1e-6, 1.0 / steps, 1.0 / steps))
        assert np.diff(run.t).max() == pytest.approx(1.0 / steps)
        found = coordinates(run, t)[:, 3:]
        again = sampled(run, "q", t).array[:, 3:]
        assert again == pytest.approx(found, abs=1e-15)  # the same interpolant, in two ways
        errors.append(np.abs(found - exact).max())
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert errors[-1] < 1e-6 and orders == pytest.approx([4.0, 4.0], abs=0.2)


def test_positions_are_interpolated_only_where_they_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run of a million steps is asked at a few thousand instants."""
    body = SpatialBody("ball", mass=1.0, inertia=(1.0, 1.0, 1.0), angular_velocity=(3.0, -2.0, 1.0))
    run = simulate(Model([body]).build(), EventDriven(), t_end=1.0, dt=ErrorControl(1e-6, 1e-6, 0.01, 0.01))
    t, sizes = np.array([0.005, 0.415, 0.418, 0.995]), []

    def counted(moved, *others):
        sizes.append(len(moved))
        return bow(moved, *others)

    monkeypatch.setattr("nonsmooth.diagnostics.motion.bow", counted)
    few = coordinates(run, t)
    assert set(sizes) == {3}
    assert np.array_equal(few, coordinates(run, np.union1d(t, run.t))[np.isin(np.union1d(t, run.t), t)])


def test_orientations_are_straight_over_impacts_inside() -> None:
    """Rows that are left out hide impacts; over them a chord is all that is known."""
    model = bouncing().manifest  # the run itself has its impacts at rows
    assert model["model"]["name"]
    run = bouncing()
    course = pieces(run, "q", "ball.qx")
    steps = [k for k in range(len(run.t) - 1) if run.t[k] > 0.03]  # it turns from the first impact on
    assert any(np.any(course.coefficients[k, 2:] != 0.0) for k in steps)
    assert course(run.t) == pytest.approx(run.q["ball.qx"], abs=1e-15)


def test_impacts_modes_and_losses_of_a_bouncing_ball() -> None:
    run = bouncing()
    fall = np.sqrt(2 * 2e-3 / 9.81)
    table = impacts(run, slowest=1e-3)
    # times of impacts are those of a ball that keeps half of its speed
    assert table["start"][:4] == pytest.approx(fall * np.cumsum([1.0, 1.0, 0.5, 0.25]), rel=1e-9)
    assert table["approach"][:4] == pytest.approx(9.81 * fall * 0.5 ** np.arange(4), rel=1e-9)
    shares = mode_timeline(run, "floor").shares()
    assert shares["open"] == pytest.approx(3 * fall / 0.12, rel=1e-3)  # the sum of all flights; then it rolls
    assert shares["stick"] == pytest.approx(1.0 - shares["open"], abs=1e-9)
    assert contact_share(run)["floor"] == pytest.approx(1.0 - shares["open"], abs=1e-9)
    assert agreement(run, bouncing(friction=0.2)) == pytest.approx(1.0, abs=1e-9)
    assert dissipated(run)["impacts"] > 0.0


def test_sections_and_spectra_of_orientations() -> None:
    """Once about z in a second: qz crosses its level where the angle does."""
    body = SpatialBody("disc", mass=1.0, inertia=(1.0, 1.0, 2.0), angular_velocity=(0.0, 0.0, 2 * np.pi))
    run = simulate(Model([body]).build(), EventDriven(), t_end=4.0, dt=ErrorControl(1e-10, 1e-12, 1e-4, 2e-2))
    section = poincare(run, "disc.qz", value=np.sin(np.pi / 6), direction="rising")
    # cubic interpolation over 20 ms: (pi dt)^4 / 384
    assert section.t == pytest.approx([1 / 6, 2 + 1 / 6], abs=1e-7)
    assert abs(stroboscope(run, 2.0).q["disc.qw"]) == pytest.approx(1.0, abs=1e-8)
    assert spectrum(run, "disc.qx").amplitude == pytest.approx(0.0, abs=1e-12)
    frequency, amplitude = spectrum(run, "disc.qz", window="boxcar").peak()
    assert frequency == pytest.approx(0.5) and amplitude == pytest.approx(1.0, abs=1e-3)


def test_a_slide_in_space_has_signatures() -> None:
    from nonsmooth_problems import slide_in_guide

    run = simulate(slide_in_guide().build(), MoreauJean(), t_end=2e-3, dt=2e-4)
    with pytest.raises(InputError, match="'guide' is a rectangular slide in space; signature_timeline says"):
        mode_timeline(run, "guide")
    assert len(signature_timeline(run, "guide")) >= 1
    assert len(mode_timeline(run, run.gap.names[0])) >= 1
