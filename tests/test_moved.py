"""Names of modules of 0.2 that have moved."""

import importlib
import sys

import pytest

import nonsmooth
from nonsmooth.moved import MOVED


@pytest.mark.parametrize("old", sorted(MOVED))
def test_an_old_name_gives_the_module_at_its_new_place(old, monkeypatch):
    monkeypatch.delitem(sys.modules, f"nonsmooth.{old}", raising=False)
    with pytest.warns(DeprecationWarning, match=rf"nonsmooth\.{old} is nonsmooth\.{MOVED[old]} now"):
        found = importlib.import_module(f"nonsmooth.{old}")
    assert found is importlib.import_module(f"nonsmooth.{MOVED[old]}")


def test_steppers_are_found_by_their_old_modules(monkeypatch):
    monkeypatch.delitem(sys.modules, "nonsmooth.steppers.moreau_jean", raising=False)
    with pytest.warns(DeprecationWarning):
        from nonsmooth.steppers.moreau_jean import MoreauJean
    assert MoreauJean is nonsmooth.MoreauJean


def test_a_name_that_never_was_is_not_found():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("nonsmooth.nowhere")
