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
from nonsmooth.native.compiler import kernel
from nonsmooth.native.emit import Unsupported
from nonsmooth.native.kinds import Kinds, varies

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


def made() -> dict[str, tuple[ca.Function, list[float]]]:
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
    return found


KINDS = made()


def called(function: ca.Function, arguments: list[np.ndarray]) -> np.ndarray:
    """The compiled kind of one element on bodies 1 and 2."""
    compiled, pointer = kernel(function), ctypes.c_void_p
    t, z_a, z_b, v_a, v_b, p = arguments
    w, out = np.zeros(max(compiled.slots, 1)), np.zeros(compiled.outputs)
    z, v = np.concatenate([np.zeros(4), z_a, z_b]), np.concatenate([np.zeros(3), v_a, v_b])
    ia, ib, p = np.array([1]), np.array([2]), np.concatenate([p, [0.0]])
    prepare = ctypes.CFUNCTYPE(None, ctypes.c_int64, pointer, pointer)(compiled.prepare)
    evaluate = ctypes.CFUNCTYPE(None, ctypes.c_int64, *[pointer] * 7)(compiled.evaluate)
    prepare(1, p.ctypes.data, w.ctypes.data)
    evaluate(1, *(array.ctypes.data for array in (ia, ib, t, z, v, w, out)))
    return out


@pytest.mark.parametrize("name", KINDS)
def test_the_bits_are_those_of_casadi(name):
    function, numbers = KINDS[name]
    rng = np.random.default_rng(1)
    for _ in range(20):
        angles = rng.uniform(-3, 3, 2)
        places = [np.array([*rng.uniform(-1, 1, 2), np.cos(angle), np.sin(angle)]) for angle in angles]
        arguments = [rng.uniform(0, 1, 1), *places, *rng.uniform(-1, 1, (2, 3)), np.array(numbers)]
        exact = np.array(function(*arguments)).ravel()
        assert np.array_equal(called(function, arguments), exact), called(function, arguments) - exact


def test_what_never_varies_is_known():
    kinds = Kinds(2)
    assert [varies(kinds.force(e)) for e in FORCES] == [True, False, False, True, True]


def test_parameters_of_one_kind_share_one_function():
    kinds = Kinds(2)
    other = RevoluteClearance("other", "c", "d", at_a=(0.3, 0.0), clearance=2e-3, radius=0.02, contact=CONTACT)
    assert kinds.contact(CONTACTS[0], True) is kinds.contact(other, True)
    assert kernel(kinds.contact(other, True)) is kernel(Kinds(2).contact(CONTACTS[0], True))


def test_an_operation_without_compiled_form_is_named():
    arguments = [ca.SX.sym("x", size) for size in (1, 4, 4, 3, 3, 1)]
    function = ca.Function("odd", arguments, [ca.erfinv(arguments[0])])
    with pytest.raises(Unsupported, match="erfinv"):
        kernel(function)
