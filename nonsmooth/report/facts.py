"""All that a page shows of one run, as plain values and one text of packed numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.diagnostics.modes import CORNERS, Timeline, mode_timeline
from nonsmooth.exceptions import NonsmoothError
from nonsmooth.files import plain
from nonsmooth.plots.curves import energies_before
from nonsmooth.plots.drawing import drawing_of_run
from nonsmooth.plots.orbits import journal_paths
from nonsmooth.plots.touching import Touching, touches
from nonsmooth.report.pack import Packer
from nonsmooth.report.rows import RowIndices, kept_rows, marked_rows, reading_error
from nonsmooth.report.scene import scene
from nonsmooth.trajectory import Trajectory

#: tables of a run that have charts
CHARTS = ("q", "v", "lam_N", "gap", "reaction", "energy")
#: what a manifest that was changed by hand may raise where its elements are made again
FAULTS = (NonsmoothError, KeyError, TypeError, ValueError, AttributeError, IndexError, RuntimeError)
#: share of the largest contact force below which no arrow is drawn
NO_FORCE = 1e-6
#: share of the largest impulse, and of the largest velocity at an impact, below which these are round-off
ROUND_OFF = 1e-12
#: points of the paths of all journals, as far as their contacts leave a choice
ORBIT_POINTS = 30_000


def facts(run: Trajectory, label: str, most: int) -> tuple[dict[str, Any], str]:
    """Plain values, to be JSON, and packed numbers of a run with at most about so many rows.

    Impacts, jumps and changes of contact modes keep their rows whatever `most` says.
    """
    lines = _timelines(run)
    usable = np.flatnonzero(np.isfinite(run.q.array).all(axis=1) & np.isfinite(run.t))
    shown = np.column_stack([run.q.array, run.lam_N.array, run.gap.array])[usable]
    marked = np.flatnonzero(np.isin(usable, marked_rows(run, lines)))
    keep: RowIndices = usable[kept_rows(run.t[usable], np.nan_to_num(shown), marked, most)]
    numbers = Packer()
    _pack_rows(numbers, run, keep)
    _pack_impacts(numbers, run)
    for k, line in enumerate(lines):
        numbers.add(f"mode_start_{k}", line.start, "f8")
        numbers.add(f"mode_{k}", line.mode, "u1")
    drawn, fault = _scene(numbers, run, keep)
    orbits = _orbits(numbers, run, most) if drawn else []
    found = {
        "label": label,
        "rows": len(run.t),
        "shown": len(keep),
        "unusable": len(run.t) - len(usable),
        "error": reading_error(run.t, np.nan_to_num(run.q.array), keep),
        "impacts": len(run.impacts),
        "compliant": run.compliant,
        "start": float(run.t[0]),
        "end": float(run.t[-1]),
        "names": {name: list(getattr(run, name).names) for name in CHARTS},
        "units": {name: list(getattr(run, name).unit_list) for name in CHARTS},
        "timelines": [{"name": line.name, "modes": list(line.modes)} for line in lines],
        "scene": drawn,
        "orbits": orbits,
        "fault": fault,
        "index": numbers.index,
    }
    text = numbers.text()
    return plain(found), text


def name_of(run: Trajectory) -> str:
    """Of the mechanism."""
    model = run.manifest.get("model", {})
    return str(model.get("name") or model.get("problem") or "run")


def _timelines(run: Trajectory) -> list[Timeline]:
    """Of every contact, and of every slider in a planar guide."""
    names = run.gap.names
    corner, rest = CORNERS[0], CORNERS[1:]
    guides = [name.removesuffix(f".{corner}") for name in names if name.endswith(f".{corner}")]
    sliders = [guide for guide in guides if all(f"{guide}.{other}" in run.gap for other in rest)]
    return [mode_timeline(run, name) for name in (*sliders, *names)]


def _pack_rows(numbers: Packer, run: Trajectory, keep: RowIndices) -> None:
    """Times, charts and left limits at the rows where something jumps."""
    numbers.add("t", run.t[keep], "f8")
    numbers.add("q", run.q.array[keep], "i4")
    for name in CHARTS[1:]:
        numbers.add(name, getattr(run, name).array[keep], "f4")
    jumped = np.any(run.left.v.array != run.v.array, axis=1)
    jumps = np.flatnonzero(jumped[keep])
    numbers.add("jump_row", jumps, "u4")
    numbers.add("jump_v", run.left.v.array[keep][jumps], "f4")
    numbers.add("jump_energy", _energy_before(run)[keep][jumps], "f4")


def _energy_before(run: Trajectory) -> Array:
    """Energies before the impact at each row (n, terms) [J]; not a number where rows do not tell them."""
    left = energies_before(run)
    every_step = run.counts.get("steps") == len(run.t) - 1 and not np.any(run.energy["work_drivers"])
    if run.origin is None and not every_step:
        left[:, run.energy.names.index("kinetic")] = np.nan
    return left


def _pack_impacts(numbers: Packer, run: Trajectory) -> None:
    """All impacts, whatever rows are shown."""
    names = {name: i for i, name in enumerate(run.gap.names)}
    table = run.impacts
    numbers.add("impact_t", table["t"], "f8")
    numbers.add("impact_gap", [names.get(str(name), 0) for name in table["contact"]], "u4")
    columns = [np.array([table[name] for name in pair]) for pair in (("P_N", "P_T"), ("gamma_minus", "gamma_plus"))]
    for one in columns:
        one[abs(one) < ROUND_OFF * np.max(abs(one), initial=0.0)] = 0.0
    numbers.add("impacts", np.concatenate(columns).T, "f4")


def _orbits(numbers: Packer, run: Trajectory, most: int) -> list[dict[str, Any]]:
    """Paths of journals and balls in their clearances, of which points are left out where there are many."""
    paths = journal_paths(run)
    for k, path in enumerate(paths):
        finite = np.nan_to_num(path.e)
        changes = np.flatnonzero(np.diff(path.pressing)) + 1
        keep = kept_rows(path.t, finite, changes, min(most, ORBIT_POINTS // len(paths)))
        numbers.add(f"orbit_t_{k}", path.t[keep], "i4")
        numbers.add(f"orbit_{k}", finite[keep], "i2")
        numbers.add(f"orbit_pressing_{k}", path.pressing[keep[:-1]], "u1")
    return [{"name": one.name, "gap": one.gap, "axes": one.axes, "clearance": one.clearance} for one in paths]


def _scene(numbers: Packer, run: Trajectory, keep: RowIndices) -> tuple[dict[str, Any] | None, str]:
    """What is drawn, with where and how contacts in space push; or why nothing is."""
    try:
        drawing = drawing_of_run(run, run.t[keep])
        drawn = scene(drawing, run.q.names, run.gap.names)
        places = touches(drawing)
        if run.gap.names:
            forces = _forces(run, places, keep)
            size = np.linalg.norm(forces, axis=2, keepdims=True)
            pushing = np.where(size > NO_FORCE * size.max(initial=0.0), forces, 0.0)
            numbers.add("force", _in_space(pushing), "i2")
        for k, place in enumerate(places):
            numbers.add(f"touch_{k}", _in_space(place.local), "i2")
    except FAULTS as error:
        sentence = str(error) or type(error).__name__
        return None, sentence if isinstance(error, NonsmoothError) else f"{type(error).__name__}: {sentence}"
    return drawn, ""


def _forces(run: Trajectory, places: list[Touching], keep: RowIndices) -> Array:
    """Of all contacts (n, nc, d) [N]; in the plane the normal ones, of contacts whose place is known."""
    if places and places[0].normals is None:
        return run.contact_force.array[keep].reshape(len(keep), len(run.gap.names), 3)
    forces = np.zeros((len(keep), len(run.gap.names), 2))
    for place in places:
        assert place.normals is not None
        which = [run.gap.names.index(name) for name in place.gaps]
        forces[:, which] = run.lam_N.array[keep][:, which, None] * place.normals
    return forces


def _in_space(vectors: Array) -> Array:
    """Vectors (n, k, 2) or (n, k, 3) as rows (n, 3 k)."""
    return np.pad(vectors, ((0, 0), (0, 0), (0, 3 - vectors.shape[2]))).reshape(len(vectors), -1)
