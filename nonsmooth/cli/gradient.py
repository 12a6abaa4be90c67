"""`nonsmooth study gradient`: which number matters most, by derivatives of one run through its impacts."""

from __future__ import annotations

import numpy as np

from nonsmooth.cli.inputs import Request
from nonsmooth.cli.options import Problem, Seconds, Shown
from nonsmooth.cli.report import conclude, table_of
from nonsmooth.exceptions import InputError

#: change of a number without a tolerance, as a share of it
PERCENT = 0.01


def gradient(
    problem: Problem, *, of: tuple[str, ...], by: tuple[str, ...] = (), case: str | None = None,
    t_end: Seconds | None = None, settings: tuple[str, ...] = (), written: Shown,
) -> None:  # fmt: skip
    """Derivatives of the state at the end, of means, extrema and forces by parameters and start, through the impacts of
    one event-driven run.

    The change is that of a tolerance, half of its width, or of a hundredth of the value; the most important is first.

    Parameters
    ----------
    of : NAME
        Coordinate slider.x, or its velocity v:slider.x, at the end; mean:slider.x, largest:, smallest: over the run; of
        a contact impulse:pin, mean-force:, peak-force:, peak-impulse:, fastest-approach:; repeatable.
    by : --by NAME, default: all clearances and toleranced parameters
        Parameter pin.clearance, coordinate of the start slider.x, or its velocity v:slider.x; repeatable.
    t_end
        End of the run, such as 0.02 or 20ms; required if no file has it.
    settings : --set NAME=VALUE
        Argument of the problem or element.parameter; repeatable.
    """
    from nonsmooth.derivatives import gradient as differentiate
    from nonsmooth.derivatives.measures import Measure

    request = Request(problem=problem, case=case, t_end=t_end, settings=settings).completed()
    made = request.mechanism()
    stated = made.system.toleranced(made.parameters)
    names = list(by) or [x for x in made.system.parameters if x in stated or x.endswith("clearance")]
    if not names:
        raise InputError(f"{made.name} has no clearance and no toleranced parameter: give --by NAME.")
    found = differentiate(made.system, of=of, wrt=names, t_end=request.end, parameters=made.parameters)
    steps = [(stated[x].upper - stated[x].lower) / 2 if x in stated else PERCENT * abs(value)
             for x, value in zip(names, found.at, strict=True)]  # fmt: skip
    said = ["tolerance" if x in stated else "1 %" for x in names]
    order = np.argsort(-np.abs(found.values[0] * steps), kind="stable").tolist()
    heads = [head for name in of for head in (f"d {name}", "by change")]
    rows = []
    for k in order:
        cells = [text for row in found.values for text in (f"{row[k]:.6g}", f"{row[k] * steps[k]:.3g}")]
        rows.append((names[k], f"{found.at[k]:.6g}", f"{steps[k]:.3g}", *cells,
                     f"{found.range[k, 0]:.2g} to {found.range[k, 1]:+.2g}"))  # fmt: skip
    table = table_of("by", "value", "change", *heads, "same events within", rows=rows)
    plain = {
        "problem": made.name, "t_end": request.end, "of": list(of), "by": names, "values": found.values.tolist(),
        "change": steps, "range": found.range.tolist(), "defect": found.defect, "verdict": found.verdict,
    }  # fmt: skip
    labels = [f"{names[k]}, {said[k]}" for k in order]
    effects = {name: row[order] * np.array(steps)[order] for name, row in zip(of, found.values, strict=True)}
    units = [Measure.named(name, made.system).unit(made.system) for name in of]
    of_what = "Changes are tolerances where these are stated, and 1 % elsewhere."
    conclude(
        written, f"{made.name}: gradient", [table, "", of_what, found.verdict], lambda: plain,
        head=f"{made.name}: derivatives at {request.end:g} s",
        figure=lambda plots: plots.ranking(labels, effects, units),
    )  # fmt: skip
