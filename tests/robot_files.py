"""Small robots as texts, and what MuJoCo says of them."""

from __future__ import annotations

import numpy as np

from nonsmooth import SpatialBody

BOX = '<geom type="box" size=".1 .02 .03" pos=".1 .01 0"/>'
LINK = (
    '<link name="{0}"><inertial><origin xyz=".1 0 .05" rpy=".1 .2 .3"/><mass value="1.5"/>'
    '<inertia ixx=".01" iyy=".02" izz=".015" ixy=".001" ixz="0" iyz="0"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="{1}"><parent link="{2}"/><child link="{3}"/><origin xyz=".2 0 .1" rpy="0 .3 0"/>'
    '<axis xyz="{4}"/><limit lower="-3" upper="3" effort="10" velocity="1"/><dynamics damping=".2"/></joint>'
)


def mjcf(bodies: str, rest: str = "") -> str:
    return f"<mujoco><worldbody>{bodies}</worldbody>{rest}</mujoco>"


def body(name: str, joints: str, inner: str = "", place: str = 'pos=".2 0 .1"', geom: str = BOX) -> str:
    return f'<body name="{name}" {place}>{joints}{geom}{inner}</body>'


TREES = {
    "pendulum": mjcf(body("bob", '<joint name="j" axis="0 1 0" damping=".1" stiffness="2" springref="20" ref="5"/>')),
    "cart and pole": mjcf(
        body("cart", '<joint name="x" type="slide" axis="1 0 .2" damping=".3" stiffness="5" springref=".2" ref=".1"/>',
             body("pole", '<joint name="h" axis="0 1 0"/>'))
    ),
    "balls": mjcf(
        body("a", '<joint name="s" type="ball" damping=".2"/>',
             body("b", '<joint name="t" type="ball" pos=".01 0 0"/>'))
    ),
    "free": mjcf(body("a", '<freejoint name="f"/>', body("b", '<joint name="h" axis="1 2 3" pos="0 .1 0"/>'))),
    "universal": mjcf(
        body("a", '<joint name="u" axis="1 0 0" stiffness="3"/><joint name="w" axis="0 1 0" stiffness="2"/>')
    ),
    "cylindrical": mjcf(
        body("a", '<joint name="c" type="slide" axis="1 0 1" stiffness="9" damping="1"/>'
             '<joint name="d" axis="1 0 1" damping="1"/>')
    ),
    "planar": mjcf(
        body("a", '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0" damping="1"/>'
             '<joint name="turn" axis="0 0 1" damping=".1"/>', body("b", '<joint name="h" axis="0 1 0"/>'))
    ),
    "gantry": mjcf(
        body("a", '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>'
             '<joint name="z" type="slide" axis="0 0 1" stiffness="50"/>')
    ),
    "wrist": mjcf(
        body("a", '<joint name="p" axis="0 0 1"/><joint name="q" axis="0 1 0"/><joint name="r" axis="1 0 0"/>')
    ),
    "slide and hinge": mjcf(
        body("a", '<joint name="x" type="slide" axis="1 0 0" stiffness="20" damping="2" pos="0 0 .1"/>'
             '<joint name="h" axis="0 1 1" pos=".05 .02 0" damping=".1"/>')
    ),
    "defaults and classes": """<mujoco model="classes"><compiler angle="radian" autolimits="true"/>
        <default><joint damping=".1" axis="0 1 0"/><geom density="700"/>
          <default class="thick"><geom size=".05"/><joint axis="0 0 1" stiffness="1"/></default></default>
        <worldbody><body name="base"><geom type="box" size=".1 .1 .01"/>
          <body name="arm" pos="0 0 .1" childclass="thick"><joint name="arm"/>
            <geom type="capsule" fromto="0 0 0 .3 0 .05"/>
            <frame pos=".3 0 0" euler=".1 .2 .3"><body name="tool"><joint name="wrist" class="main"/>
              <inertial pos=".01 .02 .03" mass=".4" fullinertia=".01 .02 .015 .001 .002 -.001"/>
              <body name="tip" pos=".1 0 0"><geom type="sphere" size=".01" mass="0"/></body>
              <body name="finger" pos=".1 .05 0" euler=".3 0 0"><geom type="ellipsoid" size=".02 .03 .04"/></body>
            </body></frame></body></body></worldbody></mujoco>""",
    "massless": mjcf(
        '<body name="empty"><joint name="h" axis="0 1 0"/><body name="frame" pos=".1 0 0" euler="10 0 20">'
        + body("load", "", body("next", '<joint name="k"/>')) + "</body></body>"
    ),
    "driven": mjcf(
        body("a", '<joint name="elbow" axis="0 1 0"/>',
             body("b", '<joint name="slide" type="slide" axis="1 0 0"/>',
                  body("c", '<joint name="spin" axis="0 0 1"/>', place='pos=".3 0 0" gravcomp=".7"'))),
        """<actuator><motor name="motor" joint="spin" gear="3" ctrllimited="true" ctrlrange="-1 .5"/>
        <position name="elbow" joint="elbow" kp="40" kv="2" gear="2"/>
        <velocity joint="spin" kv="3"/><position joint="slide" kp="90"/><motor joint="slide"/></actuator>
        <keyframe><key name="home" qpos=".4 .1 -.2" qvel="1 2 3" ctrl=".9 .3 .2 .05 .6"/></keyframe>""",
    ),
    "table": mjcf(
        body("a", '<joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 1" damping="2"/>'
             '<joint name="b" type="ball" pos=".05 0 0"/>', body("b", '<joint name="h" axis="0 1 0"/>'))
    ),
    "bead": mjcf(
        body("a", '<joint name="x" type="slide" axis="1 0 1" stiffness="9"/><joint name="b" type="ball" damping=".1"/>')
    ),
    "six joints": mjcf(
        body("1", '<joint axis="0 0 1"/>', body("2", '<joint axis="0 1 0"/>', body("3", '<joint axis="0 1 0"/>',
             body("4", '<joint axis="1 0 0"/>', body("5", '<joint axis="0 1 0"/>',
                  body("6", '<joint axis="1 0 0"/>'))))))
    ),
    "urdf": (
        '<robot name="r"><link name="base"/>' + "".join(map(LINK.format, "abcd"))
        + JOINT.format("j1", "revolute", "base", "a", "0 0 1") + JOINT.format("j2", "continuous", "a", "b", "0 1 0")
        + JOINT.format("j3", "prismatic", "b", "c", "1 0 0")
        + JOINT.format("j4", "fixed", "c", "d", "1 0 0") + "</robot>"
    ),
}  # fmt: skip

