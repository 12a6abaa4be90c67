"""Flexible bodies in drawings: bent as they are, by the factor that is said, and held where joints hold them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from nonsmooth import (
    Fixed,
    Ground,
    InputError,
    Model,
    MoreauJean,
    PlanarFlexibleBody,
    SpatialFlexibleBody,
    Spherical,
    Trajectory,
    plots,
    simulate,
)
from nonsmooth.diagnostics import node_positions
from nonsmooth.flexible import Material, Rectangle, assemble, beam, modes
from nonsmooth.plots.drawing import drawing_of_run, drawing_of_state, magnified
from nonsmooth.plots.panel import chosen_panels
from nonsmooth_problems import beam_on_stop, flexible_slider_crank

STEEL = Material(youngs=2.1e11, shear=8e10, density=7850.0)


@pytest.fixture(scope="module")
def crank() -> Trajectory:
    """Half a turn of the slider-crank with a flexible rod and a loose pin."""
    return simulate(flexible_slider_crank(elements=2).build(), MoreauJean(), t_end=0.02, dt=1e-4)


def test_a_cantilever_is_drawn_as_the_cubic_that_it_is() -> None:
    """Under a force at its tip w = delta (3 L x^2 - x^3) / (2 L^3): drawn so many times, its clamp where it is."""
    drawing, L = drawing_of_state(beam_on_stop().build(), None), 0.3
    for factor in (1.0, 7.0):
        x, w = drawing.curves("beam", factor)[0].T
        known = ~np.isnan(x)
        # curves leave out what nodes move by as the beam shortens, of the order of w^2 / L = 3e-5 m
        cubic = 3e-3 * factor * (3 * L * x**2 - x**3) / (2 * L**3)
        assert w[known] == pytest.approx(cubic[known], abs=3e-4 * 3e-3 * factor + 2e-6 * factor**2)
        assert (x[0], w[0]) == pytest.approx((0.0, 0.0), abs=5e-6)


def test_ends_in_joints_stay_closed_at_any_factor(crank: Trajectory) -> None:
    t = np.linspace(0.0, crank.t[-1], 7)
    drawing = drawing_of_run(crank, t)
    true = drawing.curves("rod", 1.0)
    large = drawing.curves("rod", 50.0)
    for end in (0, -2):  # a gap stands behind the last point
        assert large[:, end] == pytest.approx(true[:, end], abs=1e-12)
    middle = true.shape[1] // 2
    assert np.max(np.abs(large[:, middle] - true[:, middle])) > 1e-3


def test_symbols_move_with_their_nodes(crank: Trajectory) -> None:
    """The node in the middle is drawn fifty times as far off the line between the ends; those of joints are not."""
    t = crank.t[::40]
    drawing, factor = drawing_of_run(crank, t), 50.0
    before = {node: drawing.placed.position(f"rod.{node}").copy() for node in ("knee", "middle", "pin")}
    assert before["middle"] == pytest.approx(node_positions(crank, "rod.middle")[::40], abs=1e-12)
    drawing.deform(factor)
    after = {node: drawing.placed.position(f"rod.{node}") for node in before}
    for node in ("knee", "pin"):
        assert after[node] == pytest.approx(before[node], abs=1e-12)
    # deflection across the chord; what shortening moves the middle along it is not magnified
    off = [x["middle"] - (x["knee"] + x["pin"]) / 2 for x in (before, after)]
    chord = before["pin"] - before["knee"]
    across = [one[:, 0] * chord[:, 1] - one[:, 1] * chord[:, 0] for one in off]
    assert np.max(np.abs(across[0])) > 1e-6
    assert across[1] == pytest.approx(factor * across[0], abs=2e-3 * factor * np.max(np.abs(across[0])))


def test_the_factor_is_readable_and_said(crank: Trajectory) -> None:
    film = plots.animation(crank, frames=9)
    drawing = drawing_of_run(crank, film.t)
    rod = drawing.flexible["rod"]
    largest = rod.largest(drawing.placed.amplitudes["rod"])
    assert 0.08 * 0.3 / 2.5 < film.deformation * largest <= 0.08 * 0.3
    said = " ".join(text.get_text() for text in film.figure.texts)
    assert f"deformation {film.deformation:g} times its size" in said
    assert plots.animation(crank, frames=3, deformation=3.0).deformation == 3.0
    assert magnified(0.0, 0.0) == "" and magnified(1.0, 0.0) == magnified(0.0, 1.0) == "drawn to scale"


def test_the_line_bends_in_the_picture(crank: Trajectory) -> None:
    film = plots.animation(crank, frames=9, deformation=40.0)
    film.draw(8)
    rod = next(line for line in film.axes.get_lines() if line.get_label() == "rod")
    x, y = np.asarray(rod.get_data(), float)
    seen = drawing_of_run(crank, film.t).curves("rod", 40.0)[8]
    assert np.array_equal(np.column_stack([x, y]), seen, equal_nan=True)
    assert len(x) == 2 * (6 + 1)  # two elements


@pytest.mark.parametrize("deformation", [0.0, -1.0, np.inf])
def test_factors_that_are_refused(crank: Trajectory, deformation: float) -> None:
    with pytest.raises(InputError, match="deformation must be a positive factor"):
        plots.animation(crank, deformation=deformation)
    with pytest.raises(InputError, match="deformation must be a positive factor"):
        plots.sketch(flexible_slider_crank().build(), deformation=deformation)


def test_a_sketch_says_it_where_something_is_bent() -> None:
    def texts(figure: Any) -> str:
        return " ".join(text.get_text() for axes in figure.axes for text in axes.texts)

    assert "deformation drawn 5 times its size" in texts(plots.sketch(beam_on_stop().build()))
    assert "deformation drawn 2 times" in texts(plots.sketch(beam_on_stop().build(), deformation=2.0))
    assert "deformation" not in texts(plots.sketch(flexible_slider_crank().build()))  # straight at the start


def test_a_frame_in_space_follows_its_beams() -> None:
    """A corner of two beams held by a ball: lines along both, none between their ends."""
    post = beam((0, 0, 0), (0, 0, 0.4), section=Rectangle(0.01, 0.01), material=STEEL, elements=3, prefix="post",
                names={"foot": 0, "corner": 1})  # fmt: skip
    arm = beam((0, 0, 0.4), (0, 0.2, 0.4), section=Rectangle(0.01, 0.01), material=STEEL, elements=2, prefix="arm",
               names={"corner": 0, "hand": 1})  # fmt: skip
    found = modes(assemble(post, arm), interface=["foot", "hand"], keep=2, damping=0.01)
    eta = np.zeros(found.count)
    eta[0] = 5e-4
    body = SpatialFlexibleBody("corner", found, position=tuple(found.centre), deformation=eta)
    model = Model([Ground(), body, Spherical("ball", "ground", "corner.foot")])
    drawing = drawing_of_state(model.build(assemble=True), None)
    curves = drawing.curves("corner", 1.0)[0]
    assert np.count_nonzero(np.isnan(curves[:, 0])) == 5  # as many curves as elements
    for node in found.names:
        place = drawing.placed.position(f"corner.{node}")[0]
        # shortening by bending, 5e-6 m here, is in the nodes and not in the curves
        assert np.nanmin(np.linalg.norm(curves - place, axis=1)) < 2e-5
    names = plots.sketch(model.build(assemble=True)).axes[-1].texts
    assert "deformation drawn" in " ".join(text.get_text() for text in names)


def test_held_bodies_of_every_kind() -> None:
    """The undeflected part is a rigid motion where one node holds the body, none where nothing does."""
    shape = beam((0, 0, 0), (0.3, 0, 0), section=Rectangle(0.01, 0.02), material=STEEL, elements=3)
    found = modes(shape, interface=["start", "end"], keep=1, damping=0.0)
    free = Model([Ground(), PlanarFlexibleBody("rod", found)])
    rod = drawing_of_state(free.build(), None).flexible["rod"]
    assert not np.any(rod.nodes_moved) and np.array_equal(rod.nodes_bent, rod.modes.translations)
    welded = Model([Ground(), PlanarFlexibleBody("rod", found, position=(0.15, 0.0))])
    welded.add(Fixed("weld", "ground", "rod.start"))
    rod = drawing_of_state(welded.build(), None).flexible["rod"]
    start, arm = rod.modes.node("start"), rod.modes.places - rod.modes.places[0]
    turned = rod.modes.rotations[start, 2]
    assert rod.nodes_moved[:, 0] == pytest.approx(np.tile(rod.modes.translations[start, 0], (4, 1)), abs=1e-9)
    wanted = rod.modes.translations[start, 1] + arm[:, :1] * turned
    assert rod.nodes_moved[:, 1] == pytest.approx(wanted, rel=1e-9, abs=1e-9)


def test_modal_amplitudes_in_figures(crank: Trajectory) -> None:
    """By their name, in a readable unit, and in the panels of a mechanism that has none of its own."""
    first = np.max(np.abs(crank.q["rod.eta1"]))
    figure = crank.plot("rod.eta1")
    (axes,) = (one for one in figure.axes if one.get_lines())
    assert axes.get_ylabel() == "modal amplitude [µm kg^1/2]"
    drawn = max(np.nanmax(np.abs(line.get_ydata())) for line in axes.get_lines())
    assert drawn == pytest.approx(1e6 * first, rel=0.05)  # between rows a cubic may reach farther
    own = dataclasses.replace(crank, manifest={**crank.manifest, "model": {**crank.manifest["model"], "problem": None}})
    titles = [panel.title for panel in chosen_panels(own)]
    assert any(title.startswith("Modal amplitude") for title in titles)
