"""Order and memory of the block elimination on the graph of joints and contacts.

Two blocks are coupled if they share a body that can move. Blocks are eliminated in the order of least degree, joints
first, so that what changes with the active set comes last.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Plan", "eliminate"]

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Plan:
    """Blocks in their order, and where the blocks of their matrix stand, counted in such blocks.

    Couplings are pairs of different blocks that share a body, those between joints first, among which stand those that
    elimination alone makes, as if they shared the ground (0), whose inverse mass is 0; entries are, block after
    block, the later ones that it meets when it is eliminated, and targets the blocks (of each, of each) of the matrix,
    whose diagonal comes first; of the others, each one below the diagonal is followed by its mirror image above.

    >>> eliminate([(0, 1), (1, 0)], joints=1).order
    [0, 1]
    """

    order: list[int]
    #: blocks of the matrix
    size: int
    #: (row > column, which of the row's two bodies, which of the column's, body, block of the matrix below)
    couplings: Integers
    joint_couplings: int
    #: (block, block of the matrix below)
    entries: Integers
    targets: Integers
    #: by block the first entry, how many of them are joints', how many there are, the first target
    shares: Integers


def eliminate(blocks: Sequence[tuple[int, int]], joints: int) -> Plan:
    """The plan for blocks (body, body), of which the first `joints` belong to joints; 0 is the ground."""
    by_body: dict[int, list[tuple[int, int]]] = {}
    for i, bodies in enumerate(blocks):
        for side, body in enumerate(bodies):
            if body:
                by_body.setdefault(body, []).append((i, side))
    neighbours: list[set[int]] = [set() for _ in blocks]
    for members in by_body.values():
        for i, _ in members:
            neighbours[i].update(j for j, _ in members if j != i)
    order, later = _least_degree(neighbours, joints)
    position = {block: k for k, block in enumerate(order)}
    later_at = [sorted(position[j] for j in later[i]) for i in order]
    place = {(k, k): k for k in range(len(order))}
    for k, after in enumerate(later_at):
        for j in after:
            place[j, k], place[k, j] = len(place), len(place) + 1
    met = _couplings(by_body, position)
    pairs = {c[:2] for c in met}
    met += [(j, k, 0, 0, 0) for k, after in enumerate(later_at) for j in after if (j, k) not in pairs]
    couplings = [(*c, place[c[0], c[1]]) for c in sorted(met)]
    many, of_joints = (_table([sum(j < below for j in after) for after in later_at]) for below in (len(order), joints))
    shares = np.column_stack([np.cumsum(many) - many, of_joints, many, np.cumsum(many**2) - many**2])
    return Plan(
        order, len(place),
        couplings=_table(couplings, 6),
        joint_couplings=sum(c[0] < joints for c in couplings),
        entries=_table([(j, place[j, k]) for k, after in enumerate(later_at) for j in after], 2),
        targets=_table([place[i, j] for after in later_at for i in after for j in after]),
        shares=shares,
    )  # fmt: skip


def _table(numbers: Sequence[object], *width: int) -> Integers:
    return np.array(numbers, dtype=np.int64).reshape(-1, *width)


def _least_degree(neighbours: list[set[int]], joints: int) -> tuple[list[int], list[set[int]]]:
    """Blocks in the order of elimination, and the blocks that each still meets then.

    Of contacts of equal degrees the one comes first whose neighbours were eliminated longest ago: a chain is taken from
    both of its ends in turn, and processors work at both at once.
    """
    graph = [set(near) for near in neighbours]
    order: list[int] = []
    for members in (range(joints), range(joints, len(graph))):
        heap = [(len(graph[i]), 0, i) for i in members]
        heapq.heapify(heap)
        done: set[int] = set()
        while heap:
            degree, _, i = heapq.heappop(heap)
            if i in done or degree != len(graph[i]):
                continue
            done.add(i)
            order.append(i)
            near = graph[i]
            for j in near:
                graph[j].discard(i)
                graph[j] |= near
                graph[j].discard(j)
                if j in members:
                    heapq.heappush(heap, (len(graph[j]), len(order) if j >= joints else 0, j))
    return order, graph


def _couplings(
    by_body: dict[int, list[tuple[int, int]]], position: dict[int, int]
) -> list[tuple[int, int, int, int, int]]:
    """(row, column, side of the row's block, side of the column's, body) with row > column."""
    found = []
    for body, members in by_body.items():
        placed = sorted((position[i], side) for i, side in members)
        for x, (j, side_j) in enumerate(placed):
            found += [(i, j, side_i, side_j, body) for i, side_i in placed[x + 1 :]]
    return found
