"""The builder: elements are added by name, and `build()` checks the mechanism and makes it immutable."""

import difflib
import warnings
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Literal, TypeVar

import numpy as np

from nonsmooth.exceptions import ModelError, ModelWarning
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.bodies import Body, Ground, Node
from nonsmooth.model.checks import check_start
from nonsmooth.model.clearances import Clearance
from nonsmooth.model.closing import assembled
from nonsmooth.model.contacts import Contact, with_law
from nonsmooth.model.couplings import _Loose
from nonsmooth.model.elements import Element
from nonsmooth.model.forces import Force
from nonsmooth.model.joint_friction import JointFriction
from nonsmooth.model.joints import Joint
from nonsmooth.model.review import REMARKS, review
from nonsmooth.model.shapes import Shape
from nonsmooth.model.state import Assembly, State
from nonsmooth.model.system import System
from nonsmooth.progress import stage
from nonsmooth.settings import Called, hint, require, shown

E = TypeVar("E", bound=Element)
#: joints with clearance are replaced by ideal joints while the initial state is assembled
CENTRED: Literal["centred"] = "centred"
Assembled = bool | Literal["centred"]


class Model(metaclass=Called):
    """A mechanism under construction, the only mutable object of the package.

    Parameters
    ----------
    elements : elements to add, in order
    name : for the manifest
    provenance : parameter name -> origin of its value
    silence : names of remarks of `build` that are not to be made, as ``["no-gravity"]``; see `ModelWarning`
    assemble : what `build` does with the initial state unless it is told otherwise: nothing; True, satisfy the joints
        from the bodies' positions as initial guess; "centred", the same with ideal joints in place of clearances, so
        that journals, balls and slides start in the middle. It is kept in `assembled`, where `build` puts what it is
        told, and written to TOML files.

    >>> from nonsmooth import Gravity, Ground, PlanarBody, PrismaticClearance, Rigid
    >>> model = Model(name="slider on a rod")
    >>> rod = model.add(Ground("rod"))
    >>> slider = model.add(PlanarBody("slider", mass=5.0, inertia=8e-4))
    >>> contact = Rigid(restitution=0.0, friction=0.0)
    >>> guide = model.add(PrismaticClearance("guide", rod, slider, length=0.02, clearance=1e-5, contact=contact))
    >>> gravity = model.add(Gravity(acceleration=(0.0, -9.81)))
    >>> model.build()
    System('slider on a rod': 3 velocities, 0 constraints, 4 contacts, 15 parameters)
    """

    misuse: ClassVar[type[ModelError]] = ModelError

    def __init__(
        self, elements: Iterable[Element] = (), *, name: str = "model", provenance: Mapping[str, Any] | None = None,
        silence: Iterable[str] = (), assemble: Assembled = False,
    ) -> None:  # fmt: skip
        if not (isinstance(assemble, bool) or assemble == CENTRED):
            raise ModelError(f'Model: assemble must be True, False or "{CENTRED}", got {shown(assemble)}.')
        require(isinstance(name, str), "Model: name must be a string", name, ModelError)
        if isinstance(elements, str | Element) or not isinstance(elements, Iterable):
            raise ModelError(f"Model takes a list of elements, as Model([Ground(), body]), got {shown(elements)}.")
        if not (provenance is None or isinstance(provenance, Mapping)):
            raise ModelError(f"Model: provenance must be a mapping by parameter, got {shown(provenance)}.")
        self.name = name
        require(isinstance(silence, Iterable), 'silence takes names of remarks, as ["no-gravity"]', silence, ModelError)
        names = (silence,) if isinstance(silence, str) else tuple(silence)
        for name in names:
            if not isinstance(name, str) or name not in REMARKS:
                near = hint(name, REMARKS, 1)
                raise ModelError(f"silence: there is no remark {shown(name)}.{near} There are: {', '.join(REMARKS)}.")
        self.silence = names
        self.assembled: Assembled = assemble
        self.provenance: dict[str, Any] = dict(provenance or {})
        self.origin: dict[str, Any] = {}  # "problem", "source" and "arguments" of a ready problem
        self._elements: dict[str, Element] = {}
        for element in elements:
            self.add(element)

    def add(self, element: E) -> E:
        """Add an element and return it; ModelError if it is no element, or its name is already used."""
        if not isinstance(element, Element) or isinstance(element, Node):
            raise ModelError(f"Model.add takes a body, joint, driver, clearance, force or shape, got {shown(element)}.")
        if element.name in self._elements:
            other = type(self._elements[element.name]).__name__
            raise ModelError(
                f'The name "{element.name}" is taken by a {other}; give the {type(element).__name__} another name.'
            )
        self._elements[element.name] = element
        return element

    def __getattr__(self, name: str) -> Any:
        hint = "; run it by simulate(model.build(), t_end=...)" if name in ("simulate", "run", "solve") else ""
        raise AttributeError(f"A Model has no attribute {name!r}{hint}", name=name, obj=self)

    def __repr__(self) -> str:
        kinds = [f"{element.name} ({type(element).__name__})" for element in self._elements.values()]
        return f"Model({self.name!r}: {', '.join(kinds) or 'no elements'})"

    @property
    def elements(self) -> tuple[Element, ...]:
        """The elements so far, in order."""
        return tuple(self._elements.values())

    def build(self, *, assemble: Assembled | Assembly | None = None) -> System:
        """Check the mechanism and return the immutable system.

        Constraints may be redundant: `System.redundant` names them with those on which they depend.

        Parameters
        ----------
        assemble : bool, "centred" or Assembly, optional
            Satisfy the joints, with the bodies' positions as initial guess, and make the velocities consistent, see
            `assemble`, whose result is accepted as well; "centred" replaces clearances by ideal joints meanwhile. The
            changes are reported in `System.assembly`. Where it is False, violated joints are an error. By default as
            the model was made.

        Raises
        ------
        ModelError
            If bodies are missing, planar and spatial elements are mixed, joints are violated or contradict each other,
            contacts overlap, or a load is not finite at the start.

        Warns
        -----
        ModelWarning
            Of what is probably a mistake, such as a clearance in mm, each once; `silence` names what is meant.
        """
        assemble = self.assembled if assemble is None else assemble
        if not (isinstance(assemble, bool | Assembly) or assemble == CENTRED):
            raise ModelError(
                f'assemble must be True, False, "{CENTRED}" or what assemble() returned, got {shown(assemble)}.'
            )
        if assemble in (True, CENTRED):
            self.assembled = assemble
        with stage("building", self.name):
            system, report = self._system(), self.ideal().assemble() if assemble == CENTRED else assemble
            if report is True:
                report = assembled(system, system.start, system.parameter_values)
            if isinstance(report, Assembly):
                bodies = tuple(element.name for element in self.elements if isinstance(element, Body))
                if tuple(moved.body for moved in report.moved) != bodies:
                    found = ", ".join(moved.body for moved in report.moved)
                    raise ModelError(
                        f"The assembly is that of the bodies {found}, but the model has {', '.join(bodies)}; pass what "
                        "assemble() of this model returned, or assemble=True."
                    )
                object.__setattr__(system, "assembly", report)
                object.__setattr__(system, "start", report.start)
            try:
                check_start(system, system.start, system.parameter_values)
            except ModelError as error:
                remarks = review(self.elements, assembled=True, freedom=1)
                degrees = [remark.text for remark in remarks if remark.name == "angle"]
                raise ModelError(" Also, ".join((str(error), *degrees))) from None
            freedom, moved = system.nv - system.ng + len(system.redundant), report is not False
            for remark in review(self.elements, assembled=moved, freedom=freedom, redundant=system.redundant):
                if remark.name not in self.silence:
                    said = f"{self.name}: {remark.text} Silence {remark.name!r} if it is meant."
                    warnings.warn(said, ModelWarning, stacklevel=2)
            return system

    def assemble(self) -> Assembly:
        """Satisfy the joints from the bodies' positions as initial guess, and make the velocities consistent.

        Bodies move by the least change in the mass metric, which selects the assembly mode next to the guess. Given
        linear and angular velocities (not zero) are kept, the others follow by least kinetic energy; where joints and
        drivers do not permit a given velocity, it changes as little as possible. The result has the changes by body; it
        can be printed, and passed to ``build(assemble=...)``. ModelError, which names the worst joint with its
        residual, if they cannot be satisfied from this guess.

        >>> from nonsmooth import Ground, PlanarBody, Revolute
        >>> crank = PlanarBody("crank", 1.0, 1e-3, position=(0.1, 0.02), angular_velocity=5.0)
        >>> model = Model([Ground(), crank, Revolute("pin", "ground", crank, at_b=(-0.1, 0.0))])
        >>> report = model.assemble()
        >>> float(model.build(assemble=report).start.v[2])
        5.0
        """
        system = self._system()
        return assembled(system, system.start, system.parameter_values)

    def ideal(self) -> "Model":
        """The mechanism with an ideal joint in place of every clearance and backlash of gears and racks, of the same
        name; free contacts and stops remain.

        Its assembly gives an initial state for the mechanism with clearances in which journals, balls and slides are
        centred: ``model.build(assemble=model.ideal().assemble())``, in short ``model.build(assemble="centred")``.

        >>> from nonsmooth import Ground, PlanarBody, RevoluteClearance, Rigid
        >>> rod = PlanarBody("rod", 1.0, 1e-3, position=(0.1, 0.02))
        >>> smooth = Rigid(restitution=0.5, friction=0.0)
        >>> pin = RevoluteClearance("pin", "ground", rod, at_b=(-0.1, 0.0), clearance=1e-4, contact=smooth)
        >>> loose = Model([Ground(), rod, pin])
        >>> system = loose.build(assemble="centred")
        >>> system.true_gaps(system.start.q, system.parameter_values).round(12).tolist()  # the clearance, all around
        [[0.0001]]
        """
        return Model(
            (one.ideal() if isinstance(one, Clearance | _Loose) else one for one in self.elements),
            name=self.name, provenance=self.provenance, silence=self.silence, assemble=self.assembled,
        )  # fmt: skip

    def with_contact(self, contact: Any) -> "Model":
        """The mechanism with this law, `Rigid` or `Compliant`, in all its contacts.

        It takes a law and gives a model, as studies require of a mechanism: ``compare(model.with_contact, cases)``.
        """
        found = Model(
            with_law(self.elements, contact), name=self.name, provenance=self.provenance, silence=self.silence,
            assemble=self.assembled,
        )  # fmt: skip
        found.origin = {key: value for key, value in self.origin.items() if key != "arguments"}
        return found

    def _system(self) -> System:
        """The system with its given initial state; elements are checked, the initial state is not."""
        bodies = [element for element in self.elements if isinstance(element, Body)]
        if not bodies:
            raise ModelError("The model has no body; add a PlanarBody or a SpatialBody.")
        dimension = bodies[0].dimensions[0]
        for element in self.elements:
            if dimension not in element.dimensions:
                word = {2: "planar", 3: "spatial"}
                fields = element.in_space if dimension == 3 and isinstance(element, Joint | Force) else ""
                raise element.error(
                    f"it is {word[element.dimensions[0]]}, but the model is {word[dimension]} by its first body; "
                    + (f"in space give {fields}." if fields else "a model is one or the other.")
                )
            element.check_components(dimension)
        grounds = [element.name for element in self.elements if isinstance(element, Ground)]
        if len(grounds) > 1:
            raise ModelError(f"A model has one ground, got {len(grounds)}: {', '.join(grounds)}; keep one of them.")
        for element in self.elements:
            names = element.body_names()
            for name, field in zip(names, element.body_fields, strict=True):
                self._check_reference(element, name, getattr(element, field))
            owners = [name.partition(".")[0] for name in names]
            if len(names) == 2 and owners[0] == owners[1]:
                raise element.error(f'it joins "{owners[0]}" to itself; name two bodies.')
            if len(names) == 1 and isinstance(self._elements[owners[0]], Ground) and not isinstance(element, Shape):
                raise element.error(f'it acts on the ground "{names[0]}", which cannot move; name a body.')
        laws = (element.contact for element in self.elements if isinstance(element, Contact))
        compliant = next((law for law in laws if isinstance(law, Compliant)), None)
        for element in self.elements:
            if isinstance(element, JointFriction) and compliant is not None:
                element.with_law(compliant)  # which needs numbers of its own
        origins = {
            f"{element.name}.{label}": {"kind": "given", "source": f"{one.kind} {one.text}"}
            for element in self.elements for label, one in element.toleranced().items()
        }  # fmt: skip
        q, v = (np.concatenate(parts) for parts in zip(*(body.start() for body in bodies), strict=True))
        return System(
            self.name, dimension, self.elements, State(0.0, q, v), {**self.provenance, **origins}, dict(self.origin),
            silence=self.silence,
        )  # fmt: skip

    def _check_reference(self, element: Element, name: str, reference: Element | str) -> None:
        owner, _, node = name.partition(".")
        target = self._elements.get(owner)
        if node and isinstance(target, Body):
            if node not in target.nodes:
                nodes = f"its nodes are {', '.join(target.nodes)}"
                known = nodes if target.nodes else "a rigid body has none; name the body"
                raise element.error(f'the {type(target).__name__} "{owner}" has no node "{node}"; {known}.')
            reference = reference.body if isinstance(reference, Node) else reference
        if target is None or (node and not isinstance(target, Body)):
            bodies = [body.name for body in self.elements if isinstance(body, Body | Ground)]
            turned = [one for one in bodies if sorted(one) == sorted(name)]  # rdo of rod
            close = turned or difflib.get_close_matches(name, bodies, n=1, cutoff=0.7)
            advice = f'Did you mean "{close[0]}"?' if close else "Add it with model.add(...)."
            raise element.error(f'the body "{name}" is not in the model. {advice} Bodies so far: {", ".join(bodies)}.')
        if not (isinstance(reference, str) or reference is target):
            raise element.error(
                f'its "{owner}" is another object than the {type(target).__name__} "{owner}" of the model; '
                "pass what model.add(...) returned, or the name."
            )
        if not isinstance(target, Body | Ground):
            raise element.error(f'"{name}" is a {type(target).__name__}, not a body; name a body or the ground.')
