"""A loop in one test, where a test of its own for each file or name would cost more than what it checks; samples."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import pytest


def each(name: str, values: Iterable[Any]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """The test runs for each of the values of its argument `name`; one message lists all values for which it fails.

    A skipped value is left out. That there are no values is a failure, since then nothing is tested.
    """

    def of(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def loop(**fixtures: Any) -> None:
            failures, count = [], 0
            for value in values:
                count += 1
                try:
                    test(**{name: value}, **fixtures)
                except pytest.skip.Exception:
                    continue
                except (Exception, pytest.fail.Exception) as error:
                    failures.append(f"{value}: {type(error).__name__}: {error}")
            assert count, f"no {name} is tested"
            assert not failures, f"{len(failures)} of {count} fail:\n" + "\n".join(failures)

        signature = inspect.signature(test)
        kept = [one for one in signature.parameters.values() if one.name != name]
        loop.__signature__ = signature.replace(parameters=kept)  # type: ignore[attr-defined]
        return loop

    return of


def some(cases: Iterable[Any], every: int) -> list[Any]:
    """Cases of `parametrize` of which all but the first of each so many are marked `slow`, besides those that are.

    >>> [len(one.marks) for one in some(range(5), 2)]
    [0, 1, 0, 1, 0]
    """
    found, count = [], 0
    for case in cases:
        one = case if hasattr(case, "marks") else pytest.param(*(case if isinstance(case, tuple) else (case,)))
        if not any(mark.name == "slow" for mark in one.marks):
            if count % every:
                one = pytest.param(*one.values, marks=[*one.marks, pytest.mark.slow], id=one.id)
            count += 1
        found.append(one)
    return found
