"""Step lengths: grids without drift, last steps that end at t_end, and settings that are refused."""

from __future__ import annotations

import numpy as np
import pytest

from nonsmooth import ErrorControl, InputError, Landing
from nonsmooth.step.control import ConstantStep, StepControl, finer, step_control


def times(control: StepControl, t_start: float, t_end: float) -> list[float]:
    found = [t_start]
    while found[-1] < t_end:
        found.append(control.next_time(found[-1], t_start, t_end))
    return found


@pytest.mark.parametrize("t_start", [0.0, 0.3, -2.0, 1e3])
def test_constant_steps_lie_on_one_grid(t_start: float) -> None:
    dt = 1e-3
    got = times(ConstantStep(dt), t_start, t_start + 1.0)
    assert len(got) == 1001
    assert got[1:-1] == [t_start + k * dt for k in range(1, 1000)]  # multiples, not sums: no drift, to the last bit
    assert got[-1] == t_start + 1.0


def test_a_million_steps_are_neither_skipped_nor_doubled() -> None:
    dt, control = 1e-6, ConstantStep(1e-6)
    for k in range(999_000, 999_990):
        assert control.next_time(k * dt, 0.0, 1.0) == (k + 1) * dt


@pytest.mark.parametrize(("t_end", "count"), [(1.0, 10), (1.05, 11), (1.0 + 1e-13, 10), (1.0 - 1e-13, 10), (0.03, 1)])
def test_the_last_constant_step_is_cut_at_the_end_and_never_a_splinter(t_end: float, count: int) -> None:
    got = times(ConstantStep(0.1), 0.0, t_end)
    assert got[-1] == t_end and len(got) == count + 1
    assert np.min(np.diff(got)) > 0.01


def test_after_a_shortened_step_the_grid_is_met_again() -> None:
    assert ConstantStep(0.1).next_time(0.325, 0.0, 1.0) == pytest.approx(0.4, abs=1e-16)


def test_landing_offers_its_longest_step() -> None:
    control = Landing(1e-6, 0.1)
    assert control.next_time(0.325, 0.0, 1.0) == pytest.approx(0.425, abs=1e-16)
    assert control.next_time(0.95, 0.0, 1.0) == 1.0
    assert control.next_time(0.9 - 1e-12, 0.0, 1.0) == 1.0  # no last step of 1e-12 s


def test_landing_may_have_equal_bounds() -> None:
    assert Landing(1e-3, 1e-3).dt_min == 1e-3


@pytest.mark.parametrize("dt", [1e-3, 1, np.float64(0.5)])
def test_a_number_is_a_constant_step(dt: float) -> None:
    assert step_control(dt) == ConstantStep(float(dt))


def test_a_step_control_is_kept() -> None:
    for control in (ConstantStep(0.1), Landing(1e-6, 1e-3)):
        assert step_control(control) is control


def test_settings_are_values() -> None:
    assert Landing(1e-6, 1e-3) == Landing(dt_min=1e-6, dt_max=1e-3) and hash(ConstantStep(0.1)) == hash(
        ConstantStep(0.1)
    )


@pytest.mark.parametrize("dt", [0.0, -1e-3, np.nan, np.inf])
def test_a_constant_step_is_positive(dt: float) -> None:
    with pytest.raises(InputError, match="dt must be a positive number of seconds, got"):
        step_control(dt)


@pytest.mark.parametrize("dt", ["1e-3", None, True, (1e-6, 1e-3)])
def test_a_step_is_a_number_or_a_step_control(dt: object) -> None:
    with pytest.raises(InputError, match=r"dt must be a number of seconds or Landing\(dt_min, dt_max\), got"):
        step_control(dt)


@pytest.mark.parametrize(
    ("dt_min", "dt_max", "message"),
    [
        (0.0, 1e-3, "Landing: dt_min must be a positive number of seconds, got 0.0"),
        (-1e-6, 1e-3, "Landing: dt_min must be a positive number"),
        (1e-6, np.inf, "Landing: dt_max must be a positive number of seconds, got inf"),
        (np.nan, 1e-3, "Landing: dt_min must be a positive number of seconds, got nan"),
        (1e-3, 1e-6, "dt_min must not exceed dt_max, got dt_min = 0.001 and dt_max = 1e-06; swap them"),
    ],
)
def test_bounds_that_make_no_sense_are_refused(dt_min: float, dt_max: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Landing(dt_min, dt_max)


def test_an_error_control_of_one_number_takes_the_rest_from_the_run() -> None:
    control = ErrorControl(1e-10)
    assert control.atol == 1e-12
    assert ErrorControl(1e-4).over(0.5, 1.5) == ErrorControl(1e-4, 1e-6, 1e-6, 2e-3)
    # the longest step becomes shorter with rtol, down to that of the finest run with chosen steps
    assert ErrorControl(1e-9).over(0.5, 1.5) == ErrorControl(1e-9, 1e-11, 1e-6, 2e-3 * 0.6**4)
    assert control.over(0.5, 1.5) == ErrorControl(1e-10, 1e-12, 1e-6, 1.5552e-4)
    assert ErrorControl(1e-12).over(0.5, 1.5).dt_max == 1.5552e-4
    assert control.over(0.0, 1e-3) == ErrorControl(1e-10, 1e-12, 2e-8, 1.5552e-7)  # dt_min stays below dt_max
    assert ErrorControl(1e-7, dt_max=1e-2).over(0.0, 1.0) == ErrorControl(1e-7, 1e-9, 1e-6, 1e-2)
    assert ErrorControl(1e-7, dt_min=1e-2).over(0.0, 1.0).dt_max == 1e-2
    whole = ErrorControl(1e-7, 1e-9, 1e-6, 1e-3)
    assert whole.over(0.0, 100.0) is whole
    assert times(ErrorControl(1e-5), 0.0, 1.0) == pytest.approx(np.arange(501) * 2e-3, rel=1e-12)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"rtol": 1e-7, "atol": 0.0}, "atol must be a positive number"),
        ({"rtol": 1e-7, "dt_min": -1.0}, "dt_min must be a positive number of seconds"),
        ({"rtol": 1e-7, "dt_min": 1.0, "dt_max": 0.1}, "dt_min must not exceed dt_max"),
    ],
)
def test_what_an_error_control_refuses(given: dict[str, float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ErrorControl(**given)


def test_finer_steps_are_finer():
    assert finer(Landing(1e-6, 1e-3)) == Landing(2.5e-7, 2.5e-4)
    assert finer(Landing(1e-6, 1e-3, error=1e-2)) == Landing(2.5e-7, 2.5e-4, error=1e-3)
    assert finer(ErrorControl(1e-14, 1e-16, 1e-6, 1e-3)).rtol == 1e-14  # none finer is accepted
