"""Probability that an output of scattering products is beyond its limit, down to one in a million.

Inputs are independent. Each is a function of a standard normal variable, x = F^-1(Phi(u)); the product fails where one
of the limit states ``value - limit`` is positive, of a two-sided limit also ``-value - limit``.

- `monte-carlo`: share of failed products, with the bounds of Clopper and Pearson.
- `form`, first-order reliability method: with the distance beta of a limit state's nearest point from the origin, its
  probability is Phi(-beta), exact if it is plane. Several limit states are united by the upper bound of Ditlevsen.
  Random directions of clearances are taken at their worst, so that the result is too large.
- `importance`: sampling from normal distributions around these points, weighted by the ratio of the densities.
- `subset`: the product of conditional probabilities of growing subsets, estimated by Markov chains, with wide bounds:
  the errors of the subsets are taken as fully dependent.

The last three are algorithms of OpenTURNS (extra ``reliability``).
"""

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.settings import is_number, is_one, require
from nonsmooth.studies.arguments import check_count, check_share, mapping
from nonsmooth.studies.designs import drawn

METHODS = ("monte-carlo", "form", "importance", "subset")
BLOCK = 1000  # products that are evaluated together
PRECISION = 0.01  # coefficient of variation at which importance sampling ends
#: shares at which the search for nearest points starts, in each input; the median first
STARTS = (0.5, 0.1, 0.35, 0.65, 0.9)
TRIED = 4000  # random directions among which the worst is taken
#: limit state, as a share of the limit, within which a search has reached it; that of a product that cannot be made
REACHED, FAILED = 1e-3, 1e300
#: differences of quantiles, which are smooth, and of outputs without derivatives, in standard deviations
NEAR, FAR = 1e-4, 1e-2
#: steps of a search by derivatives at most; step, in standard deviations, that ends it: the error of a probability
#: is of the order of its square
STEPS, STILL = 25, 1e-4
FARTHEST = 8.0  # largest distance of a nearest point that counts: of a probability of 1e-15

Output = Callable[[Array], Array]


@dataclass(frozen=True)
class Failure:
    """A probability of failure.

    Parameters
    ----------
    method : one of `METHODS`
    probability, low, high : [-], and its bounds with confidence; equal to it for `form`, which has no bounds
    beta : reliability index -Phi^-1(probability) [-]
    evaluations : of products
    derivatives : of `form` and `importance`: exact ones, or differences, and why
    """

    method: str
    probability: float
    low: float
    high: float
    confidence: float
    evaluations: int
    derivatives: str = ""

    @property
    def beta(self) -> float:
        from scipy.stats import norm

        return float(-norm.ppf(self.probability))

    def plain(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "method": self.method, "probability": self.probability, "low": self.low, "high": self.high,
            "beta": self.beta, "evaluations": self.evaluations, "derivatives": self.derivatives,
        }  # fmt: skip


