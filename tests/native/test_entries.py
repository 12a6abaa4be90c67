"""The compiled functions of `loops` as they are kept on disk and called."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from nonsmooth.compile import lower
from nonsmooth.native import entries


def test_the_wrapper_fits_the_pointers_of_old_and_new_llvm():
    new = lower._wrapper("f", "inner", ["ptr", "ptr", "i64", "double"], nothing=False)
    assert "define i64 @f(i64 %a0, double %a1)" in new
    assert "%r = alloca i64" in new
    old = lower._wrapper("f", "inner", ["i64*", "{ i8*, i32 }**", "i64"], nothing=False)
    assert "%e = alloca { i8*, i32 }*" in old
    assert 'call i32 @"inner"(i64* %r, { i8*, i32 }** %e, i64 %a0)' in old
    assert "load i64" not in lower._wrapper("f", "inner", ["i8**", "i8**"], nothing=True)


def test_a_function_that_raises_is_not_mistaken_for_an_answer():
    assert entries._checked("run", 2) == 2
    with pytest.raises(RuntimeError, match="the compiled function run raised"):
        entries._checked("run", lower.RAISED)


def test_functions_are_kept_on_disk_and_a_folder_that_cannot_be_written_is_no_error(tmp_path):
    script = (
        "import sys, numpy as np;"
        "from nonsmooth.native import entries, table;"
        "A, f = np.zeros(table.N_TABLE, dtype=np.int64), np.zeros(64);"
        "entries.contact_sizes(A.ctypes.data, f.ctypes.data);"
        "print('numba' in sys.modules)"
    )
    blocked = tmp_path / "file"
    blocked.write_text("no folder")
    for folder, compiled in ((tmp_path, "True"), (tmp_path, "False"), (blocked, "True")):
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder), "LOCALAPPDATA": str(folder)}
        environment.pop("NUMBA_CACHE_DIR", None)
        if sys.platform == "darwin":
            environment |= {"NUMBA_CACHE_DIR": str(folder)}
        done = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
        assert done.stdout.strip() == compiled


@pytest.mark.slow
def test_the_functions_of_a_scheme_are_compiled_in_other_processes(tmp_path):
    script = (
        "import sys;"
        "from nonsmooth.compile import machine; from nonsmooth.native import entries;"
        "entries.ready('gauss', 'solve');"
        "names = [('gauss', ''), ('solve', ''), *((x.name, x.kinds) for x in entries.ALWAYS)];"
        "assert 'numba' not in sys.modules;"
        "print(sum(machine.kept(entries.symbol(*name)) for name in names), len(names))"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    kept, all_of_them = done.stdout.split()
    assert kept == all_of_them
