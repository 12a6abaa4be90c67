"""Files that nobody would write: refused in one sentence, without end of time or memory."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from nonsmooth import DeclarationError, InputError, read_model
from nonsmooth.cli import main
from nonsmooth.declarative import read
from nonsmooth.declarative.schema import listed

TEXTS = {
    "key of 50 000 parts": ".".join(["a"] * 50_000) + " = 1\n",
    "key of quoted parts": ".".join(['"a b"'] * 50_000) + " = 1\n",
    "header of 50 000 parts": "[" + ".".join(["a"] * 50_000) + "]\n",
    "key within a table": "x = { y = 1, " + ".".join(["a"] * 50_000) + " = 1 }\n",
    "lists 20 000 deep": "x = " + "[" * 20_000 + "]" * 20_000 + "\n",
    "tables 20 000 deep": "x = " + "{a=" * 20_000 + "1" + "}" * 20_000 + "\n",
    "lists 200 deep": "x = " + "[" * 200 + "]" * 200 + "\n",
    "100 000 points": "[elements.f.force]\nt = [" + "1.0, " * 100_000 + "]\nx = [" + "1.0, " * 100_000 + "]\n",
    "100 000 tables": "".join(f"[elements.b{k}]\nmass = 1\n" for k in range(100_000)),
    "five megabytes": "# nothing\n" * 500_000,
    "400 digits": '[elements.ball]\nkind = "planar-body"\nmass = 1' + "0" * 400 + "\ninertia = 1.0\n",
    "400 digits of a float": '[elements.ball]\nkind = "planar-body"\nmass = 1' + "0" * 400 + ".0\ninertia = 1.0\n",
    "5000 digits": "x = 1" + "0" * 5000 + "\n",
    "400 digits with a unit": '[elements.ball]\nkind = "planar-body"\nmass = "1' + "0" * 400 + ' kg"\ninertia = 1.0\n',
    "exponent": '[elements.ball]\nkind = "planar-body"\nmass = 1e400\ninertia = 1.0\n',
    "a long word": 'name = "' + "a" * 100_000 + '"\n[elements.' + "b" * 100_000 + "]\nkind = 3\n",
    "nothing but zeros": "\0" * 1000,
}


@pytest.fixture
def patience():
    """Ends a test that would go on for hours; each takes seconds."""

    def end(*_):
        raise TimeoutError("the file is still being read after two minutes")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(120)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("case", TEXTS)
def test_it_is_refused_in_one_sentence(case, tmp_path, monkeypatch, capsys, patience):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.toml"
    path.write_text(TEXTS[case])
    assert main(["run", "model.toml", "--t-end", "0.1"]) == 2
    said = capsys.readouterr().err
    assert said.startswith("nonsmooth: ") and "Traceback" not in said
    assert os.listdir(tmp_path) == ["model.toml"]


@pytest.mark.parametrize("case", ["key of 50 000 parts", "key within a table", "lists 20 000 deep", "5000 digits"])
def test_it_says_what_is_too_much(case, tmp_path):
    path = tmp_path / "model.toml"
    path.write_text(TEXTS[case])
    with pytest.raises(DeclarationError, match="parts|deep|digits") as told:
        read_model(path)
    assert "\n" not in str(told.value)


def test_a_pipe_is_no_file(tmp_path):
    """Nobody writes into it, so that reading it would never end."""
    path = tmp_path / "pipe.toml"
    os.mkfifo(path)
    ended = threading.Event()

    def reading():
        with pytest.raises(InputError, match="it is not a regular file"):
            read(path)
        ended.set()

    threading.Thread(target=reading, daemon=True).start()
    assert ended.wait(10.0)


def test_a_table_of_ten_thousand_points_is_read(tmp_path):
    """The limits are far from what is in use."""
    times = ", ".join(f"{k / 1000}" for k in range(10_000))
    path = tmp_path / "model.toml"
    path.write_text(
        '[elements.wall]\nkind = "ground"\n\n[elements.ball]\nkind = "planar-body"\nmass = 1.0\ninertia = 1.0\n\n'
        '[elements.push]\nkind = "point-force"\nbody = "ball"\n'
        f'force = [0, {{ kind = "table", times = [{times}], values = [{times}] }}]\n'
    )
    push = next(one for one in read(path).model.elements if one.name == "push")
    assert push.force(9.999)[1] == pytest.approx(9.999, rel=1e-12)  # the last of the points; interpolation rounds


def test_of_many_names_the_first_are_listed():
    assert (listed(["a", "b"]), listed([str(k) for k in range(99)])[-9:]) == ("a, b", ", 19, ...")
