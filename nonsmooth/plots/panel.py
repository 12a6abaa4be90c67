"""Panels over time: curves with both limits at jumps, quantities of a run by words, default panels, measured data."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.motion import coordinates
from nonsmooth.exceptions import InputError
from nonsmooth.files.csv_data import TIMES, conversion, read_table, split_unit
from nonsmooth.plots.labels import display, scale
from nonsmooth.plots.orbits import loose_bearings
from nonsmooth.quantities import Wrong, parse_unit
from nonsmooth.settings import checked, hint, shown
from nonsmooth.trajectory import Columns, Trajectory

GRID = 1500  # points of an exact curve in addition to its jumps, and of an interpolated one in addition to its rows
ROUND_OFF = 1e-12  # of kinetic energies, as a share of the largest
KINDS = ("q", "v", "gap", "lam_N", "impulse", "reaction", "energy")
#: in which order a name without a kind is looked for; of contacts the force comes first, of bodies the position
ORDER = ("q", "lam_N", "reaction", "energy", "v", "gap", "impulse")
TITLES = {"q": "", "v": "velocity of ", "gap": "gap of ", "lam_N": "contact force of ", "impulse": "impulse of ",
          "reaction": "force of ", "energy": "", "N m": "torque of "}  # fmt: skip
LINES, JOINTS = 4, 2  # largest number of lines in a panel, and of joints whose gaps are drawn
SPREAD = 10.0  # extents of lines that share a panel differ by no more than this factor
#: shares of the largest motion of the unit, and of the largest force, below which a line is omitted
STILL, IDLE = 1e-6, 1e-6


class Exact(Protocol):
    """An exact solution: samples under the trajectory's names, and the times of its jumps."""

    @property
    def events(self) -> Array: ...

    def sample(self, t: Array, side: Any = "right") -> Any: ...


@dataclass(frozen=True, eq=False)
class View:
    """One-sided limits at times t, by kind and name; what a panel's function receives."""

    t: Array
    q: Mapping[str, Array]
    v: Mapping[str, Array]
    gap: Mapping[str, Array]
    lam_N: Mapping[str, Array]
    impulse: Mapping[str, Array]
    reaction: Mapping[str, Array]
    energy: Mapping[str, Array]


