"""Wrong TOML: each error has its file, line, key, what is accepted and what to do; all of a file are told at once."""

from __future__ import annotations

import pickle

import pytest

from nonsmooth import DeclarationError, InputError, read_model
from nonsmooth.declarative import read, read_text

#: a pendulum that is right; each case replaces or adds lines
RIGHT = """\
name = "pendulum"
[contact]
kind = "rigid"
restitution = 0.5
friction = 0
[elements.ground]
kind = "ground"
[elements.rod]
kind = "planar-body"
mass = "200 g"
inertia = 1.5e-3
position = [0, "-150 mm"]
[elements.pin]
kind = "revolute-clearance"
a = "ground"
b = "rod"
at_b = [0, "0.15 m"]
clearance = "0.5 mm"
[elements.gravity]
kind = "gravity"
acceleration = [0, -9.81]
[run]
t_end = "10 ms"
stepper = "gauss-qp"
dt_min = 1e-6
dt_max = 1e-3
"""
#: name -> (lines in place of others by number, line of the error, key, words of the message)
CASES = {
    "unknown key": (
        {18: 'clearence = "0.5 mm"'},
        18,
        "elements.pin.clearence",
        ["Did you mean clearance or axial_clearance?", "It takes kind, contact, clearance, a, b"],
    ),
    "unknown key at the top": (
        {1: 'title = "pendulum"'},
        1,
        "title",
        ["the top of the file has no key title", "It takes name"],
    ),
    "unknown table": ({19: "[element.gravity]"}, 19, "element", ["Did you mean elements?"]),
    "unknown key of a law": (
        {5: "friction = 0\nstiffness = 1e9"},
        6,
        "contact.stiffness",
        ["a rigid has no key stiffness", "It takes kind, restitution"],
    ),
    "unknown key of the run": ({23: 't_stop = "10 ms"'}, 23, "run.t_stop", ["[run] has no key t_stop", "t_end"]),
    "missing value": ({10: ""}, 8, "elements.rod.mass", ["a planar-body needs mass", "a positive number [kg]"]),
    "missing value of a law": ({4: ""}, 2, "contact.restitution", ["a rigid needs restitution"]),
    "missing kind": ({9: ""}, 8, "elements.rod", ["needs kind", "planar-body"]),
    "missing law": (
        {n: "" for n in (2, 3, 4, 5)},
        13,
        "elements.pin",
        ["needs a law of contact", "[contact] at the top"],
    ),
    "unknown kind": ({14: 'kind = "RevoluteClearence"'}, 14, "elements.pin.kind", ["Did you mean revolute-clearance"]),
    "kind of another program": ({14: 'kind = "slider"'}, 14, "elements.pin.kind", ["Did you mean prismatic?"]),
    "kind that is no word": (
        {14: "kind = [1]"},
        14,
        "elements.pin.kind",
        ["there is no kind [1]", "revolute-clearance"],
    ),
    "unknown law": (
        {3: 'kind = "compliant"', 4: 'normal = { kind = "flors" }', 5: ""},
        4,
        "contact.normal",
        ["Did you mean flores?"],
    ),
    "kind of contact": ({3: 'kind = "rigit"'}, 2, "contact", ["Did you mean rigid?", "There are rigid, compliant"]),
    "wrong dimension": (
        {18: 'clearance = "0.5 kg"'},
        18,
        "elements.pin.clearance",
        ['"0.5 kg" is of another dimension than m', '"2 mm"'],
    ),
    "wrong dimension of a component": (
        {12: 'position = [0, "-150 deg"]'},
        12,
        "elements.rod.position",
        ["component 2", "than m"],
    ),
    "unit of a pure number": (
        {4: 'restitution = "3 mm"'},
        4,
        "contact.restitution",
        ["number without unit", "plain number"],
    ),
    "unknown unit": (
        {18: 'clearance = "0.5 mmm"'},
        18,
        "elements.pin.clearance",
        ['unknown unit "mmm"', "Did you mean", "number [m]"],
    ),
    "no unit": ({18: 'clearance = "0.5"'}, 18, "elements.pin.clearance", ["has no unit", "without quotes [m]"]),
    "decimal comma": ({18: 'clearance = "0,5 mm"'}, 18, "elements.pin.clearance", ["decimal comma", "write a point"]),
    "out of range": (
        {10: "mass = -0.2"},
        10,
        "elements.rod.mass",
        ["must be a positive number [kg]", '"2 g"', "got -0.2"],
    ),
    "out of range with a unit": (
        {4: 'restitution = "150 %"'},
        4,
        "contact.restitution",
        ["must be a number in [0, 1]", 'got "150 %"'],
    ),
    "not finite": ({10: "mass = inf"}, 10, "elements.rod.mass", ["must be a positive number [kg]", "got"]),
    "true for a number": ({10: "mass = true"}, 10, "elements.rod.mass", ["must be a positive number", "got true"]),
    "list for a number": ({10: "mass = [1]"}, 10, "elements.rod.mass", ["must be a positive number", "got [1]"]),
    "number for a list": (
        {12: "position = 3"},
        12,
        "elements.rod.position",
        ["must be a list of 2 numbers [m]", "got 3"],
    ),
    "too many components": ({12: "position = [1, 2, 3]"}, 12, "elements.rod.position", ["takes 2 components, got 3"]),
    "number for a word": ({15: "a = 3"}, 15, "elements.pin.a", ["must be a word in quotes, got 3"]),
    "word for a law": ({2: 'contact = "rigid"', 3: "", 4: "", 5: ""}, 2, "contact", ["must be a law", 'got "rigid"']),
    "body not defined": (
        {16: 'b = "rodd"'},
        16,
        "elements.pin.b",
        ['the body "rodd" is not in the file', "Did you mean rod", "Bodies: ground, rod"],
    ),
    "no ground": ({6: "", 7: ""}, 15, "elements.pin.a", ["there is no ground", "[elements.ground]"]),
    "no body but a joint": ({15: 'a = "gravity"'}, 15, "elements.pin.a", ['"gravity" is a gravity, not a body']),
    "joined to itself": ({15: 'a = "rod"'}, 13, "elements.pin", ['joins "rod" to itself']),
    "clearance bigger than the bearing": (
        {18: 'clearance = 0.5\nradius = "1 cm"'},
        18,
        "elements.pin.clearance",
        ["0.5 is not less than the radius", '"1 cm"', "plain numbers are in m"],
    ),
    "friction without radius": ({5: "friction = 0.1"}, 13, "elements.pin.radius", ["give its radius"]),
    "open joint": (
        {14: 'kind = "revolute"', 18: "", 17: 'at_b = [0, "0.16 m"]'},
        13,
        "elements.pin",
        ["is open by 0.01 m", "assemble = true, at the top of the file"],
    ),
    "overlap": ({17: 'at_b = [0, "0.16 m"]'}, 13, "elements.pin", ["overlaps by", "move the bodies apart"]),
    "no bodies": ({n: "" for n in range(8, 22)}, 6, "elements", ["The model has no body"]),
    "name with a dot": ({19: '[elements."gra.vity"]'}, 19, 'elements."gra.vity"', ["non-empty word without dots"]),
    "elements that are no tables": (
        {19: "[elements]\nx = 3\n[elements.gravity]"},
        20,
        "elements.x",
        ["must be a table"],
    ),
    "end that is no time": ({23: 't_end = "10 mm"'}, 23, "run.t_end", ["another dimension than s"]),
    "step without its pair": ({26: ""}, 25, "run.dt_min", ["alone define no step", "dt_min and dt_max (landing)"]),
    "bounds swapped": ({25: "dt_min = 1"}, 25, "run.dt_min", ["must not exceed dt_max"]),
    "unknown stepper": ({24: 'stepper = "gauss"'}, 24, "run.stepper", ['no stepper "gauss"', "Did you mean gauss-qp"]),
    "unknown setting": (
        {24: 'stepper = { kind = "moreau-jean", thta = 1 }'},
        24,
        "run.stepper.thta",
        ["Did you mean theta?"],
    ),
    "setting out of range": (
        {24: 'stepper = { kind = "moreau-jean", theta = 3 }'},
        24,
        "run.stepper.theta",
        ["must lie in [1/2, 1]"],
    ),
    "unknown solver": ({24: 'stepper = "gauss-qp"\nsolver = "osqpp"'}, 25, "run.solver", ["Did you mean osqp?"]),
    "solver alone": ({24: 'solver = "osqp"'}, 24, "run.solver", ["without a stepper"]),
    "output of another kind": ({24: 'stepper = "gauss-qp"\noutput = "run.csv"'}, 25, "run.output", ["ends in .nc"]),
    "provenance that is none": ({2: "[provenance]\nx = 1\n[contact]"}, 2, "provenance", ["must be a table"]),
}
SYNTAX = {
    "unit without quotes": ({18: "clearance = 0.5 mm"}, 18, ["is not valid TOML", 'written in quotes, as "0.5 mm"']),
    "comma": ({10: "mass = 0,2"}, 10, ["decimal point, not a comma"]),
    "word without quotes": ({14: "kind = revolute"}, 14, ["A word is written in quotes"]),
    "a key twice": ({11: "mass = 3"}, 11, ["Each key and each table may occur only once"]),
    "an element twice": ({19: "[elements.pin]"}, 19, ["('elements', 'pin') twice", "another name"]),
    "no value": ({10: "mass"}, 10, ["KEY = VALUE"]),
    "open string": ({10: 'mass = "200 g'}, 10, ["A string ends with the quote"]),
}


