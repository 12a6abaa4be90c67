"""The number of impacts: independent of units, and of scheme and step wherever these resolve the motion."""

from __future__ import annotations

import numpy as np
import pytest
from loops import some

from nonsmooth import (
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    PointPlane,
    Prismatic,
    Revolute,
    RevoluteClearance,
    Rigid,
    SimulationFailed,
    Torque,
    simulate,
)
from nonsmooth.cli import main
from nonsmooth.diagnostics import impacts
from nonsmooth.diagnostics.contacts import impact_counts
from nonsmooth.trajectory.decimation import loaded
from nonsmooth_problems import chain, four_bar, newtons_cradle, painleve_rod, pendulum_with_stop, socket_pendulum

#: schemes with two steps each, for a run of this length
SCHEMES = {
    "moreau-jean": lambda end: ((MoreauJean(), end / 2000), (MoreauJean(), end / 8000)),
    "generalized-alpha": lambda end: ((GeneralizedAlpha(), end / 2000), (GeneralizedAlpha(), end / 8000)),
    "landing": lambda end: ((GaussQP(), Landing(1e-6, end / 500)), (GaussQP(), Landing(1e-6, end / 2000))),
    "event-driven": lambda end: (
        (EventDriven(), ErrorControl(1e-7, 1e-9, 1e-6, end / 20)),
        (EventDriven(), ErrorControl(1e-9, 1e-11, 1e-6, end / 40)),
    ),
}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("problem", "end", "rows", "count"),
    some(
        [
            (four_bar, 0.3, 5, 3),
            (pendulum_with_stop, 2.0, 4, 4),
            (newtons_cradle, 0.5, 4, 1),  # one ball is hit, and four contacts transmit the impulse
            (chain, 0.3, 0, 0),  # hangs, and is let go in contact
            (socket_pendulum, 0.5, 0, 0),
            (painleve_rod, 0.2, 0, 0),  # slides, and velocity-level schemes open and close its contact
        ],
        5,
    ),
    ids=lambda one: getattr(one, "name", one),
)
def test_of_ready_problems(problem, end, rows, count, scheme):
    """`MoreauJean` had 377 rows for the rod that slides, with a quarter of the step 1509, and counted 466 and 1871."""
    system = problem().build()
    for stepper, dt in SCHEMES[scheme](end):
        run = simulate(system, stepper, t_end=end, dt=dt)
        assert (len(run.impacts), len(impacts(run))) == (rows, count)
        assert np.count_nonzero(run.contacts["kind"] == "impact") == rows
        assert sum(impact_counts(run).values()) == count  # what the command line prints


