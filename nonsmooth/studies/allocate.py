"""Tolerances, fits and grades that meet a limit at the least cost.

To first order the deviation of a product is ``sum s_i x_i`` with the sensitivities s_i of `Kinematics`, its variance
``sigma^2 = sum (s_i t_i / 3)^2`` for tolerances +-t_i, and its mean not zero where clearances are loaded one way. Limit
and yield give the largest sigma; with costs a_i / t_i^k Lagrange's condition is ``t_i ~ (a_i / s_i^2)^(1 / (k + 2))``.

Choices among grades or fits are tried in all combinations. The answer is verified by closing the joints of many
products; if too few are good, since different ones exceed the limit at different poses, each pose gets a larger yield.
"""

import itertools
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.fits import Fit, Scatter, Toleranced, looks_stated, stated
from nonsmooth.model.iso286 import it_grade
from nonsmooth.progress import Progress, telling, whom
from nonsmooth.quantities import in_unit
from nonsmooth.settings import is_number, require, shown
from nonsmooth.studies.arguments import check_known, check_share, mapping
from nonsmooth.studies.kinematic import Kinematics
from nonsmooth.studies.outputs import deviating
from nonsmooth.studies.sweep import Mechanism, system_of
from nonsmooth.studies.tolerance import Tolerance, limit_of, tolerance

MOST = 200_000  # most combinations of choices
GRADE = re.compile(r"IT\s*(\d+)")
TRIALS = 6  # verifications with ever smaller shares of failures per pose, which several poses together need
STEEP = 8.0  # largest exponent of costs a / t^k


@dataclass(frozen=True)
class Allocation:
    """Result of `allocate`.

    Parameters
    ----------
    tolerances : the dimension with its tolerance, or the fit, of each name in `cost`
    cost : their sum
    sd, shift : standard deviation and mean of the deviation at the worst pose, to first order
    expected : yield to first order [-]
    verified : the Monte Carlo study of these tolerances at the kinematic level, with its yield and bounds
    """

    tolerances: Mapping[str, Scatter]
    cost: float
    sd: float
    shift: float
    expected: float
    verified: Tolerance = field(repr=False)

    @property
    def statement(self) -> str:
        """The result in sentences."""
        chosen = ", ".join(
            f"{name} {one.text if isinstance(one, Fit) else f'±{one.upper - one.middle:.4g}'}"
            for name, one in self.tolerances.items()
        )
        return f"At a cost of {self.cost:.6g}: {chosen}. {self.verified.yield_statement}"


@telling
def allocate(
    mechanism: Mechanism, limit: float | str, *, metric: str, cost: Mapping[str, Any], target: float = 0.9973,
    pose: Mapping[str, Any] | None = None, t_end: float | None = None, directions: Mapping[str, Any] | None = None,
    runs: int = 10_000, confidence: float = 0.95, seed: int = 0, parameters: Mapping[str, Any] | None = None,
    arguments: Mapping[str, Any] | None = None, progress: Progress = None,
) -> Allocation:  # fmt: skip
    """Tolerances that keep a deviation within its limit for a share of the products, at the least cost.

    InputError for unknown names, costs of another form, or if no choice can meet the limit.

    Parameters
    ----------
    mechanism, parameters, arguments
        As for `tolerance`. Fits and tolerances in the model that `cost` does not name remain.
    limit : largest accepted magnitude of the deviation at every pose, also with its unit
    metric : ``"deviation:slider.x"``
    cost
        By parameter: a number a, of costs a / t for a tolerance +-t; ``(a, k)``, of costs a / t^k; or costs by choice,
        ``{"IT6": 9.0, "IT7": 5.0}`` of a dimension (with the grade's tolerance divided equally to both sides),
        ``{"20 H7/g6": 5.0, "20 H8/f7": 3.0}`` of a clearance, or texts such as ``"0.12 ±3e-5"``, ``"±30 um"``.
    target : yield [-], of both sides
    pose, t_end, directions : at which it is evaluated, see `Kinematics`
    runs, confidence, seed : of the verification
    progress : callable (what, share), or True for words on one line, optional

    References
    ----------
    M. F. Spotts, Allocation of tolerances to minimize cost of assembly, J. Eng. Ind. 95 (1973), 762-764; K. W. Chase,
    W. H. Greenwood, Design issues in mechanical tolerance analysis, Manufacturing Review 1 (1988), 50-59
    """
    check_share("target", target)
    limit = limit_of(mechanism, metric, limit, arguments)
    require(limit > 0.0, "limit must be a positive number, in the unit of the coordinate", limit)
    coordinate = deviating(metric)
    costs = mapping("cost", cost)
    if not costs:
        raise InputError('allocate needs the cost of at least one tolerance, as cost={"rod.at_b_x": 1e-3}.')
    system = system_of(mechanism, mapping("arguments", arguments))
    values = {**system.parameters, **{k: float(x) for k, x in system.toleranced(parameters).items()}}
    check_known(system, costs)
    smooth = {name: _power(name, one) for name, one in costs.items() if not isinstance(one, Mapping)}
    offered = {name: one for name, one in costs.items() if isinstance(one, Mapping)}
    choices = {name: _choices(name, one, values[name], system.unit_of(name)) for name, one in offered.items()}
    count = math.prod(len(one) for one in choices.values())
    if count > MOST:
        raise InputError(f"The choices have {count} combinations, more than {MOST}; offer fewer.")
    # any tolerance and fit makes a name scatter, so that sensitivities are known for all
    trial: dict[str, Scatter] = {name: Toleranced(values[name], 1e-9) for name in smooth}
    trial |= {name: one[0][0] for name, one in choices.items()}
    kinematics = Kinematics(
        system, coordinate, pose=pose, t=None if pose else t_end, directions=directions,
        parameters={**mapping("parameters", parameters), **trial},
    )  # fmt: skip
    each = float(target)
    for trial_number in range(TRIALS):
        whom(progress)("the cheapest tolerances", trial_number / TRIALS)
        problem = _Problem(kinematics, float(limit), each, smooth, set(costs))
        price, chosen = _cheapest(problem, choices, values, costs)
        everything = problem.inputs(chosen)
        whom(progress)(f"verifying them by {runs} products", (trial_number + 0.5) / TRIALS)
        verified = tolerance(
            mechanism, None, metric, limit=limit, level="kinematic", pose=pose, t_end=None if pose else t_end,
            clearances={name: one for name, one in everything.items() if isinstance(one, Fit)},
            others={name: one for name, one in everything.items() if not isinstance(one, Fit)}, directions=directions,
            runs=runs, confidence=confidence, seed=seed, parameters=parameters, arguments=arguments,
        )  # fmt: skip
        share, _, high = verified.yield_at()
        if high >= target:
            break
        each = 1.0 - (1.0 - each) * (1.0 - target) / (1.0 - share)
    sd, shift = problem.moments(chosen)
    yields = [problem.expected(m, s) for m, s in zip(shift, sd, strict=True)]
    worst = int(np.argmin(yields))
    return Allocation(chosen, price, float(sd[worst]), float(shift[worst]), yields[worst], verified)


