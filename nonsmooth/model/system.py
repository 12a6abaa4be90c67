"""The immutable mechanism: M, h, B, g, W_g, g_N, W_N as functions of (t, q, v, p), with names.

``M(q) v' = h(t, q, v) + W_g lambda_g + W_N lambda_N``, ``q' = B(q) v``, ``g(t, q) = 0``,
``0 <= g_N(q)  ⟂  lambda_N >= 0``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property, partial
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array, Columnwise
from nonsmooth.exceptions import InputError, ModelError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.assembly import ElementFunctions
from nonsmooth.model.bodies import Body
from nonsmooth.model.contacts import Contact, with_law
from nonsmooth.model.controllers import SampledController
from nonsmooth.model.corners import Corners
from nonsmooth.model.elements import Element
from nonsmooth.model.equations import Compliance, Equations
from nonsmooth.model.evaluate import Elementwise, Numeric, evaluate_rows
from nonsmooth.model.fits import Fit, Toleranced, looks_stated, stated
from nonsmooth.model.flexible_bodies import FlexibleBody
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.joints import Joint
from nonsmooth.model.redundancy import Redundant, weighted
from nonsmooth.model.signals import Table, tables
from nonsmooth.model.state import Assembly, State
from nonsmooth.quantities import Wrong, in_si, in_unit
from nonsmooth.settings import hint, is_number, require, shown


@dataclass(frozen=True)
class Names:
    """Labels of every column, and units by label."""

    q: tuple[str, ...]
    v: tuple[str, ...]
    constraints: tuple[str, ...]
    reactions: tuple[str, ...]
    contacts: tuple[str, ...]
    q_units: tuple[str, ...]
    v_units: tuple[str, ...]
    constraint_units: tuple[str, ...]
    reaction_units: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class System:
    """The result of ``Model.build()``: CasADi functions of symbols or numbers, as ``M(q, p)`` of parameters p."""

    name: str
    dimension: int
    elements: tuple[Element, ...]
    start: State
    provenance: Mapping[str, Any] = field(default_factory=dict)
    origin: Mapping[str, Any] = field(default_factory=dict)
    #: report of `build(assemble=True)`
    assembly: Assembly | None = None
    #: names of remarks that the model silences
    silence: tuple[str, ...] = ()
    #: its layouts in the memory of compiled steps, which exist as long as the system
    compiled_forms: dict[Any, Any] = field(default_factory=dict, init=False)
    #: the start, with its parameters, that `check_start` has admitted last
    admissible: dict[str, Any] = field(default_factory=dict, init=False)
    _known_gyration: dict[bytes, Array] = field(default_factory=dict, init=False)
    #: labels of all columns, of which `names` has the units too
    q_names: tuple[str, ...] = field(init=False)
    v_names: tuple[str, ...] = field(init=False)
    contact_names: tuple[str, ...] = field(init=False)
    constraint_names: tuple[str, ...] = field(init=False)
    reaction_names: tuple[str, ...] = field(init=False)
    #: numbers of these, and of tangents: one of each contact in the plane, two in space
    nq: int = field(init=False)
    nv: int = field(init=False)
    nc: int = field(init=False)
    ng: int = field(init=False)
    nr: int = field(init=False)
    nt: int = field(init=False)

    def __post_init__(self) -> None:
        for kind, size, of in (("q", "nq", "q"), ("v", "nv", "v"), ("contact", "nc", "contacts"),
                               ("constraint", "ng", "constraints"), ("reaction", "nr", "reactions")):  # fmt: skip
            labels = getattr(self.names, of)
            object.__setattr__(self, f"{kind}_names", labels)
            object.__setattr__(self, size, len(labels))
        object.__setattr__(self, "nt", self.nc * (self.dimension - 1))

    def __reduce__(self) -> tuple[Any, ...]:
        """Only the elements are pickled; functions and their evaluators are created anew in the other process."""
        return type(self), tuple(getattr(self, one.name) for one in fields(self) if one.init)

    def with_contact(self, contact: Rigid | Compliant) -> "System":
        """The mechanism with this law in all its contacts, and the same initial state."""
        origin = {key: value for key, value in self.origin.items() if key != "arguments"}
        return replace(self, elements=with_law(self.elements, contact), origin=origin)

    @cached_property
    def names(self) -> Names:
        """Labels and units of all columns."""
        bodies = [element for element in self.elements if isinstance(element, Body)]
        joints = [element for element in self.elements if isinstance(element, Joint)]
        gaps = tuple(name for element in self.elements if isinstance(element, Contact) for name in element.gap_names())
        parts: tuple[tuple[str, str], ...] = (("x", "N"), ("y", "N"), ("torque", "N m"))
        if bodies and bodies[0].dimensions == (3,):
            parts = tuple((axis, "N") for axis in "xyz") + tuple((f"torque_{axis}", "N m") for axis in "xyz")
        columns = (
            [(f"{body.name}.{label}", unit) for body in bodies for label, unit in body.q_columns],
            [(f"{body.name}.{label}", unit) for body in bodies for label, unit in body.v_columns],
            [(f"{joint.name}.{label}", unit) for joint in joints for label, unit in joint.rows],
            [(f"{joint.name}.{label}", unit) for joint in joints for label, unit in parts],
        )
        labels, units = ([tuple(one[i] for one in many) for many in columns] for i in (0, 1))
        return Names(*[*labels, gaps, *units])

    @cached_property
    def parameters(self) -> Mapping[str, float]:
        """The parameters as built, by name, in order."""
        return {f"{e.name}.{label}": value for e in self.elements for label, value in e.numbers().items()}

    @cached_property
    def functions(self) -> ElementFunctions:
        return ElementFunctions(self.dimension)

    @cached_property
    def elementwise(self) -> Elementwise:
        """Evaluation element by element, in time and memory proportional to their number."""
        return Elementwise(self.elements, self.functions, self.parameters)

    @cached_property
    def equations(self) -> Equations:
        """The symbols and functions of the equations of motion, each created on first use."""
        return Equations(self.elements, self.dimension, self.functions, self.parameters)

    @cached_property
    def _corners(self) -> Corners:
        return Corners(self.elements, self.functions, self.parameters)

    def corners(self, t_start: float, t_end: float, parameters: Array | None = None, *, closed: bool = False) -> Array:
        """Times (n,) [s] between start and end of a run, with `closed` also at its end, at which loads or drivers are
        not smooth, or which divide their pulses: each run ends a step there, see `nonsmooth.model.corners`."""
        values = self.parameter_values if parameters is None else parameters
        found = self._corners(float(t_start), float(t_end), values)[0]
        return found if closed else found[found < t_end]

    def varies_fast(self, t_start: float, t_end: float, parameters: Array) -> bool:
        """Whether a load or driver is a function of time that may vary faster than the samples of `corners` show."""
        return self._corners(float(t_start), float(t_end), parameters)[1]

    @cached_property
    def tables(self) -> tuple[tuple[Element, Table], ...]:
        """The tables of times of its loads and drivers, with their elements."""
        return tuple(
            (one, table)
            for one in self.elements
            for declared in fields(one)
            if one.of_time(declared.name)
            for table in tables(getattr(one, declared.name))
        )

    @cached_property
    def compliant(self) -> bool:
        """Whether its contacts are compliant, all of them."""
        contacts = self.contact_elements
        return bool(contacts) and all(isinstance(contact.contact, Compliant) for contact in contacts)

    @cached_property
    def contact_elements(self) -> tuple[Contact, ...]:
        """The element of each contact (nc,)."""
        return tuple(e for e in self.elements if isinstance(e, Contact) for _ in e.gap_labels)

    @cached_property
    def given_normal(self) -> dict[int, JointFriction]:
        """The contacts whose normal force is given, those of joint frictions, by their indices."""
        found = {k: e for k, e in enumerate(self.contact_elements) if isinstance(e, JointFriction)}
        return {k: e for k, e in found.items() if e.stick_rate is None}

    @cached_property
    def laws(self) -> tuple[Contact, ...]:
        """The first contact with each kind of law."""
        found = {type(contact.contact): contact for contact in reversed(self.contact_elements)}
        return tuple(reversed(found.values()))

    @cached_property
    def impact_laws(self) -> tuple[str, ...]:
        """The impact law of each rigid contact."""
        return tuple(e.contact.impact for e in self.contact_elements if isinstance(e.contact, Rigid))

    @cached_property
    def controllers(self) -> tuple[SampledController, ...]:
        """The sampled controllers, whose outputs change within a run."""
        return tuple(e for e in self.elements if isinstance(e, SampledController))

    @cached_property
    def flexible_bodies(self) -> tuple[FlexibleBody, ...]:
        return tuple(e for e in self.elements if isinstance(e, FlexibleBody))

    @cached_property
    def angular(self) -> NDArray[np.bool_]:
        """Which velocities are angular ones (nv,)."""
        return np.array([unit == "rad/s" for unit in self.names.v_units], dtype=bool)

    @cached_property
    def angular_velocities(self) -> NDArray[np.intp]:
        """Columns of v that are angular velocities of the bodies of each contact (nc, 2, 3), -1 where it lacks one."""
        of_body: dict[str, list[int]] = {}
        for k in np.flatnonzero(self.angular).tolist():
            of_body.setdefault(self.names.v[k].rpartition(".")[0], []).append(k)
        columns = np.full((self.nc, 2, 3), -1)
        for contact, element in enumerate(self.contact_elements):
            for side, body in enumerate(element.body_names()):
                own = of_body.get(body.partition(".")[0], [])
                columns[contact, side, : len(own)] = own
        return columns

    @cached_property
    def turning(self) -> NDArray[np.intp]:
        """Columns of v that are angular velocities of bodies in contact."""
        return np.unique(self.angular_velocities[self.angular_velocities >= 0])

    M = property(attrgetter("equations.M"))  #: (q, p), (nv, nv)
    h = property(attrgetter("equations.h"))  #: (t, q, v, p), (nv,) with gyroscopic terms
    B = property(attrgetter("equations.B"))  #: (q), (nq, nv)
    advance = property(attrgetter("equations.advance"))  #: (q, u, dt), coordinates after dt at constant velocity u
    g = property(attrgetter("equations.g"))  #: (t, q, p), (ng,)
    W_g = property(attrgetter("equations.W_g"))  #: (t, q, p), (nv, ng)
    g_t = property(attrgetter("equations.g_t"))  #: (t, q, p), explicit rate of g
    violation = property(attrgetter("equations.violation"))  #: (t, q, p), constraint violation as reported
    g_N = property(attrgetter("equations.g_N"))  #: (q, p), (nc,) [m], open > 0
    W_N = property(attrgetter("equations.W_N"))  #: (q, p), (nv, nc)
    W_T = property(attrgetter("equations.W_T"))  #: (q, p), (nv, nt), slips W_T' v, by contact along its tangents
    #: (t, q, v, p), acceleration bias (ng + nc + nt,): second derivatives of g and g_N, first of the slip, minus W' v'
    bias = property(attrgetter("equations.bias"))
    distance = property(attrgetter("equations.distance"))  #: (q, p), true gaps (nc,) [m]
    #: (q, p), true gaps, D_N (nv, nc), D_T (nv, nt): their rates D_N' v and slips D_T' v, also of overlapping surfaces
    surface = property(attrgetter("equations.surface"))
    #: (p), normal restitution, friction, tangential restitution (0 of compliant contacts), typical gap [m]
    contact_law = property(attrgetter("equations.contact_law"))
    #: (t, q, v, p), kinetic and potential energy [J], power of loads and of damping [W]
    energy = property(attrgetter("equations.energy"))
    #: (t, q, p, lam_g), forces and torques of joints on second bodies, ground frame: (3,) in the plane, (6,) in space
    reaction = property(attrgetter("equations.reaction"))
    linear_forces = property(attrgetter("equations.linear_forces"))  #: (p), stiffness, damping (nv,) of deformation

    @property
    def compliance(self) -> Compliance | None:
        """Forces of compliant contacts, None unless all are."""
        return self.equations.compliance if self.compliant else None

    @cached_property
    def redundant(self) -> tuple[Redundant, ...]:
        """Constraints that depend on earlier ones at the initial state, also at a singular one, each with these.

        The distribution of a load among them is not determined by rigid-body mechanics; reactions are of least squares.
        """
        return self.redundant_at(self.start, self.parameter_values)

    def redundant_at(self, state: State, parameters: Array) -> tuple[Redundant, ...]:
        """Constraints that depend on earlier ones at this state."""
        if not self.ng:
            return ()
        at = self.elementwise.placed(state.q, state.v, parameters)
        joints, names = self.elementwise.constraints(state.t, at, parameters)[0], self.constraint_names
        found = weighted(joints, at.masses, self.elementwise.first_rows).redundant()
        return tuple(Redundant(names[row], tuple(names[k] for k in others)) for row, others in found.items())

    @cached_property
    def parameter_values(self) -> Array:
        """The parameters as built, in order."""
        return np.array(list(self.parameters.values()), dtype=float)

    def gyration(self, parameters: Array) -> Array:
        """Radius of gyration (nv,) [m] of each angular velocity's body about its axis, 1 for displacements."""
        known, key = self._known_gyration, parameters.tobytes()
        if key not in known:
            at = self.elementwise.placed(self.start.q, self.start.v, parameters)
            mass = self.elementwise.in_order(np.ascontiguousarray(np.diagonal(at.masses, axis1=1, axis2=2)))
            linear = np.array([unit == "m/s" for unit in self.names.v_units])
            bodies = [name.rpartition(".")[0] for name in self.v_names]
            heaviest: dict[str, float] = {}
            for body, one, is_linear in zip(bodies, mass, linear, strict=True):
                if is_linear:
                    heaviest[body] = max(heaviest.get(body, 0.0), float(one))
            weights = np.array([heaviest[body] for body in bodies])
            known.clear()  # of other parameters
            known[key] = np.where(linear, 1.0, np.sqrt(mass / weights))
        return known[key]

    @cached_property
    def description(self) -> dict[str, Any]:
        """The mechanism as plain data."""
        return {"name": self.name, **self.origin, "elements": [element.describe() for element in self.elements]}

    def __repr__(self) -> str:
        return (
            f"System({self.name!r}: {self.nv} velocities, {self.ng} constraints, {self.nc} contacts, "
            f"{len(self.parameters)} parameters)"
        )

    def toleranced(self, changes: Mapping[str, Any] | None = None) -> dict[str, Fit | Toleranced]:
        """Parameters given as fits or with a tolerance, by name, with `changes` by name applied."""
        own = {f"{e.name}.{label}": one for e in self.elements for label, one in e.toleranced().items()}
        changed = {name: self.stated(name, one) for name, one in (changes or {}).items()}
        return {name: one for name, one in {**own, **changed}.items() if isinstance(one, Fit | Toleranced)}

    def stated(self, name: str, value: Any) -> Any:
        """The fit or toleranced dimension that a text states for a parameter; any other value as it is."""
        if not isinstance(value, str) or not looks_stated(value):
            return value
        return stated(value, partial(in_unit, unit=self.unit_of(name)))

    def unit_of(self, name: str) -> str:
        """Unit of a parameter, "m" of ``"pin.clearance"``; empty for any other name."""
        owner, _, label = name.partition(".")
        return next((one.quantity(label).unit for one in self.elements if label and one.name == owner), "")

    def parameter_vector(self, changes: Mapping[str, float | str] | None = None) -> Array:
        """Parameters in order, with `changes` by name applied and checked: numbers in SI units, ``"30 um"``, or for a
        clearance a fit, ``"20 H7/g6"``. InputError for an unknown name, or a value outside its range."""
        values = self.parameter_values.copy()
        if not changes:
            return values
        order = {name: i for i, name in enumerate(self.parameters)}
        elements = {element.name: element for element in self.elements}
        owners: dict[str, Element] = {}
        for name, value in changes.items():
            if name not in order:
                raise InputError(f'Unknown parameter "{name}". {_nearest(name, order)}')
            owner, _, label = name.partition(".")
            value = self.stated(name, value)
            if isinstance(value, Fit):
                elements[owner].check_stated(label, value)
            try:
                if isinstance(value, (bytes, bool)):
                    raise TypeError
                number = (
                    in_unit(value, elements[owner].quantity(label).unit) if isinstance(value, str) else float(value)
                )
            except Wrong as error:
                raise InputError(f'Parameter "{name}" {error}.') from None
            except (TypeError, ValueError, OverflowError):
                raise InputError(f'Parameter "{name}" must be a number, got {shown(value)}.') from None
            owners[owner] = elements[owner]
            elements[owner].check(label, number)
            values[order[name]] = number
        for owner, element in owners.items():
            element.check_together({label: float(values[order[f"{owner}.{label}"]]) for label in element.numbers()})
        return values

    def state(
        self, changes: Mapping[str, float | str] | None = None, *,
        velocities: Mapping[str, float | str] | None = None, t: float | str = 0.0,
    ) -> State:  # fmt: skip
        """An initial state: that of the system with coordinates and `velocities` changed by name, in SI units or as
        texts with a unit, ``"5 um"``.

        >>> from nonsmooth import Ground, Model, PlanarBody
        >>> system = Model([Ground(), PlanarBody("slider", mass=5.0, inertia=8e-4)]).build()
        >>> system.state({"slider.angle": 1e-9}, velocities={"slider.x": 0.1}).q
        array([0.e+00, 0.e+00, 1.e-09])
        """
        q = _replaced(self.start.q, self.names.q, self.names.q_units, changes, "coordinate")
        v = _replaced(self.start.v, self.names.v, self.names.v_units, velocities, "velocity")
        return State(float(in_si("t", t, "s")), q, v)

    @cached_property
    def numeric(self) -> Numeric:
        """Fast numerical evaluation of the functions."""
        return Numeric(self.equations)

    def true_gaps(self, q: Array, parameters: Array) -> Array:
        """True gaps (n, nc) [m] at rows of coordinates (n, nq)."""
        return evaluate_rows(self.distance, np.atleast_2d(q), parameters)

    def contact_axes(self, q: Array, parameters: Array) -> Array:
        """Unit normals, towards the second body, and tangents (n, nc, d, d) at rows of coordinates, ground frame."""
        d, many = self.dimension, np.atleast_2d(q)
        if self._contact_axes is not None and self.nc > 0:
            axes = self._contact_axes(many, parameters)
        else:
            axes = evaluate_rows(self.equations.contact_axes, many, parameters)
        return axes.reshape(len(many), self.nc, d, d)

    @cached_property
    def _contact_axes(self) -> Columnwise | None:
        """For files, which contain contact forces at all rows."""
        function = self.equations.contact_axes
        return Columnwise(function) if Columnwise.covers(function) else None

    def gap_rates(self, q: Array, v: Array, parameters: Array) -> Array:
        """Gap velocities (n, nc) [m/s] at rows of coordinates and velocities; opening > 0."""
        return evaluate_rows(self.equations.gap_rates, np.atleast_2d(q), np.atleast_2d(v), parameters)

    def joint_violation(self, t: Array, q: Array, parameters: Array) -> Array:
        """Constraint violation of joints and drivers (n, ng) [m] or [rad] at rows of coordinates."""
        return evaluate_rows(self.violation, np.atleast_1d(t), np.atleast_2d(q), parameters)

    def energies(self, t: Array, q: Array, v: Array, parameters: Array) -> dict[str, Array]:
        """Kinetic and potential energy [J], power of loads and of damping [W], each (n,)."""
        table = evaluate_rows(self.energy, np.atleast_1d(t), np.atleast_2d(q), np.atleast_2d(v), parameters)
        return dict(zip(("kinetic", "potential", "power_loads", "power_damping"), table.T, strict=True))

    def inverse_dynamics(
        self, t: float, q: Array, v: Array, acceleration: Array, parameters: Array | None = None
    ) -> Array:
        """Force vector ``M(q) v' - h(t, q, v)`` (nv,) required for an acceleration, besides the applied forces."""
        p = self.parameter_values if parameters is None else parameters
        return self.numeric.M(q, p)[0] @ np.asarray(acceleration, dtype=float) - self.numeric.h(t, q, v, p)[0]


