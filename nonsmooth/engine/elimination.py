"""The order in which bonds between bodies are eliminated, and the fill-in of the elimination."""

import heapq
from collections.abc import Sequence

Pairs = Sequence[tuple[int, int]]


def order(pairs: Pairs, first: int) -> list[int]:
    """Order of elimination of elements between bodies (a, b), 0 the ground: the `first`, then the rest, by degree."""
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
    """For each element, those that have a moving body in common with it."""
    at: dict[int, set[int]] = {}
    for i, bodies in enumerate(pairs):
        for body in set(bodies) - {0}:
            at.setdefault(body, set()).add(i)
    none: set[int] = set()
    return [none.union(*(at[body] for body in bodies if body)) - {i} for i, bodies in enumerate(pairs)]


def couplings(pairs: Pairs) -> list[list[int]]:
    """For each bond, in the order of elimination: the earlier ones with which it is coupled, fill-in included."""
    graph = neighbours(pairs)
    found: list[list[int]] = [[] for _ in pairs]
    for i in range(len(pairs)):
        later = {j for j in graph[i] if j > i}
        for j in sorted(later):
            graph[j] |= later - {j}
            found[j].append(i)
    return found
