"""Portions of a mechanism: bodies that follow each other, with the gaps at them, which a processor's cache can hold.

A step goes over all bodies and gaps a few times, whose numbers in long chains are more than the cache keeps from one
time to the next. What can be done for some bodies without the others is done for one portion after the other.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Portions", "divide"]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Portions:
    """Where each portion ends or begins, (portions,) each; bodies count from 1, gaps from 0.

    From the last portion to the first, gaps are looked at once their bodies stand: `first_body` is how many bodies are
    before a portion, `first_gap` its first gap, all later gaps being at its bodies or later ones.

    From the first to the last, `next_gap` is the first gap that is at a later body. With the impulses of the gaps
    before it, the velocities of the bodies up to `done_body` are known, which no other gap is at, and so is all about
    the gaps before `done_gap`; when these were looked at, the bodies up to `left_body` are needed no more.
    """

    first_body: Integers
    first_gap: Integers
    next_gap: Integers
    done_body: Integers
    done_gap: Integers
    left_body: Integers

    def __len__(self) -> int:
        return len(self.first_body)

    def of(self, gaps: Integers) -> Integers:
        """The portions, from the last to the first, in which gaps are looked at."""
        return np.searchsorted(self.first_gap, gaps, "right") - 1


def divide(bodies: int, pairs: Integers, together: int) -> Portions:
    """Portions of so many bodies, of which each gap is at a pair; 0 is the ground.

    A chain of five links, of which each hangs on the one before:

    >>> parts = divide(5, np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]), together=2)
    >>> parts.first_gap.tolist(), parts.next_gap.tolist()
    ([0, 3, 5], [2, 4, 5])
    >>> parts.done_body.tolist(), parts.done_gap.tolist(), parts.left_body.tolist()
    ([1, 3, 5], [1, 3, 5], [0, 2, 5])
    """
    latest = np.maximum.accumulate(pairs.max(axis=1, initial=0))
    lowest = np.where(pairs > 0, pairs, bodies + 1).min(axis=1, initial=bodies + 1)
    soonest = np.minimum.accumulate(np.append(lowest, bodies + 1)[::-1])[::-1]
    first_body = np.arange(0, bodies, together)
    last_body = np.minimum(first_body + together, bodies)
    next_gap = np.searchsorted(latest, last_body, "right")
    done_body = np.minimum(last_body, soonest[next_gap] - 1)
    done_gap = np.searchsorted(latest, done_body, "right")
    return Portions(
        first_body,
        first_gap=np.searchsorted(soonest, first_body + 1),
        next_gap=next_gap,
        done_body=done_body,
        done_gap=done_gap,
        left_body=np.minimum(done_body, soonest[done_gap] - 1),
    )
