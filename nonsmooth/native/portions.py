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
    """Where each portion ends, (portions,) each; bodies count from 1, gaps from 0.

    With the impulses of the gaps before `next_gap`, the velocities of the bodies up to `done_body` are known, which no
    later gap is at, and so is all about the gaps before `done_gap`. When these were judged, the bodies up to
    `left_body` are needed no more in a step: they may move, and the gaps before `left_gap`, which are at these bodies
    alone, be looked at for the next one.
    """

    next_gap: Integers
    done_body: Integers
    done_gap: Integers
    left_body: Integers
    left_gap: Integers

    def __len__(self) -> int:
        return len(self.next_gap)

    def of(self, gaps: Integers) -> Integers:
        """The portions in which gaps are looked at."""
        return np.searchsorted(self.left_gap, gaps, "right")


def divide(bodies: int, pairs: Integers, together: int) -> Portions:
    """Portions of so many bodies, of which each gap is at a pair; 0 is the ground.

    A chain of five links, of which each hangs on the one before:

    >>> parts = divide(5, np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]]), together=2)
    >>> parts.next_gap.tolist(), parts.done_body.tolist(), parts.done_gap.tolist()
    ([4, 5, 5], [3, 5, 5], [3, 5, 5])
    >>> parts.left_body.tolist(), parts.left_gap.tolist()
    ([2, 4, 5], [2, 4, 5])
    """
    latest = np.maximum.accumulate(np.append(0, pairs.max(axis=1, initial=0)))  # body at the first so many gaps
    behind = np.zeros(bodies + 1, dtype=np.int64)  # the last gap at each body, and at it or one before
    np.maximum.at(behind, pairs, np.arange(1, len(pairs) + 1)[:, None])
    behind = np.maximum.accumulate(np.append(0, behind[1:]))
    left_body = np.minimum(np.arange(0, bodies, together) + together, bodies)
    done_gap = behind[left_body]
    done_body = np.maximum(left_body, latest[done_gap])
    left_gap = np.searchsorted(latest, left_body, "right") - 1
    return Portions(behind[done_body], done_body, done_gap, left_body, left_gap)
