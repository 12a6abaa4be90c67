from __future__ import annotations

import inspect
import re
import sys
from importlib.metadata import EntryPoint

import pytest

from nonsmooth.exceptions import InputError
from nonsmooth.model import registry
from nonsmooth.model.registry import Problem, Provenance, find_problems, get_problem, problem

MASS = Provenance(5.0, "kg", "given", "Table 1")


def _ball(mass: float = 5.0, *, restitution: float) -> tuple[float, float]:
    """A ball in a box.

    More about it.
    """
    return mass, restitution


def make(**changes):
    return problem(**({"tags": ("planar",), "source": "A book", "parameters": {"mass": MASS}} | changes))(_ball)


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """Write a package of problems and install it as the only distribution that offers some."""

    def install(**modules: str) -> None:
        folder = tmp_path / "box_problems"
        folder.mkdir()
        (folder / "__init__.py").write_text("")
        head = "from nonsmooth.model.registry import problem\nmake = problem(source='A book', parameters={})\n"
        for name, text in modules.items():
            (folder / f"{name}.py").write_text(head + text)
        monkeypatch.syspath_prepend(str(tmp_path))
        entry = EntryPoint("box", "box_problems", registry.GROUP)
        monkeypatch.setattr(registry, "entry_points", lambda group: [entry] if group == registry.GROUP else [])

    yield install
    for name in [name for name in sys.modules if name.partition(".")[0] == "box_problems"]:
        del sys.modules[name]


def test_a_problem_is_its_function_with_facts():
    ball = make(panels=["panel"], exact=len)
    assert isinstance(ball, Problem)
    assert ball(restitution=0.5) == (5.0, 0.5)
    assert ball(2.0, restitution=0.5) == (2.0, 0.5)
    assert (ball.name, ball.summary, ball.tags, ball.source) == ("-ball", "A ball in a box.", ("planar",), "A book")
    assert ball.provenance["mass"] is MASS
    assert ball.panels == ("panel",)
    assert ball.exact is not None and ball.exact([1, 2]) == 2
    assert list(inspect.signature(ball).parameters) == ["mass", "restitution"]
    assert ball.__doc__ == _ball.__doc__


def test_provenance_cannot_be_changed():
    with pytest.raises(TypeError):
        make().provenance["mass"] = MASS


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"restitutoin": 0.5}, "has no argument 'restitutoin'. Did you mean restitution? It takes mass, restitution"),
        ({"colour": 1}, "has no argument 'colour'. It takes mass, restitution"),
        ({}, "needs restitution, without default: give restitution=... (--set restitution=...)"),
    ],
)
def test_wrong_arguments_are_named(arguments, message):
    with pytest.raises(InputError, match=re.escape(message)):
        make()(**arguments)


def test_a_case_is_a_number():
    with pytest.raises(InputError, match="case is a number"):
        get_problem("slider-rod")(case=True)


def test_a_default_may_not_contradict_its_provenance():
    with pytest.raises(InputError, match=r"mass = 5.0 by default, but its provenance says 6.0"):
        make(parameters={"mass": Provenance(6.0, "kg", "given", "Table 1")})


def test_a_problem_says_what_it_is():
    def silent():
        return None

    with pytest.raises(InputError, match="silent has no docstring"):
        problem(source="A book", parameters={})(silent)


def test_provenance_is_checked():
    with pytest.raises(InputError, match="kind must be one of given, inferred, assumed, corrected, got 'guessed'"):
        Provenance(5.0, "kg", "guessed", "Table 1")
    with pytest.raises(InputError, match="source is empty"):
        Provenance(5.0, "kg", "assumed", "")


def test_every_module_of_a_package_is_walked(installed):
    installed(
        slide="@make\ndef slide_on_rod():\n    '''Slides.'''\n",
        crank="@make\ndef crank():\n    '''Turns.'''\n",
        again="from box_problems.crank import crank\n",
    )
    assert list(find_problems()) == ["crank", "slide-on-rod"]
    assert get_problem("slide_on_rod") is get_problem("slide-on-rod")


def test_an_unknown_problem_is_answered_with_near_matches_and_the_list(installed):
    installed(slide="@make\ndef slide_on_rod():\n    '''Slides.'''\n")
    with pytest.raises(
        InputError, match=r"no problem 'slide-on-rot'. Did you mean slide-on-rod\? Known: slide-on-rod."
    ):
        get_problem("slide-on-rot")


def test_two_problems_of_one_name_are_refused(installed):
    text = "@make\ndef crank():\n    '''Turns.'''\n"
    installed(one=text, two=text)
    with pytest.raises(InputError, match="called crank, in box_problems.one and box_problems.two"):
        find_problems()


def test_a_broken_module_is_named_and_left_out(installed):
    installed(crank="@make\ndef crank():\n    '''Turns.'''\n", wrong="1 / 0\n")
    with pytest.warns(RuntimeWarning, match=r"box_problems.wrong are left out: ZeroDivisionError"):
        assert list(find_problems()) == ["crank"]
