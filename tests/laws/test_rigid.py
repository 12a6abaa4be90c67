"""Rigid contact: its coefficients and their ranges."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from nonsmooth import InputError, Rigid


@pytest.mark.parametrize("restitution", [0.0, 0.5, 1.0, np.float64(0.3), 1])
@pytest.mark.parametrize("friction", [0.0, 0.1, 3.0])
def test_coefficients_in_their_ranges_are_kept(restitution: float, friction: float) -> None:
    law = Rigid(restitution=restitution, friction=friction)
    assert (law.restitution, law.friction) == (restitution, friction)


@pytest.mark.parametrize("value", [-1e-12, 1.0000001, np.nan, np.inf, "0.5", None])
def test_restitution_lies_between_zero_and_one(value: object) -> None:
    with pytest.raises(
        InputError, match=r"Rigid: restitution (must be a number in \[0, 1\], got|.0.5. is a number in quotes)"
    ):
        Rigid(restitution=value, friction=0.0)


@pytest.mark.parametrize("value", [-1e-12, 1.0000001, np.nan, "0.5", None])
def test_tangential_restitution_lies_between_zero_and_one(value: object) -> None:
    with pytest.raises(
        InputError, match=r"Rigid: tangential (must be a number in \[0, 1\], got|.0.5. is a number in quotes)"
    ):
        Rigid(restitution=0.0, friction=0.0, tangential=value)


@pytest.mark.parametrize("value", [-1e-12, np.nan, np.inf, "0.5", None])
def test_friction_is_not_negative(value: object) -> None:
    with pytest.raises(
        InputError, match="Rigid: friction (must be a finite number >= 0, got|.0.5. is a number in quotes)"
    ):
        Rigid(restitution=0.0, friction=value)


def test_restitution_and_friction_have_no_default_and_unknown_words_are_errors() -> None:
    for arguments in ({}, {"restitution": 0.0}, {"friction": 0.0}):
        with pytest.raises(InputError, match="missing"):
            Rigid(**arguments)
    with pytest.raises(InputError, match="Rigid has no field 'mu'. It takes restitution, friction"):
        Rigid(restitution=0.0, friction=0.0, mu=0.1)  # type: ignore[call-arg]


def test_a_law_is_a_value() -> None:
    law = Rigid(restitution=0.5, friction=0.1)
    assert law == Rigid(restitution=0.5, friction=0.1) and hash(law) == hash(Rigid(restitution=0.5, friction=0.1))
    with pytest.raises(dataclasses.FrozenInstanceError):
        law.friction = 0.2  # type: ignore[misc]


def test_all_laws_are_imported_by_a_star():
    found: dict[str, object] = {}
    exec("from nonsmooth.laws import *", found)
    assert {"Compliant", "Flores", "Material", "Rigid"} <= found.keys()
