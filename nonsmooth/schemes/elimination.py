"""In which order pairs of bodies are eliminated, and which bonds are coupled then."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

__all__ = ["couplings", "order"]

Pairs = Sequence[tuple[int, int]]


def order(pairs: Pairs, first: int) -> list[int]:
    """Of elements between bodies (a, b), 0 the ground: the `first` ones before the others, each by least degree."""
    graph = neighbours(pairs)
    rank: dict[int, int] = {}
    for members in (range(first), range(first, len(pairs))):
        heap = [(len(graph[i]), i) for i in members]
        heapq.heapify(heap)
        while heap:
            degree, i = heapq.heappop(heap)
            if i in rank or degree != len(graph[i]):
                continue
            rank[i] = len(rank)
            for j in graph[i]:
                graph[j] = (graph[j] | graph[i]) - {i, j}
                if j in members:
                    heapq.heappush(heap, (len(graph[j]), j))
    return sorted(range(len(pairs)), key=rank.__getitem__)


def neighbours(pairs: Pairs) -> list[set[int]]:
    """Of each element those that share a body which can move."""
    at: dict[int, set[int]] = {}
    for i, bodies in enumerate(pairs):
        for body in set(bodies) - {0}:
            at.setdefault(body, set()).add(i)
    none: set[int] = set()
    return [none.union(*(at[body] for body in bodies if body)) - {i} for i, bodies in enumerate(pairs)]


def couplings(pairs: Pairs) -> list[list[int]]:
    """Of each bond, in the order of elimination: those before it that it is coupled with then."""
    graph = neighbours(pairs)
    found: list[list[int]] = [[] for _ in pairs]
    for i in range(len(pairs)):
        later = {j for j in graph[i] if j > i}
        for j in sorted(later):
            graph[j] |= later - {j}
            found[j].append(i)
    return found
