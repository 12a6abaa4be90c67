"""Contributions of inputs to the variance of an output: Sobol' indices, by SALib."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.progress import Progress, telling
from nonsmooth.step.control import StepControl
from nonsmooth.studies.designs import drawn, words
from nonsmooth.studies.products import DynamicLevel, name_of
from nonsmooth.studies.sweep import Mechanism

if TYPE_CHECKING:
    import xarray

    from nonsmooth.step.scheme import Stepper


@telling
def sensitivity(
    mechanism: Mechanism,
    stepper: Stepper | None,
    metric: str | Callable[[Any], float],
    distributions: Mapping[str, Any],
    *,
    t_end: float,
    dt: float | StepControl | None = None,
    base: int = 64,
    seed: int = 0,
    parameters: Mapping[str, float] | None = None,
    arguments: Mapping[str, Any] | None = None,
    output: str | os.PathLike[str] | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    progress: Progress = None,
) -> xarray.Dataset:
    """Fraction of an output's variance due to each input, alone and including interactions.

    Parameters
    ----------
    mechanism, stepper, t_end, dt, parameters, arguments, output, workers, scheduler, progress : as for `sweep`
    metric : a name or a function of a trajectory that gives one number, as for `tolerance`
    distributions : of at least two independent inputs, as for `sample`
    base : a power of two; ``base (k + 2)`` runs for k inputs
    seed : the same seed gives the same runs

    Returns
    -------
    xarray.Dataset
        ``first`` and ``total`` [-] over ``input``, and half the widths of their 95 % confidence intervals.

    Raises
    ------
    InputError
        Without SALib (extra ``sensitivity``), for a single input, or if a run fails.
    """
    level = DynamicLevel(
        mechanism, stepper, metric, limit=math.inf, t_end=t_end, dt=dt, verdict=False, accuracy=math.inf,
        parameters=parameters, arguments=arguments, output=output, workers=workers, scheduler=scheduler,
        progress=progress,
    )  # fmt: skip
    outputs = level.plain(tuple(distributions), f"Saltelli, base {base}, seed {seed}: {words(distributions)}", output)
    return shares(outputs, distributions, name_of(metric), base=base, seed=seed)


def check_sensitivity(distributions: Mapping[str, Any]) -> None:
    """Raise InputError without SALib, or for a single input; also before a study whose runs come first."""
    try:
        import SALib  # noqa: F401
    except ImportError as error:
        raise InputError(f'Sensitivity needs the extra "sensitivity", pip install "nonsmooth[sensitivity]" ({error}).') from error  # noqa: E501  # fmt: skip
    if len(distributions) < 2:
        raise InputError("Sensitivity needs the distributions of two inputs at least.")


def shares(
    outputs: Callable[[Array], Array], distributions: Mapping[str, Any], what: str, *, base: int = 64, seed: int = 0
) -> xarray.Dataset:
    """As `sensitivity`, of a function of inputs (n, k), in the order of `distributions`, that gives outputs (n,)."""
    import xarray

    check_sensitivity(distributions)
    from SALib.analyze import sobol as analysis
    from SALib.sample import sobol as sampling

    if isinstance(base, bool) or not isinstance(base, int) or base < 2 or base & (base - 1):
        raise InputError(f"base must be a power of two, at least 2, got {base!r}.")
    names = list(distributions)
    problem = {"num_vars": len(names), "names": names, "bounds": [[0.0, 1.0]] * len(names)}
    values = outputs(drawn(distributions, sampling.sample(problem, base, calc_second_order=False, seed=seed)))
    own = np.random.SeedSequence(seed)  # as a number, 0 would be none to SALib
    indices = analysis.analyze(problem, values, calc_second_order=False, seed=own)
    about = {"units": "-"}
    return xarray.Dataset(
        {
            "first": ("input", indices["S1"], about | {"long_name": "share of the variance by this input alone"}),
            "first_confidence": ("input", indices["S1_conf"], about),
            "total": ("input", indices["ST"], about | {"long_name": "share of the variance in which it takes part"}),
            "total_confidence": ("input", indices["ST_conf"], about),
        },
        {"input": ("input", np.array(names, dtype=object))},
        {"title": "indices of Sobol'", "output": what, "runs": len(values), "distributions": words(distributions)},
    )
