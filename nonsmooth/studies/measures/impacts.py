"""Impacts of a run: how many, how fast, and what they take."""

import numpy as np

from nonsmooth import diagnostics
from nonsmooth.studies.metrics import measured
from nonsmooth.trajectory import Trajectory


@measured(count="-", fastest="m/s", impulse="N s", restitution="-")
def impacts(run: Trajectory, *, slowest: float | None = None, contact: str | None = None) -> dict[str, float]:
    """Number, speed, impulse and mean restitution of the impacts, rigid or compliant.

    Parameters
    ----------
    slowest : [m/s]
        Approach above which a contact counts; 1 % of the fastest if omitted.
    contact
        Of this contact only; of all if omitted.

    Examples
    --------
    $ nonsmooth study impacts bouncing-ball --t-end 1 --dt-min 1e-6 --dt-max 1e-3 --grid floor.restitution=0.5,0.7 --executor 1
    """  # noqa: E501
    rows = diagnostics.impacts(run, slowest, None if contact is None else [contact])
    ended = rows[np.isfinite(rows["separation"])]
    return {
        "count": float(len(rows)),
        "fastest": float(np.max(rows["approach"], initial=0.0)),
        "impulse": float(np.nansum(rows["impulse"])),
        "restitution": float(np.mean(ended["separation"] / ended["approach"])) if len(ended) else float("nan"),
    }
