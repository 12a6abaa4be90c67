"""Machine code of element kinds against CasADi's evaluation, bit for bit, in the plane and in space."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
import pytest
from loops import some
from scipy.spatial.transform import Rotation

from nonsmooth import (
    BoxPlane,
    CircleCircle,
    CirclePlane,
    Cylindrical,
    Damper,
    Fixed,
    Gravity,
    PointForce,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    PrismaticClearance,
    Revolute,
    RevoluteClearance,
    Rigid,
    Screw,
    SpatialPrismaticClearance,
    SpherePlane,
    Spherical,
    SphericalClearance,
    Spring,
    Table,
    Torque,
    TorsionSpring,
    Universal,
)
from nonsmooth.compile.emit import Unsupported, varies
from nonsmooth.compile.machine import Kernel, kernel
from nonsmooth.compile.records.schema import Shape, dtype, offset
from nonsmooth.engine.kinds import Kind, Kinds
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.elements import Element
from nonsmooth.step import fields  # noqa: F401  (the schemas)

CONTACT = Rigid(restitution=0.5, friction=0.2)
TABLE = Table(times=(0.0, 0.5, 1.0), values=(0.0, 2.0, 1.0))
AXES = {"axis_a": (1.0, 2.0, 2.0), "axis_b": (0.0, 0.6, -0.8)}
CONTACTS = {
    2: [
        RevoluteClearance("pin", "a", "b", at_a=(0.1, 0.2), clearance=1e-3, radius=0.01, contact=CONTACT),
        PrismaticClearance("guide", "a", "b", length=0.1, height=0.05, clearance=1e-3, direction=0.3, contact=CONTACT),
        PointPlane("point", "a", "b", direction=0.2, contact=CONTACT),
        CirclePlane("wheel", "a", "b", radius=0.1, contact=CONTACT),
        CircleCircle("balls", "a", "b", radius_a=0.1, radius_b=0.2, contact=CONTACT),
    ],
    3: [
        RevoluteClearance("pin", "a", "b", at_a=(0.1, 0.2, 0.3), clearance=1e-3, radius=0.01, length=0.03,
                          axial_clearance=1e-3, contact=CONTACT, **AXES),
        SpatialPrismaticClearance("guide", "a", "b", length=0.2, height=0.1, width=0.1, clearance=1e-3,
                                  contact=CONTACT),
        SphericalClearance("socket", "a", "b", at_a=(0.1, 0.2, 0.3), clearance=1e-3, radius=0.01, contact=CONTACT),
        SpherePlane("ball", "a", "b", normal=(1.0, 2.0, 3.0), radius=0.1, contact=CONTACT),
        BoxPlane("box", "a", "b", normal=(1.0, 2.0, 3.0), edges=(0.2, 0.3, 0.5), contact=CONTACT),
    ],
}  # fmt: skip
JOINTS = {
    2: [
        Revolute("revolute", "a", "b", at_a=(0.1, 0.0)),
        Prismatic("prismatic", "a", "b", direction=0.4, angle=0.1),
        Fixed("weld", "a", "b", angle=0.2),
        PrescribedMotion("motor", "a", "b", coordinate="angle", motion=lambda t: ca.sin(3 * t) + t**2),
        PrescribedMotion("table", "a", "b", coordinate="x", motion=TABLE),
    ],
    3: [
        Revolute("revolute", "a", "b", at_a=(0.1, 0.0, 0.2), **AXES),
        Cylindrical("cylindrical", "a", "b", at_a=(0.1, 0.0, 0.2), **AXES),
        Fixed("weld", "a", "b", quaternion=(0.6, 0.8, 0.0, 0.0)),
        Spherical("ball joint", "a", "b", at_a=(0.1, 0.0, 0.2)),
        Universal("cross", "a", "b", at_a=(0.1, 0.0, 0.2), **AXES),
        Screw("screw", "a", "b", axis_a=(1.0, 0.0, 0.0), pitch=0.01),
        PrescribedMotion("motor", "a", "b", coordinate="distance", at_a=(0.1, 0.0, 0.2), motion=lambda t: 1 + t**2),
    ],
}
FORCES = {
    2: [
        PointForce("load", "a", force=lambda t: (ca.exp(-t), TABLE(t)), at=(0.1, 0.2), frame="body"),
        PointForce("weight", "a", force=(1.0, 2.0)),
        Torque("torque", "a", torque=3.0),
        Spring("spring", "a", "b", stiffness=10.0, free_length=0.1),
        Damper("damper", "a", "b", damping=2.0),
        TorsionSpring("mainspring", "a", "b", stiffness=2.0, free_angle=-25.0),
    ],
    3: [
        PointForce("load", "a", force=lambda t: (ca.exp(-t), TABLE(t), t), at=(0.1, 0.2, 0.3), frame="body"),
        PointForce("weight", "a", force=(1.0, 2.0, 3.0)),
        Torque("torque", "a", torque=(1.0, 2.0, 3.0)),
        Spring("spring", "a", "b", stiffness=10.0, free_length=0.1, at_a=(0.3, 0.0, 0.0), at_b=(0.0, 0.1, 0.0)),
        Damper("damper", "a", "b", damping=2.0, at_a=(0.3, 0.0, 0.0), at_b=(0.0, 0.1, 0.0)),
    ],
}
GRAVITY = {2: Gravity(acceleration=(0.1, -9.81)), 3: Gravity(acceleration=(0.1, 0.2, -9.81))}


def kinds_of(dimension: int, *, rough: bool = True) -> Kinds:
    return Kinds(Shape(dimension, dimension if rough else 1), ElementFunctions(dimension))


@dataclass
class Made:
    """A kind, made where it is used, the dimension that it is of, and the parameters of an element."""

    make: Callable[[Any], Kind]
    element: Element
    dimension: int
    numbers: list[float]

    @functools.cached_property
    def kind(self) -> Kind:
        return self.make(self.element)


def made() -> dict[str, Made]:
    found = {}
    for dimension, where in ((2, "plane"), (3, "space")):
        rough, smooth = (kinds_of(dimension, rough=rough) for rough in (True, False))

        def add(name: str, make: Any, e: Element, *first: float, where=where, dimension=dimension) -> None:
            found[f"{name}, {where}"] = Made(make, e, dimension, [*first, *e.numbers().values()])

        for e in CONTACTS[dimension]:
            add(f"{e.name} rough", rough.contact, e)
            add(f"{e.name} smooth", smooth.contact, e)
            add(f"{e.name} surface", rough.surface, e)
        for e in JOINTS[dimension]:
            add(e.name, rough.joint, e)
            add(f"{e.name} bias", rough.bias, e)
            add(f"{e.name} closure", rough.closure, e)
        for e in FORCES[dimension]:
            add(e.name, rough.force, e)
            add(f"{e.name} powers", rough.powers, e)
        gravity = GRAVITY[dimension]
        add("gravity", rough.gravity, gravity, 2.0)
        add("height", rough.height, gravity, 2.0)
    return found


KINDS = made()
#: doubles of a body in this memory, before its placement, of which the angle is the second last, and from there to its
#: twist
BODY, PLACE, TWIST = 28, 4, 16
#: doubles before the outputs of the first element; what nothing is written to
OFFSET, UNTOUCHED = 12, 1e300


def compiled(kind: Kind) -> Kernel:
    return kernel(kind.function, kind.outputs, kind.stands)


def stride(kind: Kind) -> int:
    """Doubles between the outputs of two elements, with some that nothing is written to."""
    return max(place + width(size) for place, size in kind.outputs) + 4


def width(size: int) -> int:
    """Doubles that an output takes: three components are a vector of four."""
    return 1 if size == 1 else 4


def in_fours(values: np.ndarray, dimension: int) -> np.ndarray:
    """As it stands in memory: in space each three numbers have a zero after them."""
    return values if dimension == 2 else np.pad(values.reshape(-1, 3), ((0, 0), (0, 1))).ravel()


def called(it: Made, elements: list[list[np.ndarray]]) -> np.ndarray:
    """What the compiled kind writes for elements on bodies of their own, one row per element."""
    code, pointer, count, step = compiled(it.kind), ctypes.c_void_p, len(elements), stride(it.kind)
    memory = np.zeros((2 * count, BODY))
    for k, (_, z_a, z_b, v_a, v_b, _) in enumerate(elements):
        for body, z, v in ((2 * k, z_a, v_a), (2 * k + 1, z_b, v_b)):
            if it.dimension == 2:
                memory[body, PLACE - 2], z = z[-1], z[:4]
            for at, values in ((PLACE, z), (PLACE + TWIST, v)):
                stored = in_fours(values, it.dimension)
                memory[body, at : at + stored.size] = stored
    places = [(8 * BODY * 2 * k, 8 * BODY * (2 * k + 1), 8 * (OFFSET + step * k)) for k in range(count)]
    table, t = np.array(places), elements[0][0]
    p = np.concatenate([*(element[5] for element in elements), [0.0]])
    w, out = np.zeros(code.slots * count + 1), np.full(OFFSET + step * count, UNTOUCHED)
    ctypes.CFUNCTYPE(None, ctypes.c_int64, pointer, pointer)(code.prepare)(count, p.ctypes.data, w.ctypes.data)
    evaluate = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[pointer] * 6)(code.evaluate)
    placements = memory.ctypes.data + 8 * PLACE
    twists = placements + 8 * TWIST
    evaluate(count, table.ctypes.data, t.ctypes.data, placements, twists, w.ctypes.data, out.ctypes.data)
    assert np.all(out[:OFFSET] == UNTOUCHED)
    return out[OFFSET:].reshape(count, step)


def placed(kind: Kind, elements: list[list[np.ndarray]]) -> np.ndarray:
    """The same by CasADi, at the places that the kind says; vectors have a zero besides."""
    rows = np.full((len(elements), stride(kind)), UNTOUCHED)
    for row, element in zip(rows, elements, strict=True):
        t, z_a, z_b, *others = element
        z_a, z_b = (z[: kind.function.numel_in(1)] for z in (z_a, z_b))
        values, k = np.array(kind.function(t, z_a, z_b, *others)).ravel(), 0
        for place, size in kind.outputs:
            row[place : place + width(size)] = 0.0
            row[place : place + size] = values[k : k + size]
            k += size
        assert k == values.size
    return rows


def somewhere(rng: np.random.Generator, dimension: int) -> np.ndarray:
    """A placement: position, and the columns of a rotation, of which the plane has one, and there the angle."""
    if dimension == 2:
        angle = rng.uniform(-30, 30)
        return np.array([*rng.uniform(-1, 1, 2), np.cos(angle), np.sin(angle), angle])
    return np.concatenate([rng.uniform(-1, 1, 3), Rotation.random(random_state=rng).as_matrix().T.ravel()])


@pytest.mark.parametrize("name", some(KINDS, 4))
def test_the_bits_are_those_of_casadi(name):
    it, rng = KINDS[name], np.random.default_rng(1)
    for _ in range(8):
        t, elements = rng.uniform(0, 1, 1), []
        for _ in range(3):
            bodies = [somewhere(rng, it.dimension) for _ in range(2)]
            twists = rng.uniform(-1, 1, (2, 3 * (it.dimension - 1)))
            elements.append([t, *bodies, *twists, np.array(it.numbers) * rng.uniform(0.9, 1.1)])
        found, exact = called(it, elements), placed(it.kind, elements)
        assert np.array_equal(found, exact), (found - exact)[found != exact]


@pytest.mark.parametrize("dimension", [2, 3])
def test_elements_on_the_ground_are_those_at_its_placement(dimension):
    """The same numbers, and fewer operations where its placement is multiplied by."""
    shape, functions, rng = Shape(dimension, dimension), ElementFunctions(dimension), np.random.default_rng(2)
    moving, still = Kinds(shape, functions), Kinds(shape, functions, grounds=["a"])
    z_a = np.array([0.0, 0, 1, 0, 0] if dimension == 2 else [0.0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1])
    fewer = []
    for name, elements in (("contact", CONTACTS), ("joint", JOINTS), ("force", FORCES)):
        for e in elements[dimension]:
            plain, known = getattr(moving, name)(e), getattr(still, name)(e)
            twists = np.zeros(3 * (dimension - 1)), rng.uniform(-1, 1, 3 * (dimension - 1))
            bodies, p = (z_a, somewhere(rng, dimension)), np.array(list(e.numbers().values()))
            one, other = (placed(kind, [[np.array([0.3]), *bodies, *twists, p]]) for kind in (plain, known))
            assert np.array_equal(one, other), e.name
            fewer.append(known.function.n_instructions() - plain.function.n_instructions())
    assert max(fewer) <= 0 and sum(count < 0 for count in fewer) > len(fewer) / 2


def written(kind: Kind) -> list[int]:
    """Places that the kind writes to, in their order."""
    return sorted(place + k for place, size in kind.outputs for k in range(width(size)))


def doubles(schema: str, shape: Shape, count: int, *paths: tuple[str, ...]) -> list[int]:
    """Places of fields, along these paths, of so many records."""
    found, step = [], dtype(schema, shape).itemsize // 8
    for path in paths:
        inner = dtype(schema, shape)
        for name in path:
            inner = inner[name]
        first = offset(schema, shape, *path) // 8
        found += [first + step * i + k for i in range(count) for k in range(inner.itemsize // 8)]
    return sorted(found)


@pytest.mark.parametrize("dimension", [2, 3])
def test_outputs_stand_in_the_fields_of_records(dimension):
    """Each once, and nothing else is written."""
    kinds, guide, weld = kinds_of(dimension), CONTACTS[dimension][1], JOINTS[dimension][2]
    shape, gaps, sides = kinds.shape, len(guide.gap_labels), (("a", "directions"), ("b", "directions"))
    assert written(kinds.contact(guide)) == doubles("Contact", shape, gaps, ("g",), *sides)
    assert written(kinds.surface(guide)) == doubles("Contact", shape, gaps, ("true_gap",), ("true_rate",))
    smooth = kinds_of(dimension, rough=False)
    assert written(smooth.contact(guide)) == doubles("Contact", smooth.shape, gaps, ("g",), *sides)
    loads = doubles("Load", shape, 1, ("on_a",), ("on_b",))
    assert [written(kinds.force(e)) for e in FORCES[dimension][:5]] == [loads] * 5
    assert written(kinds.gravity(GRAVITY[dimension])) == loads
    accounts = doubles("Account", shape, 1, ("potential",), ("power",), ("damping",))
    assert [written(kinds.powers(e)) for e in FORCES[dimension][:5]] == [accounts] * 5
    # 3 rows in blocks of two, of which one stays empty, or 6 in blocks of three
    blocks, empty = -(-len(weld.rows) // shape.rows), -len(weld.rows) % shape.rows
    for kind, names in ((kinds.joint(weld), ("g", "rate")), (kinds.bias(weld), ("bias_acceleration",)),
                        (kinds.closure(weld), ("closure",))):  # fmt: skip
        paths = [(name,) for name in names]
        along = sides if len(names) == 2 else ()
        wanted = doubles("Joint", shape, blocks, *paths, *along)
        missing = sorted(set(wanted) - set(written(kind)))
        assert len(missing) == empty * (len(names) + len(along) * shape.width)
        assert sorted([*written(kind), *missing]) == wanted


def test_what_never_varies_is_known():
    kinds = kinds_of(2)
    assert [varies(kinds.force(e).function) for e in FORCES[2]] == [True, False, False, True, True, True]
    kinds = kinds_of(3)  # a torque of the ground frame turns in that of the body
    assert [varies(kinds.force(e).function) for e in FORCES[3]] == [True, False, True, True, True]


def test_parameters_of_one_kind_share_one_function():
    kinds, pin = kinds_of(2), CONTACTS[2][0]
    other = RevoluteClearance("other", "c", "d", at_a=(0.3, 0.0), clearance=2e-3, radius=0.02, contact=CONTACT)
    assert kinds.contact(pin) is kinds.contact(other)
    assert compiled(kinds.contact(other)) is compiled(kinds_of(2).contact(pin))


def test_an_operation_without_compiled_form_is_named():
    sizes = (1, 4, 4, 3, 3, 1)
    arguments = [ca.SX.sym("x", size) for size in sizes]
    function = ca.Function("odd", arguments, [ca.erfinv(arguments[0])])
    with pytest.raises(Unsupported, match="erfinv"):
        kernel(function, [(0, 1)], [range(size) for size in sizes[:-1]])
