"""Names of files to write; mechanisms in files, Python, TOML or of robots; `nonsmooth new`: a file to start from."""

from __future__ import annotations

import dataclasses
import functools
import importlib.util
import inspect
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from nonsmooth.exceptions import InputError, NonsmoothError
from nonsmooth.files import load_libraries, path_of
from nonsmooth.robots import ENDINGS

if TYPE_CHECKING:
    from nonsmooth.declarative import Declaration
    from nonsmooth.model.model import Model
    from nonsmooth.model.registry import Problem
    from nonsmooth.model.system import System

FIGURE_FORMATS = (".png", ".pdf", ".svg")
PAGE_FORMATS = (".html",)
TEMPLATES = Path(__file__).with_name("templates")
OWN_NAME = "my_mechanism"  # the name under which the templates speak of themselves
T = TypeVar("T")
#: names in `sys.modules` of users' files, each of which another file of the same name may replace
_OF_FILES: set[str] = set()


def check_writable(option: str, path: Path | None, suffixes: tuple[str, ...]) -> None:
    """Raise `InputError` unless a file of this name, if one is given, can be written; leaves nothing behind."""
    if path is None:
        return
    path = path_of(path, option)
    if path.suffix.lower() not in suffixes:
        ends = re.sub(", (?=[^,]*$)", " or ", ", ".join(suffixes))
        raise InputError(f"{option} {path}: the name must end in {ends}.")
    try:
        if path.is_dir():
            raise InputError(f"{option} {path} is a folder: give the name of a file.")
        with tempfile.TemporaryFile(dir=path.parent):
            pass
        if path.exists() and not os.access(path, os.W_OK):
            raise PermissionError(13, "the file is write-protected")
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{option} {path} cannot be written ({reason}): give a file in a writable folder.") from error
    if path.suffix.lower() == ".nc":
        load_libraries()  # before what is written is computed


def new(path: Path, *, space: bool = False) -> None:
    """Write a commented template for a mechanism of your own.

    Parameters
    ----------
    path : FILE
        File to write, .py or .toml; it must not exist.
    space
        A spatial instead of a planar mechanism.
    """
    if path.suffix not in (".py", ".toml"):
        raise InputError(f"{path}: a mechanism is a TOML or a Python file; give it a name that ends in .toml or .py.")
    text = (TEMPLATES / f"{'spatial' if space else 'planar'}{path.suffix}").read_text(encoding="utf-8")
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text.replace(f"{OWN_NAME}{path.suffix}", str(path)))
    except FileExistsError:
        raise InputError(f"{path} exists and is left as it is: give another name.") from None
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path} cannot be written ({reason}): give a file in a writable folder.") from error
    options = "" if path.suffix == ".toml" else " --t-end 0.1"
    print(
        f"{path} is a mechanism that runs. See it with `nonsmooth describe {path} --figure sketch.png`, run it with "
        f"`nonsmooth run {path}{options}`."
    )


def is_file(problem: str) -> bool:
    """Whether a word names a file rather than a ready problem."""
    return Path(problem).suffix != "" or os.sep in problem


def check_file(path: Path) -> None:
    """Raise InputError unless it is a file whose name ends as that of a Python file or of a robot does."""
    wanted = "give a Python file that defines `model` or a function `build()`"
    if not path.is_file():
        raise InputError(f"{path} is not a file: {wanted}, or a TOML file.")
    if path.suffix == ".nc":
        raise InputError(f"{path} is a result, not a mechanism: `nonsmooth plot` and `nonsmooth report` show it, and "
                         f"`nonsmooth run --resume {path}` goes on with a checkpoint.")  # fmt: skip
    if path.suffix != ".py" and path.suffix.lower() not in ENDINGS:
        kinds = f"a Python file (.py) nor a TOML file (.toml), nor a robot ({', '.join(ENDINGS)})"
        raise InputError(f"{path} is neither {kinds}: {wanted}.")


def problem_of(word: str) -> Problem:
    """A ready problem by name, or the mechanism of a file, one of whose arguments is the contact law."""
    from nonsmooth.model.registry import get_problem

    if not is_file(word):
        return get_problem(word)
    if not word.endswith(".toml"):
        return python_problem(Path(word))
    from nonsmooth.declarative import read

    return stated_problem(read(word), Path(word))


