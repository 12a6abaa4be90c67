"""Robots from files against MuJoCo: mass matrix, force vector, accelerations, and motion."""

from __future__ import annotations

import numpy as np
import pytest
from robot_files import BOX, FRICTIONS, LOOPS, TREES, at, body, full_mass, jacobians, mjcf

from nonsmooth import ErrorControl, EventDriven, SpatialBody, simulate
from nonsmooth.robots.mechanism import Translation

mujoco = pytest.importorskip("mujoco")
STATES = 100
#: round-off of accelerations of some 100 rad/s^2 in chains of four bodies
TOLERANCE = 1e-10


def compared(m, d, system, constraints=None):
    """Largest relative differences of mass matrix, forces and accelerations."""
    translation = Translation(m, d, "robot")
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


@pytest.mark.parametrize("name", TREES)
def test_trees_have_the_equations_of_mujoco(name):
    m = mujoco.MjModel.from_xml_string(TREES[name])
    d, rng = mujoco.MjData(m), np.random.default_rng(1)
    system = Translation(m, d, name).made().build()
    assert system.nv - system.ng == m.nv and not system.redundant
    for _ in range(STATES):
        mujoco.mj_resetData(m, d)
        mujoco.mj_integratePos(m, d.qpos, 0.7 * rng.normal(size=m.nv), 1.0)
        d.qvel[:], d.ctrl[:] = rng.normal(size=m.nv), 0.0
        mujoco.mj_forward(m, d)
        assert max(compared(m, d, system)) < TOLERANCE


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
def test_closed_loops_have_the_accelerations_of_exact_constraints(name):
    """In the closed configuration, with velocities that the loop permits; MuJoCo's own constraints are soft."""
    m = mujoco.MjModel.from_xml_string(LOOPS[name])
    d, rng = mujoco.MjData(m), np.random.default_rng(2)
    system = Translation(m, d, name).made().build()
    assert system.nv - system.ng + len(system.redundant) == {"connect": 1, "sites": 1, "ground": 1}[name]
    for _ in range(STATES):
        mujoco.mj_resetData(m, d)
        mujoco.mj_forward(m, d)
        rows = []
        ends = (m.eq_obj1id[0], m.eq_obj2id[0])
        for end, sign in zip(ends, (1, -1), strict=True):
            of_site = m.eq_objtype[0] == mujoco.mjtObj.mjOBJ_SITE
            owner = m.site_bodyid[end] if of_site else end
            local = m.site_pos[end] if of_site else m.eq_data[0][:3] if sign == 1 else m.eq_data[0][3:6]
            point = d.xpos[owner] + d.xmat[owner].reshape(3, 3) @ local
            rows.append((sign, owner, point))
        C = sum(sign * _jacobian(mujoco.mj_jac, m, d, point, owner) for sign, owner, point in rows)
        null = np.linalg.svd(C)[2][np.linalg.matrix_rank(C, tol=1e-9) :]
        d.qvel[:] = null.T @ rng.normal(size=len(null))
        mujoco.mj_forward(m, d)
        rate = sum(sign * _jacobian(mujoco.mj_jacDot, m, d, point, owner) for sign, owner, point in rows)
        assert max(compared(m, d, system, (C, rate))) < TOLERANCE


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
