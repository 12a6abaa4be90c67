"""Kernels of solvers: each solves one program, compiled by numba where this takes less time than it saves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from nonsmooth.progress import stage

__all__ = ["Told"]


@dataclass(frozen=True)
class Told:
    """A kernel whose first call, in which numba compiles it or loads what it has compiled, is told as a stage."""

    kernel: Any
    solver: str

    def __call__(self, *given: Any) -> Any:
        if getattr(self.kernel, "overloads", True):  # NUMBA_DISABLE_JIT leaves plain functions
            return self.kernel(*given)
        with stage("compiling", f"{self.solver}, some ten seconds once per machine, or loading it"):
            return self.kernel(*given)
