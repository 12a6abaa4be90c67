"""Functions that run compiled and uncompiled.

``@kernel`` leaves a function unchanged: called from Python, with views of records, it is interpreted; called from
compiled code, it is compiled and inlined there.
"""

import ast
import ctypes
import functools
import inspect
import math
import textwrap
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import overload

from nonsmooth.compile.records.compiled import RecordType, attribute
from nonsmooth.compile.records.packed import I64, OPT, PackedType, function
from nonsmooth.compile.records.schema import Shape, offset
from nonsmooth.compile.records.views import Record

#: functions of a record or motion that are constants of its shape, and what they are of it
CONSTANTS: dict[Any, Any] = {}


def shape_of(value):
    """The shape of a record; of a motion, whose length is an odd number of fours in the plane, its dimension alone."""
    return value._shape if isinstance(value, Record) else Shape(2 if value.shape[0] % 8 == 4 else 3, 0)


def constant(function):
    """A function of a record or motion that is known where its shape is: branches on it are compiled for that alone."""

    def known(value):
        return function(shape_of(value))

    CONSTANTS[known] = function
    return known


is_planar = constant(lambda shape: shape.dimension == 2)  # (record or motion)
is_flexible = constant(lambda shape: shape.modes > 0)  # (record): the mechanism has flexible bodies
has_other_laws = constant(lambda shape: shape.options >= 1)  # (record): of impacts, or balanced moment arms
has_incremental_laws = constant(lambda shape: shape.options >= 2)  # (record): of impacts


class _Pruned(ast.NodeTransformer):
    """A function without the branches that a shape does not take."""

    def __init__(self, names, shape):
        self.names, self.shape = names, shape

    def visit_Call(self, node):
        known = CONSTANTS.get(self.names.get(getattr(node.func, "id", None)))
        return self.generic_visit(node) if known is None else ast.Constant(bool(known(self.shape)))

    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        constant = isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Constant)
        return ast.Constant(not node.operand.value) if constant else node

    def visit_BoolOp(self, node):
        node, ends = self.generic_visit(node), isinstance(node.op, ast.Or)
        values = [one for one in node.values if not (isinstance(one, ast.Constant) and one.value is not ends)]
        if any(isinstance(one, ast.Constant) and one.value is ends for one in values):
            return ast.Constant(ends)
        return values[0] if len(values) == 1 else ast.BoolOp(node.op, values) if values else ast.Constant(not ends)

    def visit_IfExp(self, node):
        node = self.generic_visit(node)
        return (node.body if node.test.value else node.orelse) if isinstance(node.test, ast.Constant) else node

    def visit_If(self, node):
        node = self.generic_visit(node)
        if not isinstance(node.test, ast.Constant):
            return node
        return (node.body if node.test.value else node.orelse) or ast.Pass()


@functools.cache
def _pruned(function, shape):
    names = function.__globals__
    if function.__closure__ or not any(
        names.get(name) in CONSTANTS
        for name in function.__code__.co_names
        if getattr(names.get(name), "__hash__", None)
    ):
        return function
    tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    tree.body[0].decorator_list = []
    tree = ast.fix_missing_locations(_Pruned(names, shape).visit(tree))
    found = {}
    exec(compile(tree, function.__code__.co_filename, "exec"), names, found)
    return found[function.__name__]


def _kernel(function, options):
    @overload(function, jit_options=options, strict=False)
    def chosen(*kinds):
        record = next((kind for kind in kinds if isinstance(kind, RecordType)), None)
        if record is not None:
            return _pruned(function, record.shape)
        return _pruned(function, shape_of(kinds[0])) if isinstance(kinds[0], PackedType) else function

    return function


def kernel(function):
    """A function of records that is inlined in compiled code."""
    return _kernel(function, OPT)


def piece(function):
    """A larger function of records, which is compiled once and not inlined."""
    return _kernel(function, {**OPT, "forceinline": False})


# ---- elements


#: fields whose addresses in the first body are passed to the code of a group of elements
SEEN = ("z", "u")


def evaluate(group):
    """Run the code of a group of elements, at the time and placements at which elements are evaluated."""
    shape = group._shape
    ground = group.ground._at
    places = group.places
    z, u = (ground + offset("Body", shape, name) for name in SEEN)
    t = group.system._at + offset("System", shape, "seen")
    code = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 7)(group.code)
    code(len(places), places.at, t, z, u, group.slots.at, ground)


