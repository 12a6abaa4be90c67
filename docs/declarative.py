"""Writes docs/declarative.md, with tables made from the classes themselves: ``python docs/declarative.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from nonsmooth import steppers
from nonsmooth.declarative.reading import Document, Run
from nonsmooth.declarative.schema import Entry, Table, entries, schema, table_of
from nonsmooth.model.bodies import Body, Ground
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.contacts import Contact
from nonsmooth.model.joints import Joint
from nonsmooth.quantities import NAMES

HEAD = '''\
# Mechanisms without Python

A mechanism can be written as a TOML file. `nonsmooth new my_mechanism.toml` writes a commented template that runs as it
is; with `--space` a spatial one. Another example:

```toml
name = "ball on a spring"

[elements.wall]
kind = "ground"

[elements.ball]
kind = "planar-body"
mass = "200 g"
inertia = "50 kg mm^2"
position = ["0.1 m", 0]

[elements.spring]
kind = "spring"
a = "wall"
b = "ball"
stiffness = "1 N/mm"

[elements.stop]
kind = "point-plane"
a = "wall"
b = "ball"
direction = "-90 deg"
contact = { kind = "rigid", restitution = 0.5, friction = 0 }

[run]
t_end = "50 ms"
stepper = "gauss-qp"
dt_min = "1 us"
dt_max = "1 ms"
```

`nonsmooth run`, `describe`, `compare` and the studies accept such a file in place of a ready problem, except `study
published`. Command line options take precedence over `[run]`: `nonsmooth run my_mechanism.toml --t-end 1
--set pin.clearance=1e-4`. Options that define a step size completely (`--dt`; `--dt-min` and `--dt-max`; these with
`--rtol` and `--atol`) replace that of the file, others change a single number of it. `--contact rigid`, or `--contact
compliant --law flores`, with the parameters of the law by `--set`, replaces the law of every contact.

- **Elements** have names, `[elements.NAME]`, and a `kind`, the name of their class in kebab case. Their order is that
  of the model. [Writing a mechanism](modelling.md) describes them; other elements refer to bodies by these names.
- **Clearances** are numbers or ISO 286 fits, `"20 H7/g6"`, nominal size in mm, with `min`, `mean` or `max` behind
  it; dimensions and other parameters can have a tolerance, `"120 ±0.03 mm"` ([From a fit to a decision](fits.md)).
- **Numbers** are in SI units, or strings with a unit of the same dimension: `"0.5 mm"`, `"30 deg"`, `"120 rpm"`,
  `"1e-4 kg m^2"`.
- **Contact laws** are tables with a `kind`. `[contact]` at the top level is the law of every contact that
  has none of its own.
- `size` of a contact without a clearance is its typical gap, for tolerances only: gaps below 1e-8 of it count as
  closed, and errors of positions are stated as shares of it. The geometry is that of `radius`, `width` and the like.
- **Functions of time**, of loads and motions, are tables with a `kind` as well; other functions need Python. In
  the list of a vector they can replace numbers:
  `force = [{ kind = "harmonic", amplitude = "2 N", period = "50 ms" }, 0, 0]`.
- **Loads that depend on the motion**, of the kind `load`, have formulas in the variables of the motion:
  `torque = "stall * (1 - omega / free)"` with `parameters = { stall = 2, free = 300 }`, see
  [Loads that depend on the motion](modelling.md#loads-that-depend-on-the-motion).
- `assemble = true` at the top level moves the bodies until the constraints of joints and motors are satisfied, as
  `build(assemble=True)` does; clearances are not taken into account. With `assemble = "centred"` they are treated as
  ideal joints for this purpose: journals, balls and slides start in the middle of their clearances, with the velocities
  of the ideal mechanism.
- `[provenance]` and `[origin]` document the origin of numbers; no equation uses them.

## In space

A model is spatial if its bodies are of the kind `spatial-body`. Points and vectors then have three components, an
orientation is a quaternion `[w, x, y, z]` of norm 1, and joints that exist in the plane and in space are spatial if
their axis, normal or quaternion is given. For a spatial slider-crank with clearance in a ball joint approximate
positions are sufficient:
[spatial_slider_crank.toml](examples/spatial_slider_crank.toml), and in Python
[spatial_slider_crank.py](examples/spatial_slider_crank.py).

A pose that depends on time has a list of numbers and functions as position, and turns about a fixed axis:

```toml
[elements.path]
kind = "prescribed-pose"
a = "ground"
b = "platform"
position = [
    { kind = "harmonic", amplitude = "0.2 m", period = "2 s", phase = "90 deg" },
    { kind = "harmonic", amplitude = "0.2 m", period = "2 s" },
    "-1.45 m",
]
quaternion = { kind = "axis-angle", axis = [0, 0, 1], angle = { kind = "ramp", rate = "10 deg/s" } }
```

## Flexible bodies

A body of the kind `planar-flexible-body` or `spatial-flexible-body` has [modes](flexible.md) instead of mass and
inertia. They are those of a beam, reduced; the beam stands in the axes of the body, whose origin is its mass centre
whatever `start` and `end` are:

```toml
[elements.rod]
kind = "planar-flexible-body"
position = ["150 mm", 0]

[elements.rod.modes]
kind = "beam"
end = ["300 mm", 0, 0]
section = { kind = "rectangle", y = "8 mm", z = "8 mm" }
material = { youngs = "210 GPa", shear = "80 GPa", density = "7850 kg/m^3" }
elements = 8
names = { knee = 0, pin = 1 }
interface = ["knee", "pin"]
keep = 2
damping = 0.01

[elements.knee]
kind = "revolute"
a = "crank"
b = "rod.knee"
at_a = ["75 mm", 0]
```

[flexible_slider_crank.toml](examples/flexible_slider_crank.toml) is the whole mechanism.

- **Nodes** stand where a body stands in joints, clearances, contacts and loads: `b = "rod.knee"`. Points such as `at_b`
  are then in the frame of the node, and are left out where the node itself is meant.
- `names` are places along the beam from 0 to 1; `interface` are the nodes at which anything attaches, `keep` is the
  number of further modes, of which a body in the plane has those in it, `damping` a damping ratio or
  `{ mass = ..., stiffness = ... }` of Rayleigh's. `masses` are rigid masses at nodes, as
  `masses = { pin = { mass = "20 g" } }`.
- **Several beams**, kind `beam-structure`, are tables `[elements.NAME.modes.beams.BEAM]`, joined rigidly where nodes
  have one name. `interface`, `keep`, `damping` and `masses` stand in `[elements.NAME.modes]`.
- **Finite elements of another program**, kind `matrix-file`: `file = "rod.npz"` has the arrays `mass` and `stiffness`
  (d, d), `names` (n,) and `places` (n, 3) of the nodes, and, unless each node simply has 6 or 3 degrees of freedom,
  also `translations` and `rotations`, see [`from_matrices`](flexible.md). The file is in the folder of the TOML file
  and is written by `numpy.savez`.
- **Tables of modes**, kind `mode-table`, are what `write_model` writes of bodies made in Python: the numbers of
  `Modes`, by the names of its fields. A body that was read as a beam is written as a beam.

## Errors

A file of more than 4 million characters, 100 000 values, keys of more than 32 parts, or tables and lists nested more
than 32 levels deep is refused; reading runs no code of the file. Its flexible bodies may have 500 finite elements in
total and 200 modes each. An .npz file is opened only in the folder of the TOML file, may have 3000 degrees of freedom
and 200 MB uncompressed, and its arrays are numbers and names only.

All errors of a file are reported at once, each with file, line, key, and what to do:

```python
>>> from nonsmooth.declarative import read_text
>>> read_text("""
... [elements.frame]
... kind = "ground"
... [elements.rod]
... kind = "planar-body"
... mass = "0.2 m"
... inertia = 1.5e-3
... [elements.pin]
... kind = "revolute-clearance"
... a = "frame"
... b = "rodd"
... clearence = "0.5 mm"
... """, "pendulum.toml")
Traceback (most recent call last):
    ...
nonsmooth.exceptions.DeclarationError: 3 errors in pendulum.toml:
pendulum.toml:6: elements.rod.mass: "0.2 m" is of another dimension than kg; write a number [kg], or a string such \
as "2 g".
pendulum.toml:11: elements.pin.b: the body "rodd" is not in the file. Did you mean rod? Bodies: frame, rod.
pendulum.toml:12: elements.pin.clearence: a revolute-clearance has no key clearence. Did you mean clearance or \
axial_clearance? It takes kind, contact, clearance, a, b, at_a, at_b, radius, length, axis_a, axis_b, axial_clearance, \
collar_radius, points, ends, parallel.

```

Errors found when the model is built, such as a constraint violation or a penetration at the start, are reported with
the line of the element concerned. A clearance that is not less than the journal's radius or the slider's length is an
error here, since it is most likely a wrong unit; in Python it is not.

## From Python, and to a file

`read_model(path)` returns the model, `write_model(model, path)` writes one such that reading it gives the same numbers
and bitwise identical runs; a model read from a file is assembled as the file specifies. A Python function of time
cannot be written: `Ramp`, `Harmonic`, `Table`, `Spline` and `MotionProfile` can, vectors of them (`TimeVector`),
and `AxisAngle`.

```python
>>> from tempfile import TemporaryDirectory
>>> from nonsmooth import GaussQP, Landing, read_model, simulate, write_model
>>> from nonsmooth_problems import slider_rod
>>> with TemporaryDirectory() as folder:
...     write_model(slider_rod(case=2), f"{folder}/slider_rod.toml")
...     model = read_model(f"{folder}/slider_rod.toml")
>>> models = model, slider_rod(case=2)
>>> runs = [simulate(one.build(), GaussQP(), t_end=4e-3, dt=Landing(1e-6, 1e-3)) for one in models]
>>> bool((runs[0].q.array == runs[1].q.array).all())
True

```

`nonsmooth.declarative.read(path)` returns model and settings: `.build()`, `.run.scheme()`, `.run.step()`, `.run.t_end`.

The tables below are generated from the classes. A user-defined law in `nonsmooth/laws/`, or an imported subclass of an
element, is available automatically.
'''


def page() -> str:
    """The whole page."""
    known = schema()
    elements = {kind: table for kind, table in known.elements.items() if table.made.__module__.startswith("nonsmooth.")}
    compliant = known.contacts["compliant"].tables
    motion = known.elements["prescribed-motion"].tables["motion"]
    turning = known.elements["prescribed-pose"].tables["quaternion"]
    modes = known.elements["planar-flexible-body"].tables["modes"]
    elements = dict(sorted(elements.items(), key=lambda item: group(item[1].made)))  # stable
    parts = [
        HEAD,
        "## The top of the file\n",
        keys(table_of(Document)),
        "## Elements\n",
        *(f"### {kind}\n\n{first_line(table)}\n\n{keys(table)}" for kind, table in elements.items()),
        "## Modes of flexible bodies\n",
        *(
            f"### {kind}\n\n{first_line(table)}\n\n{keys(table)}"
            for kind, table in modes.items()
            if kind != "mode-table"
        ),
        "### Parts of beams\n\nOf a `section`, a `material`, `damping`, an entry of `masses`.\n",
        kinds(
            {
                **modes["beam"].tables["section"],
                "material": modes["beam"].tables["material"][""],
                "damping": modes["beam"].tables["damping"][""],
                "mass of a node": modes["beam"].tables["masses{}"][""],
            }
        ),
        "## Contact laws\n",
        *(f"### {kind}\n\n{first_line(table)}\n\n{keys(table)}" for kind, table in known.contacts.items()),
        "[Contact laws](laws.md) describes the laws below. Keys in brackets may be omitted.\n",
        "### Normal laws\n\n`stiffness` is a number, or one of the elastic laws as a table with `kind`.\n",
        kinds(compliant["normal"]),
        f"A material is a table: {line(compliant['normal']['johnson'].tables['a'][''])}.\n",
        "### Friction laws\n",
        kinds(compliant["friction"]),
        "## Functions of time\n\nUnits are those of a motion, those of loads analogous. The last is an orientation.\n",
        kinds({**motion, **turning}),
        "## The run\n\nA stepper or solver is a name, or a table with `kind` and the settings to be changed, as in\n"
        '`stepper = { kind = "moreau-jean", theta = 0.6 }`. Files are written to the working folder.\n'
        "Where neither stepper nor steps are given, both are chosen as in Python\n"
        "([Can the motion be trusted?](trust.md)). With steps alone the stepper is `gauss-qp`, for compliant contact\n"
        "`compliant-dae`: compiled steps of `dop853`, and of `radau` in stiff phases.\n",
        keys(table_of(Run)),
        kinds({name: table_of(steppers.by_name(name), name) for name in steppers.names()}),
        "## Units\n\nPowers are `m^2` or `m²`, products have a blank or `*`; `/` divides by the next unit only.\n",
        units(),
    ]
    return "\n".join(parts)


def group(cls: type) -> int:
    """Where an element stands: bodies, ideal joints, drivers, clearances, free contacts, loads."""
    groups = (Ground | Body, Joint, Clearance, Contact)
    place = next((i for i, bases in enumerate(groups) if issubclass(cls, bases)), len(groups))
    return 2 * place + (place == 1 and cls.__name__.startswith("Prescribed"))


def keys(table: type[Table]) -> str:
    """The keys of a table, one per row."""
    found = entries(table)
    if not found:
        return "It has no keys except `kind`.\n"
    rows = [f"| `{one.key}` | {accepted(one)} | {default(one, issubclass(table.made, Contact))} |" for one in found]
    return "\n".join(["| key | accepts | default |", "|---|---|---|", *rows]) + "\n"


def kinds(tables: Any) -> str:
    """Kinds with their keys, one kind per row."""
    rows = [f"| `{kind}` | {line(table)} |" for kind, table in tables.items()]
    return "\n".join(["| kind | keys |", "|---|---|", *rows]) + "\n"


def line(table: type[Table]) -> str:
    """The keys of a table in one line."""
    return ", ".join(_key(one) for one in entries(table)) or "none"


def _key(one: Entry) -> str:
    unit = f" [{one.unit}]" if one.unit not in ("", "-") else ""
    return f"`{one.key}`{unit}" if one.required else f"(`{one.key}`{unit})"


def accepted(one: Entry) -> str:
    return one.accepted.replace(" [-]", "").replace("{ kind", "`{ kind").replace("... }", "... }`").replace("|", r"\|")


def default(one: Entry, of_contact: bool) -> str:
    """What holds where a key is left out."""
    if one.required:
        return "required"
    if one.key == "contact":
        return "the law in `[contact]`" if of_contact else "each contact has its own"
    if one.default is None or one.default == ():
        return "none"
    value = list(one.default) if isinstance(one.default, tuple) else one.default
    return f"`{str(value).lower() if isinstance(value, bool) else value}`"


def first_line(table: type[Table]) -> str:
    return (table.made.__doc__ or "").partition("\n")[0].replace("``", "`")


def units() -> str:
    """Names of units, with the prefixes that they take."""
    rows: Iterable[str] = (
        f"| `{name}` | {', '.join(f'`{prefix}{name}`' for prefix in prefixes if prefix not in 'µμ')} |"
        for name, (_, _, prefixes) in NAMES.items()
        if name not in "1-"
    )
    return "\n".join(["| unit | with prefix |", "|---|---|", *rows]) + "\n"


if __name__ == "__main__":
    Path(__file__).with_suffix(".md").write_text(page(), encoding="utf-8")
