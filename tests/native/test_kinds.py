"""Machine code of element kinds against CasADi's evaluation, bit for bit."""

from __future__ import annotations

import ctypes

import casadi as ca
import numpy as np
import pytest

from nonsmooth import (
    CircleCircle,
    CirclePlane,
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
    Spring,
    Table,
    Torque,
)
from nonsmooth.compile.emit import Unsupported, varies
from nonsmooth.compile.machine import Kernel, kernel
from nonsmooth.native import table as n
from nonsmooth.native.kinds import Kind, Kinds

CONTACT = Rigid(restitution=0.5, friction=0.2)
TABLE = Table(times=(0.0, 0.5, 1.0), values=(0.0, 2.0, 1.0))
CONTACTS = [
    RevoluteClearance("pin", "a", "b", at_a=(0.1, 0.2), clearance=1e-3, radius=0.01, contact=CONTACT),
    PrismaticClearance("guide", "a", "b", length=0.1, height=0.05, clearance=1e-3, direction=0.3, contact=CONTACT),
    PointPlane("point", "a", "b", direction=0.2, contact=CONTACT),
    CirclePlane("wheel", "a", "b", radius=0.1, contact=CONTACT),
    CircleCircle("balls", "a", "b", radius_a=0.1, radius_b=0.2, contact=CONTACT),
]
JOINTS = [
    Revolute("revolute", "a", "b", at_a=(0.1, 0.0)),
    Prismatic("prismatic", "a", "b", direction=0.4, angle=0.1),
    Fixed("weld", "a", "b", angle=0.2),
    PrescribedMotion("motor", "a", "b", coordinate="angle", motion=lambda t: ca.sin(3 * t) + t**2),
    PrescribedMotion("table", "a", "b", coordinate="x", motion=TABLE),
]
FORCES = [
    PointForce("load", "a", force=lambda t: (ca.exp(-t), TABLE(t)), at=(0.1, 0.2), frame="body"),
    PointForce("weight", "a", force=(1.0, 2.0)),
    Torque("torque", "a", torque=3.0),
    Spring("spring", "a", "b", stiffness=10.0, free_length=0.1),
    Damper("damper", "a", "b", damping=2.0),
]


def made() -> dict[str, tuple[Kind, list[float]]]:
    kinds, found = Kinds(2), {}
    for e in CONTACTS:
        found[f"{e.name} rough"] = kinds.contact(e, True), list(e.numbers().values())
        found[f"{e.name} smooth"] = kinds.contact(e, False), list(e.numbers().values())
        found[f"{e.name} surface"] = kinds.surface(e), list(e.numbers().values())
    for e in JOINTS:
        found[e.name] = kinds.joint(e), list(e.numbers().values())
        found[f"{e.name} closure"] = kinds.closure(e), list(e.numbers().values())
    for e in FORCES:
        found[e.name] = kinds.force(e), list(e.numbers().values())
    found["spring energy"] = kinds.potential(FORCES[3]), list(FORCES[3].numbers().values())
    gravity = Gravity(acceleration=(0.1, -9.81))
    found["gravity"] = kinds.gravity(gravity), [2.0, *gravity.numbers().values()]
    return found


KINDS = made()
#: doubles between the outputs of two elements, and before the first; what nothing is written to
STRIDE, OFFSET, UNTOUCHED = 4 * n.GAP, 12, 1e300


def compiled(kind: Kind) -> Kernel:
    return kernel(kind.function, kind.outputs)