@function(evaluate)
def _(group):
    shape = group.shape

    def code(context, builder, record):
        def constant(number):
            return ir.Constant(I64, number)

        def of(name):
            return attribute(context, builder, group, record, name)

        places, slots, ground = (of(name) for name in ("places", "slots", "ground"))
        z, u = (builder.add(ground, constant(offset("Body", shape, name))) for name in SEEN)
        t = builder.add(of("system"), constant(offset("System", shape, "seen")))
        at, count = (builder.extract_value(places, i) for i in (0, 1))
        kind = ir.FunctionType(ir.VoidType(), [I64] * 7)
        arguments = [count, at, t, z, u, builder.extract_value(slots, 0), ground]
        builder.call(builder.inttoptr(of("code"), kind.as_pointer()), arguments)
        return context.get_dummy_value()

    return types.void, code


#: fields whose addresses are passed to the code of a flexible body
OF_BODY = ("lasting", "begun", "going", "moved")


def code_of_body(field):
    """A function of a body that runs the code at the address in a field, from `begun` with `going` to `moved`."""

    def call(body):
        shape = body._shape
        t, q, u, out = (body._at + offset("Body", shape, name) for name in OF_BODY)
        code = ctypes.CFUNCTYPE(None, *[ctypes.c_int64] * 7)(getattr(body, field))
        code(1, body.origin._at, t, q, u, body.slots.at, out)

    @function(call)
    def _(body):
        shape = body.shape

        def code(context, builder, record):
            def of(name):
                return attribute(context, builder, body, record, name)

            t, q, u, out = (builder.add(record, ir.Constant(I64, offset("Body", shape, name))) for name in OF_BODY)
            slots = builder.extract_value(of("slots"), 0)
            kind = ir.FunctionType(ir.VoidType(), [I64] * 7)
            called = builder.inttoptr(of(field), kind.as_pointer())
            builder.call(called, [ir.Constant(I64, 1), of("origin"), t, q, u, slots, out])
            return context.get_dummy_value()

        return types.void, code

    return call


# ---- programs that other code solves


def solved_outside(field):
    """A function of a record that calls the function at an address in a field; 1 if a program was solved."""

    def call(record):
        return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(getattr(record, field))(record._at)

    @function(call)
    def _(record):
        def code(context, builder, at):
            kind = ir.FunctionType(I64, [I64])
            address = attribute(context, builder, record, at, field)
            return builder.call(builder.inttoptr(address, kind.as_pointer()), [at])

        return types.int64, code

    return call


# ---- sine and cosine


@kernel
def sine_cosine(x):
    """(sin x, cos x) with an error of 1e-16; unlike libm's functions, it is inlined in compiled code."""
    n, y = 0.0, x
    if not abs(x) <= 0.7853981633974483:
        if not abs(x) < 1e6:
            return math.sin(x), math.cos(x)
        n = math.floor(x * 0.6366197723675814 + 0.5)
        y = ((x - n * 1.57079632673412561417) - n * 6.07710050630396597660e-11) - n * 2.02226624879595063154e-21
    z = y * y
    zz = z * z
    sine = y + y * z * (
        (-1.66666666666666324348e-01 + z * 8.33333333332248946124e-03)
        + zz * ((-1.98412698298579493134e-04 + z * 2.75573137070700676789e-06)
                + zz * (-2.50507602534068634195e-08 + z * 1.58969099521155010221e-10))
    )  # fmt: skip
    half = 0.5 * z
    w = 1.0 - half
    cosine = w + (((1.0 - w) - half) + zz * (
        (4.16666666666666019037e-02 + z * -1.38888888888741095749e-03)
        + zz * ((2.48015872894767294178e-05 + z * -2.75573143513906633035e-07)
                + zz * (2.08757232129817482790e-09 + z * -1.13596475577881948265e-11))
    ))  # fmt: skip
    k = int(n) & 3
    if k & 1:
        sine, cosine = cosine, sine
    return -sine if k & 2 else sine, -cosine if (k + 1) & 2 else cosine
