"""The errors of the package. Each message states what is wrong with which value, what is accepted, and what to do."""

import pickle
import re
from functools import partial
from typing import Any

#: what the system says where memory is missing, as of a library that cannot be loaded
NO_MEMORY = re.compile(
    "cannot allocate|failed to map segment|unable to allocate|not enough memory|can't start new thread", re.IGNORECASE
)
TOO_LITTLE = "the memory of this process does not suffice; free some, or raise the limit of the process"


def lacks_memory(error: BaseException | None) -> bool:
    """Whether an error, or one that it came of, says that memory is missing."""
    while error is not None:
        if isinstance(error, MemoryError) or NO_MEMORY.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


class NonsmoothError(Exception):
    """Base of all errors of the package."""


class InputError(NonsmoothError, ValueError):
    """An invalid value; detected before the first step wherever possible."""

    def __init__(self, *values: Any) -> None:
        """The message in one line, also where it quotes an array, whose text has several."""
        super().__init__(*(" ".join(one.split()) if isinstance(one, str) and "\n" in one else one for one in values))


class NotWritten(InputError):
    """A result that could not be written, for instance to a full disk. An existing file remains unchanged."""


class ModelError(InputError):
    """A mechanism that cannot be built: names, missing bodies, violated joints, penetration, contradictions."""


class DeclarationError(ModelError):
    """A TOML file that defines no valid mechanism: each error on a line of its own, as ``file:line: key: what to do``.

    `faults` contains (line, key, sentence) of each, in the order of the lines.
    """

    def __init__(self, message: str, *, faults: tuple[tuple[int, str, str], ...] = ()) -> None:
        super().__init__(message)
        self.args = (message,)  # with its lines
        self.faults = faults


class ModelWarning(UserWarning):
    """A probable mistake in a model that can be built; ``Model(..., silence=[name])`` says that it is meant.

    The names are those of `nonsmooth.model.review.REMARKS`: "no-gravity", "large-clearance", "inertia", ...
    """


class ValidityWarning(UserWarning):
    """A law used outside its range of validity, or a table outside its times."""


class SolverMissing(NonsmoothError, ImportError):
    """A solver whose library is not installed."""


class SolverFailed(NonsmoothError, RuntimeError):
    """No solver of the chain found a solution whose residual, evaluated by the program, is below tolerance.

    `program`, `guess` and `attempts` (solver, its status, the residual, the worst row) allow the failure to be
    analysed.
    """

    def __init__(self, message: str, *, program: Any = None, guess: Any = None, attempts: tuple[Any, ...] = ()) -> None:
        super().__init__(message)
        self.program = program
        self.guess = guess
        self.attempts = attempts

    def __reduce__(self) -> tuple[Any, ...]:
        """For other processes; without programs that cannot be pickled, such as those with CasADi symbols."""
        program = self.program if _can_be_sent(self.program) else None
        return partial(type(self), program=program, guess=self.guess, attempts=self.attempts), (str(self),)


class BudgetSpent(SolverFailed):
    """The time or the number of steps that a call of `simulate` was given is spent."""


class TimeSpent(BudgetSpent):
    """The time is, of all runs of the call together, so that none begins after it."""


class SimulationFailed(NonsmoothError, RuntimeError):
    """A run that could not be continued.

    `trajectory`, a `Trajectory`, contains every accepted step, `cause` the error of the failed step.
    """

    def __init__(self, message: str, *, trajectory: Any, cause: Exception) -> None:
        super().__init__(message)
        self.trajectory = trajectory
        self.cause = cause

    def __reduce__(self) -> tuple[Any, ...]:
        cause = self.cause if _can_be_sent(self.cause) else SolverFailed(str(self.cause))
        return partial(type(self), trajectory=self.trajectory, cause=cause), (str(self),)


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a run, a batch or a study. `trajectory`, a `Trajectory`, contains every accepted step of a run;
    `result` the runs of a batch or a study that were finished, as these return them, or None if there is none."""

    def __init__(self, message: str, *, trajectory: Any = None, result: Any = None) -> None:
        super().__init__(message)
        self.trajectory, self.result = trajectory, result

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), trajectory=self.trajectory, result=self.result), (str(self),)


def _can_be_sent(thing: Any) -> bool:
    """Whether it can be pickled; CasADi raises a bare Exception if not."""
    try:
        pickle.dumps(thing)
    except Exception:
        return False
    return True
