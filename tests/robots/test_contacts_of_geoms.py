"""Contacts of geoms: the pairs and the distances of MuJoCo, a ball that bounces, and what is left out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from robot_files import body, mjcf

from nonsmooth import (
    ErrorControl,
    EventDriven,
    InputError,
    ModelWarning,
    Rigid,
    SpatialBody,
    SpherePlane,
    read_robot,
    simulate,
)
from nonsmooth.robots.mechanism import Translation

mujoco = pytest.importorskip("mujoco")
HARD = Rigid(restitution=0.5, friction=0.3)
FREE = "<freejoint/>"
GEOMS = {
    "sphere": '<geom name="one" size=".1" pos=".02 0 .01"/>',
    "capsule": '<geom name="one" type="capsule" size=".05 .2" pos=".02 0 .01" euler="20 30 0"/>',
    "ellipsoid": '<geom name="one" type="ellipsoid" size=".1 .2 .3" pos=".02 0 .01" euler="20 30 0"/>',
    "box": '<geom name="one" type="box" size=".1 .2 .3" euler="20 30 0"/><geom type="box" size=".3 .1 .1" contype="0" '
    'conaffinity="0" pos=".1 0 0"/>',
}


def plane(place: str) -> str:
    return f'<geom name="floor" type="plane" size="1 1 1" {place}/>'


def distances(m, d):
    """Distances of all pairs by MuJoCo, by the numbers of their geoms; those of a pair in order."""
    m.geom_margin[:] = 10.0
    mujoco.mj_forward(m, d)
    found: dict[tuple[int, int], list[float]] = {}
    for contact in d.contact:
        found.setdefault((contact.geom1, contact.geom2), []).append(contact.dist)
    return {pair: sorted(values) for pair, values in found.items()}


@pytest.mark.parametrize("name", GEOMS)
def test_distances_from_a_plane_are_those_of_mujoco(name):
    """An oblique plane of the ground and a geom off the centre of its body, in random states; those of an ellipsoid are
    found there by iteration, to 1e-6."""
    text = mjcf(plane('pos=".1 .2 -1" euler="10 -20 0"') + body("a", FREE, geom=GEOMS[name]))
    m = mujoco.MjModel.from_xml_string(text)
    d, rng = mujoco.MjData(m), np.random.default_rng(1)
    robot = Translation(m, d, name, HARD).made()
    system = robot.build()
    for _ in range(20):
        mujoco.mj_resetData(m, d)
        mujoco.mj_integratePos(m, d.qpos, 0.5 * rng.normal(size=6), 1.0)
        ((_, theirs),) = distances(m, d).items()
        places = [e.start()[0] for e in Translation(m, d, name).made().elements if isinstance(e, SpatialBody)]
        gaps = np.sort(system.true_gaps(np.concatenate(places)[None], system.parameter_values)[0])
        tolerance = 1e-6 if name == "ellipsoid" else 1e-12
        assert np.allclose(gaps[0], theirs[0], rtol=0.0, atol=tolerance)
        if name == "capsule":
            assert np.allclose(gaps, theirs, rtol=0.0, atol=tolerance)
    assert [row.became for row in robot.report.rows if row.part == "contact"] == ["taken"]


SMALL = '<geom size=".1"/>'
ARM = body("b", "<joint/>", body("c", "<joint/>", geom=SMALL, place='pos=".5 0 0"'), 'pos=".5 0 0"', SMALL)
MANY = mjcf(
    plane("") + body("a", FREE, ARM, 'pos="0 0 1"', SMALL)
    + body("d", FREE, geom='<geom size=".1" contype="2" conaffinity="2"/>', place='pos="0 1 1"')
    + body("e", FREE, geom='<geom type="cylinder" size=".1 .2"/>', place='pos="0 2 1"')
    + body("f", FREE, geom='<geom name="tip" size=".1"/>', place='pos="0 3 1"'),
    '<contact><exclude body1="e" body2="f"/></contact>',
)  # fmt: skip


def test_pairs_are_those_of_mujoco():
    """Without parent and child, another mask, an excluded pair; a cylinder has points, and no element with a sphere."""
    m = mujoco.MjModel.from_xml_string(MANY)
    d = mujoco.MjData(m)
    robot = Translation(m, d, "many", HARD).made()
    rows = [row for row in robot.report.rows if row.part in ("contact", "contacts")]
    assert sum(row.part == "contact" for row in rows) + 3 == len(distances(m, d)) == 12
    assert [(row.name, row.text) for row in rows if row.became == "replaced"] == [
        ("floor and geom 5 of e", "plane and cylinder: 1 CylinderPlane, 16 points")
    ]
    assert [(row.part, row.name) for row in robot.report.left_out][1:] == [("contacts", "sphere and cylinder")]
    assert {type(e).__name__ for e in robot.build().contact_elements} == {
        "SpherePlane",
        "SphereSphere",
        "CylinderPlane",
    }


def test_a_ball_of_a_file_bounces(tmp_path):
    """Of two heights of 0.9 m the fall takes sqrt(2 h / g), and the second one e^2 of the first."""
    path = tmp_path / "ball.xml"
    path.write_text(mjcf(plane("") + body("ball", FREE, geom='<geom size=".1"/>', place='pos="0 0 1"')))
    robot = read_robot(path, contacts=HARD)
    assert isinstance(robot.elements[-1], SpherePlane)
    assert [row.part for row in robot.report.left_out] == ["drawing"]  # of the plane
    run = simulate(robot.build(), EventDriven(), t_end=0.8, dt=ErrorControl(1e-10, 1e-12))
    fall = np.sqrt(2 * 0.9 / 9.81)
    first = run.t[np.flatnonzero(run.P_N.array[:, 0] > 0.0)[0]]
    assert first == pytest.approx(fall, rel=1e-10)
    rise = 0.5 * 9.81 * fall * (0.8 - fall) - 0.5 * 9.81 * (0.8 - fall) ** 2
    assert run.q["ball.z"][-1] == pytest.approx(0.1 + rise, rel=1e-10)
    with pytest.warns(ModelWarning, match=r"contacts \(1\)"):
        read_robot(path)
    with pytest.raises(InputError, match=r"contacts is a law, Rigid\(...\)"):
        read_robot(path, contacts=True)


def test_no_more_pairs_than_can_be_considered(tmp_path):
    path = tmp_path / "many.xml"
    many = "".join(f'<geom size=".1" pos="{i} 0 0"/>' for i in range(2001))
    path.write_text(mjcf(body("a", FREE, geom=many)))
    warnings.simplefilter("ignore", ModelWarning)
    with pytest.raises(InputError, match="contacts of more than 2000 geoms"):
        read_robot(path, contacts=HARD)


def test_limits_are_those_of_the_file():
    """Of a hinge and a slide with references that are not zero; a hinge of a full turn and more has none."""
    joints = '<joint name="{}" axis="0 1 2" type="{}" range="{}" limited="true" ref="{}"/>'
    slide = body(
        "b", joints.format("s", "slide", "-.2 .3", ".1"), body("c", joints.format("w", "hinge", "-300 90", "0"))
    )
    m = mujoco.MjModel.from_xml_string(mjcf(body("a", joints.format("h", "hinge", "-40 70", "20"), slide)))
    d, rng = mujoco.MjData(m), np.random.default_rng(1)
    d.qpos[:] = [np.deg2rad(20), 0.1, 0.0]
    robot = Translation(m, d, "arm", HARD).made()
    assert [row.name for row in robot.report.left_out if row.part == "limits"] == ["w"]
    system = robot.build()
    for _ in range(10):
        d.qpos[:2] = rng.uniform([np.deg2rad(-40), -0.2], [np.deg2rad(70), 0.3])
        found = Translation(m, d, "arm")
        found.bodies()
        q = np.concatenate([e.start()[0] for e in found.robot.elements if isinstance(e, SpatialBody)])
        ranges = m.jnt_range[:2]
        expected = np.column_stack([d.qpos[:2] - ranges[:, 0], ranges[:, 1] - d.qpos[:2]]).ravel()
        assert np.allclose(system.true_gaps(q[None], system.parameter_values)[0], expected, rtol=0.0, atol=1e-12)
