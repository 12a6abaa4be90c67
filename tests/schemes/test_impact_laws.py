"""Impact laws other than Newton's: in steps that land, and between steps of Moreau and Jean."""

import numpy as np
import pytest
from loops import some
from reference import violations
from shared_mechanisms import driven_hook

from nonsmooth import (
    CirclePlane,
    GaussQP,
    Gravity,
    Ground,
    InputError,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Revolute,
    Rigid,
    simulate,
    simulate_batch,
)
from nonsmooth_problems import bouncing_ball, slider_crank_revolute, slider_rod, spatial_slider_crank

COMPILES = pytest.mark.slow  # the texts of impact laws other than Newton's, or of balanced moment arms

LANDS = GaussQP(), Landing(1e-6, 1e-3)
STEPS = MoreauJean(), 5e-4
MIDPOINT = MoreauJean(joints="midpoint"), 5e-4
BALANCED = MoreauJean(moment_arms="balanced", projection="combined"), 5e-4


def rod(impact):
    return slider_rod(case=3, contact=Rigid(restitution=0.6, friction=0.2, impact=impact))


def crank(impact):
    return slider_crank_revolute(contact=Rigid(restitution=0.5, friction=0.1, impact=impact))


def hook(impact):
    return driven_hook(Rigid(restitution=0.4, friction=0.2, impact=impact))


def table(impact):
    """A ball on a table that a motor shakes so slowly that its bounces die out."""
    elements = [
        Ground(),
        PlanarBody("table", 1.0, 1.0, velocity=(0.0, 0.2)),
        PlanarBody("ball", 0.2, 1e-3, (0.0, 0.1), angular_velocity=3.0),
        Prismatic("rail", "ground", "table", direction=np.pi / 2),
        PrescribedMotion("motor", "ground", "table", coordinate="y", motion=lambda t: 0.01 * np.sin(20.0 * t)),
        CirclePlane("top", "table", "ball", radius=0.1, contact=Rigid(restitution=0.4, friction=0.3, impact=impact)),
        Gravity(acceleration=(0.0, -9.81)),
    ]
    return Model(elements)


def block(impact):
    """A block that falls flat while it slides and spins: both corners meet the floor, one of them sooner."""
    law = Rigid(restitution=0.5, friction=0.3, impact=impact)
    body = PlanarBody("block", mass=1.0, inertia=4e-3, position=(0.0, 0.05 + 3e-4), velocity=(0.3, -0.5),
                      angular_velocity=-0.4)  # fmt: skip
    corners = [
        PointPlane(name, "ground", "block", at_b=(x, -0.05), contact=law, size=1e-2)
        for name, x in (("left", -0.08), ("right", 0.1))
    ]
    return Model([Ground(), body, *corners, Gravity(acceleration=(0.0, -9.81))])


def socket(impact):
    return spatial_slider_crank(contact=Rigid(restitution=0.5, friction=0.1, impact=impact))


CASES = {
    "rod, landing": (rod, "poisson", *LANDS, 0.03),
    "rod": (rod, "poisson", *STEPS, 0.03),
    "crank, landing": (crank, "poisson", GaussQP(), Landing(1e-6, 1e-4), 4e-3),
    "crank": (crank, "poisson", MoreauJean(), 1e-5, 2e-3),
    "crank, midpoint": (crank, "poisson", MoreauJean(joints="midpoint"), 1e-5, 2e-3),
    "hook, landing": (hook, "poisson", *LANDS, 0.03),
    "hook": (hook, "poisson", *STEPS, 0.03),
    "hook, midpoint": (hook, "poisson", *MIDPOINT, 0.03),
    "hook, balanced": (hook, "poisson", *BALANCED, 0.03),
    "table, landing": (table, "poisson", GaussQP(), Landing(1e-4, 1e-3), 0.4),
    "rod, Stronge, landing": (rod, "stronge", *LANDS, 0.03),
    "crank, Stronge": (crank, "stronge", MoreauJean(), 1e-5, 2e-3),
    "hook, Stronge, landing": (hook, "stronge", *LANDS, 0.03),
    "hook, Stronge": (hook, "stronge", *STEPS, 0.03),
    "hook, Routh, midpoint": (hook, "routh", *MIDPOINT, 0.03),
    "hook, Routh, balanced": (hook, "routh", *BALANCED, 0.03),
    "table, Routh, landing": (table, "routh", GaussQP(), Landing(1e-4, 1e-3), 0.2),
    "block, Stronge, landing": (block, "stronge", GaussQP(), Landing(1e-4, 1e-3), 0.02),
    "block, Routh": (block, "routh", MoreauJean(), 2e-4, 0.02),
    "socket, landing": (socket, "poisson", GaussQP(), Landing(1e-6, 5e-4), 0.03),
    "socket": (socket, "poisson", MoreauJean(), 1e-4, 0.02),
    "socket, midpoint": (socket, "poisson", MoreauJean(joints="midpoint"), 1e-4, 0.02),
}