def exact_solution(problem: Problem | None, arguments: Mapping[str, Any]) -> Any:
    """The exact solution of a problem for these arguments, None where it has none."""
    if problem is None or problem.exact is None:
        return None
    try:
        return problem.exact(**arguments)
    except InputError:
        return None


def stated_problem(declaration: Declaration, path: Path) -> Problem:
    from nonsmooth.model.registry import Problem

    own = common_law(declaration.contacts)

    def with_contact(contact: Any = own) -> Any:
        declaration.build(contact=contact)  # what is wrong is said with its line
        return declaration.replaced(contact)

    function: Any = with_contact if declaration.contacts else lambda: with_contact()
    function.laws = tuple(declaration.contacts)
    function.__name__, function.__doc__ = path.stem, f"The mechanism of {path}."
    return Problem(function, (), f"the file {path}", {})


def python_problem(path: Path) -> Problem:
    """The mechanism of a Python file as a problem whose contact law can be changed, if it has contacts.

    A function `build(contact)` gets the law; in a model or system that is built without it, all laws are replaced.
    """
    from nonsmooth.model.registry import Problem, needed

    module = module_of(path)
    build = getattr(module, "build", None)

    def made(**arguments: Any) -> Model | System:
        return _mechanism(module, path, arguments)

    function: Any
    if build is not None and "contact" in inspect.signature(build).parameters:
        function = functools.wraps(build)(made)
    else:
        # None: they are known with the arguments
        found = None if build is not None and needed(inspect.signature(build)) else laws_in(made())

        def with_law(contact: Any = None, **arguments: Any) -> Any:
            model = made(**arguments)
            if contact is None:
                return model
            if not laws_in(model):
                raise InputError(f"{path} has no contact, whose law --contact could change.")
            return model.with_contact(contact)

        function, named = with_law, inspect.Parameter.KEYWORD_ONLY
        others = () if build is None else inspect.signature(build).parameters.values()
        taken = [one.replace(kind=named) for one in others if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
        law = [inspect.Parameter("contact", named, default=common_law(found or ()))] if found != () else []
        function.__signature__, function.laws = inspect.Signature([*law, *taken]), found
    function.__name__, function.__doc__ = path.stem, f"The mechanism of {path}."
    return Problem(function, (), f"the file {path}", {})


def laws_in(made: Model | System) -> tuple[Any, ...]:
    from nonsmooth.model.contacts import Contact

    return tuple(element.contact for element in made.elements if isinstance(element, Contact))


def common_law(laws: Sequence[Any]) -> Any:
    """The law of all contacts; None where they differ."""
    return laws[0] if laws and all(law == laws[0] for law in laws) else None


@dataclasses.dataclass(frozen=True)
class PythonFile:
    """The mechanism of a Python file, as a function of the arguments of its `build`."""

    path: Path

    def __call__(self, **arguments: Any) -> System:
        found = self.model(**arguments)
        return run_user_code(self.path, found.build) if hasattr(found, "build") else found

    def __reduce__(self) -> Any:  # another process runs the file itself
        return PythonFile, (self.path,)

    @functools.cached_property
    def _module(self) -> ModuleType:
        return module_of(self.path)

    @property
    def __signature__(self) -> inspect.Signature:
        build = getattr(self._module, "build", lambda: None)
        return run_user_code(self.path, lambda: inspect.signature(build))

    def model(self, **arguments: Any) -> Model | System:
        return _mechanism(self._module, self.path, arguments)


def _mechanism(module: ModuleType, path: Path, arguments: Mapping[str, Any]) -> Model | System:
    """The model or built system that a file defines, of the arguments of its `build`."""
    from nonsmooth.model.model import Model
    from nonsmooth.model.registry import needed
    from nonsmooth.model.system import System

    if hasattr(module, "build"):
        signature = run_user_code(path, lambda: inspect.signature(module.build))
        accepted = signature.parameters
        unknown = [name for name in arguments if name not in accepted]
        if unknown and not any(one.kind is one.VAR_KEYWORD for one in accepted.values()):
            offer = ", ".join(accepted) or "no arguments"
            raise InputError(f"{path}: build() does not take {unknown[0]!r}; it takes {offer}.")
        missing = [name for name in needed(signature) if name not in arguments]
        if missing:
            words = ["--contact (of run and compare)" if one == "contact" else f"--set {one}=..." for one in missing]
            raise InputError(
                f"{path}: build() needs {', '.join(missing)}, without default: give {' '.join(words)}, or a default."
            )
        made = run_user_code(path, lambda: module.build(**arguments))
    elif not hasattr(module, "model"):
        raise InputError(f"{path} defines neither `model` nor `build()`: add one of them.")
    elif arguments:
        name = next(iter(arguments))
        raise InputError(f"{path} defines `model`, which takes no argument {name!r}: define a function build({name}).")
    else:
        made = module.model
    if not isinstance(made, System | Model):
        raise InputError(f"{path}: expected a Model or a built system, got {type(made).__name__}.")
    return made


def module_of(path: Path) -> ModuleType:
    """Run a user's Python file, which may import what stands beside it, but no module of Python's own library.

    It is read anew, past Python's cache of bytecode, which does not see a change within the same second. Dataclasses
    look for their annotations in `sys.modules`: it is there, under a name of its own if another module has its name.
    """
    check_file(path)
    if path.suffix.lower() in ENDINGS:
        return robot_module(path)
    taken = path.stem in sys.modules and path.stem not in _OF_FILES
    name = f"{path.stem} in {path.resolve().parent}" if taken else path.stem
    specification = importlib.util.spec_from_file_location(name, path)
    if specification is None or specification.loader is None:
        raise InputError(f"{path} is not a Python file: give one that defines `model` or a function `build()`.")
    module, folder = importlib.util.module_from_spec(specification), str(path.resolve().parent)
    if folder not in sys.path:  # before installed packages; a file json.py is not that of the library, in processes too
        installed = (i for i, one in enumerate(sys.path) if one.endswith("-packages"))
        sys.path.insert(next(installed, len(sys.path)), folder)
    sys.modules[name] = module
    try:
        run_user_code(path, lambda: exec(compile(path.read_bytes(), path, "exec", dont_inherit=True), vars(module)))
    except BaseException:
        del sys.modules[name]
        raise
    _OF_FILES.add(name)
    import cloudpickle

    cloudpickle.register_pickle_by_value(module)  # other processes may not find it
    return module


def robot_module(path: Path) -> ModuleType:
    """A file of a robot as a module, whose `build` takes the keyframe, and joints to be loosened with their sizes."""
    from nonsmooth.model.loosening import loosen as loosened
    from nonsmooth.robots.reading import read_robot

    def build(
        contact: Any = None, keyframe: str | int | None = None, loosen: str | None = None, fit: Any = None,
        clearance: float | None = None, restitution: float | None = None, friction: float | None = None,
        radius: float | None = None, length: float | None = None, axial_clearance: float | None = None,
        height: float | None = None, width: float | None = None,
    ) -> Model:  # fmt: skip
        robot = read_robot(path, keyframe=keyframe)
        rigid = {} if contact is not None else {"restitution": restitution, "friction": friction}
        sizes = {
            "contact": contact, **rigid, "fit": fit, "clearance": clearance, "radius": radius, "length": length,
            "axial_clearance": axial_clearance, "height": height, "width": width,
        }  # fmt: skip
        given = {name: value for name, value in sizes.items() if value is not None}
        if loosen is None and given:
            raise InputError(f"{path}: {next(iter(given))} is of joints to be loosened; give --set loosen=NAME too.")
        return robot if loosen is None else loosened(robot, loosen, **given)

    module = ModuleType(path.stem)
    vars(module)["build"] = build
    return module


def run_user_code(path: Path, function: Callable[[], T]) -> T:
    """Call a function of the user's code; its error becomes an InputError of one sentence with the line."""
    try:
        return function()
    except NonsmoothError:
        raise
    except Exception as error:
        frames = [frame for frame in traceback.extract_tb(error.__traceback__)
                  if Path(frame.filename).resolve() == path.resolve()]  # fmt: skip
        line = getattr(error, "lineno", None) or (frames[-1].lineno if frames else "?")
        raise InputError(f"{path}, line {line}: {type(error).__name__}: {error}") from error
