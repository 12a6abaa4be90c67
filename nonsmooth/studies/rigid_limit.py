"""Convergence of compliant to rigid contact with increasing stiffness, and its cost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError, SimulationFailed
from nonsmooth.laws.compliant import Compliant
from nonsmooth.model.model import Model
from nonsmooth.model.system import System
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.schemes.compliant.settings import CompliantDae
from nonsmooth.step.control import ErrorControl
from nonsmooth.step.scheme import Stepper
from nonsmooth.studies.arguments import built, check_build
from nonsmooth.studies.cases import Case, Trial, early_end
from nonsmooth.studies.compare import measured
from nonsmooth.studies.files import Result, doubts, variable
from nonsmooth.trajectory import Verdict

if TYPE_CHECKING:
    import xarray

#: tolerances of the compliant runs: errors far below the difference between rigid and compliant contact
CONTROL = ErrorControl(1e-9, 1e-11, 1e-6, 1e-3)
#: number of a run -> unit and meaning
COLUMNS = {
    "distance": ("-", "worst coordinate's mean deviation from rigid contact, over its range"),
    "first_impulse": ("N s", "impulse of the first contact, if it ends"),
    "impulse_error": ("-", "relative, against the rigid impulse"),
    "penetration": ("m", "deepest overlap"),
    "wall": ("s", "time of the run"),
    "steps": ("-", "steps of the run"),
    "evaluations": ("-", "evaluations of the equations of motion"),
    "own_error": ("-", "distance to an accurate solution with the same stiffness"),
}
COUNTS = ("steps", "evaluations")  # those of the numbers that are counts
FITTED = 3  # points, from the stiffest down, through which orders are fitted


@dataclass(frozen=True, eq=False)
class RigidLimit(Result):
    """Result of `rigid_limit`, over the stiffness.

    Parameters
    ----------
    stiffness : K [N/m^n] (k,)
    distance : of the compliant run to the rigid truth [-], the norm of `compare`
    first_impulse : impulse of the first contact [N s]; not a number if the surfaces do not separate again
    rigid_impulse : that of the rigid run [N s]
    penetration : deepest overlap [m]
    wall, steps, evaluations : cost of each run [s], [-], [-]
    own_error : distance of each run to an accurate solution with its own stiffness [-], the same norm
    verdicts : of each run, by that solution; and `rigid_verdict` of the rigid one
    failed : stiffnesses left out because their run, or their accurate solution, ended early, with the reason
    needed
        requested ``depth`` [m], ``stiffness`` interpolated for it, ``found`` [m] in a run with this stiffness; empty
        where no depth was requested.
    """

    stiffness: Array
    distance: Array
    first_impulse: Array
    rigid_impulse: float
    penetration: Array
    wall: Array
    steps: Array
    evaluations: Array
    own_error: Array
    verdicts: tuple[Verdict, ...]
    rigid_verdict: Verdict
    needed: Mapping[str, float] = field(default_factory=dict)
    failed: Mapping[str, str] = field(default_factory=dict)

    @property
    def impulse_error(self) -> Array:
        """Error of the first impulse relative to the rigid one [-]."""
        return np.asarray(self.first_impulse / self.rigid_impulse - 1.0)

    @property
    def orders(self) -> dict[str, float]:
        """p of ``~ K^-p`` at the stiffest three points, of distance, impulse error and penetration."""
        series = {"distance": self.distance, "impulse": np.abs(self.impulse_error), "penetration": self.penetration}
        return {name: order(self.stiffness, values) for name, values in series.items()}

    def remarks(self) -> list[str]:
        """Remarks below the table: runs that are not accurate, and those that ended early."""
        known = {f"K = {K:g}": verdict for K, verdict in zip(self.stiffness, self.verdicts, strict=True)}
        return doubts({"rigid": self.rigid_verdict} | known, self.failed)

    def rows(self) -> list[dict[str, Any]]:
        """One mapping per stiffness."""
        kinds = {name: int if name in COUNTS else float for name in ("stiffness", *COLUMNS) if name != "first_impulse"}
        return [
            {name: kind(getattr(self, name)[i]) for name, kind in kinds.items()} | {"verdict": verdict.kind}
            for i, verdict in enumerate(self.verdicts)
        ]

    def to_dataset(self) -> xarray.Dataset:
        """An `xarray.Dataset` over the stiffness; orders and the needed stiffness are attributes."""
        import xarray

        data = {name: variable("stiffness", getattr(self, name), *about) for name, about in COLUMNS.items()}
        data["verdict"] = variable("stiffness", [verdict.kind for verdict in self.verdicts], "-", "of the run")
        facts: dict[str, Any] = {
            "title": "compliant contact towards the rigid limit", "rigid_verdict": str(self.rigid_verdict),
            **{f"order_{name}": value for name, value in self.orders.items()},
            **{f"needed_{name}": value for name, value in self.needed.items()}, "rigid_impulse": self.rigid_impulse,
        }  # fmt: skip
        return xarray.Dataset(data, {"stiffness": variable("stiffness", self.stiffness, "N/m^n")}, facts)


@telling
def rigid_limit(
    build: Callable[[Any], Model | System], rigid: Case, law: Callable[[float], Compliant], stiffness: Sequence[float],
    *, t_end: float, stepper: Stepper | None = None, dt: ErrorControl = CONTROL, depth: float | None = None,
    progress: Progress = None,
) -> RigidLimit:  # fmt: skip
    """Compare runs of a mechanism with contacts of increasing stiffness with a run with rigid contact.

    Parameters
    ----------
    build : a function of the contact law that returns a model or a system, such as ``model.with_contact``
    rigid
        The rigid case, with any stepper and solver. Its exact or accurate solution is the reference of the compliant
        runs.
    law : a function of the stiffness: ``lambda K: Compliant(Flores(stiffness=K, restitution=0.5, calibrated=True))``
    stiffness : [N/m^n], at least two increasing values, for instance powers of ten
    t_end : [s]
    stepper : optional, ``CompliantDae()`` by default
    dt : tolerances of the compliant runs
    depth : [m], optional
        Penetration for which the stiffness is computed: interpolated between the runs, and verified by a further run.
    progress : callable (what, share), or True for words on one line, optional

    Raises
    ------
    InputError
        For stiffnesses that do not increase, or a depth outside their range.

    Examples
    --------
    >>> from nonsmooth import EventDriven, Rigid
    >>> from nonsmooth.laws import Flores
    >>> from nonsmooth_problems import slider_rod
    >>> contact = Rigid(restitution=0.5, friction=0.0)
    >>> exact = slider_rod.exact(case=1, contact=contact)
    >>> found = rigid_limit(
    ...     lambda contact: slider_rod(case=1, contact=contact),
    ...     Case("rigid", contact, EventDriven(), CONTROL, exact=exact),
    ...     lambda K: Compliant(Flores(stiffness=K, restitution=0.5, calibrated=True)),
    ...     [1e12, 1e13, 1e14],
    ...     t_end=0.004,
    ... )
    >>> print(", ".join(f"{100 * error:.2f} %" for error in found.impulse_error))
    6.39 %, 2.50 %, 0.99 %
    """
    values = np.asarray(stiffness, float)
    if len(values) < 2 or not np.all(np.diff(values) > 0) or not values[0] > 0:
        raise InputError(f"stiffness must be two or more positive numbers that rise, got {list(stiffness)!r}.")
    stepper = stepper or CompliantDae()
    check_build(build)
    tell = whom(progress)
    tell("rigid: accurate solution", 0.0)
    trial = Trial(rigid, built(build, rigid.contact), t_end)
    hard = trial.run()
    accurate, edges = trial.accurate(), np.array([hard.t[0], t_end])

    def soft(K: float) -> Trial:
        case = Case(f"K = {K:g}", law(K), stepper, dt, rigid.parameters)
        return Trial(case, built(build, case.contact), t_end)

    rows: dict[float, dict[str, Any]] = {}
    verdicts: list[Verdict] = []
    failed: dict[str, str] = {}
    for i, K in enumerate(values.tolist()):
        tell(f"K = {K:g}", (i + 1) / (len(values) + 2))
        compliant = soft(K)
        try:
            run, own = compliant.run(), compliant.accurate()
        except SimulationFailed as failure:
            failed[compliant.case.label] = early_end(failure)
            if len(failed) == len(values):
                raise
            continue  # what the other runs show remains
        verdicts.append(own.verdict(run))
        rows[K] = measured(run, accurate, edges, 0.0) | {"wall": run.wall_seconds, "own_error": own.error(run)}
    values, names = np.array(list(rows)), [name for name in COLUMNS if name != "impulse_error"]
    columns = {name: np.array([row[name] for row in rows.values()], float) for name in names}
    needed: dict[str, float] = {}
    if depth is not None:
        tell(f"stiffness for {depth:g} m", 1 - 1 / (len(values) + 2))
        reached = columns["penetration"]
        if not reached.min() <= depth <= reached.max():
            raise InputError(
                f"A penetration of {depth:g} m is outside the range of these stiffnesses, {reached.min():.3g} to "
                f"{reached.max():.3g} m; add others."
            )
        K = float(np.exp(np.interp(np.log(depth), np.log(reached[::-1]), np.log(values[::-1]))))
        found = measured(soft(K).run(), accurate, edges, 0.0)["penetration"]
        needed = {"depth": float(depth), "stiffness": K, "found": found}
    tell("done", 1.0)
    return RigidLimit(
        stiffness=values, **columns, rigid_impulse=measured(hard, accurate, edges, 0.0)["first_impulse"],
        verdicts=tuple(verdicts), rigid_verdict=accurate.verdict(hard), needed=needed, failed=failed,
    )  # fmt: skip


def order(K: Array, values: Array) -> float:
    """p of ``values ~ K^-p``, by least squares through the last three points; not a number for fewer than two.

    >>> order(np.array([1e10, 1e11, 1e12]), np.array([1e-1, 1e-2, 1e-3]))
    1.0
    """
    known = np.isfinite(values) & (values > 0)
    if np.count_nonzero(known) < 2:
        return float("nan")
    x, y = np.log(K[known])[-FITTED:], np.log(values[known])[-FITTED:]
    return round(float(-np.polyfit(x, y, 1)[0]), 12)