def with_lines(changes):
    lines = RIGHT.splitlines()
    for number, line in changes.items():
        lines[number - 1] = line
    return "\n".join(lines) + "\n"


def test_the_file_without_errors(tmp_path):
    path = tmp_path / "pendulum.toml"
    path.write_text(RIGHT, encoding="utf-8-sig")
    stated = read(path)
    assert stated.build().parameters["pin.clearance"] == pytest.approx(0.5e-3, rel=1e-14)
    assert [element.name for element in read_model(path).elements] == ["ground", "rod", "pin", "gravity"]
    assert (stated.run.t_end, stated.run.step().dt_min, type(stated.run.scheme()).__name__) == (0.01, 1e-6, "GaussQP")


@pytest.mark.parametrize("case", CASES)
def test_each_kind_of_error(case):
    changes, line, key, words = CASES[case]
    with pytest.raises(DeclarationError) as caught:
        read_text(with_lines(changes), "pendulum.toml").build()
    assert [fault[:2] for fault in caught.value.faults] == [(line, key)], str(caught.value)
    message = str(caught.value)
    assert message.startswith(f"pendulum.toml:{line}: {key}: ") and "\n" not in message
    assert [word for word in words if word not in message] == [], message
    assert message.endswith((".", "?"))


@pytest.mark.parametrize("case", SYNTAX)
def test_what_is_no_toml(case):
    changes, line, words = SYNTAX[case]
    with pytest.raises(DeclarationError) as caught:
        read_text(with_lines(changes), "pendulum.toml")
    message = str(caught.value)
    assert message.startswith(f"pendulum.toml:{line}: ")
    assert [word for word in words if word not in message] == [], message


