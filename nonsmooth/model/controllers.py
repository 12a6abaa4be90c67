"""Controllers in a computer: they read the motion at sampling times, and their output is held in between."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Annotated, Any, cast

import casadi as ca

from nonsmooth.model import frames as primitive
from nonsmooth.model.frames import Placement
from nonsmooth.model.joints import IDENTITY, BodyRef, Direction, Orientation
from nonsmooth.model.loads import Load, names_of_motion
from nonsmooth.quantities import Quantity, Unit
from nonsmooth.settings import is_number, shown

Output = Annotated[float | tuple[float, ...], Quantity("N m or N")]


@dataclass(frozen=True, eq=False, kw_only=True)
class SampledController(Load):
    """Controller in a computer: a `Load` whose formulas are evaluated at the times ``k period``, and held in between.

    The formulas are those of a `Load`, either of `torque` or of `force`, of the motion of `sensor` relative to a. They
    may contain `states`, such as an integral or the last sample, whose formulas give their values for the next sample,
    from the motion and the states at this one: a controller with the difference of an encoder's angles is ``torque =
    "Kp * (wanted - angle) - Kd * (angle - last) / 1e-3"`` with ``states = {"last": "angle"}``. Steps of all schemes end
    where the output changes, and the state of a run contains output and states, so that a run that is continued is the
    same to the bit. Its order of events within one instant: sample, then output.

    Parameters
    ----------
    period : [s], > 0, of the samples, the first of which is the first multiple of it within the run
    delay : [s], >= 0, from a sample to its output
    resolution : name of a position (angle, x, y, z) -> [rad] or [m], > 0
        The position is read as the nearest multiple of it, as by an encoder; rates are read as they are.
    step : [N m] or [N], > 0, optional, of which the output is a multiple, the nearest one
    saturation : [N m] or [N], > 0, optional, largest magnitude of the output, or of each of its components
    states : name -> formula, in addition to the names in a `Load` those of all states
    start : name -> number, of the states at the first sample; zero if omitted
    sensor : body whose motion is read; b if omitted
    held : [N m] or [N], output until the first one of a sample
    axis_a : [-], optional, axis of the torque in the frame of a, of any length; with it the controller is spatial
        Formulas then have ``angle``, in (-pi, pi], and ``omega`` about the axis.
    quaternion : [-], optional, (w, x, y, z) of the sensor relative to a at angle zero, in space; parallel frames if
        omitted

    >>> motor = SampledController(
    ...     "motor", "ground", "rotor", torque="Kp * (wanted - angle) + Ki * sum", period="1 ms",
    ...     states={"sum": "sum + wanted - angle"}, parameters={"Kp": 20.0, "Ki": 0.1, "wanted": 0.5},
    ...     resolution={"angle": 1e-3}, saturation="5 N m",
    ... )
    >>> motor.held
    0.0
    """

    sensor: BodyRef | None = None
    period: Annotated[float, Unit("s")]
    delay: Annotated[float, Unit("s")] = 0.0
    resolution: Mapping[str, float] = field(default_factory=dict)
    step: Annotated[float, Quantity("N m or N", positive=True)] | None = None
    saturation: Annotated[float, Quantity("N m or N", positive=True)] | None = None
    states: Mapping[str, str] = field(default_factory=dict)
    start: Mapping[str, float] = field(default_factory=dict)
    held: Output = 0.0
    axis_a: Direction | None = None
    quaternion: Orientation | None = None
    body_fields = ("a", "b", "sensor")
    named = ("parameters", "states")

    def __post_init__(self) -> None:
        for name in ("resolution", "states", "start"):
            if not isinstance(getattr(self, name), Mapping):
                raise self.error(f"{name} must be a table by name, got {shown(getattr(self, name))}.")
            object.__setattr__(self, name, dict(getattr(self, name)))
        if self.sensor is None:
            object.__setattr__(self, "sensor", self.b)
        if self.energy is not None or self.dissipative or (self.torque is None) == (self.force is None):
            raise self.error("it takes formulas of either torque or force, without energy.")
        if callable(self.force) or callable(self.torque):
            raise self.error("its law is evaluated at samples; write it as a formula, a text.")
        in_parts, about = isinstance(self.torque, (tuple, list)), self.axis_a is not None
        if in_parts or isinstance(self.force, str) or about and self.torque is None:
            raise self.error("torque is one formula, in space about axis_a; force one for each component, without it.")
        if self.force is not None and self.held == 0.0:
            object.__setattr__(self, "held", (0.0,) * len(self.law))
        super().__post_init__()
        if not (is_number(self.period) and self.period > 0.0 and is_number(self.delay) and self.delay >= 0.0):
            raise self.error(f"period must be > 0 and delay >= 0 [s], got {shown((self.period, self.delay))}.")
        for name, value in self.resolution.items():
            if name not in ("angle", *"xyz") or not (is_number(value) and value > 0.0):
                raise self.error(f"resolution is a positive number for angle, x, y or z, got {shown({name: value})}.")
        for name, value in self.start.items():
            if name not in self.states or not is_number(value):
                raise self.error(f"start has finite numbers of its states, {', '.join(self.states)}; got {name!r}.")
        self._check_formulas("states", tuple(self.states.values()))

    @property
    def dimensions(self) -> tuple[int, ...]:  # type: ignore[override]
        return (3,) if self.axis_a is not None else (2,) if self.force is None else (len(self.law),)

    @property
    def law(self) -> tuple[str, ...]:
        """Its formulas."""
        return (self.torque,) if isinstance(self.torque, str) else cast(tuple[str, ...], self.force)

    def quantity(self, label: str) -> Quantity:
        found = super().quantity(label)
        units = found.unit.split(" or ")
        return found if len(units) == 1 else Quantity(units[self.torque is None], positive=found.positive)

    @property
    def pending(self) -> int:
        """Number of outputs that wait for their time, at most."""
        return math.floor(self.delay / self.period * (1 + 1e-9)) + 1

    def nonconservative(self, t: ca.SX, bodies: tuple[Placement, ...], p: SimpleNamespace) -> tuple[ca.SX, ...]:
        a, b, sensor = bodies
        return (*super().nonconservative(t, (a, b), p), ca.SX.zeros(sensor.twist.numel()))

    def _value(self, what: str, arguments: tuple[Any, ...], size: int) -> ca.SX:
        """The output that is held."""
        _, a, _, p = arguments
        if what == "torque":
            return p.held if size == 1 else a.rotate(primitive.unit(p.axis_a)) * p.held
        return a.rotate(p.held)

    def sampled(
        self, t: ca.SX, a: Any, sensor: Any, p: SimpleNamespace, states: Mapping[str, ca.SX]
    ) -> tuple[ca.SX, ca.SX]:
        """The output of a sample, and the states after it."""
        names = names_of_motion(a, sensor, getattr(p, "at_b", ca.SX.zeros(a.position.numel())))
        if self.axis_a is not None:
            names["angle"] = ca.atan2(*primitive.twist_about(a, sensor, p.axis_a, getattr(p, "quaternion", IDENTITY)))
            turning = sensor.angular_velocity - a.angular_velocity
            names["omega"] = ca.dot(a.rotate(primitive.unit(p.axis_a)), turning)
        names |= {name: _nearest(names[name], step) for name, step in self.resolution.items() if name in names}
        names |= {name: getattr(p, name) for name in self.parameters} | dict(states) | {"t": t}
        output = self._evaluated("torque or force", self.law, names)
        if self.step is not None:
            output = _nearest(output, p.step)
        if self.saturation is not None:
            output = ca.fmin(ca.fmax(output, -p.saturation), p.saturation)
        return output, self._evaluated("states", tuple(self.states.values()), names)


def _nearest(value: ca.SX, step: Any) -> ca.SX:
    """The nearest multiple of a step."""
    return step * ca.floor(value / step + 0.5)
