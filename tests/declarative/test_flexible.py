"""Flexible bodies in TOML files: beams, matrices of other programs, tables of modes, and what is wrong with them."""

from __future__ import annotations

import io
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    DeclarationError,
    Gravity,
    Ground,
    Model,
    ModelError,
    MoreauJean,
    PlanarFlexibleBody,
    PointForce,
    Revolute,
    SpatialFlexibleBody,
    Spherical,
    read_model,
    simulate,
    write_model,
)
from nonsmooth.compile.casadi_call import Array
from nonsmooth.declarative import model_text, read, read_text
from nonsmooth.flexible import CrossSection, Material, Rayleigh, Rectangle, Tube, assemble, beam, from_matrices, modes
from nonsmooth_problems import flexible_slider_crank

STEEL = Material(youngs=2.1e11, shear=8e10, density=7850.0)
#: a pendulum whose rod carries a mass at its end
ROD = """\
[elements.ground]
kind = "ground"
[elements.rod]
kind = "planar-flexible-body"
position = [0.2, 0]
[elements.rod.modes]
kind = "beam"
end = ["30 cm", 0, 0]
section = { kind = "rectangle", y = "2 mm", z = "8 mm" }
material = { youngs = "210 GPa", shear = "80 GPa", density = "7850 kg/m^3" }
elements = 4
names = { pin = 0, tip = 1 }
interface = ["pin", "tip"]
keep = 2
damping = 0.01
masses = { tip = { mass = "37.68 g" } }
[elements.pin]
kind = "revolute"
a = "ground"
b = "rod.pin"
[elements.gravity]
kind = "gravity"
acceleration = [0, -9.81]
"""


def same_modes(one: Any, other: Any) -> None:
    """Equal to the bit."""
    for name in ("mass", "centre", "inertia", "frequencies", "damping", "places", "translations", "rotations",
                 "stations", "stresses"):  # fmt: skip
        assert np.asarray(getattr(one, name)).tobytes() == np.asarray(getattr(other, name)).tobytes(), name
    assert one.names == other.names and one.components == other.components


def amplitudes(model: Model) -> Array:
    """Coordinates after a hundredth of a second."""
    return simulate(model.build(), MoreauJean(), t_end=0.01, dt=5e-4).q.array


def test_a_beam_is_that_of_python() -> None:
    """The mass centre of 37.68 g of rod with as much at its end lies at three quarters of the length, 0.225 m."""
    text = ROD.replace("position = [0.2, 0]", "position = [0.225, 0]")
    stated = read_text(text).model
    shape = beam(
        (0, 0, 0), (0.3, 0, 0), section=Rectangle(2e-3, 8e-3), material=STEEL, elements=4, names={"pin": 0, "tip": 1}
    ).with_mass("tip", 0.03768)
    found = modes(shape, interface=["pin", "tip"], keep=2, damping=0.01)
    rod = PlanarFlexibleBody("rod", found, position=(0.225, 0.0))
    pin = Revolute("pin", "ground", rod.node("pin"))
    model = Model([Ground(), rod, pin, Gravity(acceleration=(0.0, -9.81))])
    same_modes(stated.elements[1].modes, rod.modes)
    assert amplitudes(stated).tobytes() == amplitudes(model).tobytes()
    assert np.abs(amplitudes(stated)[-1, 3:]).max() > 1e-7  # it bends


