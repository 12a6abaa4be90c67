"""Laws of one's own, as the recipes say and no more; what cannot work is refused where the law is put to use."""

from dataclasses import dataclass
from typing import Annotated

import casadi as ca
import numpy as np
import pytest

from nonsmooth import CirclePlane, Compliant, Gravity, Ground, InputError, Model, PlanarBody, simulate
from nonsmooth.laws import FrictionLaw, Hertz, HysteresisLaw, KelvinVoigt, NormalLaw, SlipLaw
from nonsmooth.quantities import Quantity

Stiffness = Annotated[float, Quantity("N/m", positive=True)]


@dataclass(frozen=True, kw_only=True)
class MyDamped(NormalLaw):
    stiffness: Stiffness
    damping: Annotated[float, Quantity("N s/m", nonnegative=True)]

    def force(self, depth, rate, approach, k):
        return k.stiffness * depth + k.damping * rate


@dataclass(frozen=True, kw_only=True)
class MyFriction(FrictionLaw):
    friction: Annotated[float, Quantity("-", nonnegative=True)]

    def force(self, slip, normal, bristle, stiction, k):
        return -k.friction * normal * ca.tanh(slip / 1e-3)


def dropped(contact):
    ball = PlanarBody("ball", mass=1.0, inertia=4e-3, position=(0.0, 0.101), velocity=(1.0, 0.0))
    floor = CirclePlane("floor", "ground", ball, radius=0.1, contact=contact)
    return simulate(Model([Ground(), ball, Gravity(acceleration=(0.0, -9.81)), floor]).build(), t_end=0.03)


def test_a_force_alone_is_a_law():
    mine = Compliant(MyDamped(stiffness=1e5, damping=20.0), MyFriction(friction=0.2))
    same = Compliant(KelvinVoigt(stiffness=1e5, damping=20.0, tensile=False), MyFriction(friction=0.2))
    runs = [dropped(mine), dropped(same)]
    assert [run.status for run in runs] == ["finished", "finished"]
    assert runs[0].v["ball.angle"][-1] < -1.0  # friction turns it
    for group in ("q", "v", "energy"):  # what is elastic is the force at rest, K delta
        one, other = (getattr(run, group)[-1] for run in runs)
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def law(base, **functions):
    """A law of one's own with one number, K, and these functions."""
    return dataclass(frozen=True, kw_only=True)(
        type("Mine", (base,), {"__annotations__": {"K": Stiffness}, "__module__": __name__, **functions})
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: law(NormalLaw)(K=1.0), r"neither force\(depth, rate, approach, k\) nor elastic\(depth, k\)"),
        (lambda: law(NormalLaw, force=lambda self, depth, rate, k: k.K * depth)(K=1.0), "positional arguments"),
        (lambda: law(NormalLaw, force=lambda self, depth, rate, approach, k: k.C * depth)(K=1.0), "attribute 'C'"),
        (lambda: law(NormalLaw, elastic=lambda self, depth, k: k.K * depth if depth > 0 else 0)(K=1.0), "without if"),
        (lambda: law(NormalLaw, elastic=lambda self, depth, k: None)(K=1.0), "its functions take and return"),
        (lambda: law(NormalLaw, elastic=lambda self, depth, k: ca.vertcat(depth, k.K))(K=1.0), "got 5 for 3"),
        (lambda: law(HysteresisLaw)(K=1.0, stiffness=1e6, restitution=0.5), r"no damping\(e\)"),
        (lambda: NormalLaw(), "neither force"),
    ],
)  # fmt: skip
def test_a_normal_law_that_cannot_work_is_refused_where_it_is_made(made, said):
    with pytest.raises(InputError, match=said):
        Compliant(made())


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: law(FrictionLaw)(K=1.0), r"no force\(slip, normal, bristle, stiction, k\)"),
        (lambda: law(SlipLaw)(K=1.0, friction=0.1), r"no coefficient\(slip, k\)"),
        (lambda: law(FrictionLaw, force=lambda self, slip, normal, bristle, stiction, k: -bristle[0] * normal,
                     bristles=(("z", "m"),))(K=1.0), "column of 1 rates"),
    ],
)  # fmt: skip
def test_a_friction_law_that_cannot_work_is_refused_where_it_is_made(made, said):
    with pytest.raises(InputError, match=said):
        Compliant(Hertz(stiffness=1e6), made())
