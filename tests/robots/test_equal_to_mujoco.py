"""Robots from files, and files of models, against MuJoCo: mass matrix, force vector, accelerations, and motion."""

from __future__ import annotations

import numpy as np
import pytest
from robot_files import BOX, FRICTIONS, LOOPS, TREES, at, body, full_mass, jacobians, mjcf

from nonsmooth import (
    Distance,
    ErrorControl,
    EventDriven,
    Gravity,
    Ground,
    InputError,
    JointFriction,
    Limits,
    Model,
    ModelError,
    ParallelAxes,
    PlanarBody,
    PointInPlane,
    PointOnLine,
    PrescribedMotion,
    Prismatic,
    Rigid,
    SpatialBody,
    TorsionDamper,
    TorsionSpring,
    Universal,
    simulate,
    write_mjcf,
)
from nonsmooth.exceptions import NotWritten
from nonsmooth.robots.mechanism import Translation
from nonsmooth_problems import bennett, socket_pendulum, xy_pointing

mujoco = pytest.importorskip("mujoco")
STATES, FEW = 100, 10
#: round-off of accelerations of some 100 rad/s^2 in chains of four bodies
TOLERANCE = 1e-10


class Written(Translation):
    """In a file that is written of a model, in whose frames the bodies are."""

    def frame(self, i, data):
        return (data.xpos[i], data.xmat[i].reshape(3, 3)) if i else (np.zeros(3), np.eye(3))


def compared(m, d, system, constraints=None, kind=Translation):
    """Largest relative differences of mass matrix, forces and accelerations."""
    translation = kind(m, d, "robot")
    translation.bodies()
    M, h, W, bias = at(system, translation.robot)
    J, J_rate = jacobians(m, d, translation)
    mass, forces = full_mass(m, d), d.qfrc_passive + d.qfrc_actuator - d.qfrc_bias
    mine = J.T @ (h - M @ (J_rate @ d.qvel))
    if constraints is None:
        acceleration = np.linalg.solve(mass, forces)
        assert np.allclose(acceleration, d.qacc_smooth, rtol=1e-9, atol=1e-9)  # what is compared is MuJoCo's own
    else:
        C, C_rate = constraints
        K = np.block([[mass, -C.T], [C, np.zeros((len(C), len(C)))]])
        acceleration = np.linalg.lstsq(K, np.r_[forces, -C_rate @ d.qvel], rcond=1e-12)[0][: m.nv]
    K = np.block([[M, -W], [W.T, np.zeros((system.ng, system.ng))]])
    own = np.linalg.lstsq(K, np.r_[h, -bias], rcond=1e-13)[0][: system.nv]
    there = J @ acceleration + J_rate @ d.qvel
    return (
        abs(J.T @ M @ J - mass).max() / abs(mass).max(), abs(mine - forces).max() / max(1.0, abs(forces).max()),
        abs(own - there).max() / max(1.0, abs(there).max()),
    )  # fmt: skip


def written(model, path):
    """MuJoCo's model of the file that is written of a model, and the one that is read of it."""
    write_mjcf(model, path / "it.xml")
    m = mujoco.MjModel.from_xml_path(str(path / "it.xml"))
    return m, Translation(m, mujoco.MjData(m), "it").made().build()


@pytest.mark.parametrize("name", TREES)
def test_trees_have_the_equations_of_mujoco(name, tmp_path):
    """So has the file that is written of one, without compensation of gravity, and the model that is read of that."""
    m = mujoco.MjModel.from_xml_string(TREES[name])
    system = Translation(m, mujoco.MjData(m), name).made().build()
    robot = mujoco.MjModel.from_xml_string(TREES[name].replace(' gravcomp=".7"', ""))
    robot = Translation(robot, mujoco.MjData(robot), name).made()
    file, again = written(robot, tmp_path)
    cases = (m, system, Translation, STATES), (file, robot.build(), Written, FEW), (file, again, Translation, FEW)
    assert m.nv == file.nv
    for m, system, kind, states in cases:
        d, rng = mujoco.MjData(m), np.random.default_rng(1)
        assert system.nv - system.ng == m.nv and not system.redundant
        for _ in range(states):
            mujoco.mj_resetData(m, d)
            mujoco.mj_integratePos(m, d.qpos, 0.7 * rng.normal(size=m.nv), 1.0)
            d.qvel[:], d.ctrl[:] = rng.normal(size=m.nv), 0.0
            mujoco.mj_forward(m, d)
            assert max(compared(m, d, system, kind=kind)) < TOLERANCE


