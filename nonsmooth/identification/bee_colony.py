"""The artificial bee colony of the pointing mechanism's paper: a search by random steps, without derivatives.

Its settings agree with those of a widely used MATLAB program (limit of trials L = 0.6 variables x population = 600 for
ten variables), whose variant is taken where the paper does not say more: all components of a source move at once, and
onlookers choose a source with probability in proportion to exp(-cost / mean cost).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.settings import settings, shown


@settings
class BeeColony:
    """Settings, by default those of the paper's Table 2.

    Parameters
    ----------
    iterations : "MaxIt"
    sources : "Npop", employed bees
    onlookers : "Nonlooker"
    acceleration : "a", largest step as a share of the distance of two sources
    limit : "L", trials after which a source is abandoned
    target : cost at which the search ends
    """

    iterations: int = 200
    sources: int = 100
    onlookers: int = 100
    acceleration: float = 0.5
    limit: int = 600
    target: float = 1e-6

    def __post_init__(self) -> None:
        if min(self.iterations, self.onlookers, self.limit) < 1 or self.sources < 2 or not self.acceleration > 0:
            raise InputError(f"BeeColony: two sources, and one of all else, are the least, got {shown(self)}.")


@dataclass(frozen=True, eq=False)
class Colony:
    """Result of `bee_colony`.

    Parameters
    ----------
    best : (n,), with `cost`
    history : least cost after each iteration
    on_bounds : indices of the components within 1 % of their range of a bound
    """

    best: Array
    cost: float
    history: Array
    on_bounds: tuple[int, ...]


def bee_colony(
    cost: Callable[[Array], float], low: Array, high: Array, *, settings: BeeColony | None = None, seed: int = 0
) -> Colony:
    """Minimise a function within bounds, (40) to (44) of the paper."""
    s, random = settings or BeeColony(), np.random.default_rng(seed)
    low, high = np.asarray(low, dtype=float), np.asarray(high, dtype=float)
    if low.shape != high.shape or not np.all(low < high):
        raise InputError("bee_colony: each lower bound must be less than its upper bound.")
    sources = random.uniform(low, high, (s.sources, low.size))
    costs, trials = np.array([cost(x) for x in sources]), np.zeros(s.sources, dtype=int)
    k = int(np.argmin(costs))
    best, least, history = sources[k].copy(), float(costs[k]), []

    def visit(i: int) -> None:
        j = (i + random.integers(1, s.sources)) % s.sources
        step = s.acceleration * random.uniform(-1.0, 1.0, low.size) * (sources[i] - sources[j])
        trial = np.clip(sources[i] + step, low, high)
        value = cost(trial)
        if value <= costs[i]:
            sources[i], costs[i] = trial, value
        else:
            trials[i] += 1

    for _ in range(s.iterations):
        for i in range(s.sources):
            visit(i)
        likely = np.exp(-costs / np.mean(costs))
        for chosen in random.choice(s.sources, s.onlookers, p=likely / np.sum(likely)):
            visit(int(chosen))
        for tired in np.flatnonzero(trials >= s.limit):
            sources[tired], trials[tired] = random.uniform(low, high), 0
            costs[tired] = cost(sources[tired])
        k = int(np.argmin(costs))
        if costs[k] < least:
            best, least = sources[k].copy(), float(costs[k])
        history.append(least)
        if least < s.target:
            break
    near = np.minimum(best - low, high - best) <= 0.01 * (high - low)
    return Colony(best, least, np.array(history), tuple(int(i) for i in np.flatnonzero(near)))
