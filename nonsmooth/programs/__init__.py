"""What one step asks: mathematical programs as data, each with a residual of its own. No algorithm lives here.

=================  ============================================================================
`QP`               strictly convex quadratic program: linearised gaps, M-normalised or not
`LCP`              mixed linear complementarity problem: impacts, Delassus form
`MPCC`             nonlinear program with complementarity pairs: the whole step, unreduced
=================  ============================================================================
"""

from nonsmooth.programs.base import Program, Session, Solution, Solver
from nonsmooth.programs.conversions import lcp_from_qp
from nonsmooth.programs.lcp import LCP
from nonsmooth.programs.mpcc import MPCC, MPCCStructure
from nonsmooth.programs.qp import QP

__all__ = ["LCP", "MPCC", "QP", "MPCCStructure", "Program", "Session", "Solution", "Solver", "lcp_from_qp"]
