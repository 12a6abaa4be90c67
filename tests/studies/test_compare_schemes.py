"""Comparison of schemes and solvers on mechanisms of one's own: motors, closed loops, loose joints; and verdicts."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from loops import some
from scipy.optimize import brentq

import nonsmooth as ns
from nonsmooth import cli
from nonsmooth.declarative import model_text, read_text
from nonsmooth.laws import Flores
from nonsmooth.run.loop import beyond_reach
from nonsmooth.studies import Case, compare, grid, sweep
from nonsmooth.studies.cases import name_of, scheme
from nonsmooth_problems import slider_rod

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
RIGID = ns.Rigid(restitution=0.5, friction=0.0)
CONTROL = ns.ErrorControl(1e-7, 1e-9, 1e-6, 1e-3)


def example(name: str):
    sys.path.insert(0, str(EXAMPLES))
    try:
        return __import__(name)
    finally:
        sys.path.remove(str(EXAMPLES))


#: mechanism, end after its first impact; programs of the yoke's free flight have data that are zero
SHORT = [("scotch_yoke.py", "10 ms"), ("six_bar.toml", "20 ms"), ("rssr.py", "12 ms")]


@pytest.mark.parametrize(("file", "end"), some(SHORT, 3), ids=[file for file, _ in SHORT])
def test_a_mechanism_of_ones_own_by_qp_events_and_two_laws(
    file: str, end: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Rigid runs of different schemes are one motion; each has its verdict by an accurate solution."""
    words = ["--t-end", end, "--restitution", "0.5", "--stiffness", "1e10", "--target", "0", "--dt-max", "0.1 ms"]
    schemes = ["--rigid", "gauss-qp:osqp", "--law", "flores", "--law", "hunt-crossley"]
    assert cli.main(["compare", str(EXAMPLES / file), *words, *schemes, "--json"]) == 0
    table = json.loads(capsys.readouterr().out)
    assert list(table) == [
        "rigid, event-driven", "rigid, gauss-qp, osqp", "flores, K = 1e10", "hunt-crossley, K = 1e10"
    ]  # fmt: skip
    assert [row["verdict"] for row in table.values()] == ["accurate"] * 4
    assert all(row["position_error"] <= 0.01 and row["force_error"] <= 0.01 for row in table.values())
    assert table["rigid, event-driven"]["impacts"] >= 1
    # both laws have the same elastic force and deliver the same restitution
    assert table["flores, K = 1e10"]["distance"] == pytest.approx(
        table["hunt-crossley, K = 1e10"]["distance"], rel=1e-6
    )


def test_the_landing_steps_of_the_default_are_accurate(capsys: pytest.CaptureFixture[str]) -> None:
    """They come from the speeds of the run; at the longest step of the problem, 0.1 ms, the error is 18 %."""
    assert cli.main(["compare", "slider-crank-revolute", "--stiffness", "1e12", "--target", "0", "--json"]) == 0
    landing = json.loads(capsys.readouterr().out)["rigid, landing"]
    assert landing["verdict"] == "accurate" and landing["position_error"] < 0.01


LAW_WITHIN = """
from nonsmooth import CirclePlane, Gravity, Ground, Model, PlanarBody, Rigid

def build(contact=None):
    law = contact or Rigid(restitution=0.6, friction=0.0)
    ball = PlanarBody("ball", mass=2.0, inertia=1e-2, position=(0.0, 0.101))
    floor = CirclePlane("floor", "ground", ball, radius=0.1, contact=law)
    return Model([Ground(), ball, floor, Gravity(acceleration=(0.0, -9.81))])
"""