@pytest.mark.parametrize("name", FRICTIONS)
def test_friction_has_the_bounds_of_mujoco(name):
    """While all joints slide, and MuJoCo's soft friction is hard enough for that to be no matter of accelerations."""
    m = mujoco.MjModel.from_xml_string(FRICTIONS[name])
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    m.opt.timestep, m.dof_solref[:, 0] = 1e-6, 2e-6
    d, rng = mujoco.MjData(m), np.random.default_rng(3)
    system = Translation(m, d, name).made().build()
    p, bounds = system.parameter_values, np.array([getattr(e, e.bound) for e in system.contact_elements])
    assert sorted(bounds) == sorted(m.dof_frictionloss[m.dof_frictionloss > 0.0])
    for _ in range(STATES):
        mujoco.mj_resetData(m, d)
        mujoco.mj_integratePos(m, d.qpos, 0.7 * rng.normal(size=m.nv), 1.0)
        d.qvel[:] = rng.choice((-1.0, 1.0), size=m.nv) * rng.uniform(1.0, 2.0, size=m.nv)
        mujoco.mj_forward(m, d)
        translation = Translation(m, d, name)
        translation.bodies()
        q = np.concatenate([e.start()[0] for e in translation.robot.elements if isinstance(e, SpatialBody)])
        J, _ = jacobians(m, d, translation)
        W_T = np.asarray(system.W_T(q, p))[:, ::2]
        force = -J.T @ W_T @ (bounds * np.sign(W_T.T @ J @ d.qvel))
        assert np.allclose(force, d.qfrc_constraint, rtol=0.0, atol=TOLERANCE)


@pytest.mark.parametrize(("bound", "off"), [(0.5, 1e-2), (0.2, 1e-3)])
def test_a_robot_rests_where_mujoco_creeps(bound, off):
    """A level pendulum of 0.47 N m, held by 0.5 N m, or stopped by 0.2 N m; MuJoCo's soft friction lets it turn on."""
    m = mujoco.MjModel.from_xml_string(mjcf(body("bob", f'<joint name="j" axis="0 1 0" frictionloss="{bound}"/>')))
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    m.opt.timestep, m.dof_solref[:, 0] = 1e-4, 1e-3
    d = mujoco.MjData(m)
    run = simulate(Translation(m, d, "bob").made().build(), EventDriven(), t_end=1.0, dt=ErrorControl(1e-9, 1e-11))
    while d.time < 1.0 - 1e-9:
        mujoco.mj_step(m, d)
    mujoco.mj_kinematics(m, d)
    assert np.abs(run.v.array[run.t > 0.9]).max() < 1e-15 < 1e-6 < abs(d.qvel[0])
    assert np.allclose([run.q[f"bob.{x}"][-1] for x in "xyz"], d.xipos[1], rtol=0.0, atol=off)


@pytest.mark.parametrize("name", LOOPS)
def test_closed_loops_have_the_accelerations_of_exact_constraints(name, tmp_path):
    """In the closed configuration, with velocities that the loop permits; MuJoCo's own constraints are soft. So has the
    file that is written of one, and the model that is read of that."""
    m = mujoco.MjModel.from_xml_string(LOOPS[name])
    robot = Translation(m, mujoco.MjData(m), name).made()
    file, again = written(robot, tmp_path)
    system = robot.build()
    cases = (m, system, Translation, STATES), (file, system, Written, FEW), (file, again, Translation, FEW)
    for m, system, kind, states in cases:
        d, rng = mujoco.MjData(m), np.random.default_rng(2)
        assert system.nv - system.ng + len(system.redundant) == 1
        for _ in range(states):
            mujoco.mj_resetData(m, d)
            mujoco.mj_forward(m, d)
            C = connected(m, d)[0]
            null = np.linalg.svd(C)[2][np.linalg.matrix_rank(C, tol=1e-9) :]
            d.qvel[:] = null.T @ rng.normal(size=len(null))
            mujoco.mj_forward(m, d)
            assert max(compared(m, d, system, connected(m, d), kind)) < TOLERANCE


