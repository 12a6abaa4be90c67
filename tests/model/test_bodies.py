"""Bodies: inertia, gyroscopic terms, and motion along a constant velocity."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from nonsmooth import Ground, InputError, Model, ModelError, PlanarBody, SpatialBody
from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.system import System

INERTIA = (3e-3, 4e-3, 5e-3, 0.5e-3, -0.3e-3, 0.2e-3)
MATRIX = np.array([[3e-3, 0.5e-3, -0.3e-3], [0.5e-3, 4e-3, 0.2e-3], [-0.3e-3, 0.2e-3, 5e-3]])


def free_body(inertia: tuple[float, ...] = INERTIA) -> System:
    return Model([SpatialBody("top", mass=2.0, inertia=inertia)]).build()


def inertia_of(system: System) -> Array:
    """The inertia matrix as built, of the parameters of one triangle."""
    return np.array([[system.parameters.get(f"top.inertia_{min(i, j)}{max(i, j)}", 0.0) for j in "xyz"] for i in "xyz"])


def unit_quaternions(count: int, seed: int = 4) -> Array:
    quaternions = np.random.default_rng(seed).normal(size=(count, 4))
    return quaternions / np.linalg.norm(quaternions, axis=1)[:, None]


def scipy_rotation(quaternion: Array) -> Rotation:
    return Rotation.from_quat(quaternion, scalar_first=True)


# In the plane


def test_planar_body_has_a_constant_diagonal_mass_matrix_and_no_gyroscopic_force() -> None:
    system = Model([PlanarBody("disk", mass=2.0, inertia=0.3)]).build()
    q, v, p = np.array([1.0, 2.0, 3.0]), np.array([4.0, 5.0, 6.0]), system.parameter_values
    mass, inertia = (system.parameters[f"disk.{name}"] for name in ("mass", "inertia"))
    assert (mass, inertia) == pytest.approx((2.0, 0.3), rel=1e-14)
    assert np.array_equal(system.numeric.M(q, p)[0], np.diag([mass, mass, inertia]))
    assert np.array_equal(system.numeric.h(0.0, q, v, p)[0], np.zeros(3))
    assert np.array_equal(system.numeric.B(q)[0], np.eye(3))
    assert np.array_equal(system.numeric.advance(q, v, 0.5)[0], q + 0.5 * v)


def test_planar_start_is_what_was_given_and_angles_are_not_wrapped() -> None:
    body = PlanarBody(
        "disk", mass=1.0, inertia=1.0, position=(1.0, 2.0), angle=100.0, velocity=(3.0, 4.0), angular_velocity=5.0
    )
    system = Model([body]).build()
    assert system.q_names == system.v_names == ("disk.x", "disk.y", "disk.angle")
    assert system.start.q.tolist() == [1.0, 2.0, 100.0] and system.start.v.tolist() == [3.0, 4.0, 5.0]


# In space


def test_spatial_mass_matrix_holds_the_whole_inertia_matrix() -> None:
    system = free_body()
    M = system.numeric.M(system.start.q, system.parameter_values)[0]
    assert np.array_equal(M[:3, :3], system.parameters["top.mass"] * np.eye(3))
    assert np.array_equal(M[3:, 3:], inertia_of(system)) and M[3:, 3:] == pytest.approx(MATRIX, rel=1e-14)
    assert np.all(M[:3, 3:] == 0) and np.all(M[3:, :3] == 0)


def test_principal_moments_make_a_diagonal_inertia_matrix() -> None:
    system = free_body((1e-3, 2e-3, 2.5e-3))
    M = system.numeric.M(system.start.q, system.parameter_values)[0]
    assert np.array_equal(M[3:, 3:], inertia_of(system))
    assert M[3:, 3:] == pytest.approx(np.diag([1e-3, 2e-3, 2.5e-3]), rel=1e-14, abs=0.0)


def test_force_vector_carries_the_gyroscopic_torque() -> None:
    system = free_body()
    omega = np.array([3.0, -20.0, 7.0])
    h = system.numeric.h(0.0, system.start.q, [1.0, 2.0, 3.0, *omega], system.parameter_values)[0]
    assert np.all(h[:3] == 0)
    # terms of 1 to 2 N m, of which the first component is a difference
    assert h[3:] == pytest.approx(-np.cross(omega, inertia_of(system) @ omega), rel=1e-14, abs=1e-15)
    assert h[3:] @ omega == pytest.approx(0.0, abs=1e-14)  # it does no work; its terms are of the order of 10 W


def test_rotation_matrix_is_that_of_scipy() -> None:
    body = SpatialBody("top", mass=1.0, inertia=INERTIA)
    q, v = ca.SX.sym("q", 7), ca.SX.sym("v", 6)
    rotation = ca.Function("rotation", [q], [body.placement(q, v).rotation])
    for quaternion in unit_quaternions(20):
        expected = scipy_rotation(quaternion).as_matrix()
        assert np.array(rotation([0, 0, 0, *quaternion])) == pytest.approx(expected, abs=1e-15)


def test_a_quaternion_out_of_norm_still_gives_a_rotation() -> None:
    body = SpatialBody("top", mass=1.0, inertia=INERTIA)
    q, v = ca.SX.sym("q", 7), ca.SX.sym("v", 6)
    R = np.array(ca.Function("rotation", [q], [body.placement(q, v).rotation])([0, 0, 0, 1.0, 2.0, -3.0, 0.5]))
    assert R.T @ R == pytest.approx(np.eye(3), abs=1e-15) and np.linalg.det(R) == pytest.approx(1.0, abs=1e-15)


def test_advance_keeps_the_norm_of_the_quaternion() -> None:
    system = free_body()
    random = np.random.default_rng(5)
    for quaternion in unit_quaternions(200):
        step = 10.0 ** random.uniform(-6, 1)  # from a small step to several turns
        q = system.numeric.advance([0, 0, 0, *quaternion], random.normal(size=6), step)[0]
        assert abs(np.linalg.norm(q[3:]) - np.linalg.norm(quaternion)) <= 1e-15


def test_the_norm_does_not_drift_in_many_steps() -> None:
    system = free_body()
    q, v = system.start.q, np.array([0.0, 0.0, 0.0, 3.0, -5.0, 4.0])
    for _ in range(10_000):
        q = system.numeric.advance(q, v, 1e-2)[0]
    # each step adds a change of 0.04 with a round-off of 1e-17; rounding the sums, 1e-16, scatters about zero
    assert abs(np.linalg.norm(q[3:]) - 1.0) <= 1e-14


def test_advance_turns_the_body_as_constant_angular_velocity_does() -> None:
    """One step is exact but for third order in dt, and turns about the right axis exactly."""
    system = free_body()
    omega = np.array([1.0, -2.0, 1.5])
    errors = []
    for dt in (0.2, 0.1, 0.05, 0.025):
        worst = 0.0
        for quaternion in unit_quaternions(5):
            q = system.numeric.advance([0, 0, 0, *quaternion], [0, 0, 0, *omega], dt)[0]
            exact = scipy_rotation(quaternion) * Rotation.from_rotvec(omega * dt)  # omega in the body frame
            rest = (exact.inv() * scipy_rotation(q[3:])).as_rotvec()
            assert np.cross(rest, omega) == pytest.approx(0.0, abs=1e-14)
            worst = max(worst, float(np.linalg.norm(rest)))
        errors.append(worst)
    # Cayley's map turns by 4 atan(|omega| dt/4): the error is (|omega| dt)^3/48, the next term 1 % of it at dt = 0.2
    orders = np.log2(np.divide(errors[:-1], errors[1:]))
    assert orders == pytest.approx(3.0, abs=0.02)
    assert errors[-1] == pytest.approx((np.linalg.norm(omega) * 0.025) ** 3 / 48, rel=1e-3)


def test_position_moves_along_the_global_velocity_whatever_the_orientation() -> None:
    system = free_body()
    for quaternion in unit_quaternions(3):
        q = system.numeric.advance([1, 2, 3, *quaternion], [0.1, 0.2, -0.3, 5, 6, 7], 0.5)[0]
        assert q[:3] == pytest.approx([1.05, 2.1, 2.85], abs=1e-15)


def test_kinematics_is_the_derivative_of_advance() -> None:
    system = free_body()
    random, width = np.random.default_rng(6), 1e-5
    for quaternion in unit_quaternions(10):
        q, v = np.array([0.1, 0.2, 0.3, *quaternion]), random.normal(size=6)
        ahead, behind = (system.numeric.advance(q, v, s)[0] for s in (width, -width))
        # central difference: truncation |omega|^3 width^2 and round-off 1e-16/width are both below 1e-9
        assert system.numeric.B(q)[0] @ v == pytest.approx((ahead - behind) / (2 * width), abs=1e-9)


def test_kinematics_keeps_the_norm() -> None:
    system = free_body()
    for quaternion in unit_quaternions(10):
        B = system.numeric.B([0, 0, 0, *quaternion])[0]
        assert quaternion @ B[3:, 3:] == pytest.approx(0.0, abs=1e-16)


def test_names_of_a_spatial_body() -> None:
    system = free_body()
    assert system.q_names == tuple(f"top.{label}" for label in ("x", "y", "z", "qw", "qx", "qy", "qz"))
    assert system.v_names == tuple(f"top.{label}" for label in ("x", "y", "z", "wx", "wy", "wz"))
    assert list(system.parameters) == ["top.mass"] + [f"top.inertia_{i}" for i in ("xx", "yy", "zz", "xy", "xz", "yz")]


# What bodies refuse


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf, "5", None, (5.0,), True])
@pytest.mark.parametrize("field", ["mass", "inertia"])
def test_planar_mass_and_inertia_must_be_positive_numbers(field: str, value: object) -> None:
    numbers = {"mass": 1.0, "inertia": 1.0} | {field: value}
    with pytest.raises(
        ModelError, match=rf'PlanarBody "slider": {field} (must be a positive number \[kg.*\], got|"5" has no unit)'
    ):
        PlanarBody("slider", **numbers)


def test_numpy_scalars_are_numbers() -> None:
    assert PlanarBody("slider", mass=np.float32(2.0), inertia=np.int64(3)).numbers() == {"mass": 2.0, "inertia": 3.0}


def test_a_function_is_no_mass() -> None:
    with pytest.raises(ModelError, match=r"mass must be a positive number \[kg\], got <function"):
        PlanarBody("slider", mass=lambda t: 1.0 + t, inertia=1.0)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("position", (0.0, 0.0, 0.0), r"position must be 2 finite numbers, got \(0.0, 0.0, 0.0\)"),
        ("position", 3.0, r"position must be 2 finite numbers, got 3.0"),
        ("position", (0.0, np.nan), r"position must be 2 finite numbers, got \(0.0, nan\)"),
        ("angle", np.inf, "angle must be a finite number, got inf"),
        ("velocity", ("a", 1.0), r"velocity must be 2 finite numbers, got \('a', 1.0\)"),
        ("angular_velocity", None, "angular_velocity must be a finite number, got None"),
    ],
)
def test_planar_start_must_be_finite_numbers(field: str, value: object, message: str) -> None:
    with pytest.raises(ModelError, match=f'PlanarBody "slider": {message}'):
        PlanarBody("slider", mass=1.0, inertia=1.0, **{field: value})


def test_inertia_must_be_positive_definite() -> None:
    with pytest.raises(
        ModelError, match=r'SpatialBody "top": inertia must be positive definite, but .* has the eigenvalue -0\.5'
    ):
        SpatialBody("top", mass=1.0, inertia=(1.0, 1.0, 1.0, 1.5, 0.0, 0.0))
    with pytest.raises(ModelError, match="eigenvalue 0 kg m"):
        SpatialBody("top", mass=1.0, inertia=(1.0, 0.0, 1.0))


def test_inertia_stays_positive_definite_when_parameters_change() -> None:
    system = free_body()
    assert system.parameter_vector({"top.inertia_xx": 6e-3})[1] == 6e-3
    with pytest.raises(InputError, match="inertia must be positive definite"):
        system.parameter_vector({"top.inertia_xy": 6e-3})


@pytest.mark.parametrize("entries", [(1.0,), (1.0, 1.0), (1.0,) * 4])
def test_inertia_takes_three_or_six_entries(entries: tuple[float, ...]) -> None:
    with pytest.raises(ModelError, match=f"inertia takes 3 principal moments or 6 entries .* got {len(entries)}"):
        SpatialBody("top", mass=1.0, inertia=entries)


def test_quaternion_must_have_norm_one() -> None:
    with pytest.raises(
        ModelError,
        match=r'"top": quaternion must have norm 1 within 1e-6, got \(1.0, 1.0, 0.0, 0.0\) of norm 1.41421356',
    ):
        SpatialBody("top", mass=1.0, inertia=INERTIA, quaternion=(1.0, 1.0, 0.0, 0.0))


def test_a_quaternion_nearly_of_norm_one_is_normalised() -> None:
    body = SpatialBody("top", mass=1.0, inertia=INERTIA, quaternion=(0.7071068, 0.7071068, 0.0, 0.0))
    assert np.linalg.norm(body.start()[0][3:]) == pytest.approx(1.0, abs=2e-16)


@pytest.mark.parametrize("name", ["", "a.b", 3, None])
def test_names_are_words_without_dots(name: object) -> None:
    with pytest.raises(ModelError, match="PlanarBody: a name is a non-empty word without dots, got"):
        PlanarBody(name, mass=1.0, inertia=1.0)


def test_ground_has_no_parameters_and_no_coordinates() -> None:
    system = Model([Ground("wall"), PlanarBody("disk", mass=1.0, inertia=1.0)]).build()
    assert system.nq == system.nv == 3 and list(system.parameters) == ["disk.mass", "disk.inertia"]
