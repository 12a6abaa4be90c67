"""A share of ``python -m benchmarks.fuzz``, and the seeds that once failed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest
from loops import some

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "benchmarks").is_dir(), reason="the benchmarks are part of the checkout")

#: seconds of the share, and its first seed
SHARE, FIRST = 6.0, 1_000_000
#: seeds that failed, and what was wrong
REGRESSIONS = {
    117: "a law that lets contacts pull was taken for a fault",
    2037: "a first step that had to be compiled for was taken for one that exceeds its budget",
    200065: "a gap that only seemed to close within a landing step was searched for without end",
    200467: "at rest, velocities of 1e-60 m/s did not satisfy the contacts to nine digits of themselves",
    4400539: "a step taken in parts was taken in fewer ones where a budget of steps ended the run",
    4400469: "impulses of the corners of a slide were negative by the residual of their program",
    4400471: "likewise, by 2e-9 of the largest",
    4401262: "forces of an event-driven run that are not unique were negative by their round-off",
    4400990: "likewise, so that the run that went on from its checkpoint had other times",
    70000007: "where the force grew beyond all bounds, event-driven steps were too short for the time to change",
    30000050: "tries of a step that fails went on for ten times the budget of the run",
    81000614: "weights of an event-driven step, some of them negative, made a contact pull whose force changed fast",
    81000329: "programs of the MPCC did not ask whether the time of the run was spent",
    90001348: "where the force grew beyond all bounds, event-locating steps were too short for the time to change",
    99000006: "beyond its budget a run looked for ten seconds for drivers that cannot be followed",
    101000162: "that search took twenty seconds after a step that failed",
    102000045: "round-off of gaps exceeded the certified residual, of which the manifest did not tell",
    9000486: "a step in parts began with the forces of the attempt as a whole, unless the run had been resumed there",
}  # fmt: skip
#: of these, what takes seconds
SLOW = {2037, 200467, 4400539, 81000329, 101000162}


@pytest.fixture
def fuzz(monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT), *sys.path])
    return importlib.import_module("benchmarks.fuzz")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "seed", some([pytest.param(k, marks=[pytest.mark.slow] * (k in SLOW)) for k in REGRESSIONS], 2)
)
def test_seeds_that_failed_keep_their_word(fuzz, seed):
    assert fuzz.case(seed).fault == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_a_share_of_the_cases_keeps_its_word(fuzz, capsys):
    """Properties, not numbers: how many cases come depends on the machine."""
    assert fuzz.main(["--minutes", str(SHARE / 60), "--first", str(FIRST)]) == 0, capsys.readouterr().out
    table = capsys.readouterr().out
    assert table.count("\n") == len(fuzz.KINDS) + 3


def test_faults_are_seen(fuzz, monkeypatch):
    """Each property is checked where it is broken on purpose."""
    import numpy as np

    run = fuzz._sample()
    broken = dict(vars(run))
    for name, fault in (("t", "times do not rise"), ("q", "q is not finite")):
        table = broken[name] if name == "t" else broken[name].array
        changed = np.array(table)
        changed[-1] = changed[0] if name == "t" else np.nan
        other = dict(broken)
        other[name] = changed if name == "t" else type(broken[name])(
            broken[name].what, broken[name].names, changed, broken[name].unit_list)  # fmt: skip
        with pytest.raises(AssertionError, match=fault):
            fuzz._holds(type(run)(**other), 1)
    with pytest.raises(AssertionError, match="took"):
        monkeypatch.setattr(fuzz, "BUDGET", -100.0)
        fuzz._timed(lambda: None)


def test_a_process_that_crashes_or_hangs_is_counted(fuzz, monkeypatch):
    worker = fuzz._Worker()
    worker.process.kill()
    found = worker.ask(3)
    assert found.result == "crash" and "crashed" in found.fault
    worker = fuzz._Worker()
    monkeypatch.setattr(fuzz, "HANGS", 0.01)
    assert "hangs" in worker.ask(3).fault
