"""Few modes for many degrees of freedom: Craig-Bampton, or free modes with attachment modes, in mean axes."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any, Literal

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.flexible.beam import COMPONENTS
from nonsmooth.flexible.finite_elements import FiniteElements
from nonsmooth.flexible.modes import Modes, inertia_of, shortening_of
from nonsmooth.settings import is_one, require, shown

#: frequencies that differ by less, relative to their size, are one: round-off chooses among their modes
EQUAL = 1e-6
#: below this share of its length a direction is taken as a combination of those before it
INDEPENDENT = 1e-8


@dataclass(frozen=True)
class Rayleigh:
    """Damping matrix ``mass M + stiffness K`` of the deformation; of a mode ``mass + stiffness omega^2``.

    Parameters
    ----------
    mass, stiffness : [1/s], [s]
    """

    mass: float
    stiffness: float


def modes(
    elements: FiniteElements, *, interface: Sequence[str], keep: int, damping: float | Rayleigh,
    method: Literal["craig-bampton", "free"] = "craig-bampton", stiffening: bool = True,
) -> Modes:  # fmt: skip
    """Reduce finite elements to modes of the free body in mean axes.

    Craig-Bampton: `keep` modes with all interface nodes fixed, and the static deflection when one degree of freedom of
    the interface is displaced. ``"free"``: `keep` modes of the free body, and the deflection under a unit load at each
    degree of freedom that accelerates the body (inertia relief); exact also under such loads at the interface. Their
    number is `keep` plus the degrees of freedom of the interface, less six for Craig-Bampton, whose static deflections
    comprise the rigid motions; dependent ones are dropped. InputError for an unknown node, more modes than there are
    degrees of freedom, negative damping, or another method.

    Parameters
    ----------
    interface : names of the nodes at which anything may attach
    keep : modes besides those of the interface, >= 0; if the last has the same frequency as the next, that is kept too
    damping, method : damping ratio of all modes [-], or `Rayleigh` coefficients; ``"craig-bampton"`` or ``"free"``
    stiffening
        Whether beams shorten as they bend, by which axial forces add to their stiffness in bending. Finite elements
        without beams, whose axial forces are unknown, have no such stiffness.

    References
    ----------
    Craig, Bampton: Coupling of substructures for dynamic analyses, AIAA J. 6 (1968) 1313-1319; Hintz: Direct mode
    summation, Ph.D. thesis, Rome (1975), on inertia-relief attachment modes.

    >>> from nonsmooth.flexible import Material, Tube, beam, modes
    >>> aluminium = Material(youngs=70e9, shear=26.5e9, density=2700.0)
    >>> rod = beam((0, 0, 0), (0.5, 0, 0), section=Tube(0.025, 0.010), material=aluminium)
    >>> reduced = modes(rod, interface=["start", "end"], keep=2, damping=0.01)
    >>> reduced.count, (reduced.frequencies[:2] / 6.283185).round(1)
    (8, array([490., 490.]))
    """
    require(is_one(method, ("craig-bampton", "free")), 'method must be "craig-bampton" or "free"', method)
    ratios = (damping.mass, damping.stiffness) if isinstance(damping, Rayleigh) else (damping,)
    if not all(np.isfinite(value) and value >= 0.0 for value in ratios):
        raise InputError(f"damping must be a ratio >= 0 or Rayleigh coefficients >= 0, got {shown(damping)}.")
    if isinstance(interface, str) or not isinstance(interface, Sequence):
        raise InputError(f"interface must be a list of nodes, as ('start', 'end'), got {shown(interface)}.")
    if not isinstance(keep, Integral) or isinstance(keep, bool):
        raise InputError(f"keep must be a whole number of modes, got {shown(keep)}.")
    attached = np.concatenate([np.zeros(0, dtype=int), *(elements.dofs(name) for name in interface)])
    if len(set(attached.tolist())) < len(attached):
        raise InputError(f"The nodes of an interface must differ, got {', '.join(interface)}.")
    most = elements.count - (6 if method == "free" else len(attached))
    if not 0 <= keep <= most:
        raise InputError(f"keep must be from 0 to {most}, got {keep}.")
    R = elements.rigid()
    squares, shapes = _orthonormal(elements, _trial_vectors(elements, attached, keep, R, free=method == "free"), R)
    frequencies = np.sqrt(squares)
    if isinstance(damping, Rayleigh):
        coefficients = damping.mass + damping.stiffness * squares
    else:
        coefficients = 2.0 * damping * frequencies
    rigid = R.T @ (elements.mass @ R)
    mass = float(np.trace(rigid[:3, :3])) / 3.0
    centre = np.array([rigid[1, 5] - rigid[2, 4], rigid[2, 3] - rigid[0, 5], rigid[0, 4] - rigid[1, 3]]) / (2.0 * mass)
    inertia = rigid[3:, 3:] - mass * (centre @ centre * np.eye(3) - np.outer(centre, centre))
    translations, rotations = elements.motions(shapes)
    stressed = [part for part in elements.parts if part.stresses is not None]
    stations, stresses = np.zeros((0, 3)), np.zeros((0, 0, len(frequencies)))
    if stressed:
        stations = np.vstack([elements.places[list(part.nodes)] for part in stressed]) - centre
        stresses = np.concatenate([part.stresses @ shapes[part.dofs] for part in stressed if part.stresses is not None])
    changes, shortening = inertia_of(elements, centre, shapes), None
    if stiffening and elements.parts:
        shortening, added = shortening_of(elements, centre, shapes, _relieved(elements, R))
        changes = replace(changes, second=changes.second + added)
    return Modes(
        mass=mass, centre=centre, inertia=(inertia + inertia.T) / 2.0, frequencies=frequencies, damping=coefficients,
        names=elements.names, places=elements.places - centre, translations=translations,
        rotations=rotations, stations=stations, stresses=stresses, components=COMPONENTS if stressed else (),
        changes=changes, shortening=shortening,
    )  # fmt: skip


def _lowest(K: Any, M: Any, count: int, shift: float) -> Array:
    """Vectors (d, count or more) of the lowest eigenvalues of ``K x = lambda M x``, with a shift below all of them.
    Those of equal eigenvalue are not separated: half of the bending in two planes would be that in no plane at all."""
    from scipy.linalg import eigh
    from scipy.sparse.linalg import eigsh

    d = K.shape[0]
    if count == 0:
        return np.zeros((d, 0))
    found = min(count + 3, d)
    if found > d // 3 or d < 60:  # Lanczos' method needs room
        values, vectors = eigh(K.toarray(), M.toarray(), subset_by_index=(0, found - 1))
    else:
        start = np.cos(np.arange(d))  # any, but always the same, and without symmetry
        values, vectors = eigsh(K.tocsc(), found, M.tocsc(), sigma=shift, v0=start, tol=0.0)
        values, vectors = np.sort(values), vectors[:, np.argsort(values)]
    while count < found and values[count] - values[count - 1] < EQUAL * abs(values[count]):
        count += 1
    return np.asarray(vectors[:, :count])


def _trial_vectors(elements: FiniteElements, attached: Any, keep: int, R: Array, *, free: bool) -> Array:
    """Modes of the free body, or of that fixed at its interface, and static deflections of the interface (d, .)."""
    from scipy.sparse.linalg import splu

    d, K, M = elements.count, elements.stiffness, elements.mass
    basis = np.zeros((d, len(attached)))
    basis[attached, np.arange(len(attached))] = 1.0
    if free:
        deflection = _relieved(elements, R)
        trial = deflection(np.cos(np.arange(d))[:, None])[:, 0]
        size = float(trial @ (K @ trial) / (trial @ (M @ trial)))
        # rigid motions are removed afterwards, what is left of the first six is dropped
        return np.hstack([_lowest(K, M, keep + 6, -0.1 * size), deflection(basis)])
    if len(attached) < 6:
        raise InputError(
            f"Craig-Bampton needs an interface that holds the body, but its nodes have {len(attached)} degrees of "
            'freedom; name more nodes, or take method="free".'
        )
    inside = np.setdiff1d(np.arange(d), attached)
    if not len(inside):
        return basis
    Kii = K[inside][:, inside]
    basis[inside] = -splu(Kii.tocsc()).solve(K[inside][:, attached].toarray())
    fixed = _lowest(Kii, M[inside][:, inside], keep, 0.0)
    shapes = np.zeros((d, fixed.shape[1]))
    shapes[inside] = fixed
    return np.hstack([basis, shapes])


def _relieved(elements: FiniteElements, R: Array) -> Callable[[Array], Array]:
    """Deflection (d, n) in mean axes under loads (d, n), balanced by inertia forces of the accelerated rigid body."""
    from scipy.sparse import bmat, csr_array
    from scipy.sparse.linalg import splu

    K, MR = elements.stiffness, elements.mass @ R
    weight = abs(K).max() / abs(MR).max()  # so that both have entries of one size
    border = csr_array(MR * weight)  # the last rows require that there is no mean motion
    factors = splu(bmat([[K, border], [border.T, None]]).tocsc())

    def deflection(loads: Array) -> Array:
        return np.asarray(factors.solve(np.vstack([loads, np.zeros((6, loads.shape[1]))]))[: len(loads)])

    return deflection


def _orthonormal(elements: FiniteElements, basis: Array, R: Array) -> tuple[Array, Array]:
    """Squared frequencies (m,) and shapes (d, m), orthonormal in the mass matrix and orthogonal to rigid motions."""
    from scipy.linalg import eigh

    M, K = elements.mass, elements.stiffness
    MR = M @ R
    project = np.linalg.solve(R.T @ MR, MR.T)
    before = np.sqrt(np.einsum("ij,ij->j", basis, M @ basis))
    for _ in range(2):  # the second time takes away the round-off of the first
        basis = basis - R @ (project @ basis)
    after = np.sqrt(np.einsum("ij,ij->j", basis, M @ basis))
    basis = basis[:, after > INDEPENDENT * before] / after[after > INDEPENDENT * before]
    scales, turns = np.linalg.eigh(basis.T @ (M @ basis))
    independent = scales > INDEPENDENT * np.max(scales, initial=0.0)
    basis = basis @ (turns[:, independent] / np.sqrt(scales[independent]))
    squares, vectors = eigh(basis.T @ (K @ basis), basis.T @ (M @ basis))
    # the modes (d, m) with definite signs; those of equal frequency along the axes of the body as far as possible
    shapes = basis @ vectors
    moved, shapes = elements.translations.ravel(), shapes.copy()
    weights = np.tile([0.0, 1.0, 2.0], len(elements.names))[:, None]  # any that differ
    first = 0
    for last in range(1, len(squares) + 1):
        if last < len(squares) and squares[last] - squares[last - 1] < EQUAL * squares[last]:
            continue
        if last > first + 1:
            some = shapes[moved, first:last]
            shapes[:, first:last] = shapes[:, first:last] @ np.linalg.eigh(some.T @ (weights * some))[1]
        first = last
    size = np.abs(shapes[moved])
    largest = np.argmax(size > (1.0 - EQUAL) * np.max(size, axis=0), axis=0)  # the first of equal ones
    return squares, np.asarray(shapes * np.where(shapes[moved[largest], np.arange(len(squares))] < 0.0, -1.0, 1.0))
