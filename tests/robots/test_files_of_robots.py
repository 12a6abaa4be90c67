"""Files of robots: broken and hostile ones are refused by one sentence, and nothing outside of their folder is read."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest
from robot_files import JOINT, LINK, TREES, body, mjcf

import nonsmooth
from nonsmooth import InputError, MeshShape, ModelWarning, RodShape, read_model, read_robot, write_model
from nonsmooth.cli.app import main
from nonsmooth.robots import reading, xml

BOB = body("bob", "<joint/>")
MESH = '<asset><mesh name="part" file="{}"/></asset>'
URDF = '<robot name="r"><link name="base">{}</link></robot>'
NESTED = "<replicate count='1000'>" * 3 + "<body/>" + "</replicate>" * 3
#: text of robot.xml -> what the sentence says
REFUSED = {
    "": "no element",
    "<mujoco>": "is no XML text",
    "\ud83d not UTF-8": "is no UTF-8 text",
    "<html/>": "it begins with <'html'>",
    '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"><xacro:arm/></robot>': "let xacro make the URDF file",
    '<!DOCTYPE a [<!ENTITY b "c">]><mujoco>&b;</mujoco>': "take them out",
    mjcf("<body>" * 500 + "</body>" * 500): "in more than 400 levels",
    mjcf(NESTED): "more than 20000 elements, copies included",
    mjcf(BOB, '<include file="../secret.xml"/>'): "'../secret.xml' is not within the folder",
    mjcf(BOB, '<include file="/etc/passwd"/>'): "'/etc/passwd' is not within the folder",
    mjcf(BOB, r'<include file="C:\secret.xml"/>'): "is not within the folder",
    mjcf(BOB, '<include file="link.xml"/>'): "'link.xml' is not within the folder",
    mjcf(BOB, '<include file="absent.xml"/>'): "'absent.xml' cannot be read .No such file",
    mjcf(BOB, '<include file=""/>'): "must name a file",
    mjcf(BOB, '<include file="robot.xml"/>'): "includes itself",
    mjcf(BOB, '<include file="note.txt"/>'): "is no XML text",
    mjcf(BOB, '<include file="pipe"/>'): "not a regular file",
    mjcf(BOB, MESH.format("../secret.stl")): "'../secret.stl' is not within the folder",
    mjcf(BOB, '<compiler meshdir="../"/>' + MESH.format("secret.stl")): "is not within the folder",
    mjcf(BOB, '<compiler meshdir="/"/>' + MESH.format("secret.stl")): "is not within the folder",
    mjcf(BOB, MESH.format("file:///etc/passwd")): "is not within the folder",
    mjcf(BOB, MESH.format("absent.stl")): "cannot be read",
    mjcf(BOB, MESH.format("large.stl")): "has more than 100000000 bytes",
    mjcf(BOB, MESH.format("note.txt")): "MuJoCo refuses it",
    mjcf(BOB, '<asset><hfield name="h" nrow="9000000" ncol="9" size="1 1 1 1"/></asset>'): "than 1000000 points",
    mjcf(BOB, '<asset><model name="m" file="other.xml"/></asset>'): "another model to be attached",
    mjcf('<composite type="cable" count="9999999 1 1" size="1"/>'): "a flexible part",
    mjcf(BOB, '<extension><plugin plugin="mujoco.sdf.nut"/></extension>'): "a plugin",
    mjcf(BOB, '<keyframe><key file="other"/></keyframe>'): "names the file 'other', which is not read",
    URDF.format('<collision><geometry><mesh filename="../secret.stl"/></geometry></collision>'): "is not within",
    mjcf(body("bob", '<joint type="spiral"/>')): "MuJoCo refuses it: .*spiral",
    mjcf(body("bob", "<joint/>", place='pos="inf 0 0"')): "must be numbers below 1e.12",
    mjcf(body("bob", "<joint/>", geom='<geom size="1e60"/>')): "must be numbers below 1e.12",
    mjcf(body("bob", '<joint axis="0 0 0"/>')): "MuJoCo refuses it: axis too small",
    mjcf('<body name="bob"><joint/></body>'): "MuJoCo refuses it: mass and inertia",
    mjcf(BOB, '<keyframe><key qpos="1 2 3"/></keyframe>'): "invalid qpos size",
    mjcf(body("bob", '<joint name="p"/><joint name="q" axis="0 1 1"/>')): "the joints p, q of .* counterpart",
}  # fmt: skip

HINGE = '<joint name="j" {}/>'
TWO = LINK.format("a") + LINK.format("b")
ARM = f'<robot name="r">{TWO}{{}}</robot>'
NAN, LARGE, ABSENT = "which is not a number", "must be numbers below 1e.12", "MuJoCo refuses it: .*"
#: more of them, each given to the command line
MORE = {
    mjcf(BOB)[:40]: "is no XML text",
    mjcf(BOB) * 2: "is no XML text",
    "<mujoco>\0</mujoco>": "is no XML text",
    "<mujoco><worldbody><body></worldbody></body></mujoco>": "is no XML text",
    '<!DOCTYPE a SYSTEM "file:///etc/passwd"><mujoco/>': "take them out",
    '<!DOCTYPE l [<!ENTITY a "aa"><!ENTITY b "&a;&a;"><!ENTITY c "&b;&b;">]><mujoco>&c;</mujoco>': "take them out",
    mjcf("<bodi/>"): ABSENT + "bodi",
    mjcf(BOB + BOB): ABSENT + "repeated name",
    mjcf(""): "has no body",
    mjcf(body("bob", "<joint/>", geom='<geom size=".1" mass="-1"/>')): ABSENT + "negative",
    mjcf(body("bob", "<joint/>", geom='<geom size="0"/>')): ABSENT + "positive",
    mjcf(body("bob", "<joint/>", geom='<geom size="nan"/>')): NAN,
    mjcf(body("bob", "<joint/>", geom='<geom size=".1" mass="1e300"/>')): LARGE,
    mjcf(body("bob", "<joint/>", place='pos="nan 0 0"')): NAN,
    mjcf(body("bob", "<joint/>", place='pos="1e400 0 0"')): ABSENT + "too large",
    mjcf(body("bob", "<joint/>", place='quat="0 0 0 0"')): ABSENT + "quaternion",
    mjcf(body("bob", "<joint/>", place='gravcomp="nan"')): NAN,
    mjcf(BOB, '<option gravity="nan 0 0"/>'): NAN,
    mjcf(BOB, '<option gravity="0 0 1e300"/>'): LARGE,
    **{mjcf(body("bob", HINGE.format(one))): LARGE for one in (
        'damping="1e300"', 'stiffness="1e300"', 'stiffness="1" springref="inf"', 'frictionloss="1e308"',
    )},
    **{mjcf(body("bob", HINGE.format(one))): NAN for one in ('damping="nan"', 'frictionloss="nan"')},
    **{mjcf(body("bob", "<joint/>", geom=f"<geom {one}/>")): NAN for one in (
            'size=".1" mass="nan"', 'size=".1" density="-NaN"', 'size=".1" euler="nan 0 0"',
    )},
    **{mjcf(BOB, f'<option timestep="{one}"/>'): "timestep must be a positive number" for one in ("0", "-1e-3")},
    mjcf(body("bob", HINGE.format('frictionloss="-1"'))): "must be a positive number",
    mjcf(body("bob", HINGE.format('class="absent"'))): ABSENT + "default class",
    mjcf(BOB, '<default><default class="x"><default class="x"/></default></default>'): ABSENT + "default class",
    mjcf(BOB, "<default>" + "<default>" * 450 + "</default>" * 451): "in more than 400 levels",
    mjcf(BOB, '<include file="."/>'): "not a regular file",
    mjcf(BOB, '<include file="http://x/y.xml"/>'): "is not within the folder",
    mjcf(BOB, '<include file="/dev/zero"/>'): "is not within the folder",
    mjcf(BOB, f'<include file="{"a" * 5000}.xml"/>'): "cannot be read",
    mjcf(BOB, '<asset><hfield name="h" file="../secret.png" size="1 1 1 1"/></asset>'): "is not within the folder",
    mjcf(BOB, '<asset><mesh name="m" vertex="nan 0 0 1 0 0 0 1 0 0 0 1"/></asset>'): NAN,
    mjcf('<replicate count="99999999999"><geom size="1"/></replicate>'): "more than 20000 elements",
    mjcf("<geom size='1'/>" * 30000): "more than 20000 elements",
    mjcf(BOB, '<equality><connect body1="bob" anchor="nan 0 0"/></equality>'): NAN,
    mjcf(body("bob", HINGE.format("")), '<actuator><motor joint="j" gear="nan"/></actuator>'): NAN,
    mjcf(BOB, '<keyframe><key name="home" qvel="1e308"/></keyframe>'): LARGE,
    mjcf(body("a", "<joint/>", body("b", "<freejoint/>"))): ABSENT + "free joint",
    ARM.format("".join(JOINT.format(a + b, "revolute", a, b, "0 0 1") for a, b in ("ab", "ba"))): ABSENT,
    ARM.format(JOINT.format("j", "revolute", "a", "a", "0 0 1")): ABSENT,
    ARM.format(JOINT.format("j", "revolute", "a", "c", "0 0 1")): ABSENT + "missing",
    ARM.format(JOINT.format("j", "revolute", "a", "b", "0 0 0")): ABSENT + "axis",
    ARM.format(JOINT.format("j", "spiral", "a", "b", "0 0 1")): ABSENT + "joint type",
    ARM.format(JOINT.format("j", "revolute", "a", "b", "0 0 1")).replace('"1.5"', '"-1.5"'): ABSENT + "mass",
    '<robot name="r"><include file="../secret.xml"/></robot>': "is not within the folder",
}  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder beside which stand files that nobody may read; what Python reads is in it."""
    inner = tmp_path / "model"
    inner.mkdir()
    for name in ("secret.xml", "secret.stl"):
        (tmp_path / name).write_text("<mujoco/>")
    (inner / "note.txt").write_text("no mesh and no XML")
    (inner / "link.xml").symlink_to(tmp_path / "secret.xml")
    os.mkfifo(inner / "pipe")
    with (inner / "large.stl").open("wb") as file:
        file.truncate(100_000_001)
    read = Path.read_bytes

    def guarded(path: Path) -> bytes:
        within = any(path.resolve().is_relative_to(one) for one in (inner.resolve(), Path(nonsmooth.__file__).parent))
        assert within, f"{path} lies outside"
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", guarded)
    return inner


