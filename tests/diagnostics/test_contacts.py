"""Stretches of contact, impulses and forces: rigid and compliant runs asked the same questions."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from nonsmooth import (
    Compliant,
    CompliantDae,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussQP,
    InputError,
    Landing,
    Rigid,
    Trajectory,
    simulate,
)
from nonsmooth.diagnostics import (
    agreement,
    contact_intervals,
    contact_share,
    coordinates,
    dissipated,
    impacts,
    impulses,
    largest_mean_force,
    mean_forces,
)
from nonsmooth.diagnostics.contacts import impact_counts
from nonsmooth.laws import Flores
from nonsmooth.studies.metrics import metrics_of
from nonsmooth_problems import slider_rod

RESTITUTION = 0.5
CONTROL = ErrorControl(1e-9, 1e-11, 1e-6, 1e-3)
END = 6e-3


@pytest.fixture(scope="module")
def exact():
    return slider_rod.exact(case=1, contact=Rigid(restitution=RESTITUTION, friction=0.0))


@pytest.fixture(scope="module", params=["event-driven", "landing"])
def rigid(request):
    system = slider_rod(case=1, contact=Rigid(restitution=RESTITUTION, friction=0.0)).build()
    stepper, dt = {"event-driven": (EventDriven(), CONTROL), "landing": (GaussQP(), Landing(1e-6, 1e-3))}[request.param]
    return simulate(system, stepper, t_end=END, dt=dt)


@pytest.fixture(scope="module")
def compliant():
    law = Flores(stiffness=1e14, restitution=RESTITUTION, calibrated=True)
    system = slider_rod(case=1, contact=Compliant(law)).build()
    return simulate(system, CompliantDae(solver=Dop853()), t_end=END, dt=CONTROL)


def test_rigid_impacts_have_no_length_and_rest_has_the_weight(rigid, exact) -> None:
    table = contact_intervals(rigid, ["guide.left_lower"])
    sharp = table[table["start"] == table["end"]][:8]  # the last of all, near the accumulation, are plastic
    expected = [hit for hit in exact.impacts if hit.contact == "guide.left_lower"][:8]
    assert sharp["start"] == pytest.approx([hit.t for hit in expected], abs=1e-12)
    assert sharp["impulse"] == pytest.approx([hit.impulse for hit in expected], rel=1e-9)
    assert sharp["separation"] == pytest.approx(RESTITUTION * sharp["approach"], rel=1e-9)
    assert np.all(np.isnan(sharp["force"])) and np.all(sharp["depth"] == 0)
    rest = table[-1]
    assert (rest["force"], rest["end"]) == (pytest.approx(24.525, rel=1e-9), END)
    assert rest["impulse"] == pytest.approx(24.525 * (END - rest["start"]), rel=1e-9)
    assert np.isnan(rest["separation"])
    share = (END - exact.rest_time) / END
    # the last bounces, shorter than dt_min, count as rest
    assert contact_share(rigid)["guide.left_lower"] == pytest.approx(share, abs=1e-3)
    assert contact_share(rigid)["guide.left_upper"] == 0.0


def test_a_compliant_contact_is_a_short_interval(rigid, compliant) -> None:
    soft, hard = contact_intervals(compliant)[0], contact_intervals(rigid)[0]
    # first touch does not depend on the law; impulse and separation do, by gravity during the contact
    assert (soft["start"], soft["approach"]) == (pytest.approx(hard["start"]), pytest.approx(hard["approach"]))
    assert soft["impulse"] == pytest.approx(hard["impulse"], rel=0.01)
    assert soft["separation"] == pytest.approx(hard["separation"], rel=0.015)
    # Hertz: m_eff v^2 = K d^(5/2) (4/5) without loss, half the mass on each end
    assert 0.6 < soft["depth"] / (2.5 * 1.25 * soft["approach"] ** 2 / 1e14) ** 0.4 < 1.0
    assert soft["force"] > 2 * soft["impulse"] / (soft["end"] - soft["start"]) * 0.6


def test_first_impacts_are_the_same_events_in_both_worlds(rigid, compliant) -> None:
    slowest = 0.1 * contact_intervals(rigid)["approach"].max()
    hard, soft = impacts(rigid, slowest), impacts(compliant, slowest)
    assert len(hard) == len(soft) == 8  # four flat impacts of two ends
    assert soft["start"] == pytest.approx(hard["start"], rel=0.02)


def test_impulses_and_mean_forces_hold_impacts(rigid, compliant, exact) -> None:
    edges = np.linspace(0.0, END, 13)
    names = rigid.gap.names
    expected = np.array([exact.sample(edges).impulse[name] for name in names]).T
    # what happens within dt_min of the accumulation may fall into another window
    assert impulses(rigid, edges) == pytest.approx(expected, rel=1e-6, abs=1e-8)
    assert mean_forces(rigid, edges) == pytest.approx(np.diff(expected, axis=0) / np.diff(edges)[:, None], abs=1e-3)
    assert impulses(compliant, edges)[-1] == pytest.approx(expected[-1], rel=1e-3, abs=1e-12)
    assert (mean_forces(compliant, edges) * np.diff(edges)[:, None]).sum(axis=0) == pytest.approx(
        compliant.P_N.array.sum(axis=0)
    )


def test_agreement_is_the_share_of_time(rigid, compliant) -> None:
    assert agreement(rigid, rigid) == 1.0
    # four contacts, of which the two lower ones differ while the compliant ones are in a bounce
    touching = contact_share(compliant)["guide.left_lower"] - contact_share(rigid)["guide.left_lower"]
    assert agreement(rigid, compliant) == pytest.approx(1 - touching / 2, abs=0.01)
    assert agreement(compliant, rigid) == agreement(rigid, compliant)


def test_losses_by_cause(rigid, compliant, exact) -> None:
    fallen = 5.0 * 9.81 * 1e-5
    assert dissipated(rigid) == pytest.approx({"impacts": fallen, "contact": 0, "friction": 0, "damping": 0}, rel=1e-5)
    soft = dissipated(compliant)
    assert soft["impacts"] == soft["friction"] == soft["damping"] == 0.0
    assert soft["contact"] == pytest.approx(fallen, rel=1e-3)


def test_coordinates_between_rows(rigid, exact) -> None:
    t = np.linspace(0.0, END, 777)
    assert coordinates(rigid, t)[:, 1] == pytest.approx(exact.sample(t).q["slider.y"], abs=1e-11)
    # outside the run, its ends
    assert coordinates(rigid, np.array([-1.0, 1.0]))[:, 1] == pytest.approx([0.0, -1e-5])


def test_gap_rates_are_rates_of_gaps(compliant) -> None:
    t, gap = compliant.t, compliant.gap["guide.left_lower"]
    middle = (compliant.gap_rate["guide.left_lower"][:-1] + compliant.left.gap_rate["guide.left_lower"][1:]) / 2
    assert np.diff(gap) == pytest.approx(middle * np.diff(t), abs=2e-9)


def test_gap_rates_survive_a_file(compliant, tmp_path) -> None:
    compliant.save(tmp_path / "run.nc")
    loaded = Trajectory.load(tmp_path / "run.nc")
    assert np.array_equal(loaded.gap_rate.array, compliant.gap_rate.array)
    assert np.array_equal(loaded.left.gap_rate.array, compliant.left.gap_rate.array)


def test_unknown_contact(rigid) -> None:
    with pytest.raises(InputError, match=r"no contact 'guide'"):
        contact_intervals(rigid, ["guide"])


@pytest.mark.parametrize("duration", [1e-4, 1e-3, 1.0])
def test_largest_mean_force_is_that_of_every_window(rigid, duration):
    """Against windows that begin or end at, just before and just after each row; a longer run has none larger."""
    name, found = "guide.left_lower", largest_mean_force(rigid, "guide.left_lower", duration)
    k, edges = rigid.gap.names.index(name), np.concatenate([rigid.t, rigid.t - duration])
    starts = np.concatenate([edges - 1e-13, edges + 1e-13])
    total = impulses(rigid, np.concatenate([starts, starts + duration]))[:, k]
    total = np.where(np.concatenate([starts, starts + duration]) < rigid.t[0], 0.0, total)
    brute = np.max(total[len(starts) :] - total[: len(starts)]) / duration
    assert found == pytest.approx(brute, rel=1e-6)  # 1e-13 s times the force, of impulses of 1e-3 N s
    assert found >= rigid.impacts["P_N"][rigid.impacts["contact"] == name].max() / duration * (1 - 1e-12)


def test_force_over_a_duration_compares_rigid_and_compliant_contact(rigid, compliant):
    """Over 0.1 ms, longer than the compliant impact: within the 1 % by which their impulses differ; as metrics too."""
    hard, soft = (largest_mean_force(run, "guide.left_lower", 1e-4) for run in (rigid, compliant))
    assert soft == pytest.approx(hard, rel=0.01) and hard > 10 * rigid.lam_N["guide.left_lower"].max()
    (metric,) = metrics_of("force-over-0.1ms:guide.left_lower", slider_rod(case=1).build())
    assert metric.of(rigid)["force-over-0.1ms:guide.left_lower"] == hard and metric.unit == "N"
    for wrong, sentence in (("force-over-2mm", "another dimension than s"), ("force-over-0 s", "must be > 0")):
        with pytest.raises(InputError, match=sentence):
            metrics_of(wrong, slider_rod(case=1).build())
    with pytest.raises(InputError, match="duration must be"):
        largest_mean_force(rigid, "guide.left_lower", 0.0)


def test_one_table_of_contacts_for_rigid_and_compliant_runs(rigid, compliant, tmp_path):
    """Rigid impacts take P (v- - v+) / 2 each, all together what the ledger of energy says; the first compliant one the
    same within the 2 % by which gravity changes it."""
    hard, soft = (run.contacts[run.contacts["kind"] == "impact"] for run in (rigid, compliant))
    first = hard[0]
    assert first["energy"] == pytest.approx(first["impulse"] * first["approach"] * (1 - RESTITUTION) / 2, rel=1e-9)
    assert soft[0]["energy"] == pytest.approx(first["energy"], rel=0.02) and soft[0]["peak_force"] > 0
    assert np.all(hard["start"] == hard["end"]) and np.all(soft["start"] < soft["end"])
    assert hard["energy"].sum() == pytest.approx(rigid.energy["loss_impacts"][-1], rel=1e-3)
    assert impact_counts(compliant) == Counter(impacts(compliant)["contact"].tolist())
    assert len(compliant.impacts) == 0 and compliant.compliant and not rigid.compliant
    assert repr(compliant).splitlines()[2].endswith("compliant, listed in .contacts")  # not: 0 rows of impacts
    rigid.to_csv(tmp_path / "contacts.csv", "contacts")
    lines = (tmp_path / "contacts.csv").read_text().splitlines()
    assert lines[0].startswith("contact,kind,start [s],end [s],approach [m/s]") and len(lines) == 1 + len(
        rigid.contacts
    )
    assert float(lines[1].split(",")[6]) == rigid.contacts["impulse"][0]


def test_mat_files(rigid, tmp_path):
    from scipy.io import loadmat

    rigid.to_mat(tmp_path / "run.mat")
    read = loadmat(tmp_path / "run.mat", squeeze_me=True)
    assert np.array_equal(read["t"], rigid.t) and np.array_equal(read["q"], rigid.q.array)
    assert list(read["q_names"]) == list(rigid.q.names) and read["q_units"][0] == "m"
    assert np.array_equal(read["contacts"]["impulse"].item(), rigid.contacts["impulse"])
    assert list(read["contacts"]["kind"].item()) == rigid.contacts["kind"].tolist()
