"""Modes of a straight uniform free rod along x, from their closed forms."""

from __future__ import annotations

import numpy as np

from nonsmooth.flexible.modes import Modes

#: roots of cosh(x) cos(x) = 1, of the bending of a free beam
FREE = (4.730040744862704, 7.853204624095838, 10.995607838001671, 14.137165491257464, 17.27875965739948)


def free_rod(
    length: float, mass: float, *, axial: float = 0.0, bending: float = 0.0, axial_modes: int = 0,
    bending_modes: int = 0, both_planes: bool = False, ratio: float = 0.0, stations: int = 3,
) -> Modes:  # fmt: skip
    """A free rod with the frequencies k pi c / L (``axial`` = c) and beta_k^2 b / L^2 (``bending`` = sqrt(EI / rho A)).

    Its nodes are evenly spaced along it, the first and the last at its ends: "left", then "n1", "n2", ..., "right".
    """
    x = np.linspace(-length / 2, length / 2, stations)
    s = x / length + 0.5
    frequencies, translations, rotations = [], [], []
    for k in range(1, axial_modes + 1):
        frequencies.append(k * np.pi * axial / length)
        translations.append(np.outer(np.sqrt(2 / mass) * np.cos(k * np.pi * s), [1.0, 0.0, 0.0]))
        rotations.append(np.zeros((stations, 3)))
    for plane in ("y", "z") if both_planes else ("y",):
        for beta in FREE[:bending_modes]:
            sigma = (np.cosh(beta) - np.cos(beta)) / (np.sinh(beta) - np.sin(beta))
            shape = np.cosh(beta * s) + np.cos(beta * s) - sigma * (np.sinh(beta * s) + np.sin(beta * s))
            slope = np.sinh(beta * s) - np.sin(beta * s) - sigma * (np.cosh(beta * s) + np.cos(beta * s))
            along, about = ([0.0, 1.0, 0.0], [0.0, 0.0, 1.0]) if plane == "y" else ([0.0, 0.0, 1.0], [0.0, -1.0, 0.0])
            frequencies.append(beta**2 * bending / length**2)
            translations.append(np.outer(shape / np.sqrt(mass), along))
            rotations.append(np.outer(beta / length * slope / np.sqrt(mass), about))
    transverse = mass * length**2 / 12
    order = np.argsort(frequencies)
    return Modes(
        mass=mass,
        centre=np.zeros(3),
        inertia=np.diag([1e-3 * transverse, transverse, transverse]),
        frequencies=np.array(frequencies)[order],
        damping=2 * ratio * np.array(frequencies)[order],
        names=("left", *(f"n{i}" for i in range(1, stations - 1)), "right"),
        places=np.column_stack([x, np.zeros((stations, 2))]),
        translations=np.stack(translations, axis=2)[:, :, order],
        rotations=np.stack(rotations, axis=2)[:, :, order],
        stresses=np.zeros((0, 0, len(order))),
    )