def test_all_errors_are_told_at_once_in_the_order_of_lines():
    changes = {4: "restitution = 2", 10: 'mass = "1 m"', 16: 'b = "rodd"', 18: 'clearence = "0.5 mm"', 21: "", 26: ""}
    with pytest.raises(DeclarationError) as caught:
        read_text(with_lines(changes), "pendulum.toml")
    assert [fault[:2] for fault in caught.value.faults] == [
        (4, "contact.restitution"),
        (10, "elements.rod.mass"),
        (16, "elements.pin.b"),
        (18, "elements.pin.clearence"),
        (19, "elements.gravity.acceleration"),
        (25, "run.dt_min"),
    ]
    lines = str(caught.value).splitlines()
    assert lines[0] == "6 errors in pendulum.toml:" and all(one.startswith("pendulum.toml:") for one in lines[1:])
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value) and copy.faults == caught.value.faults


def table_of(name, *lines):
    return "\n".join([f"[elements.{name}]", *lines, ""])


GROUND, PIN = table_of("ground", 'kind = "ground"'), ('kind = "revolute"', 'a = "ground"')
#: files with very many errors of one sort; each stands in one line
MANY = {
    "keys": lambda n: table_of(
        "rod", 'kind = "planar-body"', "mass = 1", "inertia = 1", *(f"k{i} = 1" for i in range(n))
    ),
    "keys at the top": lambda n: "".join(f"k{i} = 1\n" for i in range(n)),
    "kinds": lambda n: "".join(table_of(f"rod{i}", 'kind = "rod"') for i in range(n)),
    "bodies": lambda n: GROUND + "".join(table_of(f"pin{i}", *PIN, f'b = "rod{i}"') for i in range(n)),
}


@pytest.mark.parametrize("sort", MANY)
def test_of_many_errors_the_first_are_told(sort):
    """Reading ends after a hundred: further ones would take time and tell nothing new."""
    with pytest.raises(DeclarationError) as caught:
        read_text(MANY[sort](30), "many.toml")
    lines = str(caught.value).splitlines()
    assert lines[0] == "30 errors in many.toml, the first 20:" and len(lines) == 21
    assert len(caught.value.faults) == 30
    with pytest.raises(DeclarationError) as caught:
        read_text(MANY[sort](2000), "many.toml")
    assert str(caught.value).splitlines()[0] == "more than 100 errors in many.toml, the first 20:"
    assert str(caught.value).splitlines()[1:] == lines[1:]
    assert len(caught.value.faults) == 100


def test_names_in_a_message_have_an_end():
    bodies = "".join(table_of(f"rod{i}", 'kind = "planar-body"', "mass = 1", "inertia = 1") for i in range(50))
    with pytest.raises(DeclarationError, match=r"Bodies: ground, rod0, .*, rod18, \.\.\.\.$"):
        read_text(GROUND + bodies + table_of("pin", *PIN, 'b = "crank"'))