def failure_probability(
    output: Output, distributions: Mapping[str, Any], limit: float, *, method: str = "monte-carlo",
    two_sided: bool = False, runs: int = 100_000, confidence: float = 0.99, seed: int = 0,
) -> Failure:  # fmt: skip
    """Probability that an output exceeds its limit.

    InputError for numbers out of range, without OpenTURNS, or if no limit state is ever reached.

    Parameters
    ----------
    output
        Function of inputs (n, k), in the order of `distributions`, that gives (n,), or (n, m) of which none may exceed
        the limit; NaN counts as a failure. For `form` and `importance` it must be smooth: at the kinematic level, or
        with `gradient`, which for one product (k,) gives its output, the derivatives (k,) and a verdict on these, as
        `nonsmooth.derivatives.MotionOutput` does.
    distributions : of the inputs, as for `sample`, fits and toleranced dimensions among them
    limit : largest accepted output
    method : one of `METHODS`
    two_sided : whether outputs are signed, and their magnitude must not exceed the limit
    runs : products of `monte-carlo`; of each subset of `subset`; at most of `importance`
    confidence : of the bounds
    seed : the same seed gives the same result

    References
    ----------
    O. Ditlevsen, H. O. Madsen, Structural Reliability Methods, Wiley, 1996; M. Baudin, A. Dutfoy, B. Iooss, A.-L.
    Popelin, OpenTURNS: an industrial software for uncertainty quantification in simulation, Handbook of Uncertainty
    Quantification, Springer, 2017; S.-K. Au, J. L. Beck, Estimation of small failure probabilities in high dimensions
    by subset simulation, Probab. Eng. Mech. 16 (2001), 263-277

    Examples
    --------
    >>> from nonsmooth import Toleranced
    >>> stack = {"a": Toleranced(0.05, 2e-5), "b": Toleranced(0.12, 3e-5)}
    >>> found = failure_probability(lambda x: x.sum(axis=1) - 0.17, stack, 3e-5, two_sided=True, runs=1000)
    >>> found.low < 0.0126 < found.high
    True
    """
    require(is_one(method, METHODS), f"method must be one of {', '.join(METHODS)}", method)
    require(is_number(limit), "limit must be a finite number, in the unit of the output", limit)
    check_share("confidence", confidence)
    check_count("runs", runs)
    check_count("seed", seed, 0)
    require(callable(output), "output must be a function of values (products, inputs)", output)
    if not (distributions := mapping("distributions", distributions)):
        raise InputError("distributions must have at least one input.")
    states = _States(output, distributions, float(limit), two_sided)
    if method == "monte-carlo":
        u = np.random.default_rng(seed).standard_normal((runs, len(distributions)))
        parts = (states(u[k : k + 20 * BLOCK]) for k in range(0, runs, 20 * BLOCK))
        failed = sum(int(np.any(part > 0.0, axis=1).sum()) for part in parts)
        return Failure(method, failed / runs, *share_bounds(failed, runs, confidence), confidence, runs)
    with _openturns(seed) as ot:
        points = [] if method == "subset" else _nearest_points(ot, states)
        if method != "form":
            return _sample(ot, states, method, runs, confidence, points)
        united = _united(points)
        return Failure(method, united, united, united, confidence, states.evaluations, states.derivatives)


def share_bounds(count: int, runs: int, confidence: float) -> tuple[float, float]:
    """Lower and upper bound of Clopper and Pearson of a share; each side has half of the error."""
    from scipy.stats import beta

    error = (1.0 - confidence) / 2
    low = 0.0 if count == 0 else float(beta.ppf(error, count, runs - count + 1))
    high = 1.0 if count == runs else float(beta.ppf(1.0 - error, count + 1, runs - count))
    return low, high


class _States:
    """Limit states (n, m) of standard normal inputs (n, k): positive where a product fails."""

    def __init__(self, output: Output, distributions: Mapping[str, Any], limit: float, two_sided: bool) -> None:
        self.output, self.distributions, self.limit, self.two_sided = output, distributions, limit, two_sided
        self.inputs, self.evaluations = len(distributions), 0
        self.differentiated = getattr(output, "gradient", None)
        self.known: dict[bytes, tuple[Array, Array]] = {}  # values and derivatives at single products
        self.without: list[str] = []  # why products have no derivatives of their own

    def __call__(self, u: Array) -> Array:
        values = self._single(u[0])[0] if self.differentiated and len(u) == 1 else self._outputs(u)
        states = [values - self.limit] + ([-values - self.limit] if self.two_sided else [])
        found = np.concatenate(states, axis=1) / (abs(self.limit) or 1.0)  # of the order of 1, as searches expect
        return np.where(np.isnan(found), np.inf, found)

    def slopes(self, u: Array) -> Array:
        """Derivatives (m, k) of the limit states of one product (k,) by its standard normal inputs."""
        by_u = self._single(u)[1]
        return np.concatenate([by_u, -by_u] if self.two_sided else [by_u]) / (abs(self.limit) or 1.0)

    @property
    def derivatives(self) -> str:
        """Which ones were used, in words."""
        if not self.differentiated:
            return "differences, since the output has no derivatives of its own"
        exact = f"exact at {len(self.known) - len(self.without)} products"
        return f"{exact}, differences at {len(self.without)}: {self.without[0]}" if self.without else exact

    def _outputs(self, u: Array) -> Array:
        self.evaluations += len(u)
        return np.asarray(self.output(self._products(u)), dtype=float).reshape(len(u), -1)

    def _products(self, u: Array) -> Array:
        from scipy.stats import norm

        return drawn(self.distributions, norm.cdf(u))

    def _single(self, u: Array) -> tuple[Array, Array]:
        """Outputs (1, m) of one product and their derivatives (m, k) by its standard normal inputs."""
        key = u.tobytes()
        if key not in self.known:
            assert self.differentiated is not None
            value, slopes, verdict = self.differentiated(self._products(u[None])[0])
            self.evaluations += 1
            values, steps = np.reshape(value, (1, -1)).astype(float), NEAR * np.eye(self.inputs)
            if np.isfinite(slopes).all():
                each = self._products(u + steps) - self._products(u - steps)  # every input depends on its own alone
                by_u = np.reshape(slopes, (values.size, -1)) * np.diagonal(each) / (2.0 * NEAR)
            else:
                self.without.append(verdict)
                by_u = (self._outputs(u + FAR * np.eye(self.inputs)) - values).T / FAR
            self.known[key] = values, by_u
        return self.known[key]


