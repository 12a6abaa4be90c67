"""Contacts of geoms: pairs that can touch by the rules of MuJoCo, and the elements that stand for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np

from nonsmooth.exceptions import InputError
from nonsmooth.laws.compliant import Compliant
from nonsmooth.laws.rigid import Rigid
from nonsmooth.model.contacts import Contact, CylinderPlane, EllipsoidPlane, PointPlane, SpherePlane, SphereSphere

#: a `nonsmooth.robots.mechanism.Translation`, which imports this module
Translation = Any

#: geoms whose pairs are considered, at most
MOST = 2000
#: pairs of a kind that the report names
NAMED = 3


def add_contacts(robot: Translation, law: Rigid | Compliant) -> None:
    """Add an element with this law for each pair of geoms for which there is one; the report lists the others."""
    left = defaultdict[str, list[str]](list)
    for pair in _pairs(robot):
        first, second = sorted(pair, key=lambda g: (robot.kind_of(g) != "plane", g))
        kinds = f"{robot.kind_of(first)} and {robot.kind_of(second)}"
        label = " and ".join(_name(robot, g) for g in (first, second))
        made = list(_elements(robot, first, second, law))
        for one in made:
            robot.robot.add(one)
        if made:
            became: Any = "replaced" if isinstance(made[0], CylinderPlane) else "taken"
            points = f", {len(made[0].gap_labels)} points" if became == "replaced" else ""
            robot.report.add(became, "contact", label, f"{kinds}: {len(made)} {type(made[0]).__name__}{points}")
        else:
            left[kinds].append(label)
    for kinds, labels in left.items():
        rest = f" and {len(labels) - NAMED} more" if len(labels) > NAMED else ""
        robot.report.add("left out", "contacts", kinds, f"{', '.join(labels[:NAMED])}{rest}")


def _name(robot: Translation, g: int) -> str:
    body = robot.body_names[robot.m.geom_bodyid[g]]
    return robot.mujoco.mj_id2name(robot.m, robot.mujoco.mjtObj.mjOBJ_GEOM, g) or f"geom {g} of {body}"


def _pairs(robot: Translation) -> Iterator[tuple[int, int]]:
    """Pairs by name, and those whose masks match, of bodies that move against each other and are not parent and child,
    nor excluded."""
    m = robot.m
    yield from zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True)
    named = {frozenset(pair) for pair in zip(m.pair_geom1.tolist(), m.pair_geom2.tolist(), strict=True)}
    touching = np.flatnonzero(m.geom_contype | m.geom_conaffinity).tolist()
    if len(touching) > MOST:
        raise InputError(
            f"{robot.robot.name}: contacts of more than {MOST} geoms; clear contype and conaffinity of some."
        )
    kin, excluded = not robot.disabled("FILTERPARENT"), set(m.exclude_signature.tolist())
    for g, h in combinations(touching, 2):
        i, j = sorted((int(m.geom_bodyid[g]), int(m.geom_bodyid[h])))
        own = [int(m.body_weldid[one]) for one in (i, j)]
        above = [int(m.body_weldid[m.body_parentid[one]]) for one in own]
        masks = m.geom_contype[g] & m.geom_conaffinity[h] | m.geom_contype[h] & m.geom_conaffinity[g]
        relatives = kin and 0 not in own and (own[0] == above[1] or own[1] == above[0])
        known = (i << 16) + j in excluded or frozenset((g, h)) in named
        if masks and own[0] != own[1] and not (relatives or known):
            yield g, h


def _elements(robot: Translation, first: int, second: int, law: Rigid | Compliant) -> Iterator[Contact]:
    """The elements of a pair, none if there is none; a plane is the first."""
    m, zero = robot.m, robot.zero
    kinds = robot.kind_of(first), robot.kind_of(second)
    a, b = (robot.owner[m.geom_bodyid[g]] for g in (first, second))
    names, size = (robot.body_names[a], robot.body_names[b]), m.geom_size[second].astype(float)
    if a == b:
        return
    at_a, at_b = robot.point(a, zero.geom_xpos[first]), robot.point(b, zero.geom_xpos[second])
    R = robot.frame(b, zero)[1].T @ zero.geom_xmat[second].reshape(3, 3)
    label = robot.name("_on_".join(reversed(names)))
    both: Any = {"at_a": at_a, "contact": law}
    if kinds == ("sphere", "sphere"):
        radii: Any = {"radius_a": float(m.geom_size[first][0]), "radius_b": float(size[0])}
        yield SphereSphere(label, a=names[0], b=names[1], **both, **radii, at_b=at_b)
    if kinds[0] != "plane":
        return
    both["normal"] = robot.along(a, zero.geom_xmat[first].reshape(3, 3)[:, 2])
    of_points: dict[str, list[Any]] = {
        "sphere": [np.zeros(3)],
        "capsule": [(0.0, 0.0, sign * size[1]) for sign in (-1, 1)],
        "box": [np.multiply(signs, size) for signs in product((-1, 1), repeat=3)],
    }
    for k, local in enumerate(of_points.get(kinds[1], ())):
        name = label if k == 0 else robot.name(f"{label}_{k + 1}")
        place: Any = tuple(map(float, at_b + R @ local))
        if kinds[1] == "box":
            yield PointPlane(name, *names, **both, at_b=place)
        else:
            yield SpherePlane(name, *names, **both, at_b=place, radius=float(size[0]))
    if kinds[1] == "ellipsoid":
        semi_axes: Any = tuple(map(float, size))
        yield EllipsoidPlane(label, *names, **both, at_b=at_b, semi_axes=semi_axes, quaternion=robot.quaternion(R))
    if kinds[1] == "cylinder":
        axis: Any = tuple(map(float, R[:, 2]))
        yield CylinderPlane(
            label, *names, **both, at_b=at_b, radius=float(size[0]), length=2 * float(size[1]), axis=axis
        )
