"""Sliders over runs: what their traits do in Python, and the sliders themselves in a browser with a model of ours."""

from __future__ import annotations

import base64
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import nonsmooth.report.notebook
from nonsmooth import ErrorControl, EventDriven, InputError, explore, simulate
from nonsmooth_problems import slider_crank_revolute

pytest.importorskip("anywidget")

ENDS = {"pin.clearance": ("10 um", "1 mm"), "slider.mass": (0.1, 0.3)}
GIVEN: dict[str, Any] = {"t_end": 2e-3, "dt": ErrorControl(rtol=1e-8, atol=1e-9, dt_min=1e-6, dt_max=1e-4)}


@pytest.fixture(scope="module")
def system() -> Any:
    return slider_crank_revolute().build()


def test_sliders_run_the_mechanism_anew(system: Any) -> None:
    """The first run is that of the system's own numbers, each further one that of `simulate`, bit by bit."""
    widget = explore(system, EventDriven(), parameters=ENDS, **GIVEN)
    assert widget.values == {name: system.parameters[name] for name in ENDS}
    assert list(widget.values.values()) == pytest.approx([5e-4, 0.14], rel=1e-14)
    documents, shown = [], []
    widget.observe(lambda change: shown.append((change["name"], change["new"])), names=["busy", "document"])
    for values in (None, {"pin.clearance": 1e-4}, {"pin.clearance": 1e-4, "slider.mass": 0.3}):
        if values:
            widget.values = {**widget.values, **values}
        run = simulate(system, EventDriven(), parameters=values, **GIVEN)
        assert widget.run.q.array.tobytes() == run.q.array.tobytes()
        assert widget.said.startswith("not checked: ") and not widget.busy
        documents.append(widget.document)
    assert len(set(documents)) == 3 and all('<body class="light">' in text for text in documents)
    order = [name if name == "document" else new for name, new in shown]
    assert order == [True, "document", False] * 2  # it says that it runs while it does


def test_a_model_and_a_figure(system: Any) -> None:
    widget = explore(slider_crank_revolute(), EventDriven(), parameters=ENDS, show=("orbit:pin", "gap:pin"), **GIVEN)
    before = widget.document
    assert before.count("data:image/svg+xml") == 1
    widget.values = {**widget.values, "pin.clearance": 2e-4}
    assert widget.document != before and widget.run.manifest["parameters"]["pin.clearance"]["value"] == 2e-4


def test_arguments_of_a_function_have_sliders() -> None:
    """The speed of the driver is no parameter of the mechanism, which is built anew for it."""
    ends: dict[str, Any] = {"crank_speed": ("1000 rpm", "4000 rpm"), "slider.mass": (0.1, 0.3)}
    widget = explore(slider_crank_revolute, EventDriven(), parameters=ends, **GIVEN)
    assert [one["unit"] for one in widget.sliders] == ["rad/s", "kg"]
    widget.values = {"crank_speed": "2000 rpm", "slider.mass": 0.2}
    speed = widget.values["crank_speed"]
    assert speed == pytest.approx(2000 * np.pi / 30, rel=1e-14)
    made = slider_crank_revolute(crank_speed=speed).build()
    run = simulate(made, EventDriven(), parameters={"slider.mass": 0.2}, **GIVEN)
    assert widget.run.q.array.tobytes() == run.q.array.tobytes()
    with pytest.raises(InputError, match='"contact" has no slider, since its default is no number, got Rigid'):
        explore(slider_crank_revolute, parameters={"contact": (1, 2)}, **GIVEN)
    with pytest.raises(InputError, match="The arguments speed need defaults"):
        explore(lambda speed: None, parameters={"speed": (1, 2)}, **GIVEN)
    with pytest.raises(InputError, match="explore takes a System, a Model or a function that makes one, got 3"):
        explore(3, parameters={"speed": (1, 2)}, **GIVEN)  # type: ignore[arg-type]


def test_values_without_a_run_say_why(system: Any) -> None:
    widget = explore(system, EventDriven(), parameters=ENDS, **GIVEN)
    last, kept = (widget.run, widget.document), " What is shown is of the run before."
    for values, said in (
        ({"pin.clearance": 2.0}, '"pin.clearance" must be a number from 1e-05 to 0.001, got 2.0.'),
        ({"pin.clearance": "x"}, "\"pin.clearance\" must be a number from 1e-05 to 0.001, got 'x'."),
        ({"pin": 1e-4}, 'There is no slider "pin"; there are pin.clearance, slider.mass.'),
    ):
        widget.values = values
        assert (widget.said, widget.run, widget.document, widget.busy) == (said + kept, *last, False)
    widget.values = {"slider.mass": 0.2}
    widget.values = {"pin.clearance": "0.1 mm"}  # others stay as they are
    assert widget.run is not None and widget.document
    assert widget.values == pytest.approx({"pin.clearance": 1e-4, "slider.mass": 0.2}, rel=1e-15)
    widget.values = {"pin.clearance": "1 kg"}
    assert widget.said == "\"pin.clearance\" must be a number from 1e-05 to 0.001, got '1 kg'." + kept
    far = explore(system, EventDriven(), parameters={"shaft.at_b_x": (-0.03, -0.02)}, **GIVEN)
    far.values = {"shaft.at_b_x": -0.03}  # the crank does not reach its shaft then
    assert far.run.manifest["parameters"]["shaft.at_b_x"]["value"] > -0.03 and "shaft" in far.said
    figure = explore(system, EventDriven(), parameters=ENDS, show="orbit:knee", **GIVEN)
    assert "'knee' is none" in figure.said and figure.document == ""