#: the texts are compiled in space for these alone
SLOW = "socket"
PARAMETERS = [pytest.param(name, marks=[pytest.mark.slow] * name.startswith(SLOW)) for name in CASES]


@COMPILES
@pytest.mark.parametrize("name", some(PARAMETERS, 4))
def test_steps_satisfy_the_equations(name):
    """Before, between and after impacts; the laws themselves have closed forms in `tests/steppers`."""
    model, impact, stepper, dt, t_end = CASES[name]
    system = model(impact).build()
    run = simulate(system, stepper, t_end=t_end, dt=dt)
    assert run.counts["fallbacks"] == run.counts["divided"] == 0 and np.any(run.P_N.array > 0.0)
    assert violations(run, system, stepper, dt) == {}
    assert run.certificate.motion_residual <= 1e-10 and run.certificate.complementarity <= 1e-10


@COMPILES
@pytest.mark.parametrize(("stepper", "dt"), [LANDS, MIDPOINT])
def test_a_run_in_two_parts_is_one_run(stepper, dt):
    system = hook("stronge").build()
    whole = simulate(system, stepper, t_end=0.03, dt=dt)
    between = float(np.mean(whole.t[np.any(whole.P_N.array > 0.0, axis=1)][:2]))
    cut = int(np.searchsorted(whole.t, between))
    first = simulate(system, stepper, t_end=float(whole.t[cut - 1]), dt=dt)
    second = simulate(system, stepper, t_end=0.03, dt=dt, state=first.end)
    assert np.any(first.P_N.array > 0.0) and np.any(second.P_N.array > 0.0)
    if isinstance(dt, Landing):  # the step that is cut there is another one
        assert np.max(np.abs(second.q.array[-1] - whole.q.array[-1])) <= 1e-6
    else:
        assert np.array_equal(second.q.array[-1], whole.q.array[-1])


@COMPILES
def test_batches_have_them():
    system = bouncing_ball(contact=Rigid(restitution=0.5, friction=0.1, impact="poisson")).build()
    found = simulate_batch(system, MoreauJean(), {"floor.restitution": [0.3, 0.8]}, t_end=0.8, dt=1e-3)
    for k, e in enumerate((0.3, 0.8)):
        one = simulate(system, MoreauJean(), t_end=0.8, dt=1e-3, parameters={"floor.restitution": e})
        assert np.array_equal(found["q"].values[k], one.q.array[-1])
    assert "at the end of a step" in found.attrs["rules"]
    with pytest.raises(InputError, match="has tangential = 0.8; set it to 0"):  # one run has no such law
        simulate_batch(system, MoreauJean(), {"floor.tangential": [0.0, 0.8]}, t_end=0.8, dt=1e-3)


