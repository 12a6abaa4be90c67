"""Sliders in a notebook: parameters of a mechanism, whose run is shown anew when one of them moves."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import time
from collections.abc import Callable, Mapping, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from nonsmooth.exceptions import InputError, NonsmoothError, SimulationFailed
from nonsmooth.model.kinds import unit_of_argument
from nonsmooth.model.model import Model
from nonsmooth.model.system import System
from nonsmooth.quantities import in_si
from nonsmooth.run.simulate import simulate
from nonsmooth.settings import is_number, require, shown

if TYPE_CHECKING:
    from anywidget import AnyWidget

    from nonsmooth.model.state import State
    from nonsmooth.step.control import StepControl
    from nonsmooth.step.scheme import Stepper
    from nonsmooth.trajectory import Trajectory

__all__ = ["explore"]

DECADE = 10.0  # ratio of its ends from which a slider is logarithmic
HEIGHT = 560  # height of what is shown [pixel]


def explore(
    system: System | Model | Callable[..., Model], stepper: Stepper | None = None, *,
    parameters: Mapping[str, tuple[float | str, float | str]], t_end: float | str,
    dt: float | str | StepControl | None = None, state: State | None = None, show: str | Sequence[str] = "page",
) -> AnyWidget:  # fmt: skip
    """A widget for notebooks: a slider for each of some parameters, and the run with their values.

    When a slider is released, `simulate` runs the mechanism with the new values, without compiling anything anew, and
    what is shown follows. A run that ends early is shown as far as it came, with the reason; of values with which there
    is no run the reason is said, and the run before remains. InputError without the package anywidget, for an unknown
    parameter, or for ends that it cannot take.

    Parameters
    ----------
    system : System, Model, or the function that makes one, each of whose arguments has a default
    stepper, t_end, dt, state
        As of `simulate`; without stepper or `dt` several runs are made for each position of the sliders.
    parameters : name -> (lowest, highest)
        The ends of each slider, numbers in SI units or strings such as ``"10 um"``; it starts at the value of the
        system, or at the nearer end. From a ratio of ten on it is logarithmic. Names without a dot are arguments of the
        function, as ``"crank_speed"``: the mechanism is built anew for each value.
    show : "page", or words of `Trajectory.plot`
        The light form of the report page, or a figure: ``("sketch", "orbit:pin")``.

    Returns
    -------
    anywidget.AnyWidget
        Its ``run`` is the last run, None before the first; its traits ``values``, ``document`` and ``said`` are the
        parameters by name, what is shown, and one line about it. Setting ``values``, all or some, numbers in SI units
        or with their unit, does the same as the sliders; where they are refused, `said` says why, and the last run and
        what is shown of it remain.
    """
    from nonsmooth.plots.labels import display, shown_unit

    kind, given = _kind(), cast(Any, system)
    makes = callable(given) and not isinstance(given, type)
    usual: dict[str, Any] = {}
    if makes:
        signature = inspect.signature(getattr(given, "function", given))
        usual = {name: one.default for name, one in signature.parameters.items()}

    @functools.lru_cache(maxsize=1)
    def built(arguments: tuple[tuple[str, float], ...]) -> System:
        made = given(**dict(arguments)) if makes else given
        made = made.build() if isinstance(made, Model) else made
        if not isinstance(made, System):
            raise InputError(f"explore takes a System, a Model or a function that makes one, got {shown(made)}.")
        return made

    if needed := [name for name, one in usual.items() if one is inspect.Parameter.empty]:
        raise InputError(f"The arguments {', '.join(needed)} need defaults, at which sliders begin.")
    first = built(())
    if not isinstance(parameters, Mapping) or not parameters:
        raise InputError(
            f'parameters must be ends by name, as {{"pin.clearance": (1e-5, 1)}}, got {shown(parameters)}.'
        )
    order, sliders = list(first.parameters), []
    for name, ends in parameters.items():
        if isinstance(ends, str) or not isinstance(ends, Sequence) or len(ends) != 2:
            raise InputError(f'parameters: "{name}" takes two ends, as (1e-5, 1e-3), got {shown(ends)}.')
        if name in usual:
            begins, unit = usual[name], unit_of_argument(given, usual, name) or "-"
            require(is_number(begins), f'parameters: "{name}" has no slider, since its default is no number', begins)
            low, high = (float(in_si(name, end, unit)) for end in ends)
        else:
            low, high = (float(first.parameter_vector({name: end})[order.index(name)]) for end in ends)
            begins, unit = first.parameters[name], first.unit_of(name)
        if not low < high:
            raise InputError(f'parameters: the ends of "{name}" must ascend, got {shown(low)} and {shown(high)}.')
        told, factor = display(unit, max(abs(low), abs(high)))
        slider = {"name": name, "low": low, "high": high, "log": low > 0 and high / low >= DECADE, "factor": factor}
        slider["value"] = float(np.clip(begins, low, high))
        sliders.append(slider | {"si": unit, "unit": "" if unit == "-" else shown_unit(told)})
    words = (show,) if isinstance(show, str) else show
    if not isinstance(words, Sequence) or not words or not all(isinstance(word, str) for word in words):
        raise InputError(f'show must be "page", or words of Trajectory.plot as ("sketch",), got {shown(show)}.')
    return kind(built, stepper, sliders, tuple(words), {"t_end": t_end, "dt": dt, "state": state})


@functools.cache
def _kind() -> Any:
    """The class of the widget, which exists where its library is installed."""
    try:
        import anywidget
        import traitlets
    except ImportError as error:
        raise InputError(
            f'Sliders in a notebook need the extra "notebook", pip install "nonsmooth[notebook]" ({error}).'
        ) from error

    class Explorer(anywidget.AnyWidget):
        _esm = (files("nonsmooth.report") / "assets" / "explore.mjs").read_text(encoding="utf-8")
        sliders: Any = traitlets.List().tag(sync=True)
        height = traitlets.Int(HEIGHT).tag(sync=True)
        values: Any = traitlets.Dict().tag(sync=True)
        document = traitlets.Unicode().tag(sync=True)
        said = traitlets.Unicode().tag(sync=True)
        busy = traitlets.Bool(False).tag(sync=True)

        def __init__(
            self, built: Callable[..., System], stepper: Stepper | None, sliders: list[dict[str, Any]],
            words: tuple[str, ...], options: dict[str, Any],
        ) -> None:  # fmt: skip
            super().__init__(sliders=sliders, values={one["name"]: one["value"] for one in sliders})
            self._given = built, stepper, words, options
            self._taken: dict[str, float] = dict(self.values)
            self.run: Trajectory | None = None
            self._again()
            self.observe(self._again, names="values")

        @traitlets.validate("values")
        def _completed(self, proposal: Any) -> dict[str, Any]:
            """Values in SI units; of those that are not given the last that were taken."""
            found = self._taken | proposal.value if hasattr(self, "_taken") else proposal.value
            units = {one["name"]: one["si"] for one in self.sliders}
            for name, value in found.items():
                with contextlib.suppress(InputError):  # which is said where it is run
                    found[name] = in_si(name, value, units[name]) if name in units else value
            return found

        def _again(self, change: Any = None) -> None:
            """Run with the values of the sliders, and show it."""
            built, stepper, words, options = self._given
            self.busy, begin = True, time.perf_counter()
            try:
                ends = {one["name"]: (one["low"], one["high"]) for one in self.sliders}
                for name, value in self.values.items():
                    if name not in ends:
                        raise InputError(f'There is no slider "{name}"; there are {", ".join(ends)}.')
                    low, high = ends[name]
                    if not is_number(value) or not low <= value <= high:
                        raise InputError(f'"{name}" must be a number from {low:g} to {high:g}, got {shown(value)}.')
                values = self._taken = {name: float(value) for name, value in self.values.items()}
                arguments = tuple((name, one) for name, one in values.items() if "." not in name)
                changed = {name: one for name, one in values.items() if "." in name}
                try:
                    run = simulate(built(arguments), stepper, parameters=changed, progress=False, **options)
                    said = f"{run.verdict}; {time.perf_counter() - begin:.2g} s"
                except SimulationFailed as ended:
                    run, said = ended.trajectory, str(ended)
                from nonsmooth.report import Picture, page, study_page
                from nonsmooth.report.run_data import name_of

                if words == ("page",):
                    document = page(run, light=True)
                else:
                    picture = io.StringIO()
                    run.plot(*words).savefig(picture, format="svg")
                    figure = Picture(picture.getvalue(), ", ".join(words))
                    document = study_page(name_of(run), [figure])
                self.run, self.said, self.document = run, said, document
            except NonsmoothError as error:  # there is no run, or it does not have this figure
                self.said = f"{error} What is shown is of the run before." if self.run is not None else str(error)
            finally:
                self.busy = False

    return Explorer
