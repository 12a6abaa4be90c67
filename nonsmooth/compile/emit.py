"""LLVM code of element kinds, generated from CasADi's instruction lists.

A kind is a function ``(t, z_a, z_b, .., v_a, v_b, .., p) -> out`` of placements and twists of two or more bodies and of
the element's parameters. Expressions of the parameters alone are computed once per run by the first of two functions;
the second is evaluated in every step, for all elements of the kind ::

    prepare(n, p, w)                           p (n, parameters) -> w (n, slots)
    evaluate(n, places, t, z, v, w, out)       places (n, 3) offsets of body a, of body b, of the outputs, in bytes

An element has one place for each two of its bodies. The placement of a body at offset a is at z + a, its twist at v +
a; the outputs of an element whose first place has offset o are at constant offsets from out + o. The three components
of a vector are stored at once, with a zero as the fourth: a later load need not wait for several stores.

Arithmetic is emitted in CasADi's order, without contraction and fast-math flags: results are bitwise those of CasADi.
"""

import struct
from collections.abc import Sequence
from dataclasses import dataclass

import casadi as ca
import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.compile.lookup import called, rows_of
from nonsmooth.exceptions import NonsmoothError

#: to be increased with every change of the emitted code: cached machine code of another version is not used
EMITTER = 7

CONSTANT, PARAMETRIC, VARYING = 0, 1, 2