def test_a_law_that_is_stated_within_a_file_is_found(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "ball.py"
    file.write_text(LAW_WITHIN, encoding="utf-8")
    assert cli.main(["compare", str(file), "--t-end", "20 ms", "--stiffness", "1e10", "--target", "0", "--json"]) == 0
    row = json.loads(capsys.readouterr().out)["rigid, event-driven"]
    assert row["first_separation"] == pytest.approx(0.6 * row["first_approach"], rel=1e-9)


def test_mpcc_by_ipopt_is_the_motion_of_the_events() -> None:
    yoke = example("scotch_yoke").build()
    found = compare(
        yoke.with_contact, [Case("events", RIGID, ns.EventDriven(), CONTROL)], t_end=6e-3, target=0,
        rigid=["gauss-mpcc:ipopt-mpcc", ns.GaussQP(ns.ActiveSet())],
    )  # fmt: skip
    assert found.labels == ("events", "rigid, gauss-mpcc, ipopt-mpcc", "rigid, gauss-qp, active-set")
    for label in found.labels:
        assert found.table[label]["verdict"] == found.runs[label].verdict.kind == "accurate"
    # the first impact by r (1 - cos(omega t)) = c, of any scheme; within the tolerances of the events
    first = math.acos(1 - 1e-4 / 0.05) / (4 * math.pi)
    for label in found.labels:
        assert found.table[label]["first_impact"] == pytest.approx(first, rel=1e-4)
    assert found.runs["rigid, gauss-mpcc, ipopt-mpcc"].counts["fallbacks"] == 0


def test_velocities_of_round_off_do_not_scale_the_unknowns() -> None:
    """Free flight of the RSSR, whose crank moves along two of its six coordinates: a few iterations per program, where
    IPOPT needed a hundred with the others scaled by their round-off."""
    run = ns.simulate(example("rssr").build(), ns.GaussMPCC(ns.IpoptMPCC()), t_end=1e-3, dt=ns.Landing(1e-6, 1e-4))
    assert run.counts["fallbacks"] == 0
    assert run.counts["iterations"] <= 5 * run.counts["solves"]


def test_long_steps_are_called_not_accurate_and_said_below_the_table() -> None:
    case = Case("long steps", RIGID, ns.MoreauJean(), 3e-4)
    events = Case("events", RIGID, ns.EventDriven(), CONTROL)
    found = compare(lambda contact: slider_rod(case=1, contact=contact), [events, case], t_end=6e-3, target=0)
    assert found.table["events"]["verdict"] == "accurate"
    assert found.table["long steps"]["verdict"] == "not accurate"
    said, differ = str(found).splitlines()[-2:]
    assert said.startswith("long steps: not accurate: ") and said.endswith("dt of the case, or of all by --dt-max")
    assert differ == "Rows in which a case differs from events, until 0.006 s, beyond own errors: none."
    assert list(found.to_dataset()["verdict"].values) == ["accurate", "not accurate"]


def test_a_run_that_ends_early_is_left_out_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def limited(system, stepper, **options):
        return ns.simulate(system, stepper, max_steps=3 if isinstance(stepper, ns.MoreauJean) else None, **options)

    monkeypatch.setattr(sys.modules["nonsmooth.studies.cases"], "simulate", limited)
    cases = [Case("events", RIGID, ns.EventDriven(), CONTROL), Case("ends", RIGID, ns.MoreauJean(), 1e-4)]
    found = compare(lambda contact: slider_rod(case=1, contact=contact).build(), cases, t_end=3e-3, target=0)
    assert found.labels == ("events",)
    assert found.failed["ends"].startswith("ends at t = 0.0003 s: After 3 steps")
    assert "ends: left out" in str(found)


def fail_near_round_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Accurate solutions of compliant contact end early."""

    def limited(system, stepper, *, dt, **options):
        fine = isinstance(stepper, ns.CompliantDae) and dt.rtol < 1e-10
        return ns.simulate(system, stepper, dt=dt, max_steps=3 if fine else None, **options)

    monkeypatch.setattr(sys.modules["nonsmooth.studies.cases"], "simulate", limited)


def test_a_case_without_accurate_solution_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The study used to end there, and all other runs with it."""
    fail_near_round_off(monkeypatch)
    soft = ns.Compliant(Flores(stiffness=1e12, restitution=0.5, calibrated=True))
    cases = [Case("events", RIGID, ns.EventDriven(), CONTROL), Case("soft", soft, ns.CompliantDae(), CONTROL)]
    found = compare(lambda contact: slider_rod(case=1, contact=contact), cases, t_end=3e-3, target=0)
    assert found.labels == tuple(found.runs) == tuple(found.table) == ("events",)
    assert found.failed["soft"].startswith("has no accurate solution, which ends at t = ")


def test_schemes_are_named_as_on_the_command_line() -> None:
    for word in ("gauss-mpcc:ipopt-mpcc", "gauss-qp:osqp", "gauss-qp:daqp", "moreau-jean", "event-driven"):
        assert name_of(scheme(word)) == word
    with pytest.raises(ns.InputError, match="compliant-dae is for compliant contact"):
        scheme("compliant-dae")
    with pytest.raises(ns.InputError, match="There is no solver"):
        scheme("gauss-qp:ospq")


def test_a_model_knows_how_it_is_assembled() -> None:
    model = example("six_bar").build()
    start = model.build().start
    assert start.q == pytest.approx(model.build(assemble=model.ideal().assemble()).start.q, abs=1e-14)
    assert model.with_contact(RIGID).build().start.q == pytest.approx(start.q, abs=0)
    read = read_text(model_text(model)).model
    assert read.assembled == model.assembled == "centred"
    assert read.build().start.q == pytest.approx(start.q, abs=1e-14)
    with pytest.raises(ns.ModelError, match='assemble must be True, False or "centred"'):
        ns.Model(assemble="middle")


def test_a_system_keeps_its_start_with_another_law() -> None:
    system = example("rssr").build()
    law = ns.Compliant(Flores(stiffness=1e9, restitution=0.5))
    soft = system.with_contact(law)
    assert soft.compliant and not system.compliant
    assert soft.start is system.start


def test_a_sweep_states_verdicts_where_runs_are_checked() -> None:
    design = grid({"guide.clearance": [1e-5, 4e-5]})
    options = {"t_end": 4e-3, "metrics": ["impacts"], "executor": 1}
    once = sweep(slider_rod, ns.MoreauJean(), design, dt=1e-4, **options)
    assert list(once["verdict"].values) == ["not checked"] * 2
    checked = sweep(slider_rod, ns.EventDriven(), design, dt=CONTROL, check=True, **options)
    assert list(checked["verdict"].values) == ["accurate"] * 2


def reaching(loose: bool) -> ns.Model:
    """Crank of 0.1 m and rod of 0.3 m, whose slider is pushed at 0.1 m/s from 0.34 m: stretched at 0.6 s."""
    model = ns.Model([ns.Ground()], name="reaching", assemble="centred")
    model.add(ns.PlanarBody("crank", 1.0, 1e-3, position=(0.03, 0.04)))
    model.add(ns.PlanarBody("rod", 1.0, 1e-2, position=(0.2, 0.04)))
    model.add(ns.PlanarBody("slider", 1.0, 1e-3, position=(0.34, 0.0)))
    model.add(ns.Revolute("main", "ground", "crank", at_b=(-0.05, 0.0)))
    model.add(ns.Revolute("knee", "crank", "rod", at_a=(0.05, 0.0), at_b=(-0.15, 0.0)))
    pin = {"at_a": (0.15, 0.0)}
    model.add(
        ns.RevoluteClearance("pin", "rod", "slider", clearance=1e-4, contact=RIGID, **pin) if loose
        else ns.Revolute("pin", "rod", "slider", **pin)
    )  # fmt: skip
    model.add(ns.Prismatic("guide", "ground", "slider"))
    push = ns.Ramp(rate=0.1, start=0.34)
    model.add(ns.PrescribedMotion("push", "ground", "slider", coordinate="x", motion=push))
    model.add(ns.Gravity(acceleration=(0.0, -9.81)))
    return model


@pytest.mark.parametrize("loose", [False, True])
def test_a_driver_beyond_its_reach_is_named_with_the_time(loose: bool) -> None:
    dt = ns.ErrorControl(1e-6, 1e-8, 1e-6, 1e-2)
    with pytest.raises(ns.SimulationFailed, match='failed: the driver "push" .* closed after t = 0.6') as failure:
        ns.simulate(reaching(loose).build(), ns.EventDriven(), t_end=1.0, dt=dt)
    # clearance extends the reach by c, which takes c / rate = 1 ms
    assert failure.value.trajectory.t[-1] == pytest.approx(0.601 if loose else 0.6, abs=1e-5)


def test_other_failures_do_not_blame_the_driver() -> None:
    system = reaching(True).build()
    run = ns.simulate(system, ns.EventDriven(), t_end=0.55, dt=ns.ErrorControl(1e-6, 1e-8, 1e-6, 1e-2))
    assert beyond_reach(system, system.parameter_values, run.end, 0.0, 1.0) == ""
    assert "after t = 0.60000" in beyond_reach(system, system.parameter_values, run.end, 0.0, 11.0)


def test_a_reach_ends_where_that_of_the_same_branch_does() -> None:
    """An RSSR linkage up to 6.3350 ms, by its closed form; there the joints are singular, and closing them from the
    last step led to earlier times or to another branch."""
    r, L, R, Q, w = 0.06, 0.30, 0.12, np.array([0.20, 0.15, 0.0]), 4 * np.pi

    def cosine(
        t: float,
    ) -> tuple[
        float, np.ndarray
    ]:  # of the rocker's angle from the direction to the end of the crank; 1 where the reach ends
        d = Q - r * np.array([np.cos(w * t), np.sin(w * t), 0.0])
        return (L**2 - R**2 - d @ d) / (2 * R * np.hypot(d[1], d[2])), d

    reach = brentq(lambda t: abs(cosine(t)[0]) - 1.0, 1e-3, 1e-2)
    C, d = cosine(0.0)
    psi = np.arctan2(d[2], d[1]) + np.arccos(C)
    A, B = np.array([r, 0.0, 0.0]), Q + R * np.array([0.0, np.cos(psi), np.sin(psi)])
    turned = (np.cos(psi / 2), np.sin(psi / 2), 0.0, 0.0)
    model = ns.Model([
        ns.Ground(), ns.SpatialBody("crank", mass=0.2, inertia=(1e-5, 1e-4, 1e-4), position=A / 2),
        ns.SpatialBody("rod", mass=0.4, inertia=(3e-3, 3e-3, 1e-4), position=(A + B) / 2),
        ns.SpatialBody("rocker", mass=0.3, inertia=(4e-4, 1e-5, 4e-4), position=(Q + B) / 2, quaternion=turned),
        ns.Revolute("bearing", "ground", "crank", at_b=(-r / 2, 0, 0), axis_a=(0, 0, 1), axis_b=(0, 0, 1)),
        ns.Spherical("ball", "crank", "rod", at_a=(r / 2, 0, 0), at_b=(0, 0, -L / 2)),
        ns.Spherical("socket", "rod", "rocker", at_a=(0, 0, L / 2), at_b=(0, R / 2, 0)),
        ns.Revolute("pivot", "ground", "rocker", at_a=Q, at_b=(0, -R / 2, 0), axis_a=(1, 0, 0), axis_b=(1, 0, 0)),
        ns.PrescribedMotion("motor", "ground", "crank", coordinate="angle", motion=ns.Ramp(w), axis_a=(0, 0, 1)),
    ], assemble=True, silence=["no-gravity"])  # fmt: skip
    with pytest.raises(ns.SimulationFailed) as error:
        ns.simulate(model.build(), ns.EventDriven(), t_end=0.5, dt=ns.ErrorControl(1e-8))
    said = float(re.search(r"cannot be closed after t = (\S+) s", str(error.value))[1])
    assert said == pytest.approx(reach, abs=5e-6)
