"""Programs of compiled steps by other solvers: the same motion, refusals, fallbacks and what ends a call."""

import ctypes
from dataclasses import dataclass
from typing import Any

import numpy as np
import osqp
import pytest
from loops import some

from nonsmooth import (
    ActiveSet,
    Admm,
    CasadiQP,
    Conic,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    InputError,
    Interrupted,
    IpoptMPCC,
    Landing,
    Lemke,
    ModeEnumeration,
    MoreauJean,
    Osqp,
    ProjectedGaussSeidel,
    Rigid,
    SemismoothNewton,
    SimulationFailed,
    SmoothingNewton,
    simulate,
    simulate_batch,
)
from nonsmooth.engine.external_solver import Callbacks
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.solvers import ipopt
from nonsmooth.step.tolerances import UNCERTAIN
from nonsmooth_problems import polishing_robot, slider_crank_translational, slider_rod, spatial_slider_crank

#: the class, the length of a step and the restitution of runs in which contacts impact, slide and stick
RUNS = {
    "MoreauJean": (MoreauJean, 1e-4, 0.4),
    "GaussQP": (GaussQP, 1e-4, 0.0),
    "GaussQP landing": (GaussQP, Landing(1e-7, 1e-4), 0.4),
    "GeneralizedAlpha": (GeneralizedAlpha, 1e-4, 0.4),
}
END = 0.006
PLANE = [
    SemismoothNewton(), SemismoothNewton("fischer-burmeister"), ActiveSet(), Lemke(), ModeEnumeration(),
    ProjectedGaussSeidel(), Admm(), Conic(), Osqp(), CasadiQP("daqp"),
]  # fmt: skip
SPACE = [SemismoothNewton(), SmoothingNewton(), ProjectedGaussSeidel(), Admm(), Conic(), Osqp(), CasadiQP("daqp")]


@pytest.mark.parametrize(
    ("model", "solvers", "clearance"),
    [(slider_crank_translational, PLANE, 1e-3), (spatial_slider_crank, SPACE, 1e-4)],
    ids=["plane", "space"],
)
@pytest.mark.parametrize("scheme", some(RUNS, 5))
def test_each_solver_gives_the_motion_of_the_default_one(scheme, model, solvers, clearance):
    """To 1e-9 of the clearance; Gauss-Seidel, which stops at 1e-10 of the velocities of a program, to 1e-5."""
    stepper, dt, restitution = RUNS[scheme]
    system = model(contact=Rigid(restitution=restitution, friction=0.1)).build()
    default = simulate(system, stepper(), t_end=END, dt=dt)
    assert np.any(default.P_T.array != 0.0)
    for solver in solvers:
        run = simulate(system, stepper(solver=solver), t_end=END, dt=dt)
        assert run.counts["chained"] == 0
        assert run.counts[type(solver).__name__] == run.counts["solves"] - run.counts["fallbacks"] > 0, solver
        near = 1e-5 if isinstance(solver, ProjectedGaussSeidel) else 1e-9
        assert np.abs(run.q.array - default.q.array).max() <= near * clearance, solver
        assert run.certificate.motion_residual <= 1e-9  # what certifies a step


@pytest.mark.parametrize(
    ("model", "solver", "lacks"),
    [
        (slider_crank_translational, SmoothingNewton(), "it solves programs with friction in space only"),
        (slider_crank_translational, IpoptMPCC(), "it solves no LCP, no QP and no program with friction"),
        (spatial_slider_crank, Lemke(), "it solves no program with friction in space, whose cones have no edges"),
    ],
)
@pytest.mark.parametrize("scheme", RUNS)
def test_a_solver_that_cannot_is_refused_before_the_first_step(scheme, model, solver, lacks):
    stepper, dt, restitution = RUNS[scheme]
    system = model(contact=Rigid(restitution=restitution, friction=0.1)).build()
    name = f"{stepper.__name__} formulates programs that {type(solver).__name__}.* does not solve: {lacks}; give it"
    with pytest.raises(InputError, match=name):
        simulate(system, stepper(solver=solver), t_end=END, dt=dt)


def test_without_friction_quadratic_programs_are_enough_in_space():
    system = spatial_slider_crank(contact=Rigid(restitution=0.4, friction=0.0)).build()
    default, run = (simulate(system, MoreauJean(solver=one), t_end=0.02, dt=1e-4) for one in (None, Osqp()))
    assert np.any(default.P_N.array > 0.0)
    assert np.abs(run.q.array - default.q.array).max() <= 1e-9 * 1e-4


