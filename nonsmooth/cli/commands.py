"""Commands from the signatures and docstrings of functions, as TOML tables are from the classes of elements.

Arguments by position are arguments of the command, those by keyword options, ``--name-of-the-argument``. An argument
whose annotation is a group, a class of `nonsmooth.cli.options`, stands for the fields of the group; a name that comes
twice is one option, as where it comes first. The first line of the docstring is the help of the command, lines below
``Parameters`` that of options, as ``name : --option METAVAR, default: words`` with the help below; one without has that
of a group. The arguments ``**study`` are those of the function of the same name in `nonsmooth.studies`, with its types,
defaults and help. Functions are read as text: the help of the program imports none of them.
"""

import ast
import contextlib
import functools
import importlib
import inspect
import os
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperCommand

from nonsmooth import steppers
from nonsmooth.cli.options import GROUPS, KINDS, LINES, MANY
from nonsmooth.exceptions import InputError

HERE = Path(__file__).parent
#: studies that measure a run, each a file; a command adds these groups to the options of its function
STUDIES = HERE.parent / "studies"
MEASURES, SWEPT = STUDIES / "measures", ("Design", "Runs", "Processes", "Written")
REQUIRED = inspect.Parameter.empty
#: commands that compute nothing
LIGHT = ("list", "fits", "new", "doctor", "cite", "describe")
UNIT = re.compile(r"^\[[^-].*?\]")  # a unit behind the name of an option
HELP = re.compile(r"^(\w+)(?: : ([^\n]*))?\n((?:    [^\n]+\n?)+)", re.M)


class Option(NamedTuple):
    """An argument of a function, or a field of a group; `help` is what stands behind its name, and below."""

    name: str
    annotation: str
    default: Any
    by_keyword: bool
    help: tuple[str, str] = ("", "")

    @property
    def kind(self) -> str:
        return self.annotation.removesuffix(" | None")


class Function(NamedTuple):
    """A function of a file: its arguments, its docstring, and the options that the arguments stand for."""

    arguments: list[Option]
    text: str
    options: dict[str, Option]


def _helps(text: str | None) -> dict[str, tuple[str, str]]:
    return {name: (spec, " ".join(help.split())) for name, spec, help in HELP.findall(text or "")}


def _of_group(group: Any) -> Iterator[Option]:
    """Options of a group, its own fields before those of its bases."""
    for base in group.__mro__[:-1]:
        helps = _helps(inspect.getdoc(base))
        for one in fields(base):
            if one.name in base.__annotations__:
                default = REQUIRED if one.default is MISSING else one.default
                yield Option(one.name, str(one.type), default, one.kw_only is True, helps.get(one.name, ("", "")))


def _flat(one: Option) -> list[Option]:
    return list(_of_group(GROUPS[one.annotation])) if one.annotation in GROUPS else [one]


#: help of the options of groups, for those of the same name that have none
SHARED = {
    one.name: one.help
    for group in reversed(GROUPS.values())
    for one in _of_group(group)
    if one.help[1] and "help" not in KINDS[one.kind][1]
}


def _declared(path: Path, name: str) -> tuple[list[Option], str, bool]:
    """Arguments and docstring of a function of a file, of which only that text is parsed, and whether it takes any."""
    try:
        whole = path.read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.") from None
    node, start = cast(ast.FunctionDef | None, None), re.search(rf"^def {re.escape(name)}\(", whole, re.M)
    if start is not None:
        written = whole[start.start() :]
        for end in [*(one.start() for one in re.finditer(r"\n(?=\S)", written)), len(written)]:
            with contextlib.suppress(SyntaxError, ValueError):  # its header or docstring goes on; a null byte
                node = cast(ast.FunctionDef, ast.parse(written[:end]).body[0])
                break
        else:
            raise InputError(f"{path}: the function {name} is not valid Python; `python {path}` says where.")
    text = None if node is None else ast.get_docstring(node)
    if node is None or text is None:
        raise InputError(
            f"{path}: define the function {name}(run, *, ...), which measures a run, with a docstring; a file "
            "that is no study begins with _."
            if name.isidentifier()
            else f"{path}: name the file as its function, by letters, digits and _, which is - in the command."
        )
    given, options = node.args, []
    defaults = [*[None] * (len(given.args) - len(given.defaults)), *given.defaults, *given.kw_defaults]
    for i, (one, default) in enumerate(zip([*given.args, *given.kwonlyargs], defaults, strict=True)):
        annotation = "" if one.annotation is None else ast.unparse(one.annotation)
        option = Option(one.arg, annotation, REQUIRED, i >= len(given.args))
        if default is not None and option.kind in KINDS:
            try:
                option = option._replace(default=ast.literal_eval(default))
            except ValueError:
                raise InputError(
                    f"{path}: the default of the option {one.arg} is {ast.unparse(default)}; write a number, a word, "
                    "True, False or None."
                ) from None
        options.append(option)
    return options, text, given.kwarg is not None