#: with dry friction of all joints
FRICTIONS = {
    "arm": mjcf(
        body("a", '<joint name="h" axis="1 2 0" frictionloss=".5"/>',
             body("b", '<joint name="k" axis="0 1 0" pos=".01 0 0" frictionloss=".2" damping=".1"/>'))
    ),
    "universal": mjcf(
        body("a", '<joint name="u" axis="1 0 0" frictionloss=".3"/><joint name="w" axis="0 1 0" frictionloss=".2"/>')
    ),
    "slide and hinge": mjcf(
        body("a", '<joint name="x" type="slide" axis="1 0 0" frictionloss="2" pos="0 0 .1"/>'
             '<joint name="h" axis="0 1 1" pos=".05 .02 0" frictionloss=".1"/>')
    ),
    "urdf": TREES["urdf"].replace('damping=".2"', 'damping=".2" friction=".3"'),
}  # fmt: skip

FOUR_BAR = """<body name="crank"><joint name="A" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 .1" size=".01"/>
    <body name="coupler" pos="0 0 .1"><joint name="B" axis="0 1 0" damping=".01"/>
      <geom type="capsule" fromto="0 0 0 .3 0 .05" size=".01"/>
      <site name="p" pos=".3 0 .05" euler="0 20 0"/></body></body>
    <body name="rocker" pos=".25 0 0"><joint name="D" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 .05 0 .15" size=".01"/><site name="q" pos=".05 0 .15"/></body>"""
CONNECT = '<equality><connect name="C" {}/></equality>'
LOOPS = {
    "connect": mjcf(FOUR_BAR, CONNECT.format('body1="coupler" body2="rocker" anchor=".3 0 .05"')),
    "sites": mjcf(FOUR_BAR, CONNECT.format('site1="p" site2="q"')),
    "ground": mjcf(
        body("a", '<joint name="h" axis="0 1 0"/>', body("b", '<joint name="s" type="ball"/>')),
        CONNECT.format('body1="b" anchor=".2 0 0"'),
    ),
}


def jacobians(m, d, translation):
    """J and its rate, of the velocities of the bodies of a model by those of MuJoCo."""
    import mujoco

    rows, rates = [], []
    for i in range(1, m.nbody):
        if translation.owner[i] != i:
            continue
        J, K, J_rate, K_rate = (np.zeros((3, m.nv)) for _ in range(4))
        centre, R = translation.frame(i, d)
        mujoco.mj_jac(m, d, J, K, centre, i)
        mujoco.mj_jacDot(m, d, J_rate, K_rate, centre, i)
        rows += [J, R.T @ K]
        rates += [J_rate, R.T @ K_rate]
    return np.vstack(rows), np.vstack(rates)


def full_mass(m, d):
    import mujoco

    M = np.zeros((m.nv, m.nv))
    try:
        mujoco.mj_fullM(m, d, M)
    except TypeError:  # before 3.6
        mujoco.mj_fullM(m, M, d.qM)
    return M


def at(system, robot):
    """M, h, W_g and the bias of the constraints in the initial state of a model of the same robot."""
    starts = [element.start() for element in robot.elements if isinstance(element, SpatialBody)]
    q, v = (np.concatenate(parts) for parts in zip(*starts, strict=True))
    p = system.parameter_values
    M, h = np.asarray(system.M(q, p)), np.asarray(system.h(0.0, q, v, p))[:, 0]
    W, bias = np.asarray(system.W_g(0.0, q, p)), np.asarray(system.bias(0.0, q, v, p))[: system.ng, 0]
    return M, h, W, bias