@pytest.mark.parametrize(
    "parameters, said",
    [
        ({}, "parameters must be ends by name"),
        ({"pin.clear": (1e-5, 1e-3)}, 'Unknown parameter "pin.clear". Did you mean pin.clearance'),
        ({"pin.clearance": 1e-4}, "takes two ends, as"),
        ({"pin.clearance": (1e-3, 1e-4)}, "must ascend, got 0.001 and 0.0001"),
        ({"pin.clearance": (-1e-3, 1e-4)}, "must be a positive number"),
    ],
)
def test_sliders_that_cannot_be(system: Any, parameters: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        explore(system, EventDriven(), parameters=parameters, **GIVEN)


def test_what_is_no_mechanism_or_no_picture(system: Any) -> None:
    with pytest.raises(InputError, match="explore takes a System, a Model or a function .*, got"):
        explore("slider-crank-revolute", EventDriven(), parameters=ENDS, **GIVEN)
    for show in (3, (), ("sketch", 3)):
        with pytest.raises(InputError, match='show must be "page", or words of Trajectory.plot as .* got '):
            explore(system, EventDriven(), parameters=ENDS, show=show, **GIVEN)


def test_without_its_library_there_is_one_sentence(system: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anywidget", None)
    nonsmooth.report.notebook._kind.cache_clear()
    try:
        with pytest.raises(InputError, match='extra "notebook", pip install "nonsmooth.notebook."'):
            explore(system, EventDriven(), parameters=ENDS, **GIVEN)
    finally:
        nonsmooth.report.notebook._kind.cache_clear()


#: a model as of a notebook, which notes what is saved
HOST = """
<!DOCTYPE html><meta charset="utf-8"><body><div id="host"></div><script type="module">
const { default: widget } = await import("data:text/javascript;base64,CODE");
const state = STATE, listeners = {};
window.saved = [];
window.model = {
  get: (name) => state[name],
  set: (name, value) => { state[name] = value; },
  save_changes: () => saved.push(JSON.parse(JSON.stringify(state.values))),
  on: (event, action) => (listeners[event] ??= []).push(action),
  off: (event, action) => { listeners[event] = listeners[event].filter((one) => one !== action); },
};
window.tell = (name, value) => { state[name] = value; (listeners[`change:${name}`] ?? []).forEach((act) => act()); };
window.left = () => Object.values(listeners).flat().length;
window.close = widget.render({ model, el: document.getElementById("host") });
document.body.dataset.ready = "1";
</script>
"""


@pytest.mark.slow
def test_sliders_in_a_browser(browser: Any, tmp_path: Path, system: Any) -> None:
    widget = explore(system, EventDriven(), parameters=ENDS, **GIVEN)
    code = base64.b64encode(widget._esm.encode() if isinstance(widget._esm, str) else str(widget._esm).encode())
    names = ("sliders", "height", "values", "document", "said", "busy")
    state = json.dumps({name: getattr(widget, name) for name in names}).replace("<", "\\u003c")
    (tmp_path / "host.html").write_text(HOST.replace("CODE", code.decode()).replace("STATE", state))
    browser.open(tmp_path / "host.html")

    def words(of: str) -> Any:
        return browser.run(f"[...document.querySelectorAll('{of}')].map(e => e.innerText)")

    assert words("label") == [*ENDS] and words("output") == ["0.5 mm", "0.14 kg"]
    assert words("p") == [widget.said]
    browser.run("(() => { const e = document.querySelector('input'); e.value = '500';"
                "e.dispatchEvent(new Event('input')); })()")  # fmt: skip
    assert words("output")[0] == "0.1 mm" and browser.run("saved") == []  # nothing runs until it is released
    browser.run("document.querySelector('input').dispatchEvent(new Event('change'))")
    (values,) = browser.run("saved")
    assert values == pytest.approx({"pin.clearance": np.sqrt(1e-5 * 1e-3), "slider.mass": 0.14}, rel=1e-3)
    widget.values = values
    browser.run("tell('busy', true)")
    assert words("p") == ["running …"]
    frame = "document.querySelector('iframe')"
    before = browser.run(f"{frame}.srcdoc")
    for name in ("document", "said", "busy"):
        browser.run(f"tell({json.dumps(name)}, {json.dumps(getattr(widget, name))})")
    assert words("p") == [widget.said] and browser.run(f"{frame}.srcdoc") == widget.document != before
    inside = "nonsmooth.clock.seek(1e-3); nonsmooth.camera.closer(2);"
    view = "[nonsmooth.clock.t, nonsmooth.camera.zoom]"
    assert browser.framed(inside + view) == browser.framed(view) == [1e-3, 2]
    browser.framed("window.old = true")
    browser.run(f"tell('document', {frame}.srcdoc + ' ')")
    assert any(not browser.framed("window.old") for _ in range(50))  # another page is in the frame
    assert browser.framed(view) == [1e-3, 2]
    browser.run("tell('values', { 'pin.clearance': 1e-3, 'slider.mass': 0.1 })")
    assert browser.run("[...document.querySelectorAll('input')].map(e => e.value)") == ["1000", "0"]
    browser.run("close()")
    assert browser.run("left()") == 0
    assert browser.console == [] and browser.foreign_requests() == []