def read(path: Path, name: str, groups: Sequence[str] = ()) -> Function:
    """A function of a file, whose options have a known type and a help; groups follow its arguments by keyword."""
    arguments, text, open_ended = _declared(path, name)
    helps, of_study = _helps(text), dict[str, tuple[str, str]]()
    if groups:
        for one in arguments[1:]:
            if not one.by_keyword:
                raise InputError(f"{path}: the option {one.name} must stand behind *, as {name}(run, *, {one.name}).")
        arguments = [one for one in arguments if one.by_keyword]
        arguments += [Option(group.lower(), group, REQUIRED, True) for group in groups]
    if open_ended:
        study, description, _ = _declared(STUDIES / f"{name}.py", name)
        of_study = {name: (" ".join(UNIT.findall(spec)), help) for name, (spec, help) in _helps(description).items()}
        order = {name: i for i, name in enumerate(helps | of_study)}
        known = {each.name for one in arguments for each in _flat(one)}
        arguments += [one for one in study if one.kind in KINDS and one.name in order and one.name not in known]
        arguments.sort(key=lambda one: len(order) if one.annotation in GROUPS else order.get(one.name, -1))
    options: dict[str, Option] = {}
    for argument in arguments:
        for one in _flat(argument):
            others = one.help if one.help[1] else of_study.get(one.name) or SHARED.get(one.name, one.help)
            options.setdefault(one.name, one._replace(help=helps.get(one.name, others)))
    for one in options.values():
        helped = one.help[1] or "help" in KINDS.get(one.kind, ("", ()))[1]
        if one.kind not in KINDS or not helped and __doc__:  # `python -OO` drops the docstrings of groups
            raise InputError(
                f"{path}: the option {one.name} has the type {one.annotation or 'nothing'} and "
                f"{'a' if one.help[1] else 'no'} line below Parameters; types are {', '.join(KINDS)}, and a line of "
                "help is needed."
            )
    return Function(arguments, text, options)