@pytest.mark.slow
def test_a_structure_of_beams_in_space() -> None:
    """Two beams that meet in a corner, one of any section and Timoshenko's, Rayleigh damping, free modes."""
    text = """
    [elements.ground]
    kind = "ground"
    [elements.corner]
    kind = "spatial-flexible-body"
    [elements.corner.modes]
    kind = "beam-structure"
    interface = ["hand"]
    keep = 2
    method = "free"
    stiffening = false
    damping = { mass = "2 1/s", stiffness = "0.1 ms" }
    [elements.corner.modes.beams.post]
    end = [0, 0, "0.4 m"]
    section = { kind = "tube", outer = "20 mm", inner = "16 mm" }
    material = { youngs = 2.1e11, shear = 8e10, density = 7850 }
    names = { foot = 0, corner = 1 }
    [elements.corner.modes.beams.arm]
    start = [0, 0, "0.4 m"]
    end = [0, "0.2 m", "0.4 m"]
    across = [0, 0, 1]
    section = { kind = "cross-section", area = "200 mm^2", Iy = "1e4 mm^4", Iz = "2e4 mm^4", J = "5e3 mm^4", \
fibres = ["10 mm", "7 mm", "7 mm"], shear = [0.8, 0.8] }
    material = { youngs = 2.1e11, shear = 8e10, density = 7850 }
    names = { corner = 0, hand = 1 }
    elements = [0, 0.5, 1]
    timoshenko = true
    [elements.corner.modes.masses.hand]
    mass = "0.1 kg"
    inertia = ["10 kg mm^2", "10 kg mm^2", "20 kg mm^2"]
    offset = [0, "5 mm", 0]
    [elements.ball]
    kind = "spherical"
    a = "ground"
    b = "corner.hand"
    at_a = [0, 0.2, 0.4]
    [elements.push]
    kind = "point-force"
    body = "corner"
    force = [1, 2, 3]
    """
    any_section = CrossSection(2e-4, 1e-8, 2e-8, 5e-9, (0.01, 0.007, 0.007), (0.8, 0.8))
    post = beam((0, 0, 0), (0, 0, 0.4), section=Tube(0.02, 0.016), material=STEEL, names={"foot": 0, "corner": 1},
                prefix="post.")  # fmt: skip
    arm = beam((0, 0, 0.4), (0, 0.2, 0.4), section=any_section, material=STEEL, names={"corner": 0, "hand": 1},
               elements=[0, 0.5, 1], across=(0, 0, 1), timoshenko=True, prefix="arm.")  # fmt: skip
    shape = assemble(post, arm).with_mass("hand", 0.1, inertia=(1e-5, 1e-5, 2e-5), offset=(0, 5e-3, 0))
    found = modes(shape, interface=["hand"], keep=2, damping=Rayleigh(2.0, 1e-4), method="free",
                  stiffening=False)  # fmt: skip
    stated = read_text(text).model
    same_modes(stated.elements[1].modes, found)
    body = SpatialFlexibleBody("corner", found, position=tuple(found.centre))
    model = Model([Ground(), body, Spherical("ball", "ground", "corner.hand", at_a=(0.0, 0.2, 0.4))])
    model.add(PointForce("push", "corner", force=(1.0, 2.0, 3.0)))
    moved = text.replace('flexible-body"\n', f'flexible-body"\n    position = {found.centre.tolist()}\n', 1)
    assert amplitudes(read_text(moved).model).tobytes() == amplitudes(model).tobytes()
    again = model_text(stated)
    assert "beam-structure" in again and model_text(read_text(again).model) == again


def test_what_a_file_states_is_written_again(tmp_path: Path) -> None:
    """A beam stays a beam; a model of Python has a table of its modes, which are the same to the bit."""
    stated = read_text(ROD).model
    text = model_text(stated)
    assert 'kind = "beam"' in text and model_text(read_text(text).model) == text
    plain = Model(stated.elements, name=stated.name)
    write_model(plain, tmp_path / "rod.toml")
    assert 'kind = "mode-table"' in (tmp_path / "rod.toml").read_text()
    same_modes(read_model(tmp_path / "rod.toml").elements[1].modes, stated.elements[1].modes)


FROM_FILE = """
[elements.plate]
kind = "spatial-flexible-body"
[elements.plate.modes]
kind = "matrix-file"
file = "plate.npz"
interface = ["a", "b"]
keep = 1
damping = 0.02
"""


def matrices() -> dict[str, Any]:
    shape = beam((0, 0, 0), (0.3, 0, 0), section=Tube(0.02), material=STEEL, elements=3, names={"a": 0, "b": 1})
    return {
        "mass": shape.mass.toarray(), "stiffness": shape.stiffness.toarray(), "names": np.array(shape.names),
        "places": shape.places,
    }  # fmt: skip


def test_matrices_in_a_file_beside(tmp_path: Path) -> None:
    given = matrices()
    np.savez(tmp_path / "plate.npz", **given)
    (tmp_path / "plate.toml").write_text(FROM_FILE)
    nodes = dict(zip(given["names"].tolist(), given["places"].tolist(), strict=True))
    shape = from_matrices(given["mass"], given["stiffness"], nodes)
    stated = read_model(tmp_path / "plate.toml")
    same_modes(stated.elements[0].modes, modes(shape, interface=["a", "b"], keep=1, damping=0.02))
    # written, it needs no other file
    write_model(stated, tmp_path / "alone.toml")
    (tmp_path / "plate.npz").unlink()
    same_modes(read_model(tmp_path / "alone.toml").elements[0].modes, stated.elements[0].modes)