def connected(m, d):
    """The Jacobian and its rate of points that are connected."""
    rows = [np.zeros((2, 0, m.nv))]
    for e in range(m.neq):
        row = np.zeros((2, 3, m.nv))
        for end, local, sign in ((m.eq_obj1id[e], m.eq_data[e][:3], 1), (m.eq_obj2id[e], m.eq_data[e][3:6], -1)):
            of_site = m.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE
            owner = m.site_bodyid[end] if of_site else end
            point = d.xpos[owner] + d.xmat[owner].reshape(3, 3) @ (m.site_pos[end] if of_site else local)
            row += sign * np.array([_jacobian(one, m, d, point, owner) for one in (mujoco.mj_jac, mujoco.mj_jacDot)])
        rows.append(row)
    return np.concatenate(rows, axis=1)


@pytest.mark.parametrize("ready", [bennett, socket_pendulum, xy_pointing])
def test_files_of_ready_problems_start_with_the_accelerations_of_the_ideal_twin(ready, tmp_path):
    """Of a loop of hinges, of a ball with clearance, and of slides with it."""
    model = ready()
    m, _ = written(model, tmp_path)
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    system = Model([one for one in model.ideal().elements if not isinstance(one, PrescribedMotion)], assemble=True)
    system = system.build()
    assert system.nv - system.ng + len(system.redundant) == m.nv - np.linalg.matrix_rank(connected(m, d)[0])
    assert max(compared(m, d, system, connected(m, d), Written)) < TOLERANCE


#: joints whose second body is above in the tree, with loads of both directions; the ground is the last element
UPWARDS = [
    SpatialBody("a", 1.0, (0.1, 0.2, 0.25, 0.01, 0.02, 0.03), angular_velocity=(1.0, 0.0, 0.0)),
    SpatialBody("b", 1.5, (0.1, 0.2, 0.3), position=(0.3, 0.0, 0.2)),
    SpatialBody("c", 1.5, (0.2, 0.2, 0.3), position=(0.6, 0.1, 0.2)),
    Universal("u", "b", "a", at_a=(0.1, 0, 0.2), at_b=(0.2, 0.1, 0), axis_a=(1, 0, 0), axis_b=(0, 1, 0)),
    TorsionDamper("u_damper", "a", "b", damping=0.3, axis_a=(0, 1, 0)),
    PointOnLine("line", "a", "base", at_a=(0.1, 0.2, 0.3), at_b=(0.3, 0.4, 0.1), axis_a=(1, 2, 3)),
    JointFriction("rub", "a", "base", force=2.0, axis_a=(1, 2, 3), at_b=(0.3, 0.4, 0.1)),
    ParallelAxes("pin", "c", "b", axis_a=(0, 1, 1), axis_b=(1, 0, 0)),
    PointInPlane("plane", "b", "c", at_a=(0.1, 0.1, 0.1), at_b=(0.2, 0.2, -0.1), normal_a=(1, 1, 0)),
    TorsionSpring("spring", "c", "b", stiffness=7.0, free_angle=0.3, axis_a=(0, 1, 1), quaternion=(0.6, 0.8, 0, 0)),
    TorsionSpring("other", "b", "c", stiffness=2.0, free_angle=0.1, axis_a=(1, 0, 0)),
    Limits("stops", "c", "b", low=-1, high=3, radius=0.1, axis_a=(0, 1, 1), contact=Rigid(restitution=0, friction=0)),
    Gravity(acceleration=(0.0, 1.0, -9.81)), Ground("base"),
]  # fmt: skip


def test_joints_are_written_in_both_directions(tmp_path):
    """At rest, since MuJoCo's rate of the Jacobian is not exact for a slide after a ball."""
    model = Model(UPWARDS, assemble=True)
    report = write_mjcf(model, tmp_path / "it.xml")
    assert not report.left_out and not report.replaced
    m, system = mujoco.MjModel.from_xml_path(str(tmp_path / "it.xml")), model.build()
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert max(compared(m, d, system, kind=Written)) < TOLERANCE
    gaps = system.true_gaps(system.start.q[None], system.parameter_values)[0]
    assert np.allclose(m.jnt_range[m.jnt_limited > 0], 10 * gaps[-2:] * (-1, 1), rtol=0.0, atol=TOLERANCE)
    assert m.dof_frictionloss.tolist() == [0.0] * 3 + [2.0] + [0.0] * 5
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    moving = Written(m, d, "it")
    moving.bodies()
    v = np.concatenate([one.start()[1] for one in moving.robot.elements if isinstance(one, SpatialBody)])
    assert np.allclose(v, system.start.v, rtol=0.0, atol=TOLERANCE)