@pytest.mark.parametrize("dt", some([1e-4, Landing(1e-4, 1e-3)], 2), ids=str)
@pytest.mark.parametrize("stepper", [GaussQP(solver=Osqp()), GaussMPCC(solver=IpoptMPCC())], ids=["osqp", "ipopt"])
def test_osqp_and_ipopt_are_what_is_called_in_space_with_friction(stepper, dt, monkeypatch):
    """Counted by wrappers of both libraries, on 60 steps; the motion is that of the default solver until the second
    impact, after which restitution amplifies round-off."""
    restitution = 0.4 if isinstance(dt, Landing) else 0.0
    system = spatial_slider_crank(contact=Rigid(restitution=restitution, friction=0.1)).build()
    run = {"t_end": 0.006 if dt == 1e-4 else 0.05, "dt": dt}
    default, calls = simulate(system, GaussQP(), **run), []
    solve, call = osqp.OSQP.solve, ipopt._call
    monkeypatch.setattr(osqp.OSQP, "solve", lambda *a, **k: calls.append("Osqp") or solve(*a, **k))
    monkeypatch.setattr(ipopt, "_call", lambda *a: calls.append("IpoptMPCC") or call(*a))
    found = simulate(system, stepper, **run)
    name = type(stepper.solver).__name__
    assert set(calls) == {name} and len(calls) == found.manifest["called"][name] >= len(found.t) - 1
    assert found.counts["fallbacks"] == found.counts["chained"] == 0
    assert np.any(found.P_T.array != 0.0) and found.certificate.motion_residual <= 1e-9
    times = sorted(set(default.impacts["t"]))
    early = found.t < (times[1] if len(times) > 1 else np.inf)
    same = np.abs(default.q.array[: len(early)][early] - found.q.array[early])
    assert early.sum() > 5 and same.max() <= 1e-8 * 1e-4  # of the clearance


@pytest.mark.slow
def test_ipopt_takes_constant_steps_of_the_polishing_robot_with_friction():
    """Sixteen corners of a slide that remain open: friction of such contacts, undetermined by their pairs, left IPOPT
    without a solution in the first step."""
    system = polishing_robot(contact=Rigid(restitution=0.0, friction=0.02)).build()
    default, run = (simulate(system, one, t_end=4e-4, dt=1e-4) for one in (GaussQP(), GaussMPCC()))
    assert run.manifest["called"] == {"IpoptMPCC": 4} and run.counts["fallbacks"] == 0
    assert np.abs(run.q.array - default.q.array).max() <= 1e-8 * 1e-4  # of the clearance


@pytest.mark.slow  # compiles the text of another impact law
@pytest.mark.parametrize("impact", ["poisson", "routh", "stronge"])
@pytest.mark.parametrize("lands", [False, True])
def test_phases_of_impacts_by_other_solvers(impact, lands):
    """Expansion, whose normal impulses are at least those returned, is a program of theirs; what happens along an
    impulse is none, and the rules say so."""
    law = Rigid(restitution=0.6, friction=0.2, impact=impact)
    system, dt = slider_rod(case=3, contact=law).build(), Landing(1e-6, 1e-3) if lands else 5e-4
    stepper = GaussQP if lands else MoreauJean
    default = simulate(system, stepper(), t_end=0.02, dt=dt)
    assert len(default.impacts) >= 2
    for solver in (SemismoothNewton(), Lemke(), Osqp()):
        run = simulate(system, stepper(solver=solver), t_end=0.02, dt=dt)
        # at rest afterwards a step of OSQP may be halved until it is certified
        assert run.impacts["t"] == pytest.approx(default.impacts["t"], abs=1e-9)
        assert run.impacts["P_N"] == pytest.approx(default.impacts["P_N"], abs=1e-7 * default.impacts["P_N"].max())
        assert np.abs(run.q.array[-1] - default.q.array[-1]).max() <= 1e-9 * 1e-5, solver  # of the clearance
        assert ("along the impulse" in run.manifest["rules"]["programs"]) == (impact != "poisson")


@pytest.mark.parametrize("scheme", RUNS)
def test_programs_that_newton_does_not_solve_go_to_the_chain(scheme, monkeypatch):
    """Each second step is refused when it is made with Newton's method: parts of it as well, so that others take the
    whole, and hand on what the next one needs."""
    stepper, dt, restitution = RUNS[scheme]
    system = slider_crank_translational(contact=Rigid(restitution=restitution, friction=0.1)).build()
    default = simulate(system, stepper(), t_end=END, dt=dt)
    original = CompiledSteps.__init__

    def begun(self, *arguments):
        original(self, *arguments)
        compiled, taken = self._run, [0]

        def refusing(at, steps):
            if self._whole["solver"][0] or taken[0] < 0:
                taken[0] = 1
                return compiled(at, steps)
            if taken[0]:
                taken[0] = 0
                return compiled(at, 1)
            return UNCERTAIN

        self._run = refusing

    monkeypatch.setattr(CompiledSteps, "__init__", begun)
    chained = simulate(system, stepper(), t_end=END, dt=dt)
    counts = chained.counts
    assert len(chained.t) == len(default.t) and counts["divided"] == 0
    assert counts["chained"] == counts["fallbacks"] > 20 and sum(counts.get(type(one).__name__, 0) for one in PLANE) > 0
    assert np.abs(chained.q.array - default.q.array).max() <= 1e-9 * 1e-3  # of the clearance
    assert chained.certificate.motion_residual <= 1e-9  # what certifies a step


