"""Each scheme is one text: compiled, run by Python, in the plane and in space."""

import numpy as np
import pytest
from loops import some
from reference import violations

from nonsmooth import (
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    Revolute,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    simulate,
)
from nonsmooth_problems import heavy_top, six_rss, slide_in_guide, slider_rod, socket_pendulum

#: stepper, control and restitution
SCHEMES = {
    "moreau-jean": (MoreauJean(), 1e-4, 0.5),
    "midpoint": (MoreauJean(joints="midpoint"), 1e-4, 0.5),
    "implicit-euler": (GaussQP(), 1e-4, 0.0),
    "landing": (GaussQP(), Landing(1e-6, 1e-4), 0.5),
    "generalized-alpha": (GeneralizedAlpha(), 1e-4, 0.5),
}


@pytest.mark.parametrize("scheme", SCHEMES)
def test_python_runs_the_text_that_is_compiled(scheme):
    """From the step in which a rod with friction strikes its guide on."""
    stepper, control, restitution = SCHEMES[scheme]
    system = slider_rod(case=3, contact=Rigid(restitution=restitution, friction=0.2)).build()
    start = simulate(system, MoreauJean(), t_end=0.0014, dt=1e-4).end
    compiled, plain = (
        simulate(system, stepper, t_end=start.t + 5e-4, dt=control, state=start, interpreted=one)
        for one in (False, True)
    )
    assert (compiled.manifest["engine"], plain.manifest["engine"]) == ("compiled", "interpreted")
    assert np.any(compiled.P_N.array > 0.0) and compiled.counts == plain.counts
    for name in ("t", "q", "v", "P_N", "P_T", "energy", "mode"):
        found, expected = (np.asarray(getattr(getattr(run, name), "array", run.t)) for run in (plain, compiled))
        # fused multiplications and the order of sums differ by round-off
        assert found == pytest.approx(expected, rel=0.0, abs=1e-12 * max(1.0, np.max(np.abs(expected)))), name


def table_on_three_cranks():
    """A parallelogram in the plane with a crank too many, and a bob with a loose pin."""
    disk = {"mass": 2.0, "inertia": 0.3}
    elements = [Ground(), PlanarBody("table", position=(1.0, 1.0), **disk), Gravity(acceleration=(3.0, -9.81))]
    law = Rigid(restitution=0.5, friction=0.1)
    for i, x in enumerate((0.0, 2.0, 1.0)):
        elements += [
            PlanarBody(f"crank{i}", position=(x, 0.5), angle=np.pi / 2, **disk),
            Revolute(f"head{i}", f"crank{i}", "table", at_a=(0.5, 0.0), at_b=(x - 1.0, 0.0)),
            Revolute(f"foot{i}", "ground", f"crank{i}", at_a=(x, 0.0), at_b=(-0.5, 0.0)),
        ]
    elements += [PlanarBody("bob", position=(1.0, 0.6), **disk)]
    elements += [RevoluteClearance("loose", "table", "bob", at_b=(0.0, 0.4), clearance=1e-3, radius=0.02, contact=law)]
    return Model(elements)


@pytest.mark.slow  # the text is compiled for it alone
@pytest.mark.parametrize("joints", ["rattle", "midpoint"])
def test_steps_of_a_redundant_loop_in_the_plane_satisfy_the_equations(joints):
    system, stepper = table_on_three_cranks().build(), MoreauJean(joints=joints)
    run = simulate(system, stepper, t_end=0.06, dt=1e-3)
    assert system.redundant and run.counts["fallbacks"] == run.counts["divided"] == 0
    # the diagonal of redundant rows is raised by 1e-9, which velocities before an impact see, at the impulse over them
    assert violations(run, system, stepper, 1e-3, **{"joint rates": 1e-5}) == {}


@pytest.mark.parametrize(
    ("stepper", "lands"),
    some([(MoreauJean(), False), (GaussQP(), True), (GaussQP(), False), (GeneralizedAlpha(), False)], 3),
    ids=["moreau-jean", "landing", "implicit-euler", "generalized-alpha"],
)
def test_a_run_in_two_parts_is_one_run(stepper, lands):
    """What the next step needs is in the state: impulses, accelerations, rates of contacts, what joints remember."""
    system = six_rss(**({"restitution": 0.0} if isinstance(stepper, GaussQP) and not lands else {})).build()
    dt = 2.0**-12  # the grid of both runs is the same to the bit
    control = Landing(1e-6, dt) if lands else dt
    whole = simulate(system, stepper, t_end=80 * dt, dt=control)
    first = simulate(system, stepper, t_end=whole.t[40], dt=control)
    second = simulate(system, stepper, t_end=80 * dt, dt=control, state=first.end)
    assert second.q.array[-1].tolist() == whole.q.array[-1].tolist()
    assert second.v.array[-1].tolist() == whole.v.array[-1].tolist()


@pytest.mark.parametrize("stepper", [MoreauJean(), GaussQP(), GeneralizedAlpha()], ids=repr)
def test_redundant_contacts_fail_no_step(stepper):
    """A slide in its guide: up to sixteen contacts with friction on one pair of bodies, which six would hold."""
    run = simulate(slide_in_guide().build(), stepper, t_end=0.02, dt=1e-4)
    assert run.counts["fallbacks"] == run.counts["divided"] == 0 and run.certificate.motion_residual <= 1e-9


def test_contacts_at_rest_keep_their_impulses():
    """Sixteen gaps under a constant load: from step to step the sum of their impulses changes by round-off only."""
    run = simulate(slide_in_guide().build(), GaussQP(), t_end=0.02, dt=1e-4)
    total = run.P_N.array[20:].sum(axis=1)
    # closed gaps are known to 1e-16 m, which over dt^2 is 1e-8 m/s^2 beside that of gravity
    assert np.ptp(total) <= 1e-8 * total.max()


def test_generalised_alpha_is_of_second_order_in_space():
    """Of a heavy top, halving the step quarters the error: the ratio of differences is 4 to first order in dt."""
    system = heavy_top().build()
    ends = [simulate(system, GeneralizedAlpha(), t_end=0.064, dt=dt).end.v for dt in (1e-3, 5e-4, 2.5e-4)]
    ratio = np.linalg.norm(ends[0] - ends[1]) / np.linalg.norm(ends[1] - ends[2])
    assert 3.8 <= ratio <= 4.2


def test_a_step_that_is_not_certified_ends_the_run_with_its_residual(monkeypatch):
    monkeypatch.setattr("nonsmooth.engine.steps.CERTIFIED", 1e-30)  # less than round-off: no step is certified
    said = "Step 1, from t = 0 s, failed: the step is not certified: residuals"
    with pytest.raises(SimulationFailed, match=said) as failed:
        simulate(socket_pendulum().build(), MoreauJean(fallback=False), t_end=0.01, dt=1e-3)
    run = failed.value.trajectory
    assert len(run.t) == 1 and run.counts["steps"] == run.counts["chained"] == run.counts["divided"] == 0
