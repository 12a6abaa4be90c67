"""Formulas of the motion as text, which replace Python functions for loads in files.

Text is parsed into arithmetic of known names; nothing of it is executed.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import casadi as ca

__all__ = ["FUNCTIONS", "FormulaError", "evaluate", "names_in"]

#: by name the function, and how many arguments it takes
FUNCTIONS: dict[str, tuple[Callable[..., Any], int]] = {
    **{
        name: (getattr(ca, name), 1)
        for name in ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "sign")
    },
    "abs": (ca.fabs, 1), "atan2": (ca.atan2, 2), "min": (ca.fmin, 2), "max": (ca.fmax, 2),
    "where": (ca.if_else, 3),
}  # fmt: skip
CONSTANTS = {"pi": ca.pi}
OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: lambda x, y: x + y, ast.Sub: lambda x, y: x - y, ast.Mult: lambda x, y: x * y,
    ast.Div: lambda x, y: x / y, ast.Pow: lambda x, y: x**y, ast.USub: lambda x: -x, ast.UAdd: lambda x: x,
    ast.Lt: lambda x, y: x < y, ast.LtE: lambda x, y: x <= y, ast.Gt: lambda x, y: x > y, ast.GtE: lambda x, y: x >= y,
}  # fmt: skip


class FormulaError(ValueError):
    """A text that is not a formula; the message is the rest of a sentence."""


def names_in(text: str) -> set[str]:
    """Names of the variables of a formula, constants aside.

    Raises
    ------
    FormulaError
        If it is not a formula of numbers, names, + - * / **, comparisons, and known functions.

    >>> sorted(names_in("-k * x - c * abs(vx) * vx"))
    ['c', 'k', 'vx', 'x']
    """
    tree = _parsed(text)
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
    _value(tree, dict.fromkeys(names, ca.SX.sym("x")))
    return names - CONSTANTS.keys()


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """The value of a formula, with these values of its variables: a CasADi expression of symbols.

    >>> evaluate("k * x**2 / 2", {"k": 3.0, "x": 2.0})
    6.0
    """
    return _value(_parsed(text), names)


def _parsed(text: str) -> ast.AST:
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError) as error:
        raise FormulaError(f'"{text}" is no formula ({getattr(error, "msg", error)})') from None


def _value(node: ast.AST, names: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return names[node.id]
    if isinstance(node, ast.Name) and node.id in CONSTANTS:
        return CONSTANTS[node.id]
    if isinstance(node, ast.Name):
        raise FormulaError(f'has the unknown name "{node.id}"')
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
        return OPERATORS[type(node.ops[0])](_value(node.left, names), _value(node.comparators[0], names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        return _call(node, node.func.id, [_value(one, names) for one in node.args])
    raise FormulaError(f'has "{ast.unparse(node)}", which is no arithmetic; it takes + - * / ** and {_listed()}')


def _call(node: ast.Call, name: str, arguments: list[Any]) -> Any:
    if name not in FUNCTIONS:
        raise FormulaError(f'has the unknown function "{name}"; there are {_listed()}')
    function, count = FUNCTIONS[name]
    if len(arguments) != count or node.keywords:
        raise FormulaError(f"gives {name} {len(arguments)} argument(s); it takes {count}")
    return function(*arguments)


def _listed(names: Iterable[str] = FUNCTIONS) -> str:
    return ", ".join(names)
