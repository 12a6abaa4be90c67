"""`nonsmooth study statistics`: what is known of a long motion, also of one that is sensitive to its initial state."""

from __future__ import annotations

from typing import Any

from nonsmooth import studies
from nonsmooth.cli.inputs import Request, varied
from nonsmooth.cli.options import Processes, Runs, Seconds, Written, progress_bar
from nonsmooth.cli.report import conclude, table_of, whole_or_part


def long_run(
    *, measures: tuple[str, ...] = (), period: Seconds | None = None, window: Seconds | None = None,
    max_seconds: Seconds | None = None, runs: Runs, processes: Processes, written: Written, **study: Any,
) -> int:  # fmt: skip
    """Long-run means, quantiles and extremes with intervals, from independent runs with two step sizes.

    Parameters
    ----------
    measures : --measure NAME, default: mean and peak forces, energy rate, share of contact, impacts
        Such as energy-rate, mean-force:pin, force-over-1ms:pin@return=10s, contact-share:pin@q0.9 or spectrum:slider.x;
        repeatable.
    t_end
        End of each run; extended until the precision is reached if omitted.
    precision
        Half the width of each interval, as a share of the estimate, at which to stop.
    period
        Period of the driver, over which a measure is taken; found if omitted.
    window
        Time over which a measure is taken, without a driver.
    max_seconds
        Time after which no further runs begin.
    stepper : default: chosen with the step
        One of {steppers}.
    """
    request = Request(**vars(runs)).completed(endless=True)
    mechanism, arguments, parameters, name = varied(request, ())
    with progress_bar() as progress:
        found, ended = whole_or_part(lambda: studies.long_run(
            mechanism, request.scheme(), t_end=request.t_end, dt=request.step(), measures=list(measures), period=period,
            window=window, max_seconds=max_seconds, parameters=parameters, arguments=arguments, progress=progress,
            **vars(processes), **study,
        ))  # fmt: skip
    rows = []
    for one in found.measures.values():
        numbers = (one.value, one.low, one.high)
        parts = (f"[{one.unit or '-'}]", f"{one.sampling:.2g}", f"{one.bias:.2g}")
        rows.append((one.name, *(f"{x:.5g}" for x in numbers), *parts))
    table = table_of("measure", "estimate", "from", "to (95 %)", "unit", "± sampling", "± steps", rows=rows)
    lines = [f"{one.name}: {one.verdict}" for one in found.measures.values() if one.offset[0] == one.offset[0]]
    for name, (f, density, low, high) in found.spectra.items():
        i = int(density[1:].argmax()) + 1
        lines.append(f"{name}: most at {f[i]:.4g} Hz, {density[i]:.3g} ({low[i]:.3g} to {high[i]:.3g}) per Hz")
    lines.append(
        f"{found.members} runs of {found.windows} windows of {found.window:.6g} s, without the first {found.transient} "
        f"as their transient; {found.seconds:.3g} s"
    )
    conclude(
        written, f"{name}: statistics", [table, "", found.verdict, *lines, *ended],
        lambda: {"problem": name} | found.plain(),
        head=f"{name}: statistics of the motion", figure=lambda plots: plots.statistics(found), save=found.save,
    )  # fmt: skip
    return 130 if ended else 0
