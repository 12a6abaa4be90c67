"""Laws of one's own, as the recipes say and no more; what cannot work is refused where the law is put to use."""

import math
from dataclasses import dataclass
from typing import Annotated

import casadi as ca
import numpy as np
import pytest

from nonsmooth import CirclePlane, Compliant, Gravity, Ground, InputError, Model, PlanarBody, simulate
from nonsmooth.laws import ElasticLaw, Flores, FrictionLaw, Hertz, HysteresisLaw, KelvinVoigt, NormalLaw, SlipLaw
from nonsmooth.laws.base import Limit
from nonsmooth.laws.friction.sticking import BristleLaw
from nonsmooth.quantities import Quantity
from nonsmooth.studies import law_card

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
        (lambda: law(NormalLaw, force=lambda self, depth, rate, approach, k: -k.K * depth)(K=1.0),
         "force of -1e-05 N at rest .* must press"),
        (lambda: law(ElasticLaw, elastic=lambda self, depth, k: k.K * (depth - 1e-6))(K=1.0), "at rest .* must press"),
        (lambda: Flores(stiffness=law(ElasticLaw, elastic=lambda self, depth, k: -k.K * depth)(K=1.0),
                        restitution=0.5), "Mine has a force of .* at rest"),
        (lambda: law(NormalLaw, force=lambda self, depth, rate, approach, k: k.K)(K=1.0), "does not depend on depth"),
        (lambda: law(ElasticLaw, elastic=lambda self, depth, k: k.K * math.sqrt(depth))(K=1.0), "use casadi.sqrt"),
        (lambda: law(ElasticLaw, elastic=lambda self, depth, k: k.K * depth,
                     coefficients=lambda self, p: {"K": math.sqrt(p.K)})(K=1.0), "nan N .* instead of math.sqrt"),
        (lambda: law(ElasticLaw, elastic=lambda self, depth, k: k.h * depth, h=1.0,
                     __annotations__={"h": float})(), r'annotate h .* Annotated\[float, Quantity\("N/m"\)\]'),
        (lambda: law(ElasticLaw, elastic=lambda self, depth, k: k.K * depth,
                     limits=lambda self, p, k: (Limit("speed", high=1.0),))(K=1.0),
         "Mine has a limit of 'speed'; limits are of one of approach, force, depth, K"),
        (lambda: law(ElasticLaw, elastic=lambda self, depth, k: k.K * depth, limits=lambda self, p, k: None)(K=1.0),
         "Mine cannot be used"),
        (lambda: law(ElasticLaw, elastic=lambda self, depth, k: k.K * depth, coefficients=lambda self, p: None)(K=1.0),
         "Mine cannot be used .* what coefficients"),
    ],
)  # fmt: skip
def test_a_normal_law_that_cannot_work_is_refused_where_it_is_made(made, said):
    with pytest.raises(InputError, match=said):
        Compliant(made())
    with pytest.raises(InputError, match=said):
        law_card(made(), speed=1.0, mass=1.0)


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (lambda: law(FrictionLaw)(K=1.0), r"no force\(slip, normal, bristle, stiction, k\)"),
        (lambda: law(SlipLaw)(K=1.0, friction=0.1), r"no coefficient\(slip, k\)"),
        (lambda: law(FrictionLaw, force=lambda self, slip, normal, bristle, stiction, k: -bristle[0] * normal,
                     bristles=(("z", "m"),))(K=1.0), "column of 1 rates"),
        (lambda: law(FrictionLaw, force=lambda self, slip, normal, bristle, stiction, k: 
                     normal * ca.tanh(slip))(K=1.0),
         "Mine has a force of 0.001 N at a slip of 0.0001 m/s: the force must oppose the slip"),
        (lambda: law(SlipLaw, coefficient=lambda self, slip, k: -k.friction * ca.tanh(slip))(K=1.0, friction=0.1),
         "the force must oppose the slip"),
        (lambda: law(SlipLaw, coefficient=lambda self, slip, k: k.friction)(K=1.0, friction=0.1),  # not odd
         "at a slip of -0.0001 m/s: the force must oppose"),
        (lambda: law(BristleLaw, force=lambda self, slip, normal, bristle, stiction, k: normal * bristle[0],
                     deflection_rate=lambda self, slip, z, k: slip)(K=1.0, friction=0.1, bristle_stiffness=1e4),
         "the force must oppose the slip"),
        (lambda: law(FrictionLaw, force=lambda self, slip, normal, bristle, stiction, k: -normal * ca.tanh(slip),
                     spatial_force=lambda self, slip, normal, bristle, stiction, k: normal * slip)(K=1.0),
         "the force must oppose the slip"),
        (lambda: law(SlipLaw, coefficient=lambda self, slip, k: k.friction * math.tanh(slip))(K=1.0, friction=0.1),
         "nan N .* use casadi.sqrt"),
    ],
)  # fmt: skip
def test_a_friction_law_that_cannot_work_is_refused_where_it_is_made(made, said):
    with pytest.raises(InputError, match=said):
        Compliant(Hertz(stiffness=1e6), made())


def test_adhesion_that_is_declared_and_damping_may_pull():
    pulls = law(NormalLaw, tensile=True, elastic=lambda self, depth, k: k.K * depth - 1e-3)
    damps = law(NormalLaw, force=lambda self, depth, rate, approach, k: k.K * depth * (1 + 20 * rate))
    assert [Compliant(one(K=1e6)).normal.K for one in (pulls, damps)] == [1e6, 1e6]
