"""One sentence on whether a motion can be trusted.

A certificate verifies each step; whether the steps were short enough is shown by a finer run (`nonsmooth.trust`). This
module evaluates the signs of error that a single run shows, which costs nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.model.checks import CLOSED
from nonsmooth.model.system import System
from nonsmooth.trajectory.certificate import Certificate
from nonsmooth.trajectory.columns import AT_ONCE, bounds

#: share of the energy lost (or of LEAST of the kinetic energy or of the work of drivers, if larger) that may be missing
#: from the balance
UNBALANCED, LEAST = 0.05, 1e-3
#: share of the energies below which a remainder is round-off
ROUND_OFF = 1e-9
#: share of the programs solved by another solver than the chosen one
RESCUED = 0.01
#: complementarity error (natural map) above which the contact law is violated
INCOMPLEMENTARY = 1e-4
#: residual of the equations of a step above which they are not solved
UNSOLVED = 1e-8
#: displacement, as a share of the size of the mechanism, below which it is round-off: the mechanism rests
REST = 1e-12
#: longest way of the velocities of a run, as a share of its displacement, that does not explain it: positions jump
JUMPED = 1e-6
#: overlap of rigid contacts, as a share of the clearance, from which a run is not called finished
OVERLAP = 1.0
#: the same, from which its step is too long. Of 108 runs of `MoreauJean` with steps from far too long to short, those
#: within 1 % of the motion overlap by less than 0.9 %, those within 10 % by less than 4.6 %, docs/trust.md
DEEP = 0.05
#: opening of a joint, as a share of the reference length, from which steps are too long, or the position of a driver
#: jumps. Only `MoreauJean(joints="midpoint")` leaves joints open by more than round-off: of 107 runs of 18 ready
#: problems with 50 to 15000 steps those within 1 % of the motion by 0.81 % at most, those within 10 % by 0.05 %
OPEN = 0.05
#: without contact: share of the largest displacement that is the reference length
MOVED = 1e-3

#: what to do about signs of error
ADVICE = "shorten the steps, or let them be chosen by omitting dt"


@dataclass(frozen=True)
class Verdict:
    """Whether the motion can be trusted, why not, and what to do.

    Parameters
    ----------
    kind : str
        ``"accurate"``: a finer run (and a second method) agrees to the requested accuracy. ``"sensitive"``: it does
        until `horizon`; later motion depends on round-off. ``"not accurate"``: it does not, or the run itself shows
        signs of error. ``"methods disagree"``: two methods converge to different motions or forces.
        ``"not checked"``: no sign of error, but no finer run either. ``"incomplete"``: the run ended early.
    text : str
        The verdict as a sentence.
    position : [-]
        Largest difference from the coarser or finer run, as a share of the smallest clearance; NaN if not measured.
    force : [-]
        Difference of the peak force, as a share of it.
    horizon : [s]
        Time until which position and force are valid; infinite if they are to the end.
    parted : [s]
        First time at which the two runs differ by a tenth of the clearance; infinite if they never do.
    signs : tuple of str
        Signs of error of the run itself: overlap, open joints, energy, programs solved by other solvers.
    not_unique : int
        Rows at which other contact forces would give the same motion (see `nonsmooth.trust.undetermined_forces`),
        where the run was compared with a finer one.
    """

    kind: str
    text: str
    position: float = math.nan
    force: float = math.nan
    horizon: float = math.inf
    parted: float = math.inf
    signs: tuple[str, ...] = ()
    not_unique: int = 0

    @classmethod
    def read(cls, plain: Mapping[str, Any]) -> Verdict:
        """From the result of `dataclasses.asdict`."""
        return cls(**{**plain, "signs": tuple(plain["signs"])})

    def __str__(self) -> str:
        return f"{self.kind}: {self.text}"


#: the verdict on a trajectory that was not made by a run
UNKNOWN = Verdict("not checked", "no verdict was recorded")


def first_verdict(
    system: System, parameters: Array, certificate: Certificate, *, t: Array, q: Array, v: Array, gap: Array,
    energy: Mapping[str, Array], counts: Mapping[str, Any], status: str,
) -> tuple[str, Verdict]:  # fmt: skip
    """Status and verdict from a single run.

    A run that reached its end is finished only if its numbers are finite, the equations of its steps are solved, and no
    rigid contact overlaps by more than its clearance; otherwise its status is ``"untrusted: ..."``.

    Parameters
    ----------
    t, q, v
        Times (n,) [s], coordinates (n, nq) and velocities (n, nv) at the rows.
    gap
        True gaps (n, nc) [m].
    energy
        ``kinetic``, ``potential``, ``remainder`` and losses at the rows [J].
    counts
        ``solves`` and ``fallbacks``.
    status
        Status of the time loop.
    """
    c, broken, deep = certificate, list[str](), list[str]()  # signs that a run is not a motion, and of deep overlaps
    if not all(map(math.isfinite, (c.gap_violation, c.joint_violation, c.complementarity, c.motion_residual))):
        broken = ["numbers that are not finite"]
    elif c.motion_residual > UNSOLVED:
        broken = [f"the equations of a step are violated (residual {c.motion_residual:.1g})"]
    elif system.nc and not system.compliant:  # compliant contacts overlap by definition
        clearances = system.elementwise.gap_sizes(parameters)
        if c.gap_violation > DEEP * float(np.min(clearances)):
            overlaps = -np.min(gap, axis=0) / clearances
            i = int(np.argmax(overlaps))
            overlap, name = float(overlaps[i]), f'contact "{system.contact_names[i]}"'
            size = system.elementwise.size_words(i, parameters)
            if overlap > OVERLAP:
                broken = [f"{name} overlaps by {overlap:.2g} times its {size}"]
            elif overlap > DEEP:
                deep = [f"{name} overlaps by {100 * overlap:.2g} % of its {size}"]
    open_ = _open_constraint(system, parameters, c, t, q)
    others = _signs_of_sums(c, energy, counts, lambda: rests(system, parameters, t, q, v))
    signs = (*broken, *deep, *open_, *others)
    if status != "finished":
        return status, Verdict("incomplete", "the run ended early", signs=signs)
    if broken:
        status = f"untrusted: {broken[0]}"
    if signs:
        return status, Verdict("not accurate", f"{'; '.join(signs)}; {ADVICE}", signs=signs)
    return status, Verdict("not checked", "no sign of error; check=True (--check) compares with a finer run")


def displacement(system: System, parameters: Array, q: Array) -> tuple[float, float]:
    """The largest displacement [m] in a run, rotations times the largest radius of gyration, and the size of the
    mechanism [m]: its largest coordinate or radius of gyration."""
    lengths = np.array([unit == "m" for unit in system.names.q_units], dtype=bool)
    radius = float(np.max(system.gyration(parameters)[system.angular], initial=0.0))
    least, largest = bounds(q)
    spread, far = largest - least, np.maximum(largest, -least)
    moved = max(np.max(spread[lengths], initial=0.0), radius * np.max(spread[~lengths], initial=0.0))
    return float(moved), max(float(np.max(far[lengths], initial=0.0)), radius)


def reference_length(system: System, parameters: Array, q: Array) -> tuple[float, str]:
    """The length [m] to which errors of positions are relative, and which it is: the smallest clearance (`size` of a
    free contact); without contact a thousandth of the largest displacement."""
    if system.nc:
        sizes = system.elementwise.gap_sizes(parameters)
        i = int(np.argmin(sizes))
        words = system.elementwise.size_words(i, parameters)
        free = f'the {words} of contact "{system.contact_names[i]}"'
        return float(sizes[i]), "the smallest clearance" if words == "clearance" else free
    moved, size = displacement(system, parameters, q)
    if moved <= REST * size:
        return MOVED * size, "a thousandth of the largest coordinate, of a mechanism that rests"
    return MOVED * moved, "a thousandth of the largest displacement"


def rests(system: System, parameters: Array, t: Array, q: Array, v: Array) -> bool:
    """Whether the energies of a run are round-off: its displacements are, or its velocities, since a driver's position
    jumps."""
    moved, size = displacement(system, parameters, q)
    if moved <= REST * size:
        return True
    fastest = float(np.max(np.maximum(*map(np.abs, bounds(v))) * system.gyration(parameters), initial=0.0))
    return fastest * float(t[-1] - t[0]) <= JUMPED * moved


def _open_constraint(system: System, parameters: Array, certificate: Certificate, t: Array, q: Array) -> list[str]:
    """The constraint of a joint or driver that is violated most; angles count by the largest radius of gyration."""
    most = certificate.joint_violation
    if not CLOSED < most < math.inf:
        return []
    length, name = reference_length(system, parameters, q)
    radius = float(np.max(system.gyration(parameters)[system.angular], initial=0.0))  # of the bodies that turn
    if most * max(radius, 1.0) <= OPEN * length:
        return []
    angles = np.array([unit == "rad" for unit in system.names.constraint_units])
    shares = np.where(angles, radius, 1.0) / length
    worst, said = OPEN, ""
    for k in range(0, len(t), AT_ONCE):
        times = t[k : k + AT_ONCE]
        violation = np.abs(system.joint_violation(times, q[k : k + AT_ONCE], parameters))
        row, i = np.unravel_index(int(np.argmax(violation * shares)), violation.shape)
        one, share = float(violation[row, i]), float(violation[row, i] * shares[i])
        if one > CLOSED and share > worst:
            worst, unit = share, "rad" if angles[i] else "m"
            said = (
                f'constraint "{system.constraint_names[i]}" is open by {one:.2g} {unit} at t = {times[row]:.6g} s, '
                f"{100 * share:.3g} % of {name}"
            )
    if not said and most * float(np.min(shares)) > OPEN:
        said = f"joints are open by {most:.2g} m or rad at a step that is not recorded"
    return [said] if said else []


def _signs_of_sums(
    certificate: Certificate, energy: Mapping[str, Array], counts: Mapping[str, Any], rests: Callable[[], bool]
) -> list[str]:
    """Signs of error in the contact law, the balance of energy and the programs solved by fallback solvers."""
    signs = []
    if certificate.complementarity > INCOMPLEMENTARY:
        signs.append(f"the contact law is violated (complementarity {certificate.complementarity:.1g})")
    remainder = max(float(np.max(energy["remainder"])), -float(np.min(energy["remainder"])))
    lost = sum(float(np.abs(values[-1])) for name, values in energy.items() if name.startswith("loss_"))
    kinetic, potential = (float(np.max(np.abs(energy[name]))) for name in ("kinetic", "potential"))
    exchanged = max(kinetic, float(np.ptp(energy["work_drivers"])))
    share = max(lost, LEAST * exchanged)
    if remainder > UNBALANCED * share and remainder > ROUND_OFF * (kinetic + potential) and not rests():
        moved = f" and {exchanged:.2g} J exchanged" if share > lost else ""
        signs.append(f"the energy balance has a remainder of {remainder:.2g} J, with {lost:.2g} J lost{moved}")
    solves, rescued = counts.get("solves", 0), counts.get("fallbacks", 0)
    moves = kinetic > ROUND_OFF * potential  # of a mechanism at rest another solver may solve all programs
    if moves and rescued > RESCUED * max(solves, 1) and not rests():
        signs.append(f"{rescued} of {solves} programs were solved by a fallback solver")
    return signs