@dataclass(frozen=True, eq=False)
class _Problem:
    """The limit on the deviation to first order, and the costs of continuous tolerances."""

    kinematics: Kinematics
    limit: float
    target: float
    smooth: Mapping[str, tuple[float, float]]  # a and k of the costs a / t^k
    priced: set[str]

    def inputs(self, chosen: Mapping[str, Scatter]) -> dict[str, Scatter]:
        """Inputs that scatter: those chosen, and those without a price."""
        own = self.kinematics.inputs.items()
        return {name: one for name, one in own if isinstance(one, Scatter) and name not in self.priced} | dict(chosen)

    def moments(self, chosen: Mapping[str, Scatter]) -> tuple[Array, Array]:
        """Standard deviation and mean of the deviation at each pose."""
        turning = {name.rpartition(".")[0] for name in self.kinematics.random_directions}
        variance, shift = np.zeros((2, len(self.kinematics.nominal)))
        for name, one in self.inputs(chosen).items():
            s, fit = self.kinematics.sensitivities[name], isinstance(one, Fit)
            if fit and name.rpartition(".")[0] in turning:  # of length c and uniform direction
                variance = variance + s**2 * (one.middle**2 + one.sd**2) / 2
            else:
                variance, shift = variance + (s * one.sd) ** 2, shift + (s * one.middle if fit else 0.0)
        return np.sqrt(variance), shift

    def expected(self, shift: float, sd: float) -> float:
        from scipy.stats import norm

        if sd == 0.0:
            return float(abs(shift) <= self.limit)
        return float(norm.cdf((self.limit - shift) / sd) - norm.cdf((-self.limit - shift) / sd))

    def best(self, fixed: Mapping[str, Scatter]) -> tuple[float, dict[str, float]] | None:
        """Least cost and continuous tolerances beside fixed choices; None if these alone exceed the limit."""
        from scipy.optimize import brentq

        sd, shift = self.moments(fixed)
        allowed = np.zeros(len(shift))  # the largest standard deviation at each pose with which the yield is reached
        for i, mean in enumerate(shift.tolist()):
            if abs(mean) < self.limit:
                low, high = 1e-9 * self.limit, 1e3 * self.limit
                lacking = partial(lambda mean, sd: self.expected(mean, sd) - self.target, mean)
                allowed[i] = brentq(lacking, low, high, xtol=1e-18, rtol=1e-13)
        left = allowed**2 - sd**2
        if np.any(left <= 0.0):
            return None
        if not self.smooth:
            return 0.0, {}
        names = list(self.smooth)
        a, k = np.array([self.smooth[name] for name in names]).T
        s = np.abs(np.array([self.kinematics.sensitivities[name] for name in names])) / 3.0  # sd of +-t is t / 3
        if np.any(np.max(s, axis=1) <= 0.0):
            name = names[int(np.argmin(np.max(s, axis=1)))]
            raise InputError(f'"{name}" has no effect on the deviation at these poses: leave it out.')
        t = _lagrange(a, k, s, left)
        return float(np.sum(a / t**k)), dict(zip(names, t.tolist(), strict=True))


