"""A stepper of one's own, by the recipe in CONTRIBUTING.md: settings with a `Scheme`, and a text."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from nonsmooth import Gravity, Ground, InputError, Model, PlanarBody, PointPlane, Rigid, Spring, simulate
from nonsmooth.step.control import ConstantStep
from nonsmooth.step.scheme import Scheme


@dataclass(frozen=True)
class SymplecticEuler:
    """Settings of the toy."""

    solver: Any = None
    fallback: bool = True

    contact: ClassVar[type] = Rigid
    default_solver: ClassVar[str | None] = None
    rescuing_solver: ClassVar[str] = "SemismoothNewton"
    compiled: ClassVar[str] = "nonsmooth.engine.steps.CompiledSteps"

    def scheme(self, control):
        return Scheme(text="toy_text", settings={"theta": 0.5})

    def check(self, system, parameters, control):
        rebounds = np.any(system.elementwise.contact_law(parameters)[0] > 0.0)
        if rebounds or system.ng or not isinstance(control, ConstantStep):
            raise InputError("SymplecticEuler takes constant steps of mechanisms without joints and restitution.")


@pytest.fixture(autouse=True)
def _text(monkeypatch, request):
    monkeypatch.syspath_prepend(request.path.parent)


def oscillator():
    return Model(
        [
            Ground(), PlanarBody("body", mass=2.0, inertia=1.0, position=(1.5, 0.0)),
            Spring("spring", "ground", "body", stiffness=50.0, free_length=1.0), Gravity(acceleration=(0.0, 0.0)),
        ]
    ).build()  # fmt: skip


def test_a_toy_stepper_by_the_recipe():
    """Symplectic Euler of an oscillator, x'' = -w^2 x with w = 5 rad/s: v^2 + w^2 x^2 - dt w^2 x v is exact."""
    run = simulate(oscillator(), SymplecticEuler(), t_end=1.0, dt=1e-3, interpreted=True)
    x, v = run.q["body.x"] - 1.0, run.v["body.x"]
    energy = v**2 + 25.0 * x**2 - 1e-3 * 25.0 * x * v
    assert len(run.t) == 1001 and run.status == "finished"
    np.testing.assert_allclose(energy, energy[0], rtol=1e-12)  # round-off of 1000 steps
    assert x[-1] == pytest.approx(0.5 * np.cos(5.0), abs=2e-3)  # of first order: w^2 dt / 2 of the amplitude


def test_a_block_that_it_steps_comes_to_rest():
    """By Coulomb friction after v / (mu g) = 0.2 s, which dissipates its kinetic energy, 0.981^2 / 4 J."""
    model = Model(
        [
            Ground(), PlanarBody("block", mass=0.5, inertia=1.0, velocity=(0.981, 0.0)),
            Gravity(acceleration=(0.0, -9.81)),
            PointPlane("floor", "ground", "block", contact=Rigid(restitution=0.0, friction=0.5)),
        ]
    )  # fmt: skip
    run = simulate(model.build(), SymplecticEuler(), t_end=0.3, dt=1e-3, interpreted=True)
    v = run.v["block.x"]
    assert abs(v[-1]) < 1e-12 and run.t[np.flatnonzero(v > 1e-12)[-1]] == pytest.approx(0.2, abs=1.1e-3)  # one step
    assert run.certificate.energy.loss_friction == pytest.approx(0.25 * 0.981**2, rel=1e-12)  # by mean slips, exactly
    assert run.verdict.kind == "not checked"


def test_what_it_refuses_it_refuses_before_the_first_step():
    model = Model([Ground(), PlanarBody("body", mass=2.0, inertia=1.0)]).build()
    with pytest.raises(InputError, match="constant steps"):
        from nonsmooth import Landing

        simulate(model, SymplecticEuler(), t_end=1.0, dt=Landing(1e-6, 1e-3), interpreted=True)


def test_settings_of_records_that_do_not_exist_are_named():
    class Other(SymplecticEuler):
        def scheme(self, control):
            return Scheme(text="toy_text", settings={"mine": 0.3})

    with pytest.raises(InputError, match="no such field: mine"):
        simulate(oscillator(), Other(), t_end=1.0, dt=1e-3, interpreted=True)


def test_what_settings_lack_is_named():
    @dataclass(frozen=True)
    class Bare:
        def scheme(self, control):
            return Scheme(text="toy_text")

    with pytest.raises(InputError, match="Bare.* is no stepper: it has no check, contact, compiled, solver"):
        simulate(oscillator(), Bare(), t_end=1.0, dt=1e-3)
