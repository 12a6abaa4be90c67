"""Kernels of solvers: each solves one program, compiled by numba where this takes less time than it saves."""

from dataclasses import dataclass
from typing import Any

from nonsmooth.progress import stage


@dataclass(frozen=True)
class TimedKernel:
    """A kernel whose first call, in which numba compiles it or loads what it has compiled, is a stage of its own."""

    kernel: Any
    solver: str

    def __call__(self, *numbers: Any) -> Any:
        if getattr(self.kernel, "overloads", True):  # NUMBA_DISABLE_JIT leaves plain functions
            return self.kernel(*numbers)
        with stage("compiling", f"{self.solver}, some ten seconds once per machine, or loading it"):
            return self.kernel(*numbers)
