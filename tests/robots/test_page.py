"""The page on robots: its script runs, and its number is that of the text."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import pytest

from nonsmooth import ModelWarning
from nonsmooth.cli import main

ROOT = Path(__file__).resolve().parents[2]
LOOSE = ["loosen=*", "fit=20 H7/g6", "length=20 mm", "restitution=0.3", "friction=0.1"]


def test_the_script_of_the_page_has_the_result_that_the_page_states(monkeypatch: pytest.MonkeyPatch) -> None:
    """Within 10 %: impacts with friction follow each other, so that the last digits differ between processors."""
    pytest.importorskip("mujoco")
    monkeypatch.chdir(ROOT)
    text = (ROOT / "docs" / "robots.md").read_text(encoding="utf-8")
    stated = re.search(r"It is (\d+) µm away", text)
    found: dict[str, float] = {}
    warnings.simplefilter("ignore", ModelWarning)
    exec(re.findall(r"```python\n(import.*?)```", text, re.S)[0], found)
    assert stated is not None and found["away"] == pytest.approx(float(stated[1]), rel=0.1)


def test_files_of_robots_on_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are described, run and studied like other mechanisms; sizes without a joint to loosen are refused."""
    pytest.importorskip("mujoco")
    monkeypatch.chdir(tmp_path)
    arm = str(ROOT / "docs" / "examples" / "arm.xml")
    options = [word for one in LOOSE for word in ("--set", one)]
    assert main(["describe", arm, *options]) == 0
    said = capsys.readouterr().out
    assert "left out" in said and "elbow.clearance" in said
    assert main(["run", arm, *options, "--t-end", "1e-3", "--stepper", "moreau-jean", "--dt", "1e-5"]) == 0
    assert "elbow.radial_back" in capsys.readouterr().out
    study = ["study", "tolerance", arm, *options, "--clearance", "elbow.clearance=20 H7/g6", "--level", "kinematic"]
    study += ["--pose", "upper.z=0.2576", "--pose", "fore.z=0.3165", "--metric", "deviation:hand.z"]
    assert main([*study, "--limit", "5e-5", "--runs", "60", "--executor", "1"]) == 0
    assert "of 60 products" in capsys.readouterr().out
    assert main(["run", arm, "--set", "length=0.02", "--t-end", "1e-3"]) == 2
    assert "give --set loosen=NAME too" in " ".join(capsys.readouterr().err.split())
    assert main(["run", arm, "--set", "keyframe=away", "--t-end", "1e-3"]) == 2
    assert "there is no keyframe 'away'; there are home" in " ".join(capsys.readouterr().err.split())