BINARY = {"OP_ADD": "fadd", "OP_SUB": "fsub", "OP_MUL": "fmul", "OP_DIV": "fdiv"}
COMPARE = {"OP_LT": "olt", "OP_LE": "ole", "OP_EQ": "oeq", "OP_NE": "une"}
#: functions: LLVM's, and those of the C library, found in the running process
CALLED = {
    **{f"OP_{name.upper()}": f"llvm.{name}.f64" for name in ("sqrt", "fabs", "floor", "ceil", "copysign")},
    "OP_FMIN": "llvm.minnum.f64", "OP_FMAX": "llvm.maxnum.f64", "OP_CONSTPOW": "pow",
    **{f"OP_{name.upper()}": name for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")},
    **{f"OP_{name.upper()}": name for name in ("asinh", "acosh", "atanh", "exp", "log", "expm1", "log1p", "hypot")},
    **{f"OP_{name.upper()}": name for name in ("atan2", "pow", "fmod", "erf")},
}  # fmt: skip
#: attributes with which LLVM eliminates repeated calls and evaluates the sine and cosine of an angle together
PURE = "nounwind readnone willreturn"
NAME_OF = {getattr(ca, name): name for name in dir(ca) if name.startswith("OP_")}


class Unsupported(NonsmoothError):
    """An operation without a compiled form; a model that contains it is refused."""


@dataclass(frozen=True)
class Code:
    """LLVM code of a kind, with the placeholder ``@NAME@`` for its name, and the number of slots per element."""

    text: str
    slots: int


@dataclass(frozen=True)
class _Value:
    """One instruction: its operation, its arguments, and whether its value varies within a run."""

    operation: str
    arguments: tuple[int, ...]
    level: int
    #: for inputs (argument, component); for constants their bits; for rows and entries of tables (table, column)
    source: tuple[int, int] = (0, 0)


def emit(function: ca.Function, outputs: Sequence[tuple[int, int]], stands: Sequence[Sequence[int]]) -> Code:
    """The code of a kind; Unsupported if an operation has no compiled form. `outputs` are (offset in doubles, 1 or 3
    components), `stands` for each argument but p the offsets of its components from the placement or twist."""
    values, results, tables = _values(function)
    used = {i for value in values if value.level == VARYING for i in value.arguments} | set(results.values())
    slots = {i: k for k, i in enumerate(sorted(i for i in used if values[i].level == PARAMETRIC))}
    declared = {(CALLED[value.operation], len(value.arguments)) for value in values if value.operation in CALLED}
    body = [f"declare double @{name}({', '.join(['double'] * count)}) {PURE}" for name, count in sorted(declared)]
    body += [line for k, table in enumerate(tables) for line in _table(k, table)]
    body += ["define void @NAME@_prepare(i64 %n, ptr noalias %p, ptr noalias %w) {", *_loop_head()]
    body += [f"  %po = mul i64 %i, {function.numel_in(function.n_in() - 1)}", f"  %wo = mul i64 %i, {len(slots)}"]
    body += ["  %pi = getelementptr double, ptr %p, i64 %po", "  %wi = getelementptr double, ptr %w, i64 %wo"]
    for i, value in enumerate(values):
        if value.level == PARAMETRIC and value.operation == "OP_INPUT":
            body += _load(f"x{i}", "pi", value.source[1])
        elif value.level == PARAMETRIC or value.level == CONSTANT and value.operation != "OP_CONST":
            body += _operation(i, value, values)
    for i, k in slots.items():
        body += _store(f"s{k}", "wi", k, _name(i, values))
    body += _loop_tail()
    body += _evaluate(values, slots, stands)
    names = iter([_name(results[k], values) if k in results else "0.0" for k in range(function.numel_out(0))])
    for k, (place, count) in enumerate(outputs):
        body += _store(f"o{k}", "oi", place, *(next(names) for _ in range(count)))
    body += _loop_tail()
    return Code("\n".join(body) + "\n", len(slots))


def varies(function: ca.Function) -> bool:
    """Whether a kind depends on anything other than parameters."""
    arguments = function.sx_in()
    return bool(ca.depends_on(function(*arguments), ca.vertcat(*arguments[:-1])))


def _values(function: ca.Function) -> tuple[list[_Value], dict[int, int], list[Array]]:
    """The instructions in static single assignment form, the value of each output component, and the tables."""
    values: list[_Value] = []
    tables: list[Array] = []
    outputs: dict[int, int] = {}
    register: dict[int, int] = {}
    for k in range(function.n_instructions()):
        name = NAME_OF[function.instruction_id(k)]
        inputs, target = function.instruction_input(k), function.instruction_output(k)
        if name == "OP_OUTPUT":
            outputs[target[1]] = register[inputs[0]]
            continue
        if name == "OP_CALL":
            row = len(values)
            values.append(_Value("row", (register[inputs[0]],), VARYING, (len(tables), 0)))
            tables.append(rows_of(called(function, k)))
            for column, one in enumerate(target):
                register[one] = len(values)
                values.append(_Value("entry", (row,), VARYING, (0, column)))
            continue
        if name == "OP_INPUT":
            level = PARAMETRIC if inputs[0] == function.n_in() - 1 else VARYING
            value = _Value(name, (), level, (inputs[0], inputs[1]))
        elif name == "OP_CONST":
            bits = struct.unpack("<Q", struct.pack("<d", function.instruction_constant(k)))[0]
            value = _Value(name, (), CONSTANT, (bits, 0))
        else:
            arguments = tuple(register[i] for i in inputs)
            value = _Value(name, arguments, max(values[i].level for i in arguments))
        register[target[0]] = len(values)
        values.append(value)
    return values, outputs, tables


def _table(k: int, rows: Array) -> list[str]:
    """A table, row by row, and the search for the last row that begins before a number, or at it."""
    columns, count = rows.shape
    numbers = (f"double 0x{bits:016X}" for bits in rows.T.ravel().view(np.uint64).tolist())
    return [
        f"@NAME@_table{k} = private constant [{rows.size} x double] [{', '.join(numbers)}]",
        f"define private ptr @NAME@_row{k}(double %t) {{",
        "entry:",
        "  br label %loop",
        "loop:",
        "  %low = phi i64 [ 0, %entry ], [ %l, %loop ]",
        f"  %high = phi i64 [ {count}, %entry ], [ %h, %loop ]",
        "  %sum = add i64 %low, %high",
        "  %middle = lshr i64 %sum, 1",
        f"  %at = mul i64 %middle, {columns}",
        f"  %p = getelementptr [{rows.size} x double], ptr @NAME@_table{k}, i64 0, i64 %at",
        "  %begin = load double, ptr %p",
        "  %begun = fcmp oge double %t, %begin",
        "  %l = select i1 %begun, i64 %middle, i64 %low",
        "  %h = select i1 %begun, i64 %high, i64 %middle",
        "  %rest = sub i64 %h, %l",
        "  %more = icmp ugt i64 %rest, 1",
        "  br i1 %more, label %loop, label %done",
        "done:",
        f"  %from = mul i64 %l, {columns}",
        f"  %first = getelementptr [{rows.size} x double], ptr @NAME@_table{k}, i64 0, i64 %from",
        "  ret ptr %first",
        "}",
    ]


def _evaluate(values: list[_Value], slots: dict[int, int], stands: Sequence[Sequence[int]]) -> list[str]:
    """The evaluation; loads come first, since stores of the loop never change its inputs."""
    inputs = {
        i: value.source for i, value in enumerate(values) if value.operation == "OP_INPUT" and value.level == VARYING
    }
    bodies, read = (len(stands) - 1) // 2, {argument for argument, _ in inputs.values()}
    of = ["t", *(f"{what}{body}" for what in "zv" for body in range(bodies))]  # per argument its pointer
    each = -(-bodies // 2)  # places of an element
    lines = [
        "define void @NAME@_evaluate(i64 %n, ptr noalias %places, ptr noalias %t, ptr noalias %z, ptr noalias %v, "
        "ptr noalias %w, ptr noalias %out) {",
        *_loop_head(each),
        f"  %po = mul i64 %i, {3 * each}",
        "  %pi = getelementptr i64, ptr %places, i64 %po",
    ]
    for body in range(bodies):
        if read & {1 + body, 1 + bodies + body}:
            lines += _load(f"b{body}", "pi", 3 * (body // 2) + body % 2, "i64")
    lines += _load("o", "pi", 2, "i64")
    for k in sorted(read - {0}):
        lines.append(f"  %{of[k]} = getelementptr i8, ptr %{of[k][0]}, i64 %b{of[k][1:]}")
    lines.append("  %oi = getelementptr i8, ptr %out, i64 %o")
    if slots:
        lines += [f"  %wo = mul i64 %i, {len(slots)}", "  %wi = getelementptr double, ptr %w, i64 %wo"]
    for i, k in slots.items():
        lines += _load(f"x{i}", "wi", k)
    for i, (argument, component) in inputs.items():
        lines += _load(f"x{i}", of[argument], stands[argument][component])
    for i, value in enumerate(values):
        constant = value.level == CONSTANT and value.operation != "OP_CONST"
        if constant or value.level == VARYING and value.operation != "OP_INPUT":
            lines += _operation(i, value, values)
    return lines


def _loop_head(each: int = 1) -> list[str]:
    """The loop over n elements, or over n places of which an element has so many."""
    return [
        "entry:",
        f"  %count = udiv i64 %n, {each}",
        "  %some = icmp sgt i64 %count, 0",
        "  br i1 %some, label %loop, label %done",
        "loop:",
        "  %i = phi i64 [ 0, %entry ], [ %next, %loop ]",
    ]


def _loop_tail() -> list[str]:
    return [
        "  %next = add nuw nsw i64 %i, 1",
        "  %more = icmp slt i64 %next, %count",
        "  br i1 %more, label %loop, label %done",
        "done:",
        "  ret void",
        "}",
    ]


def _load(name: str, pointer: str, index: int, kind: str = "double") -> list[str]:
    return [f"  %{name}p = getelementptr {kind}, ptr %{pointer}, i64 {index}", f"  %{name} = load {kind}, ptr %{name}p"]


def _store(name: str, pointer: str, index: int, *values: str) -> list[str]:
    """Store one number, or several numbers padded with zeros to a vector of four."""
    lines, kind, value = [f"  %{name}p = getelementptr double, ptr %{pointer}, i64 {index}"], "double", values[0]
    if len(values) > 1:
        kind, value = "<4 x double>", "zeroinitializer"
        for k, x in enumerate(values):
            lines.append(f"  %{name}v{k} = insertelement {kind} {value}, double {x}, i32 {k}")
            value = f"%{name}v{k}"
    keep = "volatile " if len(values) > 1 else ""  # keeps LLVM from splitting it into stores of two numbers
    return [*lines, f"  store {keep}{kind} {value}, ptr %{name}p, align 8"]


def _name(i: int, values: list[_Value]) -> str:
    return f"0x{values[i].source[0]:016X}" if values[i].operation == "OP_CONST" else f"%x{i}"


def _operation(i: int, value: _Value, values: list[_Value]) -> list[str]:
    """The lines that compute one value."""
    name, arguments = value.operation, [_name(j, values) for j in value.arguments]
    first, last = arguments[0], arguments[-1]
    if name == "row":
        return [f"  %x{i} = call ptr @NAME@_row{value.source[0]}(double {first})"]
    if name == "entry":
        return _load(f"x{i}", f"x{value.arguments[0]}", value.source[1])
    if name in BINARY:
        return [f"  %x{i} = {BINARY[name]} double {first}, {last}"]
    if name in CALLED:
        return [f"  %x{i} = call double @{CALLED[name]}({', '.join(f'double {a}' for a in arguments)})"]
    if name in COMPARE:
        return [f"  %c{i} = fcmp {COMPARE[name]} double {first}, {last}", f"  %x{i} = uitofp i1 %c{i} to double"]
    simple = {
        "OP_NEG": f"fneg double {first}",
        "OP_SQ": f"fmul double {first}, {first}",
        "OP_TWICE": f"fmul double {first}, 2.0",
        "OP_INV": f"fdiv double 1.0, {first}",
        "OP_ASSIGN": f"fadd double {first}, -0.0",
    }
    if name in simple:
        return [f"  %x{i} = {simple[name]}"]
    truth = [f"  %t{i} = fcmp une double {first}, 0.0", f"  %u{i} = fcmp une double {last}, 0.0"]
    if name == "OP_IF_ELSE_ZERO":
        return [truth[0], f"  %x{i} = select i1 %t{i}, double {last}, double 0.0"]
    if name == "OP_NOT":
        return [f"  %t{i} = fcmp oeq double {first}, 0.0", f"  %x{i} = uitofp i1 %t{i} to double"]
    if name in ("OP_AND", "OP_OR"):
        word = name.removeprefix("OP_").lower()
        return [*truth, f"  %b{i} = {word} i1 %t{i}, %u{i}", f"  %x{i} = uitofp i1 %b{i} to double"]
    if name == "OP_SIGN":
        return [
            f"  %t{i} = fcmp olt double {first}, 0.0",
            f"  %u{i} = fcmp ogt double {first}, 0.0",
            f"  %s{i} = select i1 %u{i}, double 1.0, double {first}",
            f"  %x{i} = select i1 %t{i}, double -1.0, double %s{i}",
        ]
    raise Unsupported(f"the operation {name.removeprefix('OP_').lower()} has no compiled form")
