"""Flexible bodies outside the range of their model: small deformations, slow rotation."""

import warnings

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import ValidityWarning
from nonsmooth.model.system import System

#: displacement of a node by deformation, as a share of the body's length, and its rotation [rad], up to which
#: deformations count as small; what the model leaves out is of their order
SMALL = 0.1
#: spin as a share of the first frequency up to which centrifugal forces on the deformation and geometric stiffness, of
#: the order of its square, count as small where they are left out
SPINNING = 0.1


def check_deformations(system: System, t: Array, q: Array, v: Array) -> None:
    """Warn of each flexible body that leaves the range of its model in a motion t (n,), q (n, nq), v (n, nv)."""
    for body in system.flexible_bodies:
        first_q = system.q_names.index(f"{body.name}.eta1")
        first_v = system.v_names.index(f"{body.name}.eta1")
        eta, modes = q[:, first_q : first_q + body.count], body.modes
        length = float(np.max(np.linalg.norm(modes.places[:, None] - modes.places[None], axis=2), initial=0.0))
        moved, turned = (
            np.max(np.linalg.norm(np.einsum("nim,tm->tni", shapes, eta), axis=2), axis=1, initial=0.0)
            for shapes in (modes.translations, modes.rotations)
        )
        rigid = len(body.v_columns) - body.count
        spins = v[:, first_v - (1 if rigid == 3 else 3) : first_v]
        slowest, spin = float(np.min(body.modes.frequencies)), np.linalg.norm(spins, axis=1)
        faults, k = [], int(np.argmax(moved))
        if length > 0.0 and moved[k] > SMALL * length:
            faults.append(
                f"deformations are taken as small, but a node is displaced by {moved[k] / length:.3g} of the body's "
                f"length at t = {t[k]:.6g} s, more than {SMALL:g}; divide the body into several, joined by Fixed()."
            )
        k = int(np.argmax(turned))
        if turned[k] > SMALL:
            faults.append(
                f"deformations are taken as small, but a node is turned by {turned[k]:.3g} rad at t = {t[k]:.6g} s, "
                f"more than {SMALL:g} rad; divide the body into several, joined by Fixed()."
            )
        k = int(np.argmax(spin))
        if spin[k] > SPINNING * slowest and (modes.changes is None or modes.shortening is None):
            left, given = (
                "geometric stiffness of the spin is left out",
                "whose beams shorten: modes(..., stiffening=True)",
            )
            if modes.changes is None:
                left, given = "centrifugal forces on the deformation are left out", "with changes of inertia"
            faults.append(
                f"{left}, but it turns with {spin[k]:.4g} rad/s at t = {t[k]:.6g} s, more than {SPINNING:g} of its "
                f"first frequency of {slowest:.4g} rad/s; give it modes {given}."
            )
        for sentence in faults:
            warnings.warn(f'Flexible body "{body.name}": {sentence}', ValidityWarning, stacklevel=2)
