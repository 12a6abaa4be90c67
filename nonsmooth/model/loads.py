"""Loads with user-defined laws: forces and torques that depend on time and on the motion of two bodies."""

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, ClassVar, Protocol

import casadi as ca

from nonsmooth.model.drawing import Arrow, Line, Primitive, Turn
from nonsmooth.model.forces import Force, gradient
from nonsmooth.model.frames import Placement, PlanarPlacement
from nonsmooth.model.joints import _OfTwo
from nonsmooth.model.signals import column_of, wrong_arguments
from nonsmooth.quantities import Point, Quantity, Text
from nonsmooth.settings import is_number, require, shown

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


def evaluate(text: str, names: Mapping[str, Any]) -> Any:
    """The value of a formula such as ``k * x**2 / 2``, with these values of its variables."""
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
    if isinstance(node, ast.Name):
        if node.id in CONSTANTS:
            return CONSTANTS[node.id]
        raise FormulaError(f'has the unknown name "{node.id}"')
    if isinstance(node, ast.BinOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.left, names), _value(node.right, names))
    if isinstance(node, ast.UnaryOp) and type(node.op) in OPERATORS:
        return OPERATORS[type(node.op)](_value(node.operand, names))
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in OPERATORS:
        return OPERATORS[type(node.ops[0])](_value(node.left, names), _value(node.comparators[0], names))
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
        name, arguments = node.func.id, [_value(one, names) for one in node.args]
        if name not in FUNCTIONS:
            raise FormulaError(f'has the unknown function "{name}"; there are {", ".join(FUNCTIONS)}')
        function, count = FUNCTIONS[name]
        if len(arguments) != count or node.keywords:
            raise FormulaError(f"gives {name} {len(arguments)} argument(s); it takes {count}")
        return function(*arguments)
    raise FormulaError(
        f'has "{ast.unparse(node)}", which is no arithmetic; it takes + - * / ** and {", ".join(FUNCTIONS)}'
    )


#: arguments of laws, by field
ARGUMENTS = {"force": ("t", "a", "b", "p"), "torque": ("t", "a", "b", "p"), "energy": ("a", "b", "p")}
FORMULA = Text("formula")
#: names of the motion in formulas; some exist in the plane or in space only
POSITIONS = ("x", "y", "z", "angle")
RATES = ("t", "vx", "vy", "vz", "omega", "omega_x", "omega_y", "omega_z")


class Law(Protocol):
    """A function of time, two placements and the load's parameters."""

    def __call__(self, *arguments: Any) -> Any:
        """An expression of symbols."""