@pytest.mark.parametrize("text", REFUSED, ids=[f"{i}: {what}"[:40] for i, what in enumerate(REFUSED.values())])
def test_broken_and_hostile_files_are_refused_by_one_sentence(folder: Path, text: str) -> None:
    if (
        "MuJoCo" in REFUSED[text]
        or "below" in REFUSED[text]
        or "qpos" in REFUSED[text]
        or "counterpart" in REFUSED[text]
    ):
        pytest.importorskip("mujoco")
    (folder / "robot.xml").write_bytes(text.encode(errors="surrogatepass"))
    with pytest.raises(InputError, match=REFUSED[text]) as error:
        read_robot(folder / "robot.xml")
    said = str(error.value)
    assert "\n" not in said and "robot" in said and len(said) < 500


def test_the_command_line_refuses_them_by_one_sentence(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With REFUSED above more than 80 files."""
    pytest.importorskip("mujoco")
    assert len(MORE) + len(REFUSED) > 80
    path = folder / "robot.xml"
    for text, what in MORE.items():
        path.write_text(text)
        assert main(["describe", str(path)]) == 2, text[:200]
        said = capsys.readouterr().err
        sentences = [one for one in said.splitlines() if one.startswith("nonsmooth: ") and "warning:" not in one]
        assert len(sentences) == 1 and "Traceback" not in said, said
        assert re.search(what, " ".join(said.split())), (what, said)


def test_a_robot_with_dry_friction_is_described(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("mujoco")
    (folder / "robot.xml").write_text(mjcf(body("bob", '<joint frictionloss=".2"/>')))
    assert main(["describe", str(folder / "robot.xml")]) == 0
    assert "joint0_friction" in capsys.readouterr().out


def test_what_is_no_file_of_a_robot(tmp_path: Path) -> None:
    for path, what in (("robot.toml", "ends in .xml"), ("absent.xml", "cannot be read"), (5, "must be a string")):
        with pytest.raises(InputError, match=what):
            read_robot(tmp_path / path if isinstance(path, str) else path)  # type: ignore[arg-type]
    (tmp_path / "folder.xml").mkdir()
    with pytest.raises(InputError, match="not a regular file"):
        read_robot(tmp_path / "folder.xml")
    (tmp_path / "long.xml").write_bytes(b" " * (xml.TEXTS + 1))
    with pytest.raises(InputError, match="more than 4000000 bytes"):
        read_robot(tmp_path / "long.xml")


def test_without_mujoco_one_sentence_says_what_to_install(folder: Path) -> None:
    """And nothing but `read_robot` needs it, the command line included."""
    (folder / "robot.xml").write_text(mjcf(BOB))
    script = (
        "import sys; sys.modules['mujoco'] = None\n"
        "import nonsmooth; [getattr(nonsmooth, name) for name in nonsmooth.__all__]\n"
        "from nonsmooth.cli import main\n"
        f"sys.argv = ['nonsmooth', 'describe', {str(folder / 'robot.xml')!r}]; main()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode != 0 and 'pip install "nonsmooth[robots]"' in " ".join(done.stderr.split())
    assert "Traceback" not in done.stderr


def test_parts_of_a_robot_in_several_files(folder: Path) -> None:
    """Includes and meshes within the folder are read; the report says what is not in the model."""
    pytest.importorskip("mujoco")
    (folder / "parts").mkdir()
    corners = np.array([(0, 0, 0), (0.1, 0, 0), (0, 0.1, 0), (0, 0, 0.1)])
    obj = "".join("v {} {} {}\n".format(*corner) for corner in corners) + "f 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"
    (folder / "parts" / "wedge.obj").write_text(obj)
    (folder / "parts" / "arm.xml").write_text(
        '<mujocoinclude><body name="arm"><joint name="elbow.left" range="-90 90" limited="true" armature=".1"'
        ' frictionloss=".2"/><geom type="mesh" mesh="wedge"/><geom type="capsule" fromto="0 0 0 0 .1 0" size=".01"/>'
        "</body></mujocoinclude>"
    )
    (folder / "robot.xml").write_text(
        '<mujoco><compiler meshdir="parts"/><asset><mesh file="wedge.obj"/>'
        '<texture file="../secret.png" type="2d"/></asset>'
        '<worldbody><include file="parts/arm.xml"/><light/></worldbody>'
        '<equality><joint joint1="elbow.left" polycoef=".1 0 0 0 0"/></equality></mujoco>'
    )
    warnings.simplefilter("ignore", ModelWarning)
    with pytest.warns(ModelWarning, match=r"left out are armature \(1\), limits \(1\), constraint \(1\)"):
        robot = read_robot(folder / "robot.xml", position={"elbow.left": 0.3})
    assert [type(one) for one in robot.elements][-2:] == [MeshShape, RodShape]
    assert [row.part for row in robot.report.left_out] == ["armature", "limits", "constraint", "contacts"]
    assert "JointFriction: 0.2 N m" in str(robot.report)
    assert [(row.name, row.text) for row in robot.report.replaced] == [("elbow.left", '"elbow_left", of the joint')]
    assert "left out limits" in str(robot.report)
    turned = robot.build().start.q[3:] @ read_robot(folder / "robot.xml").build().start.q[3:]
    assert abs(turned - np.cos(0.15)) < 1e-15  # half the angle
    write_model(robot, folder / "robot.toml")
    assert read_model(folder / "robot.toml").build().parameters == robot.build().parameters


def test_meshes_of_urdf_files_are_found_or_left_out(folder: Path) -> None:
    pytest.importorskip("mujoco")
    mesh = '<{0}><geometry><mesh filename="package://r/{1}"/></geometry></{0}>'
    urdf = TREES["urdf"].replace(
        "</link>", mesh.format("collision", "absent.dae") + mesh.format("visual", "x.stl") + "</link>", 1
    )
    (folder / "r.urdf").write_text(urdf)
    with pytest.warns(ModelWarning, match=r"drawing \(1\)"):
        robot = read_robot(folder / "r.urdf")
    assert ("a", "the mesh package://r/absent.dae") in [(row.name, row.text) for row in robot.report.left_out]


def test_keyframes_and_positions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The model is compiled once: what is tested comes after it."""
    mujoco = pytest.importorskip("mujoco")
    path = folder / "robot.xml"
    path.write_text(TREES["driven"].replace("</keyframe>", '<key name="up" qpos="0 0 0"/></keyframe>'))
    monkeypatch.setattr(reading, "compiled", lambda source: mujoco.MjModel.from_xml_string(source.text))
    warnings.simplefilter("ignore", ModelWarning)
    given = ({}, {"keyframe": "home"}, {"keyframe": 0}, {"keyframe": "up"})
    speeds = [np.linalg.norm(read_robot(path, **one).build().start.v) for one in given]
    assert speeds[0] == speeds[1] == speeds[2] > 1.0 and speeds[3] == 0.0
    motor = next(one for one in read_robot(path).elements if one.name == "motor")
    assert motor.numbers()["torque"] == 1.5  # three times the control, which is limited to one half
    for wrong, what in (
        ({"keyframe": "down"}, "there is no keyframe 'down'; there are home, up"),
        ({"keyframe": 7}, "there is no keyframe 7"),
        ({"position": {"elbw": 1.0}}, "there is no hinge or slide 'elbw'. Did you mean elbow"),
        ({"position": {"elbow": "up"}}, "must be a finite number"),
    ):
        with pytest.raises(InputError, match=what):
            read_robot(path, **wrong)