FLAT = PlanarBody("flat", 1.0, 1.0)
SLIDE = [Prismatic(name, "a", "b", axis_a=(1, 0, 0)) for name in "xy"]
REFUSED = {
    "rigid bodies in space": Model([Ground(), FLAT]),
    "write_mjcf takes a Model, got PlanarBody": FLAT,
    "its largest moment of inertia, 3 kg": Model([SpatialBody("a", 1.0, (1.0, 1.0, 3.0))]),
    "no joint for Distance between": Model([*UPWARDS[:2], Distance("rod", "a", "b", length=np.sqrt(0.13))]),
    "no joint for Prismatic and Prismatic": Model([*UPWARDS[:2], *SLIDE], assemble=True),
    "it closes a loop": Model(
        [
            *UPWARDS[:3],
            SLIDE[0],
            Prismatic("y", "b", "c", axis_a=(1, 0, 0)),
            Prismatic("z", "a", "c", axis_a=(1, 0, 0)),
        ],
        assemble=True,
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_what_no_file_can_be_written_of_is_refused_by_one_sentence(sentence, tmp_path):
    with pytest.raises((InputError, ModelError), match=sentence):
        write_mjcf(REFUSED[sentence], tmp_path / "it.xml")
    assert not list(tmp_path.iterdir())


def test_files_have_names_that_can_be_written(tmp_path):
    model = Model([SpatialBody("a", 1.0, (1.0, 1.0, 1.0))])
    with pytest.raises(InputError, match="ends in .xml or .mjcf"):
        write_mjcf(model, tmp_path / "it.urdf")
    with pytest.raises(NotWritten, match="cannot be written to"):
        write_mjcf(model, tmp_path / "absent" / "it.xml")


def _jacobian(function, m, d, point, owner):
    J = np.zeros((3, m.nv))
    function(m, d, J, None, point, owner)
    return J


def test_a_weld_is_a_fixed_child() -> None:
    """A free body that is welded to an arm has the accelerations of one that the arm carries."""
    inner, place = BOX.replace(".03", ".05"), 'pos=".3 .1 0" euler="0 20 40"'
    child = body("tool", "", place=place, geom=inner)
    free = body("tool", "<freejoint/>", place='pos=".5 .1 .1" euler="0 20 40"', geom=inner)
    arm = '<joint name="h" axis="0 1 0"/>'
    weld = '<equality><weld name="w" body1="arm" body2="tool" anchor=".1 0 0"/></equality>'
    found = []
    for text in (mjcf(body("arm", arm, child)), mjcf(body("arm", arm) + free, weld)):
        m = mujoco.MjModel.from_xml_string(text)
        robot = Translation(m, mujoco.MjData(m), "weld").made()
        system = robot.build()
        M, h, W, bias = at(system, robot)
        K = np.block([[M, -W], [W.T, np.zeros((system.ng, system.ng))]])
        found.append(np.linalg.lstsq(K, np.r_[h, -bias], rcond=1e-13)[0][: system.nv])
        assert (system.nv, system.ng) == (12, 11)
    assert np.allclose(*found, rtol=0.0, atol=TOLERANCE) and abs(found[0]).max() > 1.0


@pytest.mark.parametrize("name", ["driven", "free"])
def test_motions_are_those_of_mujoco(name):
    """0.1 s; the tolerance is that of the error control, the steps of MuJoCo's RK4 have errors below 1e-12."""
    m = mujoco.MjModel.from_xml_string(TREES[name])
    m.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    m.opt.integrator, m.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, 1e-4
    d = mujoco.MjData(m)
    if m.nkey:
        mujoco.mj_resetDataKeyframe(m, d, 0)
    else:
        d.qvel[:] = np.linspace(-2.0, 3.0, m.nv)
    mujoco.mj_forward(m, d)
    robot = Translation(m, d, name).made()
    run = simulate(robot.build(), EventDriven(), t_end=0.1, dt=ErrorControl(1e-9, 1e-11, 1e-7, 0.01))
    while d.time < 0.1 - 1e-9:
        mujoco.mj_step(m, d)
    mujoco.mj_kinematics(m, d)
    translation = Translation(m, d, name)
    translation.bodies()
    for i in range(1, m.nbody):
        place = [run.q[f"{translation.body_names[i]}.{x}"][-1] for x in "xyz"]
        assert np.allclose(place, translation.frame(i, d)[0], rtol=0.0, atol=1e-8)
