"""Order and memory of the block elimination on the graph of joints and contacts.

Two blocks are coupled if they share a body that can move. Blocks are eliminated in the order of least degree, joints
first, so that what changes with the active set comes last.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Plan", "eliminate"]


@dataclass(frozen=True)
class Plan:
    """Blocks in their order; doubles that their matrix takes, in all and for joints; the arrays of `loops` by name.

    Couplings are pairs of different blocks that share a body.

    >>> eliminate([(2, 0, 1), (1, 1, 0)], joints=1).order
    [0, 1]
    """

    order: list[int]
    size: int
    joint_size: int
    couplings: int
    joint_couplings: int
    arrays: dict[str, list[int]]


def eliminate(blocks: Sequence[tuple[int, int, int]], joints: int) -> Plan:
    """The plan for blocks (largest size, body, body), of which the first `joints` belong to joints."""
    by_body: dict[int, list[tuple[int, int]]] = {}
    for i, (_, a, b) in enumerate(blocks):
        for side, body in ((0, a), (3, b)):
            if body:
                by_body.setdefault(body, []).append((i, side))
    neighbours: list[set[int]] = [set() for _ in blocks]
    for members in by_body.values():
        for i, _ in members:
            neighbours[i].update(j for j, _ in members if j != i)
    order, later = _least_degree(neighbours, joints)
    position = {block: k for k, block in enumerate(order)}
    later_at = [sorted(position[j] for j in later[i]) for i in order]
    sizes = [blocks[i][0] for i in order]
    place, size, joint_size = _places(sizes, later_at, joints)
    couplings = _couplings(by_body, position)
    arrays: dict[str, list[int]] = {"B_DIAGONAL": [place[k, k] for k in range(len(order))]}
    arrays |= {
        "C_ROW": [c[0] for c in couplings],
        "C_COLUMN": [c[1] for c in couplings],
        "C_ROW_SIDE": [c[2] for c in couplings],
        "C_COLUMN_SIDE": [c[3] for c in couplings],
        "C_BODY": [c[4] for c in couplings],
        "C_LOWER": [place[c[0], c[1]] for c in couplings],
        "C_UPPER": [place[c[1], c[0]] for c in couplings],
    }
    names = ("E_FIRST", "E_JOINT_LAST", "E_BLOCK", "E_LOWER", "E_UPPER", "E_UPDATE", "E_TARGET")
    first, joint_last, block, lower, upper, update, target = (arrays.setdefault(name, []) for name in names)
    for k, after in enumerate(later_at):
        first.append(len(block))
        joint_last.append(len(block) + sum(j < joints for j in after))
        update.append(len(target))
        block += after
        lower += [place[j, k] for j in after]
        upper += [place[k, j] for j in after]
        target += [place[i, j] for i in after for j in after]
    first.append(len(block))
    return Plan(order, size, joint_size, len(couplings), sum(c[0] < joints for c in couplings), arrays)


def _least_degree(neighbours: list[set[int]], joints: int) -> tuple[list[int], list[set[int]]]:
    """Blocks in the order of elimination, and the blocks that each still meets then."""
    graph = [set(near) for near in neighbours]
    order: list[int] = []
    for members in (range(joints), range(joints, len(graph))):
        heap = [(len(graph[i]), i) for i in members]
        heapq.heapify(heap)
        done: set[int] = set()
        while heap:
            degree, i = heapq.heappop(heap)
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
                    heapq.heappush(heap, (len(graph[j]), j))
    return order, graph


def _places(sizes: list[int], later: list[list[int]], joints: int) -> tuple[dict[tuple[int, int], int], int, int]:
    """Offsets of the blocks (row, column) of the matrix: those between joints first, then diagonals."""
    place: dict[tuple[int, int], int] = {}
    size = 0

    def take(row: int, column: int) -> None:
        nonlocal size
        place[row, column] = size
        size += sizes[row] * sizes[column]

    def pairs(first: int, last: int, among: range) -> None:
        for k in range(first, last):
            for j in later[k]:
                if j in among:
                    take(j, k)
                    take(k, j)

    for k in range(joints):
        take(k, k)
    pairs(0, joints, range(joints))
    joint_size = size
    for k in range(joints, len(sizes)):
        take(k, k)
    pairs(0, len(sizes), range(joints, len(sizes)))
    return place, size, joint_size


def _couplings(
    by_body: dict[int, list[tuple[int, int]]], position: dict[int, int]
) -> list[tuple[int, int, int, int, int]]:
    """(row, column, side of the row's block, side of the column's, body) with row > column, joints' first."""
    found = []
    for body, members in by_body.items():
        placed = sorted((position[i], side) for i, side in members)
        for x, (j, side_j) in enumerate(placed):
            found += [(i, j, side_i, side_j, body) for i, side_i in placed[x + 1 :]]
    return sorted(found)
