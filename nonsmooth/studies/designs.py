"""Parameter values of a study: grids, lists, and samples of distributions."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.model.fits import Scatter
from nonsmooth.quantities import converted, has_unit, in_own_unit, parts_of
from nonsmooth.settings import floats, is_one, require, shown
from nonsmooth.studies.arguments import check_count, mapping

#: generators of `sample`: classes of `scipy.stats.qmc`, and independent random numbers
METHODS = {"sobol": "Sobol", "halton": "Halton", "latin": "LatinHypercube", "random": None}
EDGE = 2.0**-53  # shares at which the quantile of a distribution may be infinite and is not evaluated


@dataclass(frozen=True, eq=False)
class Design:
    """Values of parameters, one row per run.

    Parameters
    ----------
    names : ``element.parameter``, or an argument of the function that builds the model (k,)
    values : in SI units (n, k)
    axes : of a grid, the values of each name; empty otherwise
    how : how the values were chosen, in words
    texts : values that were given with a unit, by name, whose dimension is checked where the design is used
    """

    names: tuple[str, ...]
    values: Array
    axes: tuple[Array, ...] = ()
    how: str = ""
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        several = isinstance(self.names, Collection) and not isinstance(self.names, str)
        named = several and all(isinstance(name, str) for name in self.names)
        require(named and self.names, "A design needs at least one parameter, by name", self.names)
        numeric = isinstance(self.values, np.ndarray) and self.values.dtype.kind in "iuf"
        require(numeric, "values of a design must be an array of numbers (runs, names)", self.values)
        if len(set(self.names)) < len(self.names):
            raise InputError(f"A parameter is named twice: {', '.join(self.names)}.")
        if self.values.ndim != 2 or self.values.shape[1] != len(self.names) or not len(self.values):
            raise InputError(f"{len(self.names)} parameters do not fit values of shape {self.values.shape}.")
        for name, column in zip(self.names, self.values.T, strict=True):
            if not np.all(np.isfinite(column)):
                raise InputError(f'The values of "{name}" must be finite numbers.')

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"Design({len(self)} runs over {', '.join(self.names)}; {self.how})"


def grid(values: Mapping[str, Sequence[float] | Array]) -> Design:
    """Every combination of the values of each parameter, in SI units or with one, ``"10 um"``; the last varies fastest.

    >>> grid({"guide.clearance": [1e-5, 2e-5], "guide.friction": [0.0, 0.1, 0.2]})
    Design(6 runs over guide.clearance, guide.friction; grid of 2 x 3)
    """
    columns, texts = _columns(values)
    mesh = np.meshgrid(*columns.values(), indexing="ij")
    table = np.array([axis.ravel() for axis in mesh]).reshape(len(columns), -1).T
    shape = " x ".join(str(len(column)) for column in columns.values())
    return Design(tuple(columns), table, tuple(columns.values()), f"grid of {shape}", texts)


def points(values: Mapping[str, Sequence[float] | Array]) -> Design:
    """The first values of all parameters together, then the second ones, and so on.

    >>> points({"slider.mass": [4.0, 5.0], "guide.clearance": [1e-5, 2e-5]}).values
    array([[4.e+00, 1.e-05],
           [5.e+00, 2.e-05]])
    """
    columns, texts = _columns(values)
    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        counts = ", ".join(f"{name} {length}" for name, length in lengths.items())
        raise InputError(f"A list needs as many values of each parameter, got {counts}; for all combinations use grid.")
    return Design(tuple(columns), np.array(list(columns.values())).reshape(len(columns), -1).T, (), "list", texts)


def sample(distributions: Mapping[str, Any], n: int, *, method: str = "sobol", seed: int = 0) -> Design:
    """`n` draws of each parameter from its distribution, independent of each other.

    Parameters
    ----------
    distributions
        By parameter: ``(low, high)`` for a uniform distribution, ``(low, high, "log")`` for a log-uniform one, or an
        object with a quantile function ``ppf``, such as the frozen distributions of `scipy.stats`, `Fit` and
        `Toleranced`.
    n : number of runs; a power of two keeps a Sobol sequence balanced
    method
        "sobol", "halton" or "latin" fill the space evenly (`scipy.stats.qmc`): fewer runs for a mean or a sensitivity.
        "random" draws independently, as confidence bounds assume.
    seed : the same seed gives the same design

    >>> design = sample({"slider.mass": (4.0, 6.0), "guide.clearance": (1e-6, 1e-4, "log")}, 1024)
    >>> design.values.shape, design.values[:, 0].mean().round(2)
    ((1024, 2), np.float64(5.0))
    """
    check_count("The number of runs of a sample", n)
    check_count("seed", seed, 0)
    n, distributions = int(n), mapping("distributions", distributions)
    require(is_one(method, METHODS), f"method must be one of {', '.join(METHODS)}", method)
    if not distributions:
        raise InputError("A design needs at least one parameter.")
    from scipy.stats import qmc

    k, generator, sequence = len(distributions), np.random.default_rng(seed), METHODS[method]
    if sequence is None:
        shares = generator.random((n, k))
    elif sequence == "Sobol":  # the first n of a balanced sequence, which does not warn
        shares = qmc.Sobol(k, seed=generator).random_base2(max(n - 1, 0).bit_length())[:n]
    else:
        shares = getattr(qmc, sequence)(k, seed=generator).random(n)
    values = drawn(distributions, shares)
    return Design(tuple(distributions), values, (), f"{method}, seed {seed}: {words(distributions)}")


def drawn(distributions: Mapping[str, Any], shares: Array) -> Array:
    """Values (n, k) of k distributions at shares (n, k) between 0 and 1."""
    columns = [quantiles(name, one, shares[:, i]) for i, (name, one) in enumerate(distributions.items())]
    return np.array(columns).reshape(len(columns), len(shares)).T


def words(distributions: Mapping[str, Any]) -> str:
    drawn(distributions, np.full((1, len(distributions)), 0.5))  # InputError for what is none
    return ", ".join(f"{name} {described(one)}" for name, one in distributions.items())


def quantiles(name: str, distribution: Any, share: Any) -> Array:
    """Values of a distribution at shares between 0 and 1."""
    share = np.clip(np.asarray(share, float), EDGE, 1.0 - EDGE)
    if hasattr(distribution, "ppf"):
        return np.asarray(distribution.ppf(share), float)
    match distribution:
        case (low, high) if _rise(low, high):
            return np.asarray(low + share * (high - low))
        case (low, high, "log") if _rise(low, high) and low > 0:
            return np.asarray(low * (high / low) ** share)
    raise InputError(
        f'"{name}": a distribution is (low, high), (low, high, "log") with low > 0, in SI units, or an object with ppf '
        f"such as scipy.stats.norm(mean, sd), got {shown(distribution)}."
    )


def described(distribution: Any) -> str:
    if isinstance(distribution, Scatter):
        return distribution.text
    if isinstance(distribution, tuple):
        kind = "loguniform" if len(distribution) == 3 else "uniform"
        small = (0 < abs(value) < 1e-3 and float(f"{value:.0e}") == value for value in distribution[:2])
        ends = (f"{value:.0e}" if e else f"{value:g}" for value, e in zip(distribution[:2], small, strict=True))
        return f"{kind}({', '.join(ends)})"
    family = getattr(distribution, "dist", None)
    if family is None:
        return type(distribution).__name__
    numbers = [f"{value:g}" for value in distribution.args]
    numbers += [f"{name}={value:g}" for name, value in distribution.kwds.items()]
    return f"{family.name}({', '.join(numbers)})"


def _rise(low: Any, high: Any) -> bool:
    return all(isinstance(x, int | float) and math.isfinite(x) for x in (low, high)) and low < high


def _columns(values: Any) -> tuple[dict[str, Array], dict[str, tuple[str, ...]]]:
    found, texts = mapping("values", values), dict[str, tuple[str, ...]]()
    if not found:
        raise InputError('A design needs one name with its values at least, as grid({"pin.clearance": [1e-5, 2e-5]}).')
    for name, column in found.items():
        try:
            texts[name] = tuple(filter(has_unit, parts_of(column)))
            found[name] = np.atleast_1d(floats(converted(column, in_own_unit)))
        except (TypeError, ValueError, OverflowError):
            raise InputError(f'The values of "{name}" must be numbers, got {shown(column)}.') from None
        if found[name].ndim != 1 or not len(found[name]):
            raise InputError(f'The values of "{name}" must be a list of one number at least.')
    return found, {name: own for name, own in texts.items() if own}