def _cheapest(
    problem: _Problem, choices: Mapping[str, list[tuple[Scatter, float]]], values: Mapping[str, float], order: Any
) -> tuple[float, dict[str, Scatter]]:
    """Least cost among all combinations of choices, and what is chosen."""
    best: tuple[float, dict[str, Scatter]] | None = None
    for combination in itertools.product(*choices.values()):
        fixed = {name: one for name, (one, _) in zip(choices, combination, strict=True)}
        price = sum(amount for _, amount in combination)
        if best is not None and price >= best[0]:
            continue
        found = problem.best(fixed)
        if found is not None and (best is None or price + found[0] < best[0]):
            best = price + found[0], fixed | {name: Toleranced(values[name], t) for name, t in found[1].items()}
    if best is None:
        raise InputError(
            f"No choice keeps the deviation within {problem.limit:g} for {100 * problem.target:.6g} % of the products: "
            "the clearances and tolerances that are not free already exceed it; offer finer ones, or raise the limit."
        )
    return best[0], {name: best[1][name] for name in order}


def _lagrange(a: Array, k: Array, s: Array, left: Array) -> Array:
    """Tolerances of least cost ``sum a / t^k`` with ``sum (s t)^2 <= left`` at every pose, s (n, poses)."""
    if s.shape[1] == 1 and np.all(k == k[0]):
        t = (a / s[:, 0] ** 2) ** (1.0 / (k[0] + 2.0))
        return np.asarray(t * math.sqrt(left[0] / np.sum((s[:, 0] * t) ** 2)))
    from scipy.optimize import minimize

    start = np.array([math.sqrt(np.min(left / (len(a) * np.maximum(row**2, 1e-300)))) for row in s])
    unit = float(np.sum(a / start**k))
    found = minimize(
        lambda x: float(np.sum(a / (start * np.exp(x)) ** k)) / unit, np.zeros(len(a)), method="SLSQP",
        jac=lambda x: -k * a / (start * np.exp(x)) ** k / unit,
        constraints={
            "type": "ineq", "fun": lambda x: 1.0 - ((s * (start * np.exp(x))[:, None]) ** 2).sum(axis=0) / left,
            "jac": lambda x: -2.0 * ((s * (start * np.exp(x))[:, None]) ** 2 / left).T,
        }, options={"maxiter": 500, "ftol": 1e-14},
    )  # fmt: skip
    t = start * np.exp(found.x)
    return np.asarray(t * math.sqrt(float(np.min(left / ((s * t[:, None]) ** 2).sum(axis=0)))))  # on the constraint


def _power(name: str, one: Any) -> tuple[float, float]:
    """a and k of the costs a / t^k."""
    wanted = 'is a clearance, which takes costs of fits, as {"20 H7/g6": 5.0}'
    require(not name.endswith(".clearance"), f'cost: "{name}" {wanted}', one)
    pair = isinstance(one, tuple | list) and len(one) == 2
    a, k = (one, 1.0) if is_number(one) else tuple(one) if pair else (math.nan, math.nan)
    require(
        is_number(a) and is_number(k) and a > 0.0 and 0.0 < k <= STEEP,
        f'cost: "{name}" takes a > 0 of costs a / t, (a, k) of a / t^k with k up to {STEEP:g}, or costs by choice, as '
        '{"IT7": 5.0}', one,
    )  # fmt: skip
    return float(a), float(k)


def _choices(name: str, offered: Mapping[str, Any], nominal: float, unit: str) -> list[tuple[Scatter, float]]:
    found: list[tuple[Scatter, float]] = []
    for text, amount in offered.items():
        require(is_number(amount) and amount >= 0.0, f'cost: "{name}", {shown(text)}: a cost is a number >= 0', amount)
        grade = GRADE.fullmatch(text.strip()) if isinstance(text, str) else None
        one: Scatter
        if grade is not None:
            one = Toleranced(nominal, it_grade(int(grade[1]), abs(nominal) * 1e3) * 1e-6 / 2)
        elif isinstance(text, str) and looks_stated(text):
            one = stated(text, partial(in_unit, unit=unit), nominal)
        else:
            raise InputError(f'cost: "{name}" takes grades "IT7", fits "20 H7/g6" or "±30 um", got {shown(text)}.')
        of_fits = name.rpartition(".")[2] == "clearance"
        needs = "a fit" if of_fits else "a grade or a tolerance"
        require(isinstance(one, Fit) == of_fits, f'cost: "{name}" takes {needs}', text)
        found.append((one, float(amount)))
    if not found:
        raise InputError(f'cost: "{name}" offers no choice.')
    return found