def called(kind: Kind, elements: list[list[np.ndarray]]) -> np.ndarray:
    """What the compiled kind writes for elements on bodies of their own, one row per element."""
    made, pointer, count = compiled(kind), ctypes.c_void_p, len(elements)
    body = [8 * n.BODY * (1 + k) for k in range(2 * count)]
    memory = np.zeros(n.BODY * (2 * count + 1))
    places = [(body[2 * k], body[2 * k + 1], 8 * (OFFSET + STRIDE * k)) for k in range(count)]
    for (a, b, _), (_, z_a, z_b, v_a, v_b, _) in zip(places, elements, strict=True):
        for at, z, v in ((a // 8, z_a, v_a), (b // 8, z_b, v_b)):
            memory[at + n.BASE : at + n.BASE + 4], memory[at + n.V : at + n.V + 3] = z, v
    table, t = np.array(places), elements[0][0]
    p = np.concatenate([*(element[5] for element in elements), [0.0]])
    w, out = np.zeros(made.slots * count + 1), np.full(OFFSET + STRIDE * count, UNTOUCHED)
    ctypes.CFUNCTYPE(None, ctypes.c_int64, pointer, pointer)(made.prepare)(count, p.ctypes.data, w.ctypes.data)
    z, v = memory[n.BASE :], memory[n.V :]
    evaluate = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[pointer] * 6)(made.evaluate)
    evaluate(count, *(array.ctypes.data for array in (table, t, z, v, w, out)))
    assert np.all(out[:OFFSET] == UNTOUCHED)
    return out[OFFSET:].reshape(count, STRIDE)


def placed(kind: Kind, elements: list[list[np.ndarray]]) -> np.ndarray:
    """The same by CasADi, at the places that the kind says; vectors have a zero besides."""
    rows = np.full((len(elements), STRIDE), UNTOUCHED)
    for row, element in zip(rows, elements, strict=True):
        values, k = np.array(kind.function(*element)).ravel(), 0
        for place, size in kind.outputs:
            row[place : place + (1 if size == 1 else 4)] = 0.0
            row[place : place + size] = values[k : k + size]
            k += size
        assert k == values.size
    return rows


@pytest.mark.parametrize("name", KINDS)
def test_the_bits_are_those_of_casadi(name):
    kind, numbers = KINDS[name]
    rng = np.random.default_rng(1)
    for _ in range(20):
        t, elements = rng.uniform(0, 1, 1), []
        for _ in range(3):
            angles = rng.uniform(-3, 3, 2)
            bodies = [np.array([*rng.uniform(-1, 1, 2), np.cos(angle), np.sin(angle)]) for angle in angles]
            elements.append([t, *bodies, *rng.uniform(-1, 1, (2, 3)), np.array(numbers) * rng.uniform(0.9, 1.1)])
        found, exact = called(kind, elements), placed(kind, elements)
        assert np.array_equal(found, exact), (found - exact)[found != exact]


def test_outputs_stand_in_the_records_of_gaps_and_rows():
    kinds, guide, weld = Kinds(2), CONTACTS[1], JOINTS[2]
    for kind, step, fields in (
        (kinds.contact(guide, True), n.GAP, {n.GAP_G: 1, n.NORMAL // 8: 8, n.TANGENT // 8: 8}),
        (kinds.contact(guide, False), n.GAP, {n.GAP_G: 1, n.NORMAL // 8: 8}),
        (kinds.surface(guide), n.GAP, {n.TRUE: 1, n.TRUE_RATE: 8}),
        (kinds.joint(weld), n.ROW, {n.ROW_G: 1, n.DIRECTION // 8: 8, n.ROW_RATE: 1}),
    ):
        rows = 4 if step == n.GAP else 3
        wanted = {first + step * i + k for first, size in fields.items() for k in range(size) for i in range(rows)}
        assert written(kind) == wanted
    assert written(kinds.closure(weld)) == {n.MISFIT, n.MISFIT + n.ROW, n.MISFIT + 2 * n.ROW, n.POINT, n.POINT + 1}
    assert [written(kinds.force(e)) for e in FORCES] == [set(range(8))] * 5


def written(kind: Kind) -> set[int]:
    """Places that the kind writes to."""
    return {place + k for place, size in kind.outputs for k in range(1 if size == 1 else 4)}


def test_other_sides_of_a_step_stand_apart():
    assert n.GAP_SIDE == 8 * (n.TANGENT // 8 + 8 - n.GAP_G)
    assert n.GAP_SIDE + n.TANGENT + 64 <= n.GAP_STEP
    assert n.ROW_SIDE >= n.DIRECTION + 64 - 8 * n.ROW_G
    assert n.ROW_SIDE + n.DIRECTION + 64 <= n.ROW_STEP


def test_what_never_varies_is_known():
    kinds = Kinds(2)
    assert [varies(kinds.force(e).function) for e in FORCES] == [True, False, False, True, True]


def test_parameters_of_one_kind_share_one_function():
    kinds = Kinds(2)
    other = RevoluteClearance("other", "c", "d", at_a=(0.3, 0.0), clearance=2e-3, radius=0.02, contact=CONTACT)
    assert kinds.contact(CONTACTS[0], True) is kinds.contact(other, True)
    assert compiled(kinds.contact(other, True)) is compiled(Kinds(2).contact(CONTACTS[0], True))


def test_an_operation_without_compiled_form_is_named():
    arguments = [ca.SX.sym("x", size) for size in (1, 4, 4, 3, 3, 1)]
    function = ca.Function("odd", arguments, [ca.erfinv(arguments[0])])
    with pytest.raises(Unsupported, match="erfinv"):
        kernel(function, [(0, 1)])
