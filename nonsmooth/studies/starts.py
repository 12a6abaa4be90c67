"""Initial states of products whose dimensions differ from those of the model: joints closed, journals centred."""

import dataclasses
from collections.abc import Mapping
from functools import cached_property

from nonsmooth.model.clearances import Clearance
from nonsmooth.model.closing import closed_start
from nonsmooth.model.joints import Joint
from nonsmooth.model.model import Model
from nonsmooth.model.review import REMARKS
from nonsmooth.model.state import State
from nonsmooth.model.system import System


def ideal_name(system: System, known: Mapping[str, float], name: str) -> str | None:
    """The parameter of the mechanism with ideal joints that stands for one of the mechanism; None if there is none.

    The points of a guide and of a slider are those of the bodies a and b of the ideal joint.
    """
    if name in known:
        return name
    owner, _, label = name.partition(".")
    clearances = (one for one in system.elements if one.name == owner and isinstance(one, Clearance))
    pairs = ((field, body) for one in clearances for field, body in zip(one.body_fields, "ab", strict=True))
    names = (f"{owner}.{label.replace(f'at_{field}', f'at_{body}')}" for field, body in pairs)
    return next((one for one in names if one in known), None)


class Starts:
    """Initial states of a system with other parameters: joints closed, and clearances centred.

    Bodies move by the least change from the initial state of the system until its joints, and ideal joints in place of
    its clearances, are closed.
    """

    def __init__(self, system: System) -> None:
        self.system = system

    @cached_property
    def ideal(self) -> System:
        """The mechanism with ideal joints, its start that of the system."""
        made = Model(self.system.elements, name=self.system.name, silence=REMARKS).ideal()
        return made.build(assemble=made.assemble())

    def moved_by(self, names: tuple[str, ...]) -> bool:
        """Whether one of the parameters is that of a joint or the point of a clearance, so that starts differ."""
        joints = {element.name for element in self.ideal.elements if isinstance(element, Joint)}
        mapped = (ideal_name(self.system, self.ideal.parameters, name) for name in names)
        return any(name is not None and name.partition(".")[0] in joints for name in mapped)

    def of(self, parameters: Mapping[str, float]) -> State:
        """The initial state for changed parameters.

        Raises
        ------
        ModelError
            If the joints cannot be closed.
        """
        known = self.ideal.parameters
        mapped = {ideal_name(self.system, known, name): value for name, value in parameters.items()}
        values = self.ideal.parameter_vector({name: x for name, x in mapped.items() if name is not None})
        found = closed_start(self.ideal, self.system.start, values)
        return dataclasses.replace(self.system.start, q=found.q, v=found.v)
