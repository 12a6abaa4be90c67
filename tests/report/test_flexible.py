"""Flexible bodies on a page: their nodes are where the run has them, and a slider bends them more."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nonsmooth import MoreauJean, Trajectory, simulate
from nonsmooth.diagnostics import node_positions
from nonsmooth.plots.drawing import drawing_of_run
from nonsmooth.report import write
from nonsmooth.report.run_data import scene
from nonsmooth_problems import flexible_slider_crank, six_rss


@pytest.fixture(scope="module")
def crank() -> Trajectory:
    """Half a turn of the slider-crank with a flexible rod and a loose pin."""
    return simulate(flexible_slider_crank(elements=2).build(), MoreauJean(), t_end=0.02, dt=1e-4)


@pytest.fixture(scope="module")
def robot() -> Trajectory:
    """The 6-RSS robot with flexible rods, until its first impacts have bent them."""
    return simulate(six_rss(flexible=True).build(), MoreauJean(), t_end=0.015, dt=5e-4)


def data_of(run: Trajectory) -> dict[str, Any]:
    return scene(drawing_of_run(run, run.t), tuple(run.q.names), tuple(run.gap.names))


def test_what_a_page_is_given(crank: Trajectory) -> None:
    """Its curves, from their numbers alone, are those of the animation; a rigid body has none."""
    data = data_of(crank)
    bodies = {one["name"]: one for one in data["bodies"]}
    assert "flexible" not in bodies["crank"] and data["deformation"] > 1.0
    rod = bodies["rod"]["flexible"]
    eta = crank.q.array[:, rod["eta"]]
    field = np.reshape(rod["moved"], (-1, 3, eta.shape[1])) + 20.0 * np.reshape(rod["bent"], (-1, 3, eta.shape[1]))
    local = np.array(rod["places"]) + np.einsum("kdm,nm->nkd", field, eta)
    drawing = drawing_of_run(crank, crank.t)
    wanted = drawing.flexible["rod"].points(eta, 20.0)
    wanted = wanted[:, ~np.isnan(wanted[0, :, 0])]
    # the page has six digits of modes, of deflections of centimetres here
    assert local == pytest.approx(wanted, abs=1e-6)


def nodes_on_the_page(page: Any, run: Trajectory, row: int, factor: float) -> dict[str, list[float]]:
    script = f"[...nonsmooth.runs[0].frames({row}, {float(run.t[row])!r}, {factor})].map(([k, f]) => [k, f.p])"
    return dict(page.run(script))


@pytest.mark.slow
@pytest.mark.parametrize("which", ["crank", "robot"])
def test_nodes_are_where_they_are(browser: Any, tmp_path: Path, which: str, request: pytest.FixtureRequest) -> None:
    """As the body has them but for its shortening, of second order; and joints stay closed at any factor."""
    run = request.getfixturevalue(which)
    write(run, tmp_path / "run.html")
    browser.open(tmp_path / "run.html")
    assert not browser.console
    rod, ends = ("rod", ("knee", "pin")) if which == "crank" else ("rod1", ("knee", "ball"))
    row = len(run.t) - 2
    exact, large = (nodes_on_the_page(browser, run, row, factor) for factor in (1.0, 100.0))
    for node in ends:
        known = node_positions(run, f"{rod}.{node}")[row]
        assert exact[f"{rod}.{node}"][: len(known)] == pytest.approx(known, abs=2e-5)
        assert large[f"{rod}.{node}"] == pytest.approx(exact[f"{rod}.{node}"], abs=1e-7)
    assert {name for name in exact if name.startswith(f"{rod}.")} == {f"{rod}.{end}" for end in ends}
    # the middle of the rod, which is on its curve
    middle = f"nonsmooth.runs[0].frames({row}, {float(run.t[row])!r}, %s).get('{rod}').curves[0].at(5)"
    moved = np.subtract(browser.run(middle % 100.0), browser.run(middle % 1.0))
    assert np.linalg.norm(moved) > 1e-5


@pytest.mark.slow
def test_the_slider_of_deformations(browser: Any, crank: Trajectory, tmp_path: Path) -> None:
    write(crank, tmp_path / "run.html")
    browser.open(tmp_path / "run.html")
    browser.run(f"nonsmooth.clock.seek({float(crank.t[-20])!r})")
    picture = "document.querySelector('.stage canvas').toDataURL()"
    factor, before = browser.run("nonsmooth.options.deformation"), browser.run(picture)
    legend = "document.getElementById('legend').textContent"
    assert factor > 1.0 and f"deformations are drawn {factor:g} times their size" in browser.run(legend)
    browser.run("(() => { const s = document.getElementById('deformation'); s.value = '0';"
                "s.dispatchEvent(new Event('input')); })()")  # fmt: skip
    assert browser.run("nonsmooth.options.deformation") == 1
    assert "deformations as they are" in browser.run(legend) and browser.run(picture) != before
    assert not browser.console