def test_the_command_tells_its_count_from_the_rows(capsys):
    """Of four impulses of the cradle one begins with an approach; where all do, nothing is said."""
    assert main(["run", "newtons-cradle", "--t-end", "0.5", "--stepper", "event-driven"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "impacts: 1 begin with an approach of at least 1 % of the fastest, of 4 impulses in `impacts`" in said
    assert main(["run", "pendulum-with-stop", "--t-end", "2", "--stepper", "event-driven"]) == 0
    assert "of the fastest" not in capsys.readouterr().out


def slider_crank(length, mass, time, restitution):
    """With a loose pin, in units of so many metres, kilograms and seconds."""
    a, b, speed, c = 0.05 * length, 0.12 * length, 150.0 / time, 2e-4 * length
    law = Rigid(restitution=restitution, friction=0.1)
    return Model(
        [
            Ground(),
            PlanarBody("crank", mass=0.2 * mass, inertia=1e-4 * mass * length**2, position=(a / 2, 0.0),
                       velocity=(0.0, speed * a / 2), angular_velocity=speed),
            PlanarBody("rod", mass=0.3 * mass, inertia=4e-4 * mass * length**2, position=(a + b / 2, 0.0),
                       velocity=(0.0, speed * a / 2), angular_velocity=-speed * a / b),
            PlanarBody("slider", mass=0.4 * mass, inertia=1e-4 * mass * length**2, position=(a + b + 0.3 * c, 0.0)),
            Revolute("main", "ground", "crank", at_b=(-a / 2, 0.0)),
            Revolute("big", "crank", "rod", at_a=(a / 2, 0.0), at_b=(-b / 2, 0.0)),
            RevoluteClearance("pin", "rod", "slider", at_a=(b / 2, 0.0), clearance=c, radius=0.01 * length,
                              contact=law),
            Prismatic("slide", "ground", "slider"),
            Gravity(acceleration=(0.0, -9.81 * length / time**2)),
            Torque("motor", "crank", torque=2.0 * mass * length**2 / time**2),
        ],
    ).build()  # fmt: skip


#: m, kg and s of a unit of length, mass and time
UNITS = {"SI": (1.0, 1.0, 1.0), "mm, kg, ms": (1e3, 1.0, 1e3), "10 um, ug, 0.1 ms": (1e-5, 1e-9, 1e-4)}


@pytest.mark.filterwarnings("ignore::nonsmooth.ModelWarning")  # of units that are not SI
@pytest.mark.parametrize("restitution", [0.5, 0.0])
@pytest.mark.parametrize("scheme", ["moreau-jean", "landing", "event-driven"])
def test_of_units(scheme, restitution):
    """The same steps and rows in any units. With e = 0 the only impact is followed by a contact that lasts 3000 steps;
    a step between which it opens is no impact."""
    found = []
    for length, mass, time in UNITS.values():
        system = slider_crank(length, mass, time, restitution)
        steps = {
            "moreau-jean": [(MoreauJean(), dt * time) for dt in (1e-5, 2.5e-6, 2e-6)],
            "landing": [(GaussQP(), Landing(1e-6 * time, dt * time)) for dt in (5e-5, 1e-5)],
            "event-driven": [
                (EventDriven(), ErrorControl(1e-7, 1e-9 * length, 1e-6 * time, 1e-3 * time)),
                (EventDriven(), ErrorControl(1e-10, 1e-12 * length, 1e-6 * time, 5e-4 * time)),
                (EventDriven(), ErrorControl(1e-11)),  # in which the other numbers follow from the system
            ],
        }[scheme]
        runs = [simulate(system, stepper, t_end=0.03 * time, dt=dt) for stepper, dt in steps]
        found.append([len(impacts(run)) for run in runs])
        # of impulses below 1 % of the fastest approach, the shortest flight that is resolved decides
        assert all(count <= len(run.impacts) <= 20 for count, run in zip(found[-1], runs, strict=True))
    assert found[0] == found[1] == found[2]
    # Moreau-Jean's steps of 10 us resolve five of the seven bounces, those of 2.5 us six: the last take 20 and 10 us
    bounces = {"moreau-jean": [5, 6, 7], "landing": [7, 7], "event-driven": [7, 7, 7]}[scheme]
    assert found[0] == (bounces if restitution else [1] * len(bounces))


def test_lasting_contact_is_no_impact():
    """Moreau-Jean keeps the pin, whose normal turns, in contact by an impulse in each step: none of them is a row, and
    all of them are forces, though many are larger than the one before."""
    run = simulate(slider_crank(*UNITS["SI"], 0.5), MoreauJean(), t_end=0.03, dt=2e-6)
    assert len(run.impacts) <= 8 and np.count_nonzero(run.P_N["pin"]) > 10_000
    assert run.impacts["t"].max() < 2e-3, "after that the pin rests in its bearing"
    # later some steps omit an impulse, and the next makes up for it
    late, force = slice(1000, 14_000), run.lam_N["pin"]
    np.testing.assert_allclose(2e-6 * force[late], run.P_N["pin"][late], rtol=1e-9)
    assert np.mean(np.diff(force[late]) > 0.0) > 0.4


def test_round_off_is_no_impact():
    """A block that rests on two corners and is pushed aside: its impulses are those of its weight."""
    law = Rigid(restitution=0.5, friction=0.3)
    body = PlanarBody("block", mass=2.0, inertia=0.1, position=(0.0, 0.1))
    feet = [
        PointPlane(name, "ground", body, at_b=(x, -0.1), contact=law) for name, x in (("left", -0.2), ("right", 0.2))
    ]
    system = Model([Ground(), body, *feet, Gravity(acceleration=(1.0, -9.81))]).build()
    for stepper, dt in ((EventDriven(), ErrorControl(1e-9)), (MoreauJean(), 1e-3), (GaussQP(), Landing(1e-6, 1e-3))):
        assert len(simulate(system, stepper, t_end=0.1, dt=dt).impacts) == 0


def ball_between_walls():
    """Of 1 kg, 1 m/s and restitution 1, with 0.1 m between the walls: one flight of 0.1 s between two impacts."""
    model, elastic = Model(), Rigid(restitution=1.0, friction=0.0)
    model.add(Ground())
    model.add(PlanarBody("ball", mass=1.0, inertia=0.01, velocity=(0.0, 1.0)))
    model.add(PointPlane("low", "ground", "ball", at_a=(0.0, -0.05), contact=elastic))
    model.add(PointPlane("high", "ground", "ball", at_a=(0.0, 0.05), direction=np.pi, contact=elastic))
    return model.build()


@pytest.mark.filterwarnings("ignore:.*gravity:nonsmooth.ModelWarning")
@pytest.mark.parametrize(
    ("stepper", "dt", "record"),
    [
        (None, None, 1),
        (GaussQP(), Landing(1e-6, 1.0), 1),
        (GaussQP(), Landing(1e-6, 1.0), 3),
        (EventDriven(), ErrorControl(1e-8, 1e-10, 1e-6, 1.0), 1),
    ],
    ids=["chosen", "landing", "landing, every third row", "event-driven"],
)
def test_equal_flights_between_impacts_are_no_lasting_contact(monkeypatch, tmp_path, stepper, dt, record):
    """Each step ends with the next impact, so that steps and impulses are equal: only the first three were impacts.

    A run that goes on after a checkpoint has the same table.
    """
    monkeypatch.setattr("nonsmooth.trajectory.recorder.WAITING", 10)  # rows are omitted long before the end
    monkeypatch.setattr("nonsmooth.trajectory.recorder.AT_ONCE", 16)
    system, arguments = ball_between_walls(), {"t_end": 100.0, "dt": dt, "record": record}
    run = simulate(system, stepper, **arguments)
    assert run.impacts["t"] == pytest.approx(0.05 + 0.1 * np.arange(1000), abs=1e-8)
    assert run.impacts["P_N"] == pytest.approx(np.full(1000, 2.0), rel=1e-8)
    if record == 1:
        assert len(impacts(run)) == 1000
    with pytest.raises(SimulationFailed):
        simulate(system, stepper, **arguments, max_steps=50, checkpoint=tmp_path / "run.nc")
    again = simulate(system, stepper, **arguments, checkpoint=tmp_path / "run.nc")
    assert again.impacts.tobytes() == run.impacts.tobytes()


def test_an_approach_that_steps_resolve_is_no_load():
    """Steps of 0.1 s under 10 m/s^2: what approaches by 1 m/s per step is loaded up to 2.5 of them, and only where
    they are of one length."""
    constant, varied = np.full(6, 0.1), np.array([0.1, 0.1, 0.1, 0.05, 0.05, 0.05])
    approach = np.array([-1.0, -2.4, -2.6, -20.0])[:, None]
    assert loaded(approach, approach + 1.0, constant)[:, 0].tolist() == [True, True, False, False]
    assert loaded(approach, approach + 1.0, varied)[:, 0].tolist() == [True, False, False, False]
    start = np.array([0.0, 0.0, 0.0, 0.1, 0.1, 0.1])  # the row of the start has no length
    assert loaded(np.full((4, 1), -1.0), np.zeros((4, 1)), start)[:, 0].tolist() == [False, True, True, True]
    assert loaded(np.full((2, 1), -1.0), np.zeros((2, 1)), start[:4])[:, 0].tolist() == [False, False]
