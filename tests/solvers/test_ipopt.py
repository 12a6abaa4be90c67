"""IpoptMPCC on steps with an exact answer: a ball and a floor, at given and at free step length."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest

from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.programs import MPCC, MPCCStructure, Solution
from nonsmooth.solvers import ActiveSet, IpoptMPCC
from nonsmooth.solvers.ipopt import RELAXATIONS
from nonsmooth.solvers.polish import _held

GRAVITY = 10.0
WORKING = sorted(set(RELAXATIONS) - {"literal"})


def ball() -> MPCCStructure:
    """v - v0 + g dt - P = 0; gap y0 + dt (v + w v0) / (1 + w), implicit Euler for w = 0 and trapezoid for w = 1."""
    x, P, p = ca.SX.sym("x", 2), ca.SX.sym("P"), ca.SX.sym("p", 3)
    v, dt, y0, v0, w = x[0], x[1], p[0], p[1], p[2]
    terms = ca.fabs(v) + ca.fabs(v0) + GRAVITY * dt + ca.fabs(P)
    gap = y0 + dt * (v + w * v0) / (1 + w)
    return MPCCStructure(x, P, p, -dt, v - v0 + GRAVITY * dt - P, gap, terms, ("v", "dt"), ("floor",), ("motion",))


STRUCTURE = ball()


def step(y0: float, v0: float, dt: tuple[float, float], binding: bool, w: float = 0.0) -> MPCC:
    lower, upper = np.array([-np.inf, dt[0]]), np.array([np.inf, dt[1]])
    scales = np.array([1.0, 0.1]), np.ones(1), np.array([0.1])
    return MPCC(STRUCTURE, np.array([y0, v0, w]), lower, upper, *scales, np.array([binding]))


@pytest.mark.parametrize("relaxation", WORKING)
@pytest.mark.parametrize(("y0", "v0"), [(0.05, -1.0), (0.0, 0.0), (0.0, 3.0), (0.2, 0.0), (1e-9, -1.0)])
def test_a_step_onto_or_above_the_floor(relaxation: str, y0: float, v0: float) -> None:
    dt = 0.1
    mpcc = step(y0, v0, (dt, dt), True)
    solution = IpoptMPCC(relaxation).setup().solve(mpcc)
    v = max(v0 - GRAVITY * dt, -y0 / dt)
    # the polish solves two linear equations: a few roundings of numbers up to 3
    np.testing.assert_allclose([*solution.x, *solution.y], [v, dt, v - v0 + GRAVITY * dt], atol=1e-14)
    assert mpcc.residual(solution) <= IpoptMPCC(relaxation).tolerance


@pytest.mark.parametrize("relaxation", WORKING)
@pytest.mark.parametrize("dt_max", [0.05, 0.15, 1.0])
def test_the_free_step_ends_on_the_landing_or_at_its_bound(relaxation: str, dt_max: float) -> None:
    """From y0 = 0.1 m at v0 = 0.5 m/s the ball lands after (v0 + sqrt(v0^2 + 2 g y0)) / g = 0.2 s at -1.5 m/s."""
    mpcc = step(0.1, 0.5, (1e-3, dt_max), False, w=1.0)
    solution = IpoptMPCC(relaxation).setup().solve(mpcc, Solution(np.array([0.5, 1e-3]), np.zeros(1), "", 0, ""))
    dt = min(dt_max, 0.2)
    np.testing.assert_allclose(solution.x, [0.5 - GRAVITY * dt, dt], atol=1e-14)
    assert solution.y[0] == 0.0
    assert not mpcc.determined
    assert not ActiveSet().fits(mpcc)


def test_gaps_that_are_ignored_are_not_refined() -> None:
    """A gap with an infinite scale is zero in units of it, and was taken for one that the step may end on: one more
    system of equations for each such gap."""
    mpcc = step(1.0, 0.0, (0.1, 0.1), False)
    ignoring = replace(mpcc, G_scale=np.array([np.inf]))
    solution = Solution(np.array([-1.0, 0.1]), np.zeros(1), "", 0, "")
    assert not any(touching.any() for one in (mpcc, ignoring) for _, touching in _held(one, solution))
    landing = Solution(np.array([-10.0, 0.1]), np.zeros(1), "", 0, "")
    assert next(iter(_held(mpcc, landing)))[1].all() and not next(iter(_held(ignoring, landing)))[1].any()


def test_one_program_serves_all_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    built = []
    original = ca.nlpsol
    monkeypatch.setattr(ca, "nlpsol", lambda *arguments: built.append(1) or original(*arguments))
    session = IpoptMPCC().setup()
    for dt, binding in ((0.1, True), (0.2, True), (0.2, False)):
        session.solve(step(1.0, 0.0, (dt, dt), binding))
    assert len(built) == 1


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    IpoptMPCC().setup().solve(step(0.05, -1.0, (0.1, 0.1), True))
    assert "".join(capfd.readouterr()) == ""


def test_an_impossible_step_gives_a_poor_answer_and_no_exception() -> None:
    mpcc = step(-1.0, -1.0, (0.1, 0.1), False)
    assert mpcc.residual(IpoptMPCC().setup().solve(mpcc)) > 1e-3


@pytest.mark.parametrize("solver", [IpoptMPCC(), IpoptMPCC("scholtes"), ActiveSet()])
def test_not_a_number_is_survived_in_silence(solver: IpoptMPCC | ActiveSet, capfd: pytest.CaptureFixture[str]) -> None:
    mpcc = step(np.nan, -1.0, (0.1, 0.1), True)
    assert mpcc.residual(solver.setup().solve(mpcc)) == np.inf
    assert "".join(capfd.readouterr()) == ""


@pytest.mark.skipif(os.name == "nt", reason="os.kill sends no Ctrl-C there")
def test_ctrl_c_reaches_the_caller() -> None:
    session, mpcc = IpoptMPCC().setup(), step(0.05, -1.0, (0.1, 0.1), True)
    session.solve(mpcc)
    threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT)).start()
    end = time.monotonic() + 5.0
    with pytest.raises(KeyboardInterrupt):
        while time.monotonic() < end:
            session.solve(mpcc)


def test_an_interrupted_solve_is_not_taken_for_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupted:
        def __call__(self, **arguments: object) -> dict[str, object]:
            return {"x": np.zeros(3)}

        def stats(self) -> dict[str, object]:
            return {"return_status": "NonIpopt_Exception_Thrown", "iter_count": 3}

    monkeypatch.setattr(ca, "nlpsol", lambda *arguments: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        IpoptMPCC().setup().solve(step(0.05, -1.0, (0.1, 0.1), True))


@pytest.mark.skipif(ca.has_nlpsol("ccopt"), reason="CasADi's ccopt library is here")
def test_ccopt_is_missing_and_says_what_to_use() -> None:
    with pytest.raises(SolverMissing, match=r'cannot load its library.*IpoptMPCC\(plugin="ipopt"\)'):
        IpoptMPCC(plugin="ccopt").setup()


def test_ccopt_is_handed_the_pairs_themselves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its library is in no wheel, so only what is passed is tested: row 2 is the gap, column 2 its multiplier."""
    passed: dict[str, object] = {}

    def nlpsol(name: str, plugin: str, program: object, options: dict[str, object]) -> ca.Function:
        passed.update(options)
        return original(name, "ipopt", program, {"ipopt": {"print_level": 0, "sb": "yes"}, "print_time": False})

    original = ca.nlpsol
    monkeypatch.setattr(ca, "has_nlpsol", lambda name: True)
    monkeypatch.setattr(ca, "nlpsol", nlpsol)
    IpoptMPCC(plugin="ccopt").setup().solve(step(0.05, -1.0, (0.1, 0.1), True))
    assert passed["cc_pairs"] == [[2, 2]]
    assert passed["cc_types"] == [2]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"relaxation": "fisher"}, "no relaxation 'fisher'; there are fischer-burmeister, scholtes, l1, literal"),
        ({"plugin": "snopt"}, "no plugin 'snopt'; it takes ipopt or ccopt"),
        ({"epsilon": 0.0}, r"epsilon = 0.0 of IpoptMPCC must lie in \(0, 1e-3\]"),
        ({"epsilon": 0.1}, "epsilon = 0.1"),
    ],
)
def test_settings_out_of_range_are_refused(settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        IpoptMPCC(**settings)  # type: ignore[arg-type]