@COMPILES
def test_plastic_impacts_distributed_over_steps_are_the_same_by_poissons_law_as_by_newtons():
    """Their compression is the step; other restitution is refused."""
    runs = []
    for impact in ("poisson", "newton"):
        ball = bouncing_ball(contact=Rigid(restitution=0.5, friction=0.1, impact=impact)).build()
        plastic = {"floor.restitution": 0.0}
        runs.append(simulate(ball, GaussQP(), t_end=0.5, dt=1e-3, parameters=plastic))
    assert runs[0].q.array.tolist() == runs[1].q.array.tolist()
    assert runs[0].P_N.array.max() > 0.0
    with pytest.raises(InputError, match="GaussQP with a constant step is plastic"):
        simulate(ball, GaussQP(), t_end=0.1, dt=1e-3)
    with pytest.raises(InputError, match="GaussQP with a constant step is plastic"):
        simulate_batch(ball, GaussQP(), {"floor.restitution": [0.0, 0.5]}, t_end=0.1, dt=1e-3)


def test_laws_along_the_impulse_exist_in_the_plane_only():
    with pytest.raises(InputError, match="available in the plane only"):
        simulate(socket("stronge").build(), MoreauJean(), t_end=0.01, dt=1e-4)


@COMPILES
@pytest.mark.parametrize("impact", ["routh", "stronge"])
def test_an_impact_is_recorded_as_two_contacts_share_it(impact):
    """Energy is lost, and the rule for contacts of one impact is stated."""
    run = simulate(block(impact).build(), MoreauJean(), t_end=0.02, dt=2e-4)
    assert "in proportion to their velocities" in run.manifest["rules"]["contacts of one impact"]
    assert list(run.impacts["contact"]) == ["left", "right"] and np.ptp(run.impacts["t"]) == 0.0
    assert run.certificate.energy.loss_impacts > 0.0
    assert run.certificate.motion_residual <= 1e-12 and run.certificate.complementarity <= 1e-12


def falling_door(impact, **options):
    """A rod in a hinge whose tip is on the floor and approaches it as the run begins."""
    law = Rigid(restitution=0.5, friction=0.3, impact=impact, **options)
    elements = [
        Ground(),
        PlanarBody("rod", mass=2.0, inertia=0.02, position=(0.2, 0.1), angle=-0.4636476090008061,
                   velocity=(-0.15, -0.3), angular_velocity=-1.5),
        Revolute("hinge", "ground", "rod", at_a=(0.0, 0.2), at_b=(-0.22360679774997896, 0.0)),
        PointPlane("floor", "ground", "rod", at_b=(0.22360679774997896, 0.0), contact=law, size=1e-3),
        Gravity(acceleration=(0.0, -9.81)),
    ]  # fmt: skip
    return Model(elements)


@COMPILES
@pytest.mark.parametrize("impact", ["newton", "poisson", "routh", "stronge"])
@pytest.mark.parametrize("joints", ["rattle", "midpoint"])
def test_a_run_of_moreau_and_jean_that_begins_with_an_impact(impact, joints):
    """By the law, with its row, as in steps that land; the step does not take it for a contact that lasts."""
    system = falling_door(impact).build()
    run = simulate(system, MoreauJean(joints=joints), t_end=0.01, dt=1e-4)
    lands = simulate(system, GaussQP(), t_end=0.01, dt=Landing(1e-6, 1e-3))
    assert run.impacts["contact"].tolist() == ["floor"]
    k = 1 if impact == "newton" else 0  # Newton's impact is that of the first step, in which loads act as well
    tolerance = 3e-3 if k else 1e-12  # g dt / v
    assert run.v.array[k] == pytest.approx(lands.v.array[0], rel=tolerance, abs=tolerance)
    assert run.impacts["P_N"] == pytest.approx(lands.impacts["P_N"], rel=tolerance)
    assert run.reaction_impact.array[k] == pytest.approx(lands.reaction_impact.array[0], rel=tolerance, abs=tolerance)
    assert np.all(np.isfinite(run.reaction.array))
    ends = simulate_batch(
        system, MoreauJean(joints=joints), {"rod.mass": 2 * [system.parameters["rod.mass"]]}, t_end=0.01, dt=1e-4
    )
    assert ends["q"].values[0].tobytes() == run.q.array[-1].tobytes()
