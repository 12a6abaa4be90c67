"""Entry points of compiled code as they are kept on disk and called."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nonsmooth.compile import lower
from nonsmooth.compile.objects import answer


def test_the_wrapper_fits_the_pointers_of_old_and_new_llvm():
    new = lower._wrapper("f", "inner", ["ptr", "ptr", "i64", "double"], nothing=False)
    assert "define i64 @f(i64 %a0, double %a1)" in new
    assert "%r = alloca i64" in new
    old = lower._wrapper("f", "inner", ["i64*", "{ i8*, i32 }**", "i64"], nothing=False)
    assert "%e = alloca { i8*, i32 }*" in old
    assert 'call i32 @"inner"(i64* %r, { i8*, i32 }** %e, i64 %a0)' in old
    assert "load i64" not in lower._wrapper("f", "inner", ["i8**", "i8**"], nothing=True)


#: compiles the code that rows are looked at with, the least of those that runs need, since none is shipped
OBSERVE = """
import sys
import numpy as np
from nonsmooth import Ground, Model, PlanarBody
from nonsmooth.compile import shipped
from nonsmooth.engine.layout import Layout
from nonsmooth.engine.tables import Viewer
shipped.TARGETS = ()
system = Model([Ground(), PlanarBody("body", mass=2.0, inertia=1.0)]).build()
layout = Layout(system, rough=False)
view, moving = Viewer(layout, layout.filled(system.parameter_values)), np.tile([3.0, 0.0, 0.0], (4, 1))
seen = view(np.arange(4.0), np.zeros((4, 3)), moving, np.zeros(0, dtype=int), moving[:0])
assert np.array_equal(seen.energies["kinetic"], [9.0] * 4), seen.energies["kinetic"]
print("numba.core.compiler" in sys.modules)
"""


@pytest.mark.slow
def test_functions_are_kept_on_disk_and_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    """The kinetic energy of 2 kg at 3 m/s is 9 J, whether the code was compiled or read."""
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    for folder, compiled in ((tmp_path, "True"), (tmp_path, "False"), (blocked, "True")):
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "LOCALAPPDATA": str(folder)}
        environment.pop("NUMBA_CACHE_DIR", None)
        if sys.platform == "darwin":
            environment |= {"NUMBA_CACHE_DIR": str(folder)}
        done = subprocess.run(
            [sys.executable, "-c", OBSERVE], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout.strip()) == (0, compiled), done.stderr


def test_a_function_that_raises_is_not_mistaken_for_an_answer():
    assert answer("run", 2) == 2
    with pytest.raises(RuntimeError, match="the compiled function run raised"):
        answer("run", lower.RAISED)