LAWS = """
[elements.ground]
kind = "ground"
[elements.ball]
kind = "planar-body"
mass = 1
inertia = 1
[elements.pin]
kind = "revolute-clearance"
a = "ground"
b = "ball"
clearance = "1 mm"
[elements.pin.contact]
kind = "compliant"
normal = {}
friction = {}
"""
MATERIAL = (
    '{ kind = "flores", restitution = 0.5, '
    'stiffness = { kind = "johnson", a = %s, b = { young = "207 GPa", poisson = 0.3 } } }'
)
NESTED = {
    "unit of a stiffness": (
        '{ kind = "flores", stiffness = "1e9 N/m^2", restitution = 0.5 }',
        "normal.stiffness",
        "than N/m^1.5",
    ),
    "unit with an exponent": (
        '{ kind = "hertz", stiffness = "1e9 N/m^1.5", exponent = 2 }',
        "normal.stiffness",
        "than N/m^2",
    ),
    "unit of a spring": (
        '{ kind = "kelvin-voigt", stiffness = "1e9 N/m^1.5", damping = 0 }',
        "normal.stiffness",
        "than N/m;",
    ),
    "unit of no stiffness": ('{ kind = "hertz", stiffness = "1 mm" }', "normal.stiffness", "than N/m^n"),
    "material": (MATERIAL % "{ young = 1e11, poison = 0.3 }", "normal.stiffness.a.poison", "Did you mean poisson?"),
    "material out of range": (MATERIAL % "{ young = 1e11, poisson = 0.8 }", "normal.stiffness.a.poisson", "[0, 0.5]"),
    "no material": (MATERIAL % "3", "normal.stiffness.a", "must be a table, got 3"),
    "law with loss as a stiffness": (
        '{ kind = "flores", restitution = 0.5, stiffness = { kind = "hertz", stiffness = 1 } }',
        "normal.stiffness",
        'no kind "hertz"',
    ),
    "law of cylinders": (MATERIAL % "{ young = 1e11, poisson = 0.3 }", None, "needs radius and length"),
}


@pytest.mark.parametrize("case", NESTED)
def test_errors_within_laws(case):
    normal, key, words = NESTED[case]
    text = LAWS.replace("normal = {}", f"normal = {normal}").replace("friction = {}\n", "")
    with pytest.raises(DeclarationError) as caught:
        read_text(text, "f")
    ((line, found, sentence),) = caught.value.faults
    assert found == f"elements.pin.contact.{key}" if key else found.startswith("elements.pin")
    assert (line == 15 if key else line == 8) and words in sentence, str(caught.value)


@pytest.mark.parametrize(
    ("coordinate", "motion", "key", "words"),
    [
        ("angle", '{ kind = "ramp", rate = "120 rpm", start = "1 mm" }', "motion.start", "than rad"),
        ("x", '{ kind = "ramp", rate = "120 rpm" }', "motion.rate", "than m/s"),
        ("y", '"30 deg"', "motion", "than m"),
        ("angle", '"10*t"', "motion", 'a function of time is a table, as { kind = "ramp", rate = 10.0 }'),
        ("x", '{ kind = "table", times = [0, 1], values = ["1 mm", "1 deg"] }', "motion.values", "than m"),
        ("x", '{ kind = "table", times = [0, 0], values = [0, 1] }', "motion.times", "increase strictly"),
        ("x", '{ kind = "ram", rate = 1 }', "motion", "Did you mean ramp?"),
        ("w", "0", "coordinate", '"z" or "distance" or "displacement", got "w"'),
    ],
)
def test_errors_within_motions(coordinate, motion, key, words):
    text = f"""
[elements.ground]
kind = "ground"
[elements.ball]
kind = "planar-body"
mass = 1
inertia = 1
[elements.motor]
kind = "prescribed-motion"
a = "ground"
b = "ball"
coordinate = "{coordinate}"
motion = {motion}
"""
    with pytest.raises(DeclarationError) as caught:
        read_text(text, "f")
    ((line, found, sentence),) = caught.value.faults
    assert found == f"elements.motor.{key}" and words in sentence, str(caught.value)
    assert line == (12 if key == "coordinate" else 13)


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(InputError, match="nowhere.toml cannot be read .No such file"):
        read(tmp_path / "nowhere.toml")
    path = tmp_path / "latin.toml"
    path.write_bytes("x = 1\nname = 'K\xf6rper'\n".encode("latin-1"))
    with pytest.raises(DeclarationError, match="latin.toml:2: this is not UTF-8 text"):
        read(path)


def test_what_is_assembled():
    """A revolute that is open by 10 mm closes; what Python finds wrong is said in the words of a file."""
    changes = {14: 'kind = "revolute"', 18: "", 17: 'at_b = [0, "0.16 m"]', 1: "assemble = true"}
    assert read_text(with_lines(changes)).build().start.q[1] == pytest.approx(-0.16, abs=1e-12)