@dataclass(frozen=True, eq=False)
class Seen:
    """For n rows, at m of which velocities jump: true gaps (n, nc) [m], their velocities, the largest constraint
    violation (n,) and energies (n,) after impacts; before them velocities of gaps (m, nc) and energies (m,)."""

    gap: Array
    rate: Array
    closure: Array
    energies: Mapping[str, Array]
    rate_left: Array
    energies_left: Mapping[str, Array]


#: (t, q, v, row, v_left) of n rows, at the m rows `row` of which velocities jump from v_left (m, nv)
Observe = Callable[[Array, Array, Array, NDArray[np.intp], Array], Seen]


def observe(
    system: System, parameters: Array, t: Array, q: Array, v: Array, row: NDArray[np.intp], v_left: Array
) -> Seen:  # fmt: skip
    """Evaluate gaps, closure and energies of these rows with the functions of the system."""
    closure = np.max(np.abs(system.joint_violation(t, q, parameters)), axis=1, initial=0.0)
    left = system.energies(t[row], q[row], v_left, parameters)
    return Seen(
        system.true_gaps(q, parameters), system.gap_rates(q, v, parameters), closure,
        system.energies(t, q, v, parameters), system.gap_rates(q[row], v_left, parameters),
        {name: values for name, values in left.items() if name != "potential"},
    )  # fmt: skip


