"""Figures are checked by what they contain: lines, limits, units."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pytest

from nonsmooth import (
    GaussQP,
    Gravity,
    Ground,
    Landing,
    Model,
    PlanarBody,
    PointPlane,
    PrescribedMotion,
    Prismatic,
    Rigid,
    SpatialBody,
    plots,
    simulate,
)
from nonsmooth.exceptions import InputError
from nonsmooth.model.state import State
from nonsmooth.plots import Panel
from nonsmooth.plots.labels import display, scale
from nonsmooth.plots.panel import dense, energies_before
from nonsmooth.trajectory import IMPACT_COLUMNS, Certificate, Columns, EnergyLedger, Left, Trajectory
from nonsmooth_problems import slider_rod
from nonsmooth_problems.slider_rod_exact import CONTACTS, case

NAMES = ("slider.x", "slider.y", "slider.angle")
HEIGHT = Panel("Height", "um", (("q", "slider.y", "centre"),))


def sampled(exact, n=40):
    """A trajectory whose rows are the exact solution, with a row at each of the first impacts."""
    t = np.union1d(np.linspace(0.0, 4e-3, n), exact.events[:5])
    left, right = exact.sample(t, "left"), exact.sample(t, "right")
    impulse = np.column_stack([right.impulse[name] for name in CONTACTS])
    before = np.column_stack([left.impulse[name] for name in CONTACTS])
    P_N = np.diff(impulse, axis=0, prepend=0.0)
    lam_N = np.zeros_like(P_N)
    lam_N[1:] = (P_N - (impulse - before))[1:] / np.diff(t)[:, None]
    hits = [hit for hit in exact.impacts if hit.t in exact.events[:5]]
    impacts = np.zeros(
        len(hits), [("t", "f8"), ("contact", "U20"), *((name, "f8") for name in IMPACT_COLUMNS if name != "t")]
    )
    impacts["t"], impacts["contact"] = [hit.t for hit in hits], [hit.contact for hit in hits]

    def motion(values, units):
        return Columns("coordinate", NAMES, np.column_stack([values[name] for name in NAMES]), units)

    def contacts(values, unit):
        return Columns("contact", CONTACTS, values, [unit] * 4)

    terms = (
        "kinetic",
        "potential",
        "work_loads",
        "work_drivers",
        "loss_impacts",
        "loss_contact",
        "loss_friction",
        "loss_damping",
        "remainder",
    )
    none = Columns("reaction", (), np.zeros((len(t), 0)), ())
    return Trajectory(
        t=t,
        q=motion(right.q, ("m", "m", "rad")),
        v=motion(right.v, ("m/s", "m/s", "rad/s")),
        left=Left(motion(left.v, ("m/s", "m/s", "rad/s")), contacts(0 * P_N, "m/s")),
        gap=contacts(np.column_stack([right.gap[name] for name in CONTACTS]), "m"),
        gap_rate=contacts(0 * P_N, "m/s"),
        P_N=contacts(P_N, "N s"),
        P_T=contacts(0 * P_N, "N s"),
        lam_N=contacts(lam_N, "N"),
        mode=contacts(np.zeros(P_N.shape, np.int8), "1"),
        reaction=none,
        reaction_impact=none,
        energy=Columns("energy term", terms, np.zeros((len(t), len(terms))), ["J"] * len(terms)),
        impacts=impacts,
        certificate=Certificate(0.0, 0.0, 0.0, 0.0, EnergyLedger(*[0.0] * len(fields(EnergyLedger)))),
        counts={},
        manifest={},
        status="finished",
        end=State(t[-1], np.zeros(3), np.zeros(3)),
        wall_seconds=0.0,
    )


@pytest.fixture(scope="module")
def exact():
    return case(2, restitution=0.0)


@pytest.fixture(scope="module")
def trajectory(exact):
    return sampled(exact)


def points(line):
    """Of an interpolated line the left and the right limits at the rows, which are its dots."""
    return line.get_xdata()[line.get_markevery()], line.get_ydata()[line.get_markevery()]


def shown(figure):
    return [axis for axis in figure.axes if axis.get_visible()]


def test_panels_are_drawn_in_their_units(trajectory):
    figure = plots.panels(trajectory, [HEIGHT])
    (axis,) = shown(figure)
    line = axis.lines[0]
    assert axis.get_title("left") == "Height"
    assert axis.get_ylabel() == "position [\N{MICRO SIGN}m]"
    assert axis.get_xlabel() == "time [ms]"
    x, y = points(line)
    np.testing.assert_allclose(x[::2], trajectory.t * 1e3)
    np.testing.assert_allclose(y[::2], trajectory.q["slider.y"] * 1e6)


def test_a_plain_tuple_is_a_panel(trajectory):
    axis = shown(plots.motion(trajectory, [("Height", "um", (("q", "slider.y", "centre"),))]))[0]
    assert axis.get_title("left") == "Height"


def test_a_velocity_runs_through_both_limits(trajectory):
    panel = Panel("Velocity", "mm/s", (("v", "slider.y", "centre"),))
    line = shown(plots.panels(trajectory, [panel]))[0].lines[0]
    np.testing.assert_allclose(line.get_ydata()[0::2], trajectory.left.v["slider.y"] * 1e3)
    np.testing.assert_allclose(line.get_ydata()[1::2], trajectory.v["slider.y"] * 1e3)


def test_a_mean_force_is_constant_over_its_step(trajectory):
    panel = Panel("Force", "N", (("lam_N", CONTACTS[2], "right"),))
    y = shown(plots.panels(trajectory, [panel]))[0].lines[0].get_ydata()
    force = trajectory.lam_N[CONTACTS[2]]
    np.testing.assert_array_equal(y[1:-1:2], force[1:])
    np.testing.assert_array_equal(y[2::2], force[1:])


def test_the_exact_solution_lies_on_a_sampled_run(trajectory, exact):
    kinds = ("gap", "lam_N", "impulse")
    panels = [Panel(kind, "", ((kind, CONTACTS[2], "right"),)) for kind in kinds]
    for axis, kind in zip(shown(plots.panels(trajectory, panels, exact=exact)), kinds, strict=True):
        run, truth = axis.lines[:2]
        assert truth.get_linewidth() < run.get_linewidth()
        assert truth.get_linestyle() == "--"
        # compare right limits at the rows; a force is a mean over its step
        t, y = truth.get_xdata()[1::2], truth.get_ydata()[1::2]
        if kind != "lam_N":
            error = np.interp(run.get_xdata()[1::2], t, y) - run.get_ydata()[1::2]
            assert np.median(np.abs(error)) < 1e-3 * np.ptp(y)


def test_a_function_is_drawn_of_run_and_exact_solution(trajectory, exact):
    def left_end(view):
        return view.q["slider.y"] - 0.01 * np.sin(view.q["slider.angle"])

    axis = shown(plots.panels(trajectory, [Panel("Left end", "um", ((left_end, "left end"),))], exact=exact))[0]
    run, truth = axis.lines[:2]
    np.testing.assert_allclose(points(run)[1][1::2], (trajectory.gap[CONTACTS[0]] - 10e-6) * 1e6, atol=1e-9)
    assert truth.get_ydata()[-1] == pytest.approx(-10.0)


def test_between_rows_a_parabola_is_exact(exact):
    # eight rows: start, middle, end and five impacts, between which case 2 flies in parabolas; found 8e-18 m, 3e-16 rad
    coarse = sampled(exact, n=3)

    def left_end(view):
        return view.q["slider.y"] - 0.01 * np.sin(view.q["slider.angle"])

    height, tilt = (
        Panel(name, unit, (("q", name, ""),)) for name, unit in (("slider.y", "m"), ("slider.angle", "rad"))
    )
    axes = shown(plots.panels(coarse, [height, tilt, Panel("Left end", "m", ((left_end, ""),))]))
    for axis, value in zip(axes, (lambda s: s.q["slider.y"], lambda s: s.q["slider.angle"], left_end), strict=True):
        t, y = axis.lines[0].get_data()
        # the impacts after the fifth have no rows here
        early = t * 1e-3 <= exact.events[4]
        assert len(coarse.t) == 8 and np.count_nonzero(early) > 1000
        np.testing.assert_allclose(y[early], value(exact.sample(t[early] * 1e-3)), rtol=0.0, atol=1e-12)


def test_what_is_no_smooth_motion_is_straight_between_rows(exact):
    def chords(trajectory):
        axis = shown(plots.panels(trajectory, [Panel("Height", "m", (("q", "slider.y", "centre"),))]))[0]
        t, y = axis.lines[0].get_xdata() * 1e-3, axis.lines[0].get_ydata()
        return np.max(np.abs(y - np.interp(t, trajectory.t, trajectory.q["slider.y"])))

    system = slider_rod(case=1).build()
    # implicit Euler moves with the velocity of the step's end; a cubic would dip 2 um into the rod
    assert chords(simulate(system, GaussQP(), t_end=4e-3, dt=1e-3)) < 1e-18
    # kept rows 0, 4: the impact lies between them
    sparse = simulate(system, GaussQP(), t_end=3e-3, dt=Landing(1e-6, 1e-3), record=100)
    assert len(sparse.t) == 2 and chords(sparse) < 1e-18
    landed = simulate(system, GaussQP(), t_end=3e-3, dt=Landing(1e-6, 1e-3))
    assert chords(landed) == pytest.approx(9.81 * 1e-3**2 / 8, rel=1e-3)  # the sagitta of the first step


def test_a_quaternion_is_curved_as_a_position_is():
    top = SpatialBody("top", mass=1.0, inertia=(1.0, 1.0, 1.0), angular_velocity=(0.0, 0.0, 2.0))
    system = Model([top, Gravity(acceleration=(0.0, 0.0, -9.81))]).build()
    run = simulate(system, GaussQP(), t_end=0.2, dt=Landing(0.1, 0.1))
    _, view = dense(run)
    # of entries sin and cos of half the angle in the middle of the step where they are largest
    entries = [(name, 0.1**2 / 8 * size) for name, size in (("top.qz", np.sin(0.15)), ("top.qw", np.cos(0.05)))]
    for name, sagitta, error in (("top.z", 9.81 * 0.1**2 / 8, 1e-5), *((*one, 5e-3) for one in entries)):
        chord = np.interp(view.t, run.t, run.q[name])
        # the nearest point to the middle of a step is 0.04 % of it away; the scheme's rotation by 2 atan(0.1) per step
        # in place of 0.2 is 0.3 % short
        assert np.max(np.abs(view.q[name] - chord)) == pytest.approx(sagitta, rel=error)
    assert view.q["top.qw"] ** 2 + view.q["top.qz"] ** 2 == pytest.approx(1.0, abs=1e-5)


def test_a_flat_panel_takes_the_scale_of_its_like():
    flat = sampled(case(1, restitution=0.0))
    forces = [Panel(wall, "N", (("lam_N", f"guide.left_{wall}", wall),)) for wall in ("lower", "upper")]
    lower, upper = shown(plots.panels(flat, forces))
    assert upper.get_ylim() == lower.get_ylim()
    (alone,) = shown(plots.panels(flat, forces[1:]))
    assert (alone.get_ylim(), list(alone.get_yticks())) == ((-1.0, 1.0), [0.0])


def test_equal_legends_are_shown_once(trajectory):
    def both(title, wall):
        return Panel(title, "N", tuple(("lam_N", f"guide.{end}_{wall}", end) for end in ("left", "right")))

    first, second = shown(plots.panels(trajectory, [both("lower", "lower"), both("upper", "upper")]))
    assert first.get_legend() is not None and second.get_legend() is None


def test_panels_beside_the_last_of_a_column_have_times(trajectory):
    axes = shown(plots.panels(trajectory, [HEIGHT] * 5))
    axes[0].figure.canvas.draw()
    timed = [any(label.get_visible() and label.get_text() for label in axis.get_xticklabels()) for axis in axes]
    assert timed == [False, False, True, True, True]
    assert [axis.get_xlabel() for axis in axes] == ["", "", *["time [ms]"] * 3]


def test_impacts_are_marked_where_they_belong(trajectory):
    panels = [HEIGHT, Panel("Left gap", "um", (("gap", CONTACTS[0], "left"),))]
    all_, left = shown(plots.panels(trajectory, panels))
    np.testing.assert_allclose(all_.lines[-1].get_xdata(), np.unique(trajectory.impacts["t"]) * 1e3)
    own = trajectory.impacts["t"][trajectory.impacts["contact"] == CONTACTS[0]]
    np.testing.assert_allclose(left.lines[-1].get_xdata(), np.unique(own) * 1e3)


def test_without_panels_what_moves_and_what_pushes_is_shown(trajectory):
    """After 4 ms the slider has moved by 80 um along and 10 um across the rod, which one panel can show."""
    titles = [axis.get_title("left") for axis in shown(plots.motion(trajectory))]
    assert titles == [
        "Positions", "Angles: slider.angle", "Velocities", "Contact forces", "Gaps of guide",
    ]  # fmt: skip


def test_round_off_is_not_magnified():
    flat = sampled(case(1, restitution=0.0))
    axis = shown(plots.panels(flat, [Panel("Angle", "", (("q", "slider.angle", "angle"),))]))[0]
    assert axis.get_ylim() == (-1.0, 1.0)
    assert axis.get_ylabel() == "angle [rad]"


def test_contacts_share_a_scale_per_column(trajectory, exact):
    axes = shown(plots.contact(trajectory, exact=exact))
    assert len(axes) == 12
    assert len({axis.get_ylim() for axis in axes[::3]}) == 1
    assert [axis.get_ylabel() for axis in axes[:3]] == ["gap [\N{MICRO SIGN}m]", "contact force [N]", "impulse [mN s]"]
    assert (
        len(shown(plots.contact(trajectory, [CONTACTS[2]]))) == len(shown(plots.contact(trajectory, CONTACTS[2]))) == 3
    )


def test_energy_has_its_four_panels(trajectory):
    titles = [axis.get_title("left") for axis in shown(plots.energy(trajectory))]
    assert titles == ["Energy", "Work", "Losses", "Remainder"]


@pytest.mark.slow
def test_figures_are_written_and_pyplot_is_untouched(trajectory, exact, tmp_path):
    import sys

    before = "matplotlib.pyplot" in sys.modules
    for suffix in ("png", "pdf", "svg"):
        plots.contact(trajectory, exact=exact).savefig(tmp_path / f"figure.{suffix}")
        assert (tmp_path / f"figure.{suffix}").stat().st_size > 1000
    assert ("matplotlib.pyplot" in sys.modules) == before


@pytest.mark.parametrize(
    ("panel", "message"),
    [
        (Panel("P", "um", (("w", "slider.y", "y"),)), "no kind 'w' of quantity"),
        (Panel("P", "um", (("q", "slider.z", "z"),)), "no coordinate 'slider.z'"),
        (Panel("P", "N", (("q", "slider.y", "y"),)), 'Panel "P": y is in m, which cannot be shown in N'),
        (Panel("P", "furlong", (("q", "slider.y", "y"),)), "Unknown unit 'furlong'"),
        (Panel("P", "", (("q", "slider.y", "y"), ("q", "slider.angle", "a"))), "cannot find a unit for m, rad"),
        (Panel("P", "um", (("q", "slider.y"),)), r"a series is \(kind, name, label\) or \(function, label\)"),
    ],
)
def test_what_cannot_be_drawn_is_named(trajectory, panel, message):
    with pytest.raises(InputError, match=message):
        plots.panels(trajectory, [panel])


def test_arguments_are_checked(trajectory):
    with pytest.raises(InputError, match="nothing to draw"):
        plots.panels(trajectory, [])
    with pytest.raises(InputError, match="A panel is Panel.* got 'slider.y'"):
        plots.panels(trajectory, ["slider.y"])
    with pytest.raises(InputError, match="exact must be a solution"):
        plots.panels(trajectory, [HEIGHT], exact=case)
    with pytest.raises(InputError, match="no contact to draw"):
        plots.contact(trajectory, [])


@pytest.mark.parametrize(
    ("unit", "peak", "expected"),
    [("m", 2e-5, "um"), ("N", 30.0, "N"), ("N s", 0.05, "mN s"), ("m", 0.0, "m"), ("J", 3e-20, "J"), ("N", 4e3, "kN")],
)
def test_units_are_readable(unit, peak, expected):
    assert display(unit, peak)[0] == expected


@pytest.mark.parametrize(
    ("unit", "expected"),
    [
        ("um", ("m", 1e-6)),
        ("m", ("m", 1.0)),
        ("mm/s", ("m/s", 1e-3)),
        ("mN s", ("N s", 1e-3)),
        ("deg", ("rad", np.pi / 180)),
    ],
)
def test_a_prefix_is_not_mistaken_for_a_unit(unit, expected):
    assert scale(unit) == expected


def test_energy_before_an_impact_in_which_a_driver_works():
    """A ball falls on a platform that is lifted at 3 m/s: it arrives with (0.2 m by an approach of sqrt(4^2 + 2 g h))
    3 - sqrt(20) m/s, and what the lift does in the impact is not energy before it."""
    lift = 3.0
    model = Model([
        Ground(),
        PlanarBody("platform", mass=2.0, inertia=1.0, velocity=(0.0, lift)),
        Prismatic("guide", "ground", "platform", direction=np.pi / 2),
        PrescribedMotion("lift", "ground", "platform", coordinate="y", motion=lambda t: lift * t),
        PlanarBody("ball", mass=1.0, inertia=1.0, position=(0.0, 0.2), velocity=(0.0, -1.0)),
        PointPlane("floor", "platform", "ball", contact=Rigid(restitution=0.5, friction=0.0)),
        Gravity(acceleration=(0.0, -10.0)),
    ])  # fmt: skip
    run = simulate(model.build(), GaussQP(), t_end=0.1, dt=Landing(1e-9, 1e-3))
    row = int(np.flatnonzero(run.t == run.impacts["t"][0])[0])
    before = dict(zip(run.energy.names, energies_before(run)[row], strict=True))
    assert before["kinetic"] == pytest.approx(0.5 * 2.0 * lift**2 + 0.5 * (lift - np.sqrt(20.0)) ** 2, rel=1e-8)
    assert before["loss_impacts"] == 0.0 < run.energy["loss_impacts"][row]
    signs = np.array([1, 1, -1, -1, 1, 1, 1, 1, 0])  # what work has given is stored or lost
    assert run.energy.names[2:5] == ("work_loads", "work_drivers", "loss_impacts")
    assert energies_before(run)[row] @ signs == pytest.approx(run.energy.array[row] @ signs, rel=1e-9)