@dataclass(frozen=True)
class Interrupting:
    """Answers as the active set does, but so many times only."""

    times: int
    raised: Any
    tolerance = 1e-12

    def fits(self, program):
        return ActiveSet().fits(program)

    def setup(self):
        return InterruptingSession(self.times, self.raised)


class InterruptingSession:
    def __init__(self, times, raised):
        self.session, self.left, self.raised = ActiveSet().setup(), times, raised

    def solve(self, program, guess=None):
        self.left -= 1
        if self.left < 0:
            raise self.raised("in a solver")
        return self.session.solve(program, guess)


@pytest.mark.parametrize(
    ("raised", "ends", "message"),
    [(KeyboardInterrupt, Interrupted, "Interrupted at"), (ZeroDivisionError, SimulationFailed, "ZeroDivisionError")],
)
@pytest.mark.parametrize("scheme", RUNS)
def test_what_a_solver_raises_ends_the_run_after_its_last_step(scheme, raised, ends, message):
    """It cannot pass through compiled code, and must not be lost there, or take the step for one that fails."""
    stepper, dt, restitution = RUNS[scheme]
    system = slider_crank_translational(contact=Rigid(restitution=restitution, friction=0.1)).build()
    with pytest.raises(ends, match=message) as ended:
        simulate(system, stepper(solver=Interrupting(60, raised)), t_end=END, dt=dt)
    run = ended.value.trajectory
    whole = simulate(system, stepper(solver=ActiveSet()), t_end=END, dt=dt)
    assert 0 < run.counts["steps"] == len(run.t) - 1 < len(whole.t) - 1
    assert run.counts["fallbacks"] == run.counts["divided"] == 0
    assert np.array_equal(run.q.array, whole.q.array[: len(run.t)])


def test_the_door_opens_to_uncompiled_text():
    system, run = slider_crank_translational().build(), {"t_end": 3e-4, "dt": 1e-4}
    compiled, plain = (
        simulate(system, MoreauJean(solver=SemismoothNewton()), **run, interpreted=one) for one in (False, True)
    )
    assert plain.counts["SemismoothNewton"] == plain.counts["solves"] == compiled.counts["solves"] > 0
    assert np.abs(plain.q.array - compiled.q.array).max() <= 1e-15


def test_batches_run_requested_solvers_one_after_the_other():
    system, run = slider_crank_translational().build(), {"t_end": 2e-3, "dt": 1e-4}
    values = {"guide.friction": [0.0, 0.1]}
    batch = simulate_batch(system, MoreauJean(solver=Lemke()), values, **run)
    assert batch.attrs["repeated_runs"] == 0 and "requested solver" in batch.attrs["rules"]
    for k, friction in enumerate(values["guide.friction"]):
        one = simulate(system, MoreauJean(solver=Lemke()), parameters={"guide.friction": friction}, **run)
        assert one.counts["Lemke"] > 0
        assert np.array_equal(batch["q"].values[k], one.q.array[-1])


@pytest.mark.parametrize("solver", [Lemke(), Osqp()], ids=str)
def test_a_run_goes_on_from_its_checkpoint_with_its_solver(solver, tmp_path):
    """The address of a solver belongs to a process: it is no number of a checkpoint. What OSQP begins with is."""
    system, path = slider_crank_translational().build(), tmp_path / "run.nc"
    whole = simulate(system, MoreauJean(solver=solver), t_end=2e-3, dt=1e-4)
    again = {"t_end": 2e-3, "dt": 1e-4, "checkpoint": path, "every": 1e-9}

    def stop(t, t_end, steps):
        if steps >= 7:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted):
        simulate(system, MoreauJean(solver=solver), **again, progress=stop)
    run = simulate(system, MoreauJean(solver=solver), **again)
    assert np.array_equal(run.q.array, whole.q.array)
    assert run.manifest["called"] == whole.manifest["called"] == {type(solver).__name__: whole.counts["solves"]}
    assert {name: count for name, count in run.counts.items()} == dict(whole.counts)


def test_what_a_call_raises_is_kept():
    class Dividing:
        def solve(self):
            raise ZeroDivisionError("once")

    outside, program = Callbacks(), Dividing()
    address = outside.address(program.solve)
    call = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_int64)(address)
    assert call(0) == 0 and isinstance(outside.raised, ZeroDivisionError)
