"""Default panels of a run: moving coordinates, forces, and gaps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.plots.curves import readable
from nonsmooth.plots.panel import Panel, Series
from nonsmooth.trajectory import Columns, Trajectory

#: largest number of lines in a panel, and of joints whose gaps are drawn
LINES, JOINTS = 4, 2
#: extents of lines that share a panel differ by no more than this factor
SPREAD = 10.0
#: shares of the largest motion of the unit, and of the largest force, below which a line is omitted
STILL, IDLE = 1e-6, 1e-6


def chosen_panels(trajectory: Trajectory) -> tuple[Panel, ...]:
    """Coordinates with the largest motion and their velocities, forces in contacts and in ideal joints, and gaps
    without an orbit."""
    positions = _moving(trajectory.q, "q", "m", "Positions")
    panels = positions + _moving(trajectory.q, "q", "rad", "Angles")
    panels += _moving(trajectory.q, "q", "m kg^1/2", "Modal amplitudes")[:1]
    if positions and len(panels) < 4:
        panels.append(_panel("Velocities", "", [("v", line[-1], line[-1]) for line in positions[0].series]))
    panels += _contact_forces(trajectory) + _joint_forces(trajectory) + _gaps(trajectory)
    if not panels:  # nothing moves, nothing pushes
        panels = [Panel("Energy", "", (("energy", "kinetic", "kinetic"), ("energy", "potential", "potential")))]
    return tuple(panels)


def loose_bearings(trajectory: Trajectory) -> list[str]:
    """Planar bearings with clearance, those with the largest impulses first."""
    elements = trajectory.manifest.get("model", {}).get("elements", ())
    names = [one["name"] for one in elements if one["kind"] == "RevoluteClearance" and one.get("axis_a") is None]
    known = [name for name in names if name in trajectory.P_N]
    return sorted(known, key=lambda name: -float(np.sum(trajectory.P_N[name])))


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
    return [_panel(head, "", [(kind, name, name) for name in names]) for head, names in zip(heads, shown, strict=False)]


def _panel(title: str, unit: str, series: Sequence[Series]) -> Panel:
    """Of a single line the title has its name, which no legend would say."""
    return Panel(title if len(series) > 1 else f"{title}: {series[0][-1]}", unit, tuple(series))


def _contact_forces(trajectory: Trajectory) -> list[Panel]:
    """The most loaded contacts: their mean forces, or where these vanish their impulses."""
    for kind, columns, title in (
        ("lam_N", trajectory.lam_N, "Contact forces"), ("impulse", trajectory.P_N, "Contact impulses since the start")
    ):  # fmt: skip
        names = _largest({name: float(np.max(columns[name], initial=0.0)) for name in columns})
        if names:
            return [_panel(title, "", [(kind, name, name) for name in names])]
    return []


def _joint_forces(trajectory: Trajectory) -> list[Panel]:
    """Magnitudes of the forces in ideal joints."""
    joints: dict[str, list[str]] = {}
    for name in trajectory.reaction:
        if trajectory.reaction.units(name) == "N":
            joints.setdefault(name.rpartition(".")[0], []).append(name)
    peaks = {
        joint: float(np.max(np.hypot.reduce([trajectory.reaction[name] for name in names]), initial=0.0))
        for joint, names in joints.items()
    }
    series: list[Series] = [(_magnitude(joints[joint]), joint) for joint in _largest(peaks)]
    unit = readable("N", max(peaks.values(), default=0.0))
    return [_panel("Joint forces", unit, series)] if series else []


def _magnitude(names: Sequence[str]) -> Callable[[Any], Array]:
    return lambda run: np.sqrt(sum(run.reaction[name] ** 2 for name in names))


def _largest(peaks: dict[str, float]) -> list[str]:
    """Names of the largest, in their own order."""
    most = max(peaks.values(), default=0.0)
    loaded = sorted((name for name, one in peaks.items() if one > IDLE * most), key=lambda name: -peaks[name])
    return sorted(loaded[:LINES], key=list(peaks).index)


def _gaps(trajectory: Trajectory) -> list[Panel]:
    """Gaps of joints that have several, such as the corners of a slider, and of those without an orbit."""
    orbits = set(loose_bearings(trajectory))
    owners: dict[str, list[str]] = {}
    for name in trajectory.gap:
        if name not in orbits:
            owner = name.rpartition(".")[0] or name
            owners.setdefault(owner, []).append(name)
    busy = sorted(owners, key=lambda owner: -sum(float(np.sum(trajectory.P_N[name])) for name in owners[owner]))
    panels = []
    for owner in sorted(busy[:JOINTS], key=list(owners).index):
        names = sorted(owners[owner], key=lambda name: -float(np.sum(trajectory.P_N[name])))[:LINES]
        series = tuple(("gap", name, name.removeprefix(f"{owner}.")) for name in sorted(names, key=owners[owner].index))
        panels.append(Panel(f"Gaps of {owner}" if len(series) > 1 else f"Gap of {owner}", "", series))
    return panels