def written(name: str, **changes: Any) -> bytes:
    data = io.BytesIO()
    np.savez(data, **{key: one for key, one in {**matrices(), **changes}.items() if one is not None})
    return data.getvalue()


def bomb() -> bytes:
    """Three hundred megabytes of zeros in some hundred kilobytes."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as parts, parts.open("mass.npy", "w") as one:
        for _ in range(300):
            one.write(bytes(1_000_000))
    return data.getvalue()


FILES = {
    "not there": (None, "is not in the folder of the TOML file"),
    "no archive": (b"what is this", "is not an .npz file of arrays"),
    "objects that run code": (written("", places=np.array([{}, {}, {}, {}], dtype=object)), "Object arrays cannot be"),
    "no names": (written("", names=None), "has no array names"),
    "a bomb": (bomb, "bytes of arrays, more than 200000000"),
    "not finite": (written("", mass=np.full((24, 24), np.nan)), "array mass of the file .* must be finite"),
    "places of another number": (written("", places=np.zeros((2, 3))), r"needs names \(n,\)"),
    "not square": (written("", mass=np.zeros((24, 3))), "square matrices of one size"),
    "degrees of freedom that are not there": (written("", translations=np.full((4, 3), 99)), "whole numbers .* to 23"),
    "held": (written("", stiffness=np.eye(24)), "resists rigid motions"),
}


@pytest.mark.parametrize("case", FILES)
def test_wrong_files_beside(case: str, tmp_path: Path) -> None:
    content, words = FILES[case]
    if content is not None:
        (tmp_path / "plate.npz").write_bytes(content() if callable(content) else content)
    (tmp_path / "plate.toml").write_text(FROM_FILE)
    tracemalloc.start()
    with pytest.raises(DeclarationError, match=rf"plate.toml:\d+: elements.plate.modes[\w.]*: .*{words}"):
        read(tmp_path / "plate.toml")
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 50_000_000  # it is not unpacked


@pytest.mark.parametrize("name", ["../plate.npz", "/etc/plate.npz", "sub/plate.npz", "..", "plate.npy", "a\\\\b.npz"])
def test_files_elsewhere_are_not_opened(name: str, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "plate.npz").write_bytes(written(""))
    (tmp_path / "model/plate.toml").write_text(FROM_FILE.replace("plate.npz", name))
    with pytest.raises(DeclarationError, match="file must name an .npz file in the folder of the TOML file"):
        read(tmp_path / "model/plate.toml")


def test_a_text_has_no_files_beside() -> None:
    with pytest.raises(DeclarationError, match="read the latter by its path, not as text"):
        read_text(FROM_FILE)


#: name -> (text, what stands for it, line, key below rod, words of the message)
WRONG = {
    "kind": ('kind = "beam"', 'kind = "bem"', 6, "modes", "Did you mean beam\\? There are beam, beam-structure"),
    "no kind": ('kind = "beam"\n', "", 6, "modes", "needs kind"),
    "unit": ('"210 GPa"', '"210 kg"', 10, "modes.material.youngs", '"210 kg" is of another dimension than Pa'),
    "key": ("youngs", "young", 10, "modes.material.young", "Did you mean youngs\\?"),
    "section": ('"rectangle"', '"square"', 9, "modes.section", "There are rectangle, tube, cross-section"),
    "size": ('y = "2 mm", ', "", 9, "modes.section.y", "a rectangle needs y; add y = ..., a positive number \\[m\\]"),
    "tube": ('"rectangle", y = "2 mm", z = "8 mm"', '"tube", outer = 1, inner = 2', 9, "modes.section.inner",
             "0 <= inner < outer"),
    "elements": ("elements = 4", "elements = 0", 11, "modes.elements", "must be 1 or more, got 0"),
    "words as elements": ("elements = 4", 'elements = "4"', 11, "modes.elements", "a whole number, or a list"),
    "too many elements": ("elements = 4", "elements = 4000", 11, "modes.elements", "more than the 500 that it may"),
    "too many modes": ("keep = 2", "keep = 2000", 14, "modes.keep", "up to 2012 modes, more than the 200"),
    "modes": ("keep = 2", "keep = -1", 14, "modes.keep", "from 0 to 18, got -1"),
    "interface": ('"tip"]', '"tp"]', 13, "modes.interface", 'has "tp", which is not a node; the nodes are pin'),
    "place of a node": ("pin = 0", "pin = 2", 12, "modes.names", "from 0 at the start of the beam to 1"),
    "mass at no node": ("masses = { tip", "masses = { tp", 16, "modes.masses", 'masses has "tp", which is not a node'),
    "key of a mass": ('mass = "37.68 g"', 'mas = "37.68 g"', 16, "modes.masses.tip.mas", "Did you mean mass\\?"),
    "no table of a mass": ('{ mass = "37.68 g" }', "3", 16, "modes.masses.tip", "must be a table, got 3"),
    "damping": ("damping = 0.01", "damping = -1", 15, "modes.damping", "a number >= 0; got -1"),
    "no damping": ("damping = 0.01\n", "", 6, "modes.damping", "a number >= 0 \\[-\\], or a table of a Rayleigh"),
    "length": ('"30 cm", 0, 0', "0, 0, 0", 6, "modes", "A beam needs two ends"),
    "out of the plane": ('"30 cm", 0, 0', "0.3, 0.1, 0.1", 6, "modes", "needs modes in the x-y plane"),
    "amplitudes": ("[0.2, 0]", "[0.2, 0]\ndeformation = [1, 2]", 6, "deformation", "must be 5 finite numbers"),
    "ragged": ("[0.2, 0]", "[0.2, 0]\ndeformation = [1, [2]]", 6, "deformation", "list of finite numbers"),
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_with_its_line(case: str) -> None:
    old, new, line, key, words = WRONG[case]
    assert old in ROD
    with pytest.raises(DeclarationError, match=words) as caught:
        read_text(ROD.replace(old, new, 1) if case != "no kind" else ROD.replace(old, ""), "f")
    (fault,) = caught.value.faults
    assert fault[:2] == (line, f"elements.rod.{key}")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("rod.pinn", '"rod" has no node "pinn". Did you mean pin\\? Nodes: pin, node1'),
        ("rd.pin", 'the body "rd" is not in the file. Did you mean rod\\?'),
        ("ground.pin", '"ground" has no node "pin". A rigid body has none; name the body'),
    ],
)
def test_nodes_that_are_not_there(name: str, words: str) -> None:
    with pytest.raises(DeclarationError, match=f"f:20: elements.pin.b: {words}"):
        read_text(ROD.replace('"rod.pin"', f'"{name}"'), "f")


def test_the_example_of_the_document() -> None:
    """With the crank that it speaks of; the node of the knee is the end of the beam."""
    page = (Path(__file__).parents[2] / "docs/declarative.md").read_text(encoding="utf-8")
    example = page.partition("## Flexible bodies")[2].partition("```toml\n")[2].partition("```")[0]
    others = """
    assemble = true
    [elements.ground]
    kind = "ground"
    [elements.crank]
    kind = "planar-body"
    mass = 1
    inertia = 1e-3
    """
    model = read_text(others + example).model
    system = model.build()
    # crank; rod; six motions of its ends but three rigid ones; of two kept modes of a square section one in the plane
    assert system.nv == 3 + 3 + (6 - 3) + 1
    q = dict(zip(system.q_names, system.start.q, strict=True))
    assert q["rod.x"] == pytest.approx(0.075 + q["crank.x"] + 0.15, abs=1e-9)


def test_a_ready_problem_as_a_file() -> None:
    """The slider-crank with a flexible rod, past its first impact, which is after 0.5 ms."""
    file = read_model(Path(__file__).parents[2] / "docs/examples/flexible_slider_crank.toml")
    ready = flexible_slider_crank()
    runs = [simulate(model.build(), MoreauJean(), t_end=1e-3, dt=1e-5) for model in (file, ready)]
    assert runs[0].q.names == runs[1].q.names and len(runs[0].impacts) > 0
    # numbers of the file differ from those of the problem by their last digit
    assert runs[0].q.array == pytest.approx(runs[1].q.array, abs=1e-9)


@pytest.mark.slow
def test_a_table_of_too_many_modes_is_not_written() -> None:
    """Since reading would refuse it; the same body as a beam is a few lines."""
    model = flexible_slider_crank(elements=60)
    with pytest.raises(ModelError, match='"rod": with it the file has more than 100000 values.*describe its beam'):
        model_text(model)