@contextmanager
def _openturns(seed: int) -> Iterator[Any]:
    """The library, with its random numbers for a seed; their state is restored."""
    try:
        import openturns
    except ImportError as error:
        raise InputError(f'This method needs the extra "reliability", pip install "nonsmooth[reliability]" ({error}).') from error  # noqa: E501  # fmt: skip
    state, flags = openturns.RandomGenerator.GetState(), openturns.Log.Flags()
    openturns.RandomGenerator.SetSeed(seed)
    openturns.Log.Show(openturns.Log.NONE)
    try:
        yield openturns
    finally:
        openturns.RandomGenerator.SetState(state)
        openturns.Log.Show(flags)


def _event(ot: Any, function: Callable[[Array], Array], inputs: int) -> Any:
    """The event that a function of standard normal inputs (n, k) -> (n,) is positive."""
    made = ot.PythonFunction(
        inputs, 1, func=lambda u: [float(function(np.asarray(u, dtype=float)[None])[0])],
        func_sample=lambda u: function(np.asarray(u, dtype=float))[:, None],  # of lists it keeps every number
    )  # fmt: skip
    vector = ot.CompositeRandomVector(ot.MemoizeFunction(made), ot.RandomVector(ot.Normal(inputs)))
    return ot.ThresholdEvent(vector, ot.Greater(), 0.0)


def _nearest_points(ot: Any, states: _States) -> list[Array]:
    """The point nearest to the origin of each limit state that is reached, in standard normal inputs.

    Components of random directions, of which only ratios matter, are 0 here; the point is that of the worst direction.
    """
    from scipy.stats import norm

    inputs = states.inputs
    turning = np.array([".direction_" in name for name in states.distributions])
    tried = np.where(turning, np.random.default_rng(0).standard_normal((TRIED if turning.any() else 1, inputs)), 0.0)
    solver = ot.AbdoRackwitz()
    limits = {"IterationNumber": 200, "AbsoluteError": 1e-8, "RelativeError": 1e-8, "ResidualError": 1e-8}
    for name, value in (limits | {"ConstraintError": 1e-9}).items():
        getattr(solver, f"setMaximum{name}")(value)
    found, free = [], int((~turning).sum())
    for i, worst in enumerate(tried[np.argmax(states(tried), axis=0)]):

        def state(u: Array, i: int = i, worst: Array = worst) -> Array:
            full = np.tile(worst, (len(u), 1))
            full[:, ~turning] = u
            return np.minimum(states(full)[:, i], FAILED)

        def slopes(u: Array, i: int = i, worst: Array = worst) -> Array:
            full = worst.copy()
            full[~turning] = u
            return np.asarray(states.slopes(full)[i, ~turning])

        event = _event(ot, state, free)
        for share in STARTS:
            start = np.full(free, norm.ppf(share))
            if states.differentiated:
                point = _searched(state, slopes, start)
            else:
                algorithm = ot.FORM(solver, event, start.tolist())
                try:
                    algorithm.run()
                except RuntimeError:  # the gradient vanishes at this start, or the search ends nowhere
                    continue
                point = np.array(algorithm.getResult().getStandardSpaceDesignPoint())
            if abs(state(point[None])[0]) < REACHED:
                if np.linalg.norm(point) < FARTHEST:
                    found.append(np.zeros(inputs))
                    found[-1][~turning] = point
                break
    if not found:
        what = "No product was found beyond the limit by the search for the nearest points"
        raise InputError(f"{what}; check the limit, or take the method subset or monte-carlo.")
    return found