class OneValueEach(TyperCommand):
    """A command that refuses an option given more than once, of which Typer takes the last, unless it is repeatable."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        options: list[Any] = [one for one in self.params if one.param_type_name == "option"]
        single = [one for one in options if not (one.is_flag or one.multiple)]
        for one in single:
            one.multiple = True  # for a parser that keeps all values
        try:
            given = self.make_parser(ctx).parse_args(list(args))[0]
        finally:
            for one in single:
                one.multiple = False
        for one in single:
            values = given.get(one.name, ())
            if len(values) > 1 and not ctx.resilient_parsing:
                often = "twice" if len(values) == 2 else f"{len(values)} times"
                each = f"{', '.join(values[:-1])} and {values[-1]}"
                raise InputError(f"{one.opts[-1]} was given {often}, as {each}; it takes one value.")
        return super().parse_args(ctx, args)


def add_command(app: typer.Typer, name: str, where: str) -> None:
    """Add the command of a function, ``"module.function"`` in this package, which returns the exit code or None."""
    module, _, called = where.partition(".")

    def run(**words: Any) -> Any:
        if name not in LIGHT:
            from nonsmooth.files import check_room

            check_room()
        return getattr(importlib.import_module(f"nonsmooth.cli.{module}"), called)(**words)

    _add(app, name, read(HERE / f"{module}.py", called), run)


def add_measures(app: typer.Typer, folder: Path = MEASURES) -> None:
    """Add a command that sweeps and measures for each file of the folder; that of a wrong file says what is wrong."""
    for path in sorted(folder.glob("[!_]*.py")):
        _add_measure(app, path, path.stem.replace("_", "-"))


def _add_measure(app: typer.Typer, path: Path, name: str) -> None:
    def run(design: Any, runs: Any, processes: Any, written: Any, **options: Any) -> int:
        from nonsmooth.cli.files import run_user_code
        from nonsmooth.cli.sweep import sweep

        module = run_user_code(path, lambda: importlib.import_module(f"nonsmooth.studies.measures.{path.stem}"))
        metrics: Any = {path.stem: functools.partial(getattr(module, path.stem), **options)}
        return sweep(metrics=metrics, design=design, runs=runs, processes=processes, written=written)

    def refuse() -> None:
        raise refused

    try:
        _add(app, name, read(path, path.stem, SWEPT), run)
    except InputError as error:
        refused = error
        anything = {"ignore_unknown_options": True, "allow_extra_args": True}
        app.command(name, help=str(error), context_settings=anything)(refuse)


def examples(folder: Path = MEASURES) -> dict[str, list[str]]:
    """The example of each study, by the name of its command."""
    texts = {path.stem.replace("_", "-"): read(path, path.stem, SWEPT).text for path in sorted(folder.glob("[!_]*.py"))}
    return {f"study {name}": re.findall(r"^\$ (nonsmooth .*)$", text, re.M) for name, text in texts.items()}


def _add(app: typer.Typer, name: str, function: Function, run: Callable[..., Any]) -> None:
    """Add the command of a function; `run` takes its arguments, each a value or a group of values."""
    parameters, named = [], inspect.Parameter.KEYWORD_ONLY
    for one in function.options.values():  # as Typer reads them
        kind, more = KINDS[one.kind]
        written, _, shown = one.help[0].partition("default: ")
        words = UNIT.sub("", written).strip(", ").split()
        names = [word for word in words if word.startswith("-")]
        if one.help[1]:
            unit = UNIT.match(written)
            text = one.help[1] if unit is None else f"{one.help[1].rstrip('.')} {unit[0]}."
            more = more | {"help": text.replace("``", "`").replace("{steppers}", ", ".join(steppers.names()))}
        if words[len(names) :]:
            more = more | {"metavar": words[-1]}
        if shown:
            more = more | {"show_default": shown}
        if one.by_keyword:
            stated = typer.Option(*(names or [f"--{one.name.replace('_', '-')}"]), **more)
        else:
            stated = typer.Argument(**more)
        default = None if one.default == () else one.default
        annotation: Any = Annotated[kind if default is not None else kind | None, stated]
        parameters.append(inspect.Parameter(one.name, named, default=default, annotation=annotation))

    def called(**given: Any) -> int:
        many = [one.name for one in function.options.values() if KINDS[one.kind][0] in MANY]
        given |= {label: tuple(given[label] or ()) for label in many}
        words: dict[str, Any] = {}
        for one in function.arguments:
            group = GROUPS.get(one.annotation)
            part = {} if group is None else {each.name: given[each.name] for each in fields(group)}
            words[one.name] = given[one.name] if group is None else group(**part)
        quiet = given.get("quiet", False)
        while quiet and LINES:
            LINES.pop().end()
        with open(os.devnull, "w", encoding="utf-8") as nowhere:
            hidden = quiet and not given.get("as_json", False)  # what --json asks for is printed
            with contextlib.redirect_stdout(nowhere) if hidden else contextlib.nullcontext():
                return int(run(**words) or 0)

    called.__name__, called.__doc__ = name.replace("-", "_"), function.text.partition("\n\n")[0]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    called.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    app.command(name, cls=OneValueEach)(called)