def through_jumps(t: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """Points of a line that runs vertically through jumps: of each time its left and its right limit."""
    return np.repeat(t, 2), np.column_stack([left, right]).ravel()


def limits(trajectory: Trajectory) -> tuple[View, View]:
    """Left and right limits at the rows. What belongs to a step, such as a mean force, is constant over it."""
    left: dict[str, Mapping[str, Array]] = {kind: columns_of(trajectory, kind) for kind in KINDS}
    right = dict(left)
    for kind in ("lam_N", "reaction"):
        columns = right[kind]
        left[kind] = {name: np.concatenate([values[1:2], values[1:]]) for name, values in columns.items()}
        right[kind] = {name: np.concatenate([values[1:], values[-1:]]) for name, values in columns.items()}
    dt, P_N = np.diff(trajectory.t, prepend=trajectory.t[0]), trajectory.P_N
    total = {name: np.cumsum(values) for name, values in P_N.items()}
    left["impulse"] = {name: total[name] - (P_N[name] - trajectory.lam_N[name] * dt) for name in total}
    left["energy"] = dict(zip(trajectory.energy.names, energies_before(trajectory).T, strict=True))
    return View(trajectory.t, **left | {"v": trajectory.left.v}), View(trajectory.t, **right | {"impulse": total})


def energies_before(trajectory: Trajectory) -> Array:
    """Energies before the impact at each row (n, terms) [J], whose balance is that after it.

    Kinetic energy is that of velocities before. Where the mechanism is not known, it is more by what was lost since the
    row before, which holds if each row is a step and drivers do no work; with drivers the loss is that since, too.
    """
    left, energy, origin = trajectory.energy.array.copy(), trajectory.energy, trajectory.origin
    lost = np.diff(energy["loss_impacts"], prepend=0.0)
    kinetic, loss, work = (left[:, energy.names.index(name)] for name in ("kinetic", "loss_impacts", "work_drivers"))
    if origin is None:
        loss -= lost
        kinetic += lost
        return left
    rows = np.flatnonzero(np.any(trajectory.left.v.array != trajectory.v.array, axis=1))
    if rows.size:
        state = trajectory.t[rows], trajectory.q.array[rows], trajectory.left.v.array[rows]
        taken = origin.system.energies(*state, origin.parameters)["kinetic"] - energy["kinetic"][rows]
        # where rows are steps, this is what was lost since the row before: then to the bit, as in a file
        same = np.abs(taken - lost[rows]) <= ROUND_OFF * np.max(kinetic)
        taken[same] = lost[rows][same]
        kinetic[rows] += taken
        if np.any(work):
            loss[rows] -= lost[rows]
            work[rows] -= lost[rows] - taken
        else:
            loss[rows] -= taken
    return left


def dense(trajectory: Trajectory) -> tuple[View, View]:
    """`limits` at rows and points between: coordinates as of diagnostics, others linear, means over a step constant."""
    left, right = limits(trajectory)
    rows = trajectory.t
    if len(rows) < 2:
        return left, right
    t = np.union1d(rows, np.linspace(rows[0], rows[-1], GRID))
    q = Columns(trajectory.q.what, trajectory.q.names, coordinates(trajectory, t), trajectory.q.unit_list)

    def view(side: Literal["left", "right"]) -> View:
        k = np.clip(np.searchsorted(rows, t, side=side) - 1, 0, len(rows) - 2)
        s = (t - rows[k]) / (rows[k + 1] - rows[k])

        def table(kind: str) -> Columns:
            known, values = columns_of(trajectory, kind), np.zeros((len(t), 0))
            before, after = (np.array([getattr(one, kind)[name] for name in known]).T for one in (right, left))
            if known:
                values = before[k] + s[:, None] * (after[k + 1] - before[k])
                values[0] = (after if side == "left" else before)[0]
            return Columns(known.what, known.names, values, known.unit_list)

        return View(t, q, *map(table, KINDS[1:]))

    return view("left"), view("right")


@checked
def units_of(trajectory: Trajectory, kind: str, name: str) -> str:
    """SI unit of a quantity of the trajectory."""
    if kind not in KINDS:
        raise InputError(
            f"There is no kind {shown(kind)} of quantity.{hint(kind, KINDS)} A panel draws {', '.join(KINDS)}."
        )
    return columns_of(trajectory, kind).units(name)


def columns_of(trajectory: Trajectory, kind: str) -> Columns:
    """The trajectory's columns of a kind; impulses have the names and units of `P_N`."""
    return trajectory.P_N if kind == "impulse" else getattr(trajectory, kind)


Series = tuple[str, str, str] | tuple[Callable[[Any], Array], str]


@dataclass(frozen=True)
class Panel:
    """Contents of a panel. A problem, which does not import plots, declares it as a plain tuple.

    Parameters
    ----------
    title : heading
    unit : display unit: an SI unit, with a prefix (``"um"``, ``"mm/s"``), or ``"deg"``; ``""`` picks a readable one
    series
        Lines as ``(kind, name, label)`` with a kind of `q`, `v`, `gap`, `lam_N`, `impulse` (of a contact since the
        start), `reaction`, `energy`; or as ``(function, label)``, where the function receives an object with these as
        mappings from names to arrays, and returns SI values.

    >>> Panel("Height", "um", (("q", "slider.y", "centre"),)).title
    'Height'
    """

    title: str
    unit: str
    series: tuple[Series, ...]


AnyPanel = Panel | tuple[str, str, tuple[Series, ...]]

#: what an axis shows, by kind and SI unit; by unit alone where it is a function of several quantities
MEANINGS = {
    ("q", "m kg^1/2"): "modal amplitude", ("v", "m kg^1/2/s"): "rate of modal amplitude",
    ("q", "m"): "position", ("q", "rad"): "angle", ("q", "1"): "orientation", ("q", "-"): "orientation",
    ("v", "m/s"): "velocity", ("v", "rad/s"): "angular velocity",
    ("gap", "m"): "gap", ("lam_N", "N"): "contact force", ("impulse", "N s"): "impulse",
    ("reaction", "N"): "joint force", ("reaction", "N m"): "joint torque", ("energy", "J"): "energy",
    ("", "m"): "length", ("", "rad"): "angle", ("", "m/s"): "velocity", ("", "rad/s"): "angular velocity",
    ("", "N"): "force", ("", "N m"): "torque", ("", "N s"): "impulse", ("", "J"): "energy", ("", "s"): "time",
}  # fmt: skip


def as_panel(entry: AnyPanel) -> Panel:
    if isinstance(entry, Panel):
        return entry
    if isinstance(entry, (tuple, list)) and len(entry) == 3:
        return Panel(*entry)
    raise InputError(f"A panel is Panel(title, unit, series), or a tuple of the three, got {shown(entry)}.")


@dataclass(frozen=True)
class Line:
    kind: str
    name: str
    label: str
    function: Callable[[Any], Array] | None = None

    @classmethod
    def of(cls, entry: Series, panel: Panel) -> Line:
        if len(entry) == 3:
            return cls(*entry)
        if len(entry) == 2 and callable(entry[0]):
            return cls("", "", entry[1], entry[0])
        raise InputError(
            f'Panel "{panel.title}": a series is (kind, name, label) or (function, label), got {shown(entry)}.'
        )

    def unit(self, trajectory: Trajectory) -> str | None:
        return None if self.function else units_of(trajectory, self.kind, self.name)

    def value(self, view: Any) -> Any:
        return np.asarray(self.function(view), float) if self.function else getattr(view, self.kind)[self.name]


def meaning(lines: Sequence[Line], unit: str) -> str:
    """Words for the quantity of these lines in a display unit; empty where no word fits."""
    kinds = {line.kind for line in lines if line.kind}
    base = scale(unit)[0]
    return MEANINGS.get((kinds.pop() if len(kinds) == 1 else "", base), MEANINGS.get(("", base), ""))


@checked
def quantities(trajectory: Trajectory) -> list[tuple[str, str, str]]:
    """Kind, name and SI unit of everything that a panel over time can show."""
    return [
        (kind, name, units_of(trajectory, kind, name)) for kind in KINDS for name in columns_of(trajectory, kind).names
    ]


def named(trajectory: Trajectory, word: str, unit: str = "") -> list[tuple[str, str]]:
    """Kind and name of each column that ``name`` or ``kind:name`` stands for: one, or all of an element or a body.

    The columns must have the unit, which also chooses between coordinates and velocities.
    """
    kind, colon, name = word.partition(":")
    if not colon:
        kind, name = "", word
    if kind and kind not in KINDS:
        known = f"{hint(kind, KINDS, 1)} Write {', '.join(KINDS)}, as lam_N:pin."
        raise InputError(f"There is no kind {shown(kind)} of quantity in {shown(word)}.{known}")
    try:
        parse_unit(unit)
    except Wrong as error:
        raise InputError(f"{word!r} {error}") from None
    for one in (kind,) if kind else ORDER:
        names = columns_of(trajectory, one).names
        found = [name] if name in names else [known for known in names if known.startswith(f"{name}.")]
        fitting = []
        for known in found:
            with contextlib.suppress(Wrong):
                conversion(unit, units_of(trajectory, one, known))
                fitting.append(known)
        if fitting:
            return [(one, known) for known in fitting]
        if found and kind:
            own = units_of(trajectory, one, found[0])
            raise InputError(f"{word!r} is in {own}, which cannot be shown in {unit}.")
    every = dict.fromkeys(known for one in ((kind,) if kind else KINDS) for known in columns_of(trajectory, one).names)
    raise InputError(f"The run has no quantity {word!r}.{hint(name, every)} There are: {', '.join(every) or 'none'}.")


def panel_of(trajectory: Trajectory, word: str) -> Panel:
    """A panel of one quantity, or of several with commas between: ``"lam_N:guide.left_lower,pin [kN]"``."""
    text, unit = split_unit(word)
    kind, colon, names = text.partition(":")
    prefix, names = (f"{kind}:", names) if colon else ("", text)
    found: list[tuple[str, str]] = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        found += [one for one in named(trajectory, name if ":" in name else prefix + name, unit) if one not in found]
    if not found:
        raise InputError(f"{shown(word)} names no quantity; write, for example, slider.x or lam_N:pin.")
    if len({units_of(trajectory, *one) for one in found}) > 1:
        several = ", ".join(f"{kind}:{name} [{units_of(trajectory, kind, name)}]" for kind, name in found)
        raise InputError(f"{word!r} has quantities of different units ({several}); draw them in panels of their own.")
    kinds = {kind for kind, _ in found}
    told = TITLES.get(units_of(trajectory, *found[0]), TITLES[found[0][0]])
    if told == TITLES["N m"]:  # "torque of motor", and of its component "motor, z"
        names = re.sub(r"\.torque(?:_([xyz]))?(?=\s*(,|$))", lambda one: f".{one[1]}" if one[1] else "", names)
    title = told + names.replace(",", ", ") if len(kinds) == 1 else text
    title = title[:1].upper() + title[1:] if told else title
    return Panel(title, unit, tuple((kind, name, name.removeprefix(f"{names}.")) for kind, name in found))


def chosen_panels(trajectory: Trajectory) -> tuple[Panel, ...]:
    """Coordinates that move most and their velocities, forces in contacts and ideal joints, gaps without an orbit."""
    positions = _moving(trajectory.q, "q", "m", "Positions")
    panels = positions + _moving(trajectory.q, "q", "rad", "Angles")
    panels += _moving(trajectory.q, "q", "m kg^1/2", "Modal amplitudes")[:1]
    if positions and len(panels) < 4:
        panels.append(_panel("Velocities", [("v", line[-1], line[-1]) for line in positions[0].series]))
    panels += _forces(trajectory) + _gaps(trajectory)
    if not panels:  # nothing moves, nothing pushes
        panels = [Panel("Energy", "", (("energy", "kinetic", "kinetic"), ("energy", "potential", "potential")))]
    return tuple(panels)


def _moving(columns: Columns, kind: str, unit: str, title: str) -> list[Panel]:
    """The columns of a unit that move most, one of each body before others; far smaller motions in another panel."""
    extents = {name: float(np.ptp(columns[name])) for name in columns if columns.units(name) == unit}
    most = max(extents.values(), default=0.0)
    moving = sorted((name for name, one in extents.items() if one > STILL * most), key=lambda name: -extents[name])
    groups: list[list[str]] = [[], []]
    first = {name.rpartition(".")[0]: name for name in reversed(moving)}
    for name in (*(name for name in moving if name in first.values()), *moving):
        group = groups[extents[name] * SPREAD < most]
        if len(group) < LINES and name not in group:
            group.append(name)
    shown = [sorted(group, key=list(columns).index) for group in groups if group]
    heads = (title, f"{title}, smaller motions")
    return [_panel(head, [(kind, name, name) for name in names]) for head, names in zip(heads, shown, strict=False)]


def _panel(title: str, series: Sequence[Series], unit: str = "") -> Panel:
    """A panel, whose title names a single line, which has no legend."""
    return Panel(title if len(series) > 1 else f"{title}: {series[0][-1]}", unit, tuple(series))


def _forces(trajectory: Trajectory) -> list[Panel]:
    """The most loaded contacts, by mean forces, or by impulses where these vanish, and the most loaded ideal joints."""
    panels = []
    for kind, title in (("lam_N", "Contact forces"), ("impulse", "Contact impulses since the start")):
        names = _largest({name: float(np.max(x, initial=0.0)) for name, x in columns_of(trajectory, kind).items()})
        if names:
            panels = [_panel(title, [(kind, name, name) for name in names])]
            break
    reaction, joints = trajectory.reaction, dict[str, list[str]]()
    for name in (name for name in reaction if reaction.units(name) == "N"):
        joints.setdefault(name.rpartition(".")[0], []).append(name)
    peaks = {
        joint: float(np.max(np.hypot.reduce([reaction[name] for name in names]), initial=0.0))
        for joint, names in joints.items()
    }
    series: list[Series] = [
        (lambda run, names=joints[joint]: np.sqrt(sum(run.reaction[name] ** 2 for name in names)), joint)
        for joint in _largest(peaks)
    ]
    if series:
        panels.append(_panel("Joint forces", series, display("N", max(peaks.values()))[0]))
    return panels


def _largest(peaks: dict[str, float]) -> list[str]:
    """Names of the largest, in their own order."""
    most = max(peaks.values(), default=0.0)
    loaded = sorted((name for name, one in peaks.items() if one > IDLE * most), key=lambda name: -peaks[name])
    return sorted(loaded[:LINES], key=list(peaks).index)


def _gaps(trajectory: Trajectory) -> list[Panel]:
    """Gaps of joints that have several, such as the corners of a slider, and of those without an orbit."""
    orbits = loose_bearings(trajectory)
    owners: dict[str, list[str]] = {}
    for name in (name for name in trajectory.gap if name not in orbits):
        owners.setdefault(name.rpartition(".")[0] or name, []).append(name)
    total = {name: float(np.sum(values)) for name, values in trajectory.P_N.items()}
    busy = sorted(owners, key=lambda owner: -sum(total[name] for name in owners[owner]))
    panels = []
    for owner in sorted(busy[:JOINTS], key=list(owners).index):
        names = sorted(owners[owner], key=lambda name: -total[name])[:LINES]
        series = tuple(("gap", name, name.removeprefix(f"{owner}.")) for name in sorted(names, key=owners[owner].index))
        panels.append(Panel(f"Gaps of {owner}" if len(series) > 1 else f"Gap of {owner}", "", series))
    return panels


@dataclass(frozen=True, eq=False)
class Measured:
    """Data over time, in SI units.

    Parameters
    ----------
    t : times (n,) [s]
    columns
        By kind and name of the run's quantities, as ``("q", "slider.x")``, values (n,); NaN where nothing was measured.
    source : origin of the data
    """

    t: Array
    columns: Mapping[tuple[str, str], Array]
    source: str = ""

    def differences(self, trajectory: Trajectory) -> dict[tuple[str, str], float]:
        """Root mean square of run minus data, by column and in SI units, over the data within the run's time.

        Coordinates and velocities are those of `Trajectory.at`; mean forces are those of the step around each time,
        everything else is interpolated between rows.

        InputError if no time of the data lies within the run.
        """
        inside = (self.t >= trajectory.t[0]) & (self.t <= trajectory.t[-1])
        if not inside.any():
            first, last = trajectory.t[0], trajectory.t[-1]
            raise InputError(f"No time of {self.source or 'the data'} lies within the run, {first:g} to {last:g} s.")
        found = {}
        for (kind, name), values in self.columns.items():
            known = inside & np.isfinite(values)
            if known.any():
                t, own = self.t[known], columns_of(trajectory, kind)[name]
                if kind in ("q", "v"):
                    own = getattr(trajectory.at(t, order=4), kind)[name]
                elif kind in ("lam_N", "reaction"):
                    own = own[np.clip(np.searchsorted(trajectory.t, t), 1, len(own) - 1)]
                else:
                    own = np.interp(t, trajectory.t, np.cumsum(own) if kind == "impulse" else own)
                found[kind, name] = float(np.sqrt(np.mean((own - values[known]) ** 2)))
        return found


@checked
def read_measured(path: str | os.PathLike[str], trajectory: Trajectory) -> Measured:
    """Read a CSV file whose first line names its columns: ``t [ms],slider.x [mm],lam_N:pin [N]``.

    The first column is the time. Other names are those of the run, with a kind of `Panel` before a colon if several
    have the name; units in brackets are those of TOML files, without one values are in SI units. Columns are separated
    by commas, semicolons or tabs; with semicolons numbers may have decimal commas. Lines that begin with ``#`` are
    comments; empty cells are missing values. InputError if the file cannot be read, or a column or a number is invalid,
    with its line.
    """
    read = read_table(path)
    if read.names[0].lower() not in TIMES:
        raise InputError(
            f"{read.path}: the first column must be the time, as t [s] or time [ms], got {read.names[0]!r}."
        )
    columns, values = [], []
    for k, name in enumerate(read.names[1:], start=1):
        found = named(trajectory, name, read.units[k])
        if len(found) > 1:
            offer = ", ".join(known for _, known in found)
            raise InputError(f"{read.path}: the column {name!r} may be any of {offer}; name one of them.")
        columns.append(found[0])
        values.append(read.values[:, k] * read.factor(k, units_of(trajectory, *found[0])))
    if len(set(columns)) < len(columns):
        raise InputError(
            f"{read.path}: a quantity is measured twice in {', '.join(read.names[1:])}; give each column once."
        )
    t = read.times(increasing=False)  # of points, which may be those of several sensors below each other
    order = np.argsort(t, kind="stable")
    return Measured(t[order], {one: column[order] for one, column in zip(columns, values, strict=True)}, str(read.path))