def _replaced(
    values: Array, names: tuple[str, ...], units: Sequence[str], changes: Mapping[str, float | str] | None, what: str
) -> Array:  # fmt: skip
    if not (changes is None or isinstance(changes, Mapping)):
        raise InputError(f"A state takes {what} values by name, as {{{names[0]!r}: 0.0}}, got {shown(changes)}.")
    values = values.copy()
    for name, value in (changes or {}).items():
        if name not in names:
            raise InputError(f'Unknown {what} "{name}". {_nearest(name, names)}')
        value = in_si(f"{what} {name}", value, units[names.index(name)])
        require(is_number(value), f'The {what} "{name}" must be a finite number', value)
        values[names.index(name)] = value
    return values


def _nearest(name: str, known: Iterable[str]) -> str:
    known = list(known)
    some = ", ".join(known[:20]) + (", ..." if len(known) > 20 else "")
    return hint(name, known).strip() or f"Known: {some or 'none'}."


def check_finite(what: str, values: Array, names: tuple[str, ...]) -> None:
    """Raise ModelError that names the first entry of `values` that is not finite."""
    bad = np.flatnonzero(~np.isfinite(values))
    if bad.size:
        raise ModelError(
            f'{what} "{names[bad[0]]}" is {values[bad[0]]} at the start; check the start, the loads, and that the ends '
            "of springs and dampers lie apart."
        )
