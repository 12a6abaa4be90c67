"""Studies with many runs; each returns its numbers, which `nonsmooth.plots` draws."""

from nonsmooth.studies.allocate import Allocation, allocate
from nonsmooth.studies.bifurcation import (
    Bifurcation,
    Crossings,
    LongRun,
    PerPeriod,
    bifurcation,
    lyapunov,
    periodic_section,
)
from nonsmooth.studies.cases import Case
from nonsmooth.studies.compare import Comparison, compare
from nonsmooth.studies.designs import Design, grid, points, sample
from nonsmooth.studies.failure import Failure, failure_probability
from nonsmooth.studies.kinematic import Kinematics
from nonsmooth.studies.long_run import Statistic, Statistics, long_run
from nonsmooth.studies.outputs import sensitivity
from nonsmooth.studies.published import PublishedRuns, published
from nonsmooth.studies.rigid_limit import LawCard, RigidLimit, free_impact, law_card, rigid_limit
from nonsmooth.studies.step_size import Series, StepSizes, step_size
from nonsmooth.studies.sweep import sweep
from nonsmooth.studies.tolerance import Tolerance, tolerance

__all__ = [
    "Allocation", "Bifurcation", "Case", "Comparison", "Crossings", "Design", "Failure", "Kinematics", "LawCard",
    "LongRun", "PerPeriod", "PublishedRuns", "RigidLimit", "Series", "Statistic", "Statistics", "StepSizes",
    "Tolerance", "allocate", "bifurcation", "compare", "failure_probability", "free_impact", "grid", "law_card",
    "long_run", "lyapunov", "periodic_section", "points", "published", "rigid_limit", "sample", "sensitivity",
    "step_size", "sweep", "tolerance",
]  # fmt: skip
