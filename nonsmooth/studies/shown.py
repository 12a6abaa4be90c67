"""Choice of what is shown of the runs of a comparison: coordinates, contacts, joints, reactions, and measures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.model.system import System
from nonsmooth.settings import shown
from nonsmooth.studies.metrics import NAMED, OVER, Metric, metrics_of
from nonsmooth.trajectory import Trajectory


@dataclass(frozen=True)
class Chosen:
    """Names of what table and figure show, by kind; measures are those of `sweep`."""

    coordinates: tuple[str, ...] = ()
    reactions: tuple[str, ...] = ()
    contacts: tuple[str, ...] = ()
    measures: tuple[Metric, ...] = ()

    def numbers(self, run: Trajectory, row: Mapping[str, Any], window: float) -> list[tuple[str, float]]:
        """Titles with units, and numbers of a run: those of coordinates and contacts are of its metrics, `row`."""
        units = dict(zip(run.q.names + run.reaction.names, run.q.unit_list + run.reaction.unit_list, strict=True))
        found = [(f"{name}: mean deviation [{units[name]}]", row["deviation"][name]) for name in self.coordinates]
        for name in self.reactions:
            largest = float(np.max(np.abs(run.reaction[name])))
            found.append((f"{name}: largest reaction without impacts [{units[name]}]", largest))
        for name in self.contacts:
            found += [
                (f"{name}: impulse [N s]", row["impulse"][name]),
                (f"{name}: largest mean force over {window:.3g} s [N]", row["window_force"][name]),
                (f"{name}: share of time in contact [-]", row["contact_share"][name]),
            ]
        for one in self.measures:
            for title, value in one.of(run).items():
                if value.size != 1:
                    raise InputError(f"show: {title} gives {value.size} numbers of a run; a measure gives one.")
                unit = one.units.get(title.removeprefix(f"{one.name}."), one.unit)
                found.append((f"{title} [{unit or '-'}]", float(value.item())))
        return found

    def measures_of(self, numbers: Mapping[str, list[float]]) -> dict[str, list[float]]:
        """Numbers of the measures among all numbers, by title with the unit below it."""
        before = len(self.coordinates) + len(self.reactions) + 3 * len(self.contacts)
        found = list(numbers.items())[before:] if self.measures else []
        return {"\n[".join(title.rsplit(" [", 1)): values for title, values in found}


def numbers_of(runs: Mapping[str, Sequence[tuple[str, float]]]) -> dict[str, list[float]]:
    """The numbers of several runs by title."""
    return {rows[0][0]: [value for _, value in rows] for rows in zip(*runs.values(), strict=True)}


def lines_of(numbers: Mapping[str, list[float]]) -> list[tuple[str, list[Any]]]:
    """Rows of a table, of which those of one name stand below the first of it."""
    names = [title.partition(": ")[0] for title in numbers]
    same = [False, *(one == last for one, last in zip(names[1:], names, strict=False))]
    rows = zip(numbers.items(), same, strict=True)
    return [(f"  {title.partition(': ')[2]}" if below else title, row) for (title, row), below in rows]


def chosen(show: Sequence[str | Callable[[Trajectory], Any]], system: System) -> Chosen:
    """Names and functions of a run by kind; InputError for a word that is neither of the system nor a measure."""
    contacts = {name: name.partition(".")[0] for name in system.contact_names}
    known = {*system.q_names, *system.reaction_names, *contacts, *contacts.values()}
    others = [one for one in show if one not in known]
    for one in others:
        word = one.partition(":")[0] if isinstance(one, str) else ""
        if not (callable(one) or isinstance(one, str) and (word in NAMED or word.startswith(OVER))):
            raise InputError(
                f"show: {shown(one)} is not in this mechanism, which has {', '.join(sorted(known))}; nor is it a "
                f"measure: a function of a run, or one of {', '.join(NAMED)}."
            )
    return Chosen(
        tuple(one for one in show if one in system.q_names),
        tuple(one for one in show if one in system.reaction_names),
        tuple(name for name, joint in contacts.items() if name in show or joint in show),
        metrics_of(others, system) if others else (),
    )