def _searched(state: Callable[[Array], Array], slopes: Callable[[Array], Array], u: Array) -> Array:
    """The point nearest to the origin where a limit state vanishes, by its derivatives: Newton's steps of Hasofer and
    Lind, halved while they do not reduce ``|u|^2 / 2 + c |state|``; InputError if they do not converge."""
    value = float(state(u[None])[0])
    for _ in range(STEPS):
        normal = slopes(u)
        size = float(np.linalg.norm(normal))
        if not size > 0.0:  # another start may have a slope
            return u
        aim = (normal @ u - value) / size**2 * normal
        if np.linalg.norm(aim - u) <= STILL * (1.0 + np.linalg.norm(u)):
            return u
        c = 2.0 * max(np.linalg.norm(u), np.linalg.norm(aim)) / size
        for share in (1.0, 0.5, 0.25, 0.125):
            there = u + share * (aim - u)
            found = float(state(there[None])[0])
            if there @ there / 2 + c * abs(found) < u @ u / 2 + c * abs(value):
                break
        u, value = there, found
    raise InputError(
        f"The search for the nearest point does not converge in {STEPS} steps: at a distance of "
        f"{np.linalg.norm(u):.3g} standard deviations the output has a kink or a jump, such as another sequence of "
        "impacts; take the method subset or monte-carlo."
    )


def _united(points: list[Array]) -> float:
    """Probability of the union of half spaces with these nearest points: upper bound of Ditlevsen."""
    from scipy.integrate import quad
    from scipy.stats import norm

    def both(a: float, b: float, cosine: float) -> float:
        """Probability of the intersection of two half spaces at distances a and b whose normals have this cosine."""
        if cosine > 1.0 - 1e-12:
            return float(norm.sf(max(a, b)))
        if cosine < -1.0 + 1e-12:
            return max(0.0, float(norm.sf(a) - norm.cdf(b))) if a < -b else 0.0
        root = math.sqrt(1.0 - cosine**2)
        found = quad(lambda x: norm.pdf(x) * norm.sf((b - cosine * x) / root), a, a + 12.0, epsabs=0.0, epsrel=1e-8)
        return float(found[0])

    known, total = sorted(((float(np.linalg.norm(u)), u) for u in points), key=lambda one: one[0]), 0.0
    for i, (beta, u) in enumerate(known):
        shared = [both(beta, other, float(u @ v) / max(beta * other, 1e-300)) for other, v in known[:i]]
        total += float(norm.sf(beta)) - max(shared, default=0.0)
    return min(total, 1.0)


def _sample(ot: Any, states: _States, method: str, runs: int, confidence: float, points: list[Array]) -> Failure:
    """Importance sampling around points, or subset simulation without any."""
    from scipy.stats import norm

    event = _event(ot, lambda u: np.minimum(np.max(states(u), axis=1), FAILED), states.inputs)
    block = min(BLOCK, runs)
    if method == "subset":
        algorithm = ot.SubsetSampling(event)
    else:
        parts = [ot.Normal(ot.Point(u), ot.CovarianceMatrix(states.inputs)) for u in points]
        weights = [max(float(norm.sf(np.linalg.norm(u))), 1e-300) for u in points]
        density = ot.Mixture(parts, [weight / max(weights) for weight in weights])
        algorithm = ot.ProbabilitySimulationAlgorithm(event, ot.ImportanceSamplingExperiment(density))
        algorithm.setMaximumCoefficientOfVariation(PRECISION)
    algorithm.setBlockSize(block)
    algorithm.setMaximumOuterSampling(max(1, runs // block))
    algorithm.run()
    result = algorithm.getResult()
    probability, half = float(result.getProbabilityEstimate()), float(result.getConfidenceLength(confidence)) / 2
    if method != "subset":
        low, high = max(0.0, probability - half), min(1.0, probability + half)
        return Failure(method, probability, low, high, confidence, states.evaluations, states.derivatives)
    # Bounds of subset simulation, whose result is about lognormal. Chains of a subset start from products of the one
    # before, so that the errors of all subsets are dependent: their coefficients of variation are added, the upper
    # bound of Au and Beck. OpenTURNS adds squares, as of independent ones, and leaves out the first subset, which is
    # sampled directly.
    first = algorithm.getBlockSize() * algorithm.getMaximumOuterSampling()
    share = float(algorithm.getProbabilityEstimatePerStep()[0])
    squares = np.array(algorithm.getCoefficientOfVariationPerStep()) ** 2
    variation = math.sqrt((1.0 - share) / (share * first)) + float(np.sqrt(np.diff(squares).clip(0.0)).sum())
    factor = math.exp(float(norm.ppf(0.5 + confidence / 2)) * math.sqrt(math.log1p(variation**2)))
    reached = algorithm.getThresholdPerStep()[-1] >= 0.0  # else no product failed, and it may be that none can
    low, high = probability / factor if reached else 0.0, min(1.0, probability * factor)
    return Failure(method, probability, low, high, confidence, states.evaluations)
