"""Python to TOML and back: the same numbers, matrices and motion, for every ready problem and every law."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    Compliant,
    DeclarationError,
    Gravity,
    Ground,
    Harmonic,
    InputError,
    Model,
    ModelError,
    MoreauJean,
    PlanarBody,
    PointForce,
    Ramp,
    RevoluteClearance,
    Rigid,
    SpatialBody,
    Spring,
    Table,
    Torque,
    laws,
    read_model,
    simulate,
    write_model,
)
from nonsmooth.declarative import model_text, read_text
from nonsmooth.exceptions import NotWritten
from nonsmooth.laws import Flores, Johnson, Material
from nonsmooth.model.forces import Force
from nonsmooth.model.joints import BodyRef
from nonsmooth.model.kinds import element_kinds
from nonsmooth.model.registry import find_problems

#: ready problems that hold functions of Python, each with the reason: their motors follow inverse kinematics
NOT_WRITTEN = {name: "motion is the Python function" for name in ("polishing-robot", "six-rss")}
PROBLEMS = find_problems()
#: numbers that a range alone does not give
PARTICULAR = {"dahl_exponent": 1.7, "fractal_dimension": 2.52}
STEEL = Material(2.07e11, 0.3, 7850.0)
RIGID = Rigid(restitution=0.5, friction=0.1, threshold=1e-4, impact="poisson")


def loose(contact):
    model = Model([Ground("frame"), PlanarBody("rod", mass=0.1, inertia=1e-4)], name='a "loose" rod')
    place = {"at_a": (0.1, -0.0), "at_b": (0.1, 1e-5)}
    model.add(
        RevoluteClearance("pin", "frame", "rod", clearance=1e-3, radius=1e-2, length=2e-2, contact=contact, **place)
    )
    return model


def same(model, again):
    """Systems with equal parameters, start, mass matrix and forces, to the bit."""
    first, second = model.build(), again.build()
    assert first.description == second.description and first.provenance == second.provenance
    assert list(first.parameters.items()) == list(second.parameters.items())
    assert first.start.q.tobytes() == second.start.q.tobytes() and first.start.v.tobytes() == second.start.v.tobytes()
    p, q, v = first.parameter_values, first.start.q, first.start.v
    for one in ("M", "W_g", "W_N", "W_T", "g_N"):
        arguments = {"M": (q, p), "W_g": (0.1, q, p)}.get(one, (q, p))
        assert np.array_equal(
            *(np.array(getattr(system, one)(*arguments)) for system in (first, second)), equal_nan=True
        )
    assert np.array_equal(np.array(first.h(0.1, q, v, p)), np.array(second.h(0.1, q, v, p)), equal_nan=True)
    return first, second


@pytest.mark.parametrize("name", some(PROBLEMS, 4))
def test_every_ready_problem(name, tmp_path):
    model = PROBLEMS[name]()
    if name in NOT_WRITTEN:
        with pytest.raises(ModelError, match=NOT_WRITTEN[name]):
            model_text(model)
        return
    write_model(model, tmp_path / "it.toml")
    systems = same(model, read_model(tmp_path / "it.toml"))
    runs = [simulate(system, MoreauJean(), t_end=5e-3, dt=2.5e-4) for system in systems]
    for one in ("q", "v", "P_N", "P_T"):
        first, second = (getattr(run, one).array for run in runs)
        assert np.array_equal(first, second), one


def number(quantity, k):
    """A number that the quantity accepts, with many digits."""
    return min(quantity.at_most, 1.0) * (0.3 + 0.1 * k) if not quantity.at_most < 0.5 else quantity.at_most / 3


@pytest.mark.parametrize("kind", ["normal", "friction"])
def test_every_law(kind):
    """Numbers are made from the declarations; what the classes refuse together is left to the tests of the laws."""
    written = 0
    for name in laws.names(kind):
        cls = laws.by_name(name, kind)
        declared = laws.base.declarations(cls)
        given = {}
        for k, one in enumerate(field for field in dataclasses.fields(cls) if field.init):
            if one.name in ("a", "b"):
                given[one.name] = STEEL
            elif one.name in declared:
                given[one.name] = number(declared[one.name].quantity, k)
            elif one.name == "function":
                given[one.name] = "rational"
            elif one.name in ("calibrated", "tensile"):
                given[one.name] = not one.default
        for low, _, high in cls.ordered:
            given[low], given[high] = sorted((given[low], given[high] + 1e-3))
        given |= {one: value for one, value in PARTICULAR.items() if one in given}
        try:
            law = cls(**given)
        except InputError as error:
            pytest.fail(f"{name}: {error}: give this test numbers that it takes")
        compliant = Compliant(law) if kind == "normal" else Compliant(Flores(stiffness=1e9, restitution=0.5), law)
        model = Model([Ground(), PlanarBody("ball", mass=0.1, inertia=1e-4)])
        place = {"clearance": 1e-3, "radius": 1e-2, "length": 2e-2}
        model.add(RevoluteClearance("pin", "ground", "ball", contact=compliant, **place))
        again = read_text(model_text(model)).model
        assert again.elements[-1].contact == compliant, name
        assert again.elements[-1].contact.numbers() == compliant.numbers()
        written += 1
    assert written == len(laws.names(kind)) > 10


@pytest.mark.parametrize(
    "contact",
    [RIGID, Compliant(Flores(stiffness=Johnson(STEEL, Material(1e11, 0.4)), restitution=0.9), slowest=1e-5)],
    ids=["rigid", "law in a law"],
)
def test_a_law_with_all_its_parts(contact):
    model = loose(contact)
    assert read_text(model_text(model)).model.elements[2].contact == contact
    same(model, read_text(model_text(model)).model)


def test_one_law_of_all_contacts_stands_once():
    model = loose(RIGID)
    place = {"at_a": (-0.1, 0.0), "at_b": (-0.1, 0.0)}
    model.add(RevoluteClearance("second", "frame", "rod", clearance=1e-3, radius=0.1, contact=RIGID, **place))
    text = model_text(model)
    assert text.count('kind = "rigid"') == 1 and "[contact]" in text
    same(model, read_text(text).model)


@pytest.mark.parametrize(
    "motion",
    [Ramp(rate=0.1, start=1 / 3), Harmonic(0.1, 0.7, phase=1e-3, offset=-0.0), Table((0.0, 1 / 3), (0.1, 0.7))],
)
def test_functions_of_time(motion):
    model = Model([Ground(), PlanarBody("disc", mass=0.1, inertia=1e-4), Torque("motor", "disc", torque=motion)])
    again = read_text(model_text(model)).model
    assert again.elements[2].torque == motion
    same(model, again)


def test_spatial_bodies_zeros_with_signs_names_and_numpy_numbers():
    model = Model(name='spatial: \\ " \x7f é')
    model.add(
        SpatialBody(
            "top of it", mass=np.float64(1.0), inertia=(1e-3, 2e-3, 2.5e-3, 1e-5, -0.0, 0.0), velocity=(0, -0.0, 1)
        )
    )
    model.add(Gravity(acceleration=np.array([0.0, 0.0, -9.81])))
    again = read_text(model_text(model)).model
    assert again.name == model.name
    same(model, again)


def test_what_cannot_be_written():
    model = Model([Ground(), PlanarBody("ball", mass=0.1, inertia=1e-4)])
    model.add(PointForce("push", "ball", force=lambda t: (t, 0.0)))
    sentence = 'PointForce "push": force is the Python function <lambda>.*give a Ramp, a Harmonic or a Table'
    with pytest.raises(ModelError, match=sentence):
        model_text(model)
    with pytest.raises(InputError, match="cannot be written"):
        write_model(loose(RIGID), "/nowhere/at/all.toml")


def test_a_file_that_cannot_be_replaced_remains(tmp_path, monkeypatch):
    path = tmp_path / "mechanism.toml"
    write_model(loose(RIGID), path)
    before = path.read_bytes()

    def full(handle):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(NotWritten, match="The model cannot be written to .*No space left"):
        write_model(Model([Ground()], name="another"), path)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


class Bungee(Spring):
    """A spring with a name of its own."""


def test_a_class_that_is_defined_later_is_known_by_itself():
    assert element_kinds()["bungee"] is Bungee
    text = """
    [elements.wall]
    kind = "ground"
    [elements.ball]
    kind = "planar-body"
    mass = 1
    inertia = 1
    [elements.rope]
    kind = "bungee"
    a = "wall"
    b = "ball"
    stiffness = "2 N/mm"
    """
    rope = read_text(text).model.elements[2]
    assert type(rope) is Bungee and rope.stiffness == 2000.0


@dataclass(frozen=True, eq=False)
class Wind(Force):
    """An element of one's own with a number of numbers by name, which a file does not hold as it is needed."""

    body: BodyRef
    profile: dict[str, list[float]] = dataclasses.field(kw_only=True)

    body_fields = ("body",)

    def forces(self, t, bodies, p):
        return (bodies[0].generalized_force([1.0, 0.0], [0.0, 0.0]),)


def test_a_class_without_a_form_is_for_python_only():
    """Files with other elements are read and written as if it were not there."""
    assert element_kinds()["wind"] is Wind
    model = Model([Ground(), PlanarBody("sail", 1.0, 1.0)])
    assert read_text(model_text(model)).model.elements[1].mass == 1.0
    model.add(Wind("wind", "sail", profile={"low": [1.0]}))
    with pytest.raises(ModelError, match="Wind has no name in TOML files: .* one of its fields has no TOML form"):
        model_text(model)
    with pytest.raises(DeclarationError, match='there is no kind "wind"'):
        read_text(model_text(Model([Ground()])) + '[elements.it]\nkind = "wind"\nbody = "sail"\n')
