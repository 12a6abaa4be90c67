"""Measures of a motion, each a number per window of time, such as a period of the driver.

A measure is written ``NAME:ABOUT@STATISTIC``: ``mean-force:pin``, ``energy-rate:friction``, ``peak-force:pin@q0.99``,
``peak-force:pin@return=10s``. With ``/impact`` behind its name it is divided by the number of impacts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics import coordinates, impacts
from nonsmooth.diagnostics.contacts import closed_steps
from nonsmooth.exceptions import InputError
from nonsmooth.model.clearances import RevoluteClearance
from nonsmooth.model.drivers import PrescribedMotion
from nonsmooth.model.joints import Joint
from nonsmooth.model.signals import FourierSignal, Harmonic, Ramp, TimeVector
from nonsmooth.model.system import System
from nonsmooth.quantities import Wrong, in_unit
from nonsmooth.settings import hint, is_number, require
from nonsmooth.trajectory import Trajectory

#: causes of losses of energy, and the columns of energies that they are
CAUSES = ("impacts", "contact", "friction", "damping")
#: times per window at which coordinates are evaluated between rows
SAMPLES = 64
#: length of a force over a time, as a share of the window
OVER = 1 / 100
#: share of the fastest approach of the first windows above which a contact that begins is an impact
COUNTED = 0.01
#: windows of a block of which a spectrum is taken
BLOCK = 8
#: cells of the square around a clearance circle along each axis, and half its side in clearances
CELLS, REACH = 48, 1.1


@dataclass(eq=False)
class Stretch:
    """A run of whole windows, between the times `edges` (n + 1,) [s].

    `slowest` is the approach [m/s] from which on a contact that begins is an impact, by default a hundredth of the
    fastest; `twin` gives the coordinates of the ideal mechanism, without clearances, at any times.
    """

    run: Trajectory
    edges: Array
    slowest: float | None = None
    twin: Callable[[Array], Array] | None = None

    @property
    def length(self) -> Array:
        """Lengths of the windows (n,) [s]."""
        return np.diff(self.edges)

    @cached_property
    def window(self) -> NDArray[np.intp]:
        """The window of each row."""
        return self.window_of(self.run.t)

    def window_of(self, t: Array) -> NDArray[np.intp]:
        """The windows to which times belong; one between two belongs to the first."""
        return np.clip(np.searchsorted(self.edges, t, side="left") - 1, 0, len(self.edges) - 2)

    def sums(self, flows: Array, jumps: Array) -> Array:
        """Sums per window of what goes on steadily in each step, and of what jumps at its end, (n, ...) of the rows."""
        total = np.zeros((len(self.edges) - 1, *flows.shape[1:]))
        np.add.at(total, self.window, jumps)
        flown = np.cumsum(flows, axis=0).reshape(len(flows), -1)
        at = [np.interp(self.edges, self.run.t, column) for column in flown.T]
        return total + np.diff(np.array(at).T.reshape(-1, *flows.shape[1:]), axis=0)

    def lost(self, causes: Sequence[str]) -> Array:
        """Energy (n,) [J] that these causes take in each step."""
        rows = (np.diff(self.run.energy[f"loss_{cause}"], prepend=0.0) for cause in causes)
        return sum(rows, np.zeros(len(self.run.t)))

    def largest(self, values: Array) -> Array:
        """The largest value of each window, of values (n,) at the rows."""
        found = np.full(len(self.edges) - 1, -np.inf)
        np.maximum.at(found, self.window, values)
        return found

    @cached_property
    def samples(self) -> Array:
        """Times [s] at which coordinates are evaluated, equally many in each window, each in the middle of its part."""
        share = (np.arange(SAMPLES) + 0.5) / SAMPLES
        return (self.edges[:-1, None] + self.length[:, None] * share).ravel()

    @cached_property
    def places(self) -> Array:
        """Coordinates (windows, samples, nq) at these times."""
        return coordinates(self.run, self.samples).reshape(len(self.edges) - 1, SAMPLES, -1)

    @cached_property
    def hits(self) -> tuple[NDArray[Any], Array]:
        """Contacts and times of impacts."""
        if self.run.compliant:
            found = impacts(self.run, self.slowest)
            return found["contact"], found["start"]
        rows, approach = self.run.impacts, -self.run.impacts["gamma_minus"]
        slowest = COUNTED * np.max(approach, initial=0.0) if self.slowest is None else self.slowest
        return rows["contact"][approach > slowest], rows["t"][approach > slowest]

    def impulses(self, name: str) -> tuple[Array, Array]:
        """Impulses of a contact or a joint in each step, steady ones and those of impacts at its end: normal ones (n,),
        or impulses of a joint as vectors (n, 2 or 3) [N s]."""
        run, dt = self.run, np.diff(self.run.t, prepend=self.run.t[0])
        if name in run.lam_N:
            steady = run.lam_N[name] * dt
            return steady, run.P_N[name] - steady
        axes = [f"{name}.{axis}" for axis in ("xyz" if f"{name}.z" in run.reaction else "xy")]
        forces, hits = (
            np.column_stack([table[axis] for axis in axes]) for table in (run.reaction, run.reaction_impact)
        )
        return forces * dt[:, None], hits


Function = Callable[[Stretch], Any]


@dataclass(frozen=True)
class Measure:
    """A number per window, and what is estimated of it: its mean, or another statistic.

    Parameters
    ----------
    function : of a stretch, the values (n,) of its windows; of a `field` an array that is averaged over windows
    statistic : "mean", "sd", "quantile" or "return", with its `level`: share [-], or number of windows
    over : a measure by whose mean the mean is divided
    """

    name: str
    unit: str
    meaning: str
    function: Function
    statistic: str = "mean"
    level: float = math.nan
    over: Measure | None = None


def period_of(system: System) -> float | None:
    """The period [s] of the drivers and loads of a mechanism; None if one of them has none, or they have several."""
    periods = set[float]()
    for element in system.elements:
        stated = [getattr(element, one.name) for one in fields(element) if element.of_time(one.name)]
        for signal in (part for one in stated for part in (one.components if isinstance(one, TimeVector) else (one,))):
            turns = isinstance(element, PrescribedMotion) and element.coordinate == "angle"
            if isinstance(signal, Harmonic):
                periods.add(signal.period)
            elif isinstance(signal, FourierSignal):
                periods.add(2 * math.pi / signal.omega)
            elif isinstance(signal, Ramp) and turns and signal.rate:
                periods.add(2 * math.pi / abs(signal.rate))
            elif callable(signal):
                return None
    return periods.pop() if len(periods) == 1 else None


def _force_over(of: Stretch, name: str, duration: float) -> Array:
    """The largest mean force over a duration in each window, wherever it begins or ends: impacts included."""
    t, (steady, hits) = of.run.t, of.impulses(name)
    flow, jump = (np.cumsum(x.reshape(len(t), -1), axis=0) for x in (steady, hits))

    def until(times: Array, side: Any) -> Array:
        rows = np.searchsorted(t, times, side=side) - 1
        flown = np.array([np.interp(times, t, column) for column in flow.T]).T
        return flown + np.where(rows[:, None] >= 0, jump[np.maximum(rows, 0)], 0.0)

    starting = until(t + duration, "right") - until(t, "left")
    ending = until(t, "right") - until(t - duration, "left")
    return of.largest(np.maximum(*(np.linalg.norm(x, axis=1) for x in (starting, ending)))) / duration


def _impacts(of: Stretch, names: Sequence[str], per_second: bool) -> Array:
    """Impacts of contacts (n,), per window or per second."""
    contacts, times = of.hits
    when = of.window_of(times[np.isin(contacts, names)])
    counted = np.bincount(when, minlength=len(of.edges) - 1).astype(float)
    return counted / of.length if per_second else counted


def _deviation(of: Stretch, columns: Sequence[int]) -> Array:
    """Distances (windows, samples) of coordinates, taken together, from those of the ideal twin."""
    assert of.twin is not None
    ideal = of.twin(of.samples)[:, columns].reshape(*of.places.shape[:2], -1)
    return np.linalg.norm(of.places[:, :, columns] - ideal, axis=2)


def density(of: Stretch, joint: RevoluteClearance, q_names: Sequence[str], p: Mapping[str, float]) -> Array:
    """Share of time (cells, cells) in which a journal's centre is in each cell of the square around its clearance
    circle, in the frame of the bearing."""

    def ends(body: Any, at: str) -> tuple[Array, Array]:
        arm = np.array([p.get(f"{joint.name}.{at}_{axis}", 0.0) for axis in "xy"])
        q = of.places.reshape(-1, of.places.shape[2])
        name = getattr(body, "name", body)
        if f"{name}.x" not in q_names:  # the ground
            return np.tile(arm, (len(q), 1)), np.zeros(len(q))
        x, y, angle = (q[:, q_names.index(f"{name}.{label}")] for label in ("x", "y", "angle"))
        cosine, sine = np.cos(angle), np.sin(angle)
        return np.column_stack([x + cosine * arm[0] - sine * arm[1], y + sine * arm[0] + cosine * arm[1]]), angle

    (a, angle), (b, _) = ends(joint.a, "at_a"), ends(joint.b, "at_b")
    dx, dy = (b - a).T / p[f"{joint.name}.clearance"]
    cosine, sine = np.cos(angle), np.sin(angle)
    edges = np.linspace(-REACH, REACH, CELLS + 1)
    return np.histogram2d(cosine * dx + sine * dy, cosine * dy - sine * dx, bins=(edges, edges))[0] / len(dx)


def spectrum(of: Stretch, coordinate: int) -> Array | None:
    """Power spectral density (n,) of a coordinate, one-sided, over the mean of blocks of windows with Hann's weights;
    nothing of a stretch that is shorter than a block. Welch, P. D. (1967), IEEE Trans. Audio Electroacoust. 15, 70-73.
    """
    from scipy.signal import periodogram

    blocks = len(of.edges[1:]) // BLOCK
    values = of.places[: blocks * BLOCK, :, coordinate].reshape(blocks, BLOCK * SAMPLES)
    rate = SAMPLES / float(of.length[0])
    return periodogram(values, rate, "hann", detrend="constant")[1].mean(axis=0) if blocks else None


@dataclass(frozen=True)
class Kind:
    """A measure by name: what stands behind its colon, the unit of what is windowed, and its meaning."""

    about: str
    unit: str
    meaning: str


#: measures by name
MEASURES = {
    "mean-force": Kind("contact or joint", "N", "mean force, impacts included"),
    "peak-force": Kind("contact", "N", "largest force of a compliant contact in a window"),
    "force-over": Kind(
        "contact or joint", "N", "largest mean force over 1/100 of the window, impacts included; also force-over-1ms"
    ),
    "energy-rate": Kind("cause", "W", "energy lost per second by impacts, contact, friction, damping, or all of them"),
    "contact-share": Kind("contact", "-", "share of time in contact"),
    "impacts": Kind("contact or all", "1/window", "number of impacts per period, or per second without one"),
    "time": Kind("", "-", "1: time/impact is the mean time from one impact to the next"),
    "mean": Kind("coordinate", "", "mean of a coordinate"),
    "rms": Kind("coordinate", "", "root mean square of a coordinate in a window"),
    "range": Kind("coordinate", "", "largest less smallest in a window"),
    "largest": Kind("coordinate", "", "largest in a window"),
    "smallest": Kind("coordinate", "", "smallest in a window"),
    "deviation": Kind("body or coordinate", "", "root mean square of the deviation from the ideal twin in a window"),
    "largest-deviation": Kind("body or coordinate", "", "largest deviation from the ideal twin in a window"),
    "spectrum": Kind("coordinate", "", "power spectral density, in `spectra` of the result"),
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Named:
    """Makes measures of a mechanism by name; a `window` [s] is a `period` of its driver, a time given, or the run."""

    system: System
    window: float
    period: float | None

    def usual(self) -> list[str]:
        """The usual measures, of contacts, joints and causes that the mechanism has."""
        system = self.system
        peak = "peak-force" if system.compliant else "force-over"
        names = [f"{word}:{name}" for name in system.contact_names for word in ("mean-force", peak)]
        ideal = [e.name for e in system.elements if isinstance(e, Joint) and not isinstance(e, PrescribedMotion)]
        names += [f"{word}:{name}" for name in self.joints if name in ideal for word in ("mean-force", "force-over")]
        causes = (["contact" if system.compliant else "impacts"] if system.nc else []) + [
            cause for cause in ("friction", "damping")
            if any(value and name.endswith(f".{cause}") for name, value in system.parameters.items())
        ]  # fmt: skip
        names += [f"energy-rate:{cause}" for cause in causes] if len(causes) > 1 else ["energy-rate"]
        return names + [f"contact-share:{name}" for name in system.contact_names] + (["impacts"] if system.nc else [])

    @property
    def joints(self) -> list[str]:
        return [name.removesuffix(".x") for name in self.system.reaction_names if name.endswith(".x")]

    def measure(self, given: Any) -> Measure:
        """The measure that a text, a `Measure` or a function of a run states; InputError for another one."""
        if isinstance(given, Measure):
            return given
        if callable(given):
            name = getattr(given, "__name__", type(given).__name__)

            def values(of: Stretch) -> Array:
                value = given(of.run)
                require(is_number(value), f'The measure "{name}" must give one finite number per run', value)
                return np.full(len(of.edges) - 1, float(value))

            return Measure(name, str(getattr(given, "unit", "")), (given.__doc__ or "").partition("\n")[0], values)
        require(isinstance(given, str), "A measure is a name or a function of a trajectory", given)
        text, at, statistic = given.partition("@")
        name, per, rest = text.partition("/")
        if not per:
            made = self._plain(name, given)
        else:
            word, _, about = rest.partition(":")
            if word != "impact" or not self.system.nc:
                raise InputError(f'"{given}": a measure can be divided by /impact, of a mechanism with contacts.')
            made = self._plain(f"{name}:{about}" if about else name, given)
            of_one = about in self.system.contact_names
            contacts = (about,) if of_one else self.system.contact_names
            count = self._plain(f"impacts:{about}" if of_one else "impacts", given)
            rate = replace(count, function=lambda of: _impacts(of, contacts, per_second=True))
            # the unit of a measure over impacts per second
            unit = {"W": "J", "N": "N s", "-": "s"}.get(made.unit, f"{made.unit} s")
            made = replace(made, name=text, unit=unit, meaning=f"{made.meaning}, per impact", over=rate)
        return self._with_statistic(made, given, statistic) if at else made

    def _with_statistic(self, made: Measure, given: str, statistic: str) -> Measure:
        word, _, value = statistic.partition("=")
        if statistic in ("max", "maximum"):
            raise InputError(
                f'"{given}": a maximum has no long-run value, since it grows with the length of the run; ask for a '
                f"return level, {made.name}@return=10s, which is exceeded once in that time on average."
            )
        if made.over is not None:
            raise InputError(f'"{given}": of a measure per impact the mean is estimated; leave @{statistic} out.')
        kind, level = ("sd" if statistic == "sd" else ""), math.nan
        if word == "return" and value:
            try:
                level = float(value) if value.replace(".", "").isdigit() else in_unit(value, "s") / self.window
            except Wrong as error:
                raise InputError(f'"{given}": the time {error}.') from None
            kind = "return" if level > 1.0 else ""
        elif word[:1] == "q" and word[1:].replace(".", "", 1).isdigit():
            level = float(word[1:])
            kind = "quantile" if 0.0 < level < 1.0 else ""
        if kind:
            named = {"sd": "standard deviation", "return": "return level", "quantile": "quantile"}[kind]
            return replace(made, name=given, meaning=f"{named} of the {made.meaning}", statistic=kind, level=level)
        raise InputError(
            f'"{given}": the statistic is sd, a quantile such as q0.99, or a return level, return=1000 (windows, more '
            "than 1) or return=10s; without one it is the mean."
        )

    def _plain(self, text: str, given: str) -> Measure:
        """A measure without its statistic."""
        name, _, about = text.partition(":")
        system, duration = self.system, self.window * OVER
        if name.startswith("force-over-"):
            try:
                duration = in_unit(name.removeprefix("force-over-"), "s")
            except Wrong as error:
                raise InputError(f'"{given}": its duration {error}.') from None
            if not 0.0 < duration <= self.window:
                raise InputError(f'"{given}": its duration must be > 0 and at most the window, {self.window:g} s.')
            kind, word = MEASURES["force-over"], "force-over"
        elif name in MEASURES:
            kind, word = MEASURES[name], name
        else:
            raise InputError(f'There is no measure "{name}".{hint(name, MEASURES)} There are: {", ".join(MEASURES)}.')
        units = dict(zip(system.q_names, system.names.q_units, strict=True))
        bodies = sorted({one.rpartition(".")[0] for one in units})
        known = {
            "contact or joint": (*system.contact_names, *self.joints), "contact": system.contact_names,
            "contact or all": ("", *system.contact_names), "cause": ("", *CAUSES), "": ("",),
            "coordinate": tuple(units), "body or coordinate": (*bodies, *units),
        }[kind.about]  # fmt: skip
        if about not in known:
            listed = ", ".join(one for one in known if one) or "nothing"
            raise InputError(f'"{given}": write {word}:NAME with a {kind.about} of {listed}.{hint(about, known)}')
        unit, meaning = kind.unit or units.get(about, "m"), kind.meaning.partition(";")[0]
        contacts, causes = (about,) if about else system.contact_names, (about,) if about else CAUSES
        steady, sudden = ([one for one in causes if (one == "impacts") == jumps] for jumps in (False, True))
        columns = [i for i, one in enumerate(units) if one == about or one.rpartition(".")[0] == about
                   and one.rpartition(".")[2] in ("x", "y", "z")]  # fmt: skip
        if word == "force-over":
            meaning = f"largest mean force over {duration:.3g} s in a window, impacts included"
        if word == "impacts":
            unit = "1/s" if self.period is None else "1/period"
            meaning = f"impacts per {'second' if self.period is None else 'period'}"
        if word == "spectrum":
            if given != text:
                raise InputError(f'"{given}": a spectrum is a mean, of no impacts; write {text}.')
            unit = f"({unit})^2/Hz"
        if word == "peak-force" and not system.compliant:
            raise InputError(
                f'"{given}": the force of a rigid impact is not finite; ask for force-over:{about or "NAME"}.'
            )
        functions: dict[str, Function] = {
            "mean-force": lambda of: of.sums(
                *(np.linalg.norm(x.reshape(len(x), -1), axis=1) for x in of.impulses(about))
            ) / of.length,
            "force-over": lambda of: _force_over(of, about, duration),
            "peak-force": lambda of: np.maximum(of.largest(of.run.lam_N[about]), 0.0),
            "energy-rate": lambda of: of.sums(of.lost(steady), of.lost(sudden)) / of.length,
            "contact-share": lambda of: of.sums(
                np.append(0.0, closed_steps(of.run, about) * np.diff(of.run.t)), np.zeros(len(of.run.t))
            ) / of.length,
            "impacts": lambda of: _impacts(of, contacts, per_second=self.period is None),
            "time": lambda of: np.ones(len(of.edges) - 1),
            "mean": lambda of: of.places[:, :, columns[0]].mean(axis=1),
            "rms": lambda of: np.sqrt(np.mean(of.places[:, :, columns[0]] ** 2, axis=1)),
            "range": lambda of: np.ptp(of.places[:, :, columns[0]], axis=1),
            "largest": lambda of: of.places[:, :, columns[0]].max(axis=1),
            "smallest": lambda of: of.places[:, :, columns[0]].min(axis=1),
            "deviation": lambda of: np.sqrt(np.mean(_deviation(of, columns) ** 2, axis=1)),
            "largest-deviation": lambda of: _deviation(of, columns).max(axis=1),
            "spectrum": lambda of: spectrum(of, columns[0]),
        }  # fmt: skip
        return Measure(given.partition("@")[0], unit, f"{about}: {meaning}" if about else meaning, functions[word])
