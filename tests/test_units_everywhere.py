"""Units in Python strings, in `--set` and in elements, as TOML files have them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from nonsmooth import GaussQP, InputError, ModelError, PlanarBody, RevoluteClearance, Rigid, simulate
from nonsmooth.cli import main
from nonsmooth_problems import slider_rod

LAW = Rigid(restitution=0.5, friction=0.0)


def test_strings_are_the_same_run_as_numbers():
    system = slider_rod(case=1).build()
    said = simulate(system, GaussQP(), t_end="2 ms", dt="10 us", parameters={"guide.clearance": "20 um"})
    plain = simulate(system, GaussQP(), t_end=2e-3, dt=1e-5, parameters={"guide.clearance": 2e-5})
    assert np.array_equal(said.q.array, plain.q.array) and np.array_equal(said.t, plain.t)


def test_fields_of_elements():
    body = PlanarBody("b", mass="200 g", inertia="50 kg mm^2", position=("3 mm", 0.0), angle="90 deg")
    assert (body.mass, body.inertia, body.position) == (0.2, 5e-5, (0.003, 0.0)) and body.angle == np.pi / 2
    assert RevoluteClearance("p", "g", "b", clearance="30 um", contact=LAW).clearance == 3e-5


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"t_end": "2 mm"}, 't_end "2 mm" is of another dimension than s'),
        ({"t_end": 1e-3, "dt": "ten"}, "dt"),
        ({"t_end": 1e-3, "parameters": {"guide.clearance": "20 N"}}, "is of another dimension than m"),
    ],
)
def test_other_dimensions_are_refused(arguments, sentence):
    with pytest.raises(InputError, match=sentence):
        simulate(slider_rod(case=1).build(), **arguments)
    with pytest.raises(ModelError, match='PlanarBody "b": mass "200 mm" is of another dimension than kg'):
        PlanarBody("b", mass="200 mm", inertia=1.0)


def test_set_takes_units(capsys):
    words = ["run", "slider-rod", "--t-end", "1ms", "--dt", "1e-5", "--stepper", "gauss-qp", "--json"]
    found = []
    for value in ("30um", "0.03 mm", "3e-5"):
        assert main([*words, "--set", f"guide.clearance={value}"]) == 0
        found.append(json.loads(capsys.readouterr().out)["certificate"])
    assert found[0] == found[1] == found[2]
    assert main([*words, "--set", "guide.clearance=30ms"]) == 2
    assert "is of another dimension than m" in capsys.readouterr().err


def test_list_for_programs_and_by_tag(capsys):
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.count("\t") == 2 for line in lines) and any(line.startswith("slider-rod\t") for line in lines)
    assert main(["list", "--json"]) == 0
    every = json.loads(capsys.readouterr().out)
    assert len(every) == len(lines)
    tag = every["slider-rod"]["tags"][0]
    assert main(["list", "--tag", tag]) == 0
    assert len(capsys.readouterr().out.splitlines()) == sum(tag in one["tags"] for one in every.values())
    assert main(["list", "--tag", "nothing"]) == 2
    assert "no problem has this tag" in capsys.readouterr().err