@dataclass(frozen=True, eq=False)
class Load(_OfTwo, Force):
    """Force and torque of a on b by a user-defined law, and their opposites on a.

    A law is a function of time, of the placements of both bodies and of the load's parameters, called once with
    symbols: use functions of CasADi or NumPy, and `casadi.if_else` instead of ``if``. For what a placement has see
    `nonsmooth.model.frames`. The ground is at rest in the origin: for a load on a single body, such as drag, a is the
    ground. A discontinuous law limits the order of a stepper, and a stiff one its step size. ModelError if there is no
    law, a law has other arguments or is no formula, a number is not finite, or its name is no word.

    Instead of a function a law may be a formula, a text for each component in the frame of a, as in files:
    ``torque="stall * (1 - omega / free)"``. Its names are t, the load's parameters, and the motion of b relative to a,
    in the frame of a: x, y, z of the point `at_b` from the origin of a and their rates vx, vy, vz; in the plane angle,
    including full turns, and omega, in space omega_x, omega_y, omega_z; its functions those in `FUNCTIONS`.

    Parameters
    ----------
    force : (t, a, b, p) -> components [N] in the ground frame, or formulas; optional
        On b at its point `at_b`. The opposite force acts on a at the same point in space.
    torque : (t, a, b, p) -> [N m], or formulas; optional
        On b: a number in the plane, three components in the ground frame in space.
    energy : (a, b, p) -> [J], or a formula of the position; optional
        Potential energy, whose negative gradient is added to the forces.
    parameters : name -> number
        The load's parameters, in SI units, available in `p` by these names. They are parameters of the system and can
        be changed without a new compilation.
    at_b : [m], point at which the force acts, in the frame of b; also available in `p`
    dissipative : bool, whether the power of force and torque is counted as dissipation instead of work of loads

    >>> motor = Load("motor", "ground", "rotor", torque=lambda t, a, b, p: p.stall * (1 - b.angular_velocity / p.free),
    ...              parameters={"stall": 2.0, "free": 300.0})
    >>> motor.numbers()
    {'stall': 2.0, 'free': 300.0}
    """

    force: Annotated[tuple[str, ...] | Law | None, FORMULA] = field(default=None, kw_only=True)
    torque: Annotated[str | tuple[str, ...] | Law | None, FORMULA] = field(default=None, kw_only=True)
    energy: Annotated[str | Law | None, FORMULA] = field(default=None, kw_only=True)
    parameters: Mapping[str, float] = field(default_factory=dict, kw_only=True)
    at_b: Point = field(default=(), kw_only=True)
    dissipative: bool = field(default=False, kw_only=True)
    #: fields by whose keys formulas may name numbers, besides those of the motion
    named: ClassVar[tuple[str, ...]] = ("parameters",)

    def __post_init__(self) -> None:
        if not isinstance(self.parameters, Mapping):
            raise self.error(f"parameters must be numbers by name, as {{'mu': 0.3}}, got {shown(self.parameters)}.")
        object.__setattr__(self, "parameters", dict(self.parameters))
        for name, value in self.parameters.items():
            if not (isinstance(name, str) and name.isidentifier()) or name.startswith("at_b"):
                raise self.error(f"the name of a parameter must be a word and not at_b, got {shown(name)}.")
            require(is_number(value), f"{name} must be a finite number in SI units", value, self.error)
        if self.force is None and self.torque is None and self.energy is None:
            raise self.error("it has no law; give force, torque or energy.")
        for what, names in ARGUMENTS.items():
            law, arguments = getattr(self, what), ", ".join(names)
            if isinstance(law, (str, tuple, list)):
                object.__setattr__(self, what, tuple(law) if isinstance(law, list) else law)
                self._check_formulas(what, (law,) if isinstance(law, str) else tuple(law))
            elif law is not None and not callable(law):
                raise self.error(
                    f"{what} must be a function, as lambda {arguments}: ..., or formulas, got {shown(law)}."
                )
            elif law is not None and (given := wrong_arguments(law, len(names))) is not None:
                raise self.error(f"{what} must be a function of ({arguments}), but it takes {given}.")
        super().__post_init__()

    def _check_formulas(self, what: str, formulas: tuple[Any, ...]) -> None:
        """Raise ModelError unless these are formulas of known names."""
        own = (name for field in self.named for name in getattr(self, field))
        known = {*POSITIONS, *own, *(RATES if what != "energy" else ())}
        for formula in formulas:
            if not isinstance(formula, str):
                raise self.error(f"{what} must be a function or formulas, each a text, got {shown(formula)}.")
            try:
                tree = _parsed(formula)
                called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
                names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and id(node) not in called}
                _value(tree, dict.fromkeys(names, ca.SX.sym("x")))
                unknown = sorted(names - CONSTANTS.keys() - known)
            except FormulaError as error:
                raise self.error(f"{what} {error}.") from None
            if unknown:
                raise self.error(f'{what} has the unknown name "{unknown[0]}"; there are {", ".join(sorted(known))}.')

    def numbers(self) -> dict[str, float]:
        return super().numbers() | {name: float(value) for name, value in self.parameters.items()}

    def quantity(self, label: str) -> Quantity:
        return Quantity("SI") if label in self.parameters else super().quantity(label)

    def _fields(self, parameters: Mapping[str, Any], number: Any, column: Any) -> SimpleNamespace:
        own = {name: number(parameters[f"{self.name}.{name}"]) for name in self.parameters}
        return SimpleNamespace(**vars(super()._fields(parameters, number, column)), **own)

    @property
    def conservative(self) -> bool:
        return self.energy is not None

    @property
    def mixed(self) -> bool:
        return self.energy is not None and not (self.force is None and self.torque is None)

    def potential(self, bodies: tuple[Placement, ...], p: SimpleNamespace) -> ca.SX | None:
        return None if self.energy is None else self._value("energy", (*bodies, p), 1)

    def nonconservative(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b = bodies
        planar = isinstance(a, PlanarPlacement)
        on_a, on_b = ca.SX.zeros(a.twist.numel()), ca.SX.zeros(b.twist.numel())
        if self.force is not None:
            size = 2 if planar else 3
            force, at = self._value("force", (t, a, b, p), size), getattr(p, "at_b", ca.SX.zeros(size))
            on_b += b.generalized_force(force, at)
            on_a += a.generalized_force(-force, a.unrotate(b.point(at) - a.position))
        if self.torque is not None:
            torque = self._value("torque", (t, a, b, p), 1 if planar else 3)
            on_b += b.generalized_torque(torque)
            on_a += a.generalized_torque(-torque)
        return on_a, on_b

    def forces(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        found = self.nonconservative(t, bodies, p)
        potential = self.potential(bodies, p)
        if potential is None:
            return found
        return tuple(x + y for x, y in zip(gradient(potential, bodies), found, strict=True))

    def _value(self, what: str, arguments: tuple[Any, ...], size: int) -> ca.SX:
        """The expression of a law, as a column."""
        law = getattr(self, what)
        if isinstance(law, (str, tuple)):
            formulas = (law,) if isinstance(law, str) else law
            *t, a, b, p = arguments
            if len(formulas) != size:
                raise self.error(f"{what} takes {size} formula(s) here, got {len(formulas)}.")
            names = names_of_motion(a, b, getattr(p, "at_b", ca.SX.zeros(2 if isinstance(a, PlanarPlacement) else 3)))
            names |= {name: getattr(p, name) for name in self.parameters} | ({"t": t[0]} if t else {})
            value = self._evaluated(what, formulas, names)
            return value if size == 1 else a.rotate(value)
        try:
            expression = column_of(law, arguments)
        except Exception as error:
            raise self.error(
                f"{what} could not be evaluated with symbols ({type(error).__name__}: {error}). Write it with casadi "
                "or numpy functions of its arguments, with casadi.if_else in place of branches."
            ) from error
        if expression.shape != (size, 1):
            raise self.error(f"{what} must return {size} component(s), got {expression.numel()}.")
        parts: list[Any] = []
        for one in arguments:
            if isinstance(one, SimpleNamespace):
                parts += vars(one).values()
            else:
                parts += [one.z, one.twist] if isinstance(one, Placement) else [one]
        known = {symbol.element_hash() for part in parts for symbol in ca.symvar(ca.SX(part))}
        others = [one.name() for one in ca.symvar(expression) if one.element_hash() not in known]
        if others:
            raise self.error(f"{what} depends on {', '.join(others)}; it may depend on its arguments only.")
        return expression

    def _evaluated(self, what: str, formulas: tuple[str, ...], names: Mapping[str, ca.SX]) -> ca.SX:
        """The values of formulas as a column."""
        try:
            return ca.vertcat(*(ca.SX(evaluate(formula, names)) for formula in formulas))
        except FormulaError as error:
            word = "space" if "z" in names else "the plane"
            raise self.error(f"{what} {error}, in {word}; there are {', '.join(names)}.") from None

    def drawing(self, p: SimpleNamespace) -> tuple[Primitive, ...]:
        """An arrow along x for a force, an arc for a torque, a dotted line for an energy alone."""
        a, b, *_ = self.spots(p)
        found: list[Primitive] = [Arrow(b, (1.0, 0.0))] if self.force is not None else []
        found += [Turn(b, a)] if self.torque is not None else []
        return tuple(found) or (Line(a, b, dotted=True),)

    def describe(self) -> dict[str, Any]:
        data = super().describe() | {"parameters": dict(self.parameters)}
        laws = {what: getattr(self, what) for what in ARGUMENTS}
        return data | {
            what: f"function {getattr(law, '__name__', type(law).__name__)} of {', '.join(ARGUMENTS[what])}"
            for what, law in laws.items()
            if callable(law)
        }


def names_of_motion(a: Any, b: Any, at_b: ca.SX) -> dict[str, ca.SX]:
    """The motion of b relative to a, in the frame of a, by name."""
    offset, relative = b.point(at_b) - a.position, b.point_velocity(at_b) - a.velocity
    turning = b.angular_velocity - a.angular_velocity
    if isinstance(a, PlanarPlacement):
        seen = relative - a.angular_velocity * ca.vertcat(-offset[1], offset[0])
        found = {"angle": b.angle - a.angle, "omega": turning}
    else:
        seen = relative - ca.cross(a.angular_velocity, offset)
        found = dict(zip(("omega_x", "omega_y", "omega_z"), ca.vertsplit(a.unrotate(turning)), strict=True))
    place, rate = ca.vertsplit(a.unrotate(offset)), ca.vertsplit(a.unrotate(seen))
    return found | dict(zip("xyz", place, strict=False)) | dict(zip(("vx", "vy", "vz"), rate, strict=False))
