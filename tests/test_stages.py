"""Where the seconds of a run go, and what is said meanwhile."""

from __future__ import annotations

import io
import logging

import pytest

from nonsmooth import GaussQP, simulate, stages
from nonsmooth.stages import collected, current, stage, told
from nonsmooth_problems import slider_rod


def test_seconds_add_up(monkeypatch):
    """By a clock that advances by one second each time it is read: of stages within stages each second counts once."""
    clock = iter(range(100))
    monkeypatch.setattr(stages.time, "perf_counter", lambda: float(next(clock)))
    with collected() as seconds, stage("outer"):  # from 0
        with stage("inner", "one"):  # 1 to 2
            assert current() == "inner one"
        with stage("inner", "two"):  # 3 to 6
            with stage("outer"):  # 4 to 5
                pass
    assert seconds == {"inner": 1.0 + 2.0, "outer": 7.0 - 4.0 + 1.0} and current() == ""


@pytest.mark.parametrize("arguments", [{}, {"stepper": GaussQP(), "dt": 1e-4}], ids=["chosen", "given"])
def test_a_run_says_where_its_seconds_went(arguments, caplog):
    system = slider_rod(case=1).build()
    with caplog.at_level(logging.INFO, "nonsmooth"):
        run = simulate(system, t_end="2 ms", **arguments)
    assert {"computing", "tables"} <= set(run.seconds)
    said = [record.getMessage() for record in caplog.records if record.name == "nonsmooth"]
    assert said[0] == ("preparing" if arguments else "checking") and "tables" in said
    assert any(one.startswith("computing with ") for one in said)


def test_words_while_something_goes_on(monkeypatch):
    """Twice a second a word of the stage and of the time reached: here the first comes before the stage is left."""
    monkeypatch.setattr(stages, "UPDATE", 1e-3)

    class Stream(io.StringIO):
        def write(self, text):
            if "7 steps" in text:
                heard.set()
            return super().write(text)

    stream, heard = Stream(), stages.threading.Event()
    with told(stream) as progress, stage("computing"):
        progress(0.5, 2.0, 7)
        assert heard.wait(60.0)
    words = stream.getvalue().split("\r")
    assert any(one.startswith("computing, 0 s, t = 0.5 of 2 s, 7 steps") for one in words)
    assert words[-1].startswith("done") and words[-1].endswith("\n")


def test_progress_true(capsys):
    run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=2e-3, dt=1e-4, progress=True)
    assert len(run.t) == 21 and "done" in capsys.readouterr().err
