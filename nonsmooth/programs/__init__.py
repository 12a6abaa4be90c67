"""Step problems: mathematical programs as data, each with its residual, independent of algorithms.

=================  =============================================================================
`QP`               strictly convex quadratic program: linearised gaps, M-normalised or not
`LCP`              mixed linear complementarity problem: impacts, Delassus form
`FrictionContact`  contact with exact Coulomb friction, in the plane and in space
`ConeQP`           its convex relaxation, which opens sliding contacts: only on explicit request
`MPCC`             nonlinear program with complementarity pairs: the whole step, unreduced
=================  =============================================================================
"""

from nonsmooth.programs.base import Program, Session, Solution, Solver
from nonsmooth.programs.conversions import (
    associated_lcp_from_friction_contact,
    cone_qp_from_friction_contact,
    lcp_from_friction_contact,
    lcp_from_qp,
    pushed_friction_contact,
)
from nonsmooth.programs.friction_contact import ConeQP, ContactProgram, FrictionContact, undetermined_impulses
from nonsmooth.programs.mpcc import MPCC, MPCCStructure
from nonsmooth.programs.qp import LCP, QP

__all__ = [
    "LCP", "MPCC", "QP", "ConeQP", "ContactProgram", "FrictionContact", "MPCCStructure", "Program", "Session",
    "Solution", "Solver", "associated_lcp_from_friction_contact", "cone_qp_from_friction_contact",
    "lcp_from_friction_contact", "lcp_from_qp", "pushed_friction_contact", "undetermined_impulses",
]  # fmt: skip
