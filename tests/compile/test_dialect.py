"""The text of kinds in the syntax of LLVM 15, which has typed pointers: that of the lowest numba that is accepted."""

from __future__ import annotations

import re

import casadi as ca

from nonsmooth.compile.emit import emit
from nonsmooth.compile.lookup import lookup
from nonsmooth.compile.machine import _dialect


def test_no_opaque_pointer_is_left_for_llvm_15():
    """A kind in space, whose vectors are stored at once, volatile; a planar one with numbers; both with a table."""
    for sizes, width in (((1, 12, 12, 6, 6, 2), 3), ((1, 3, 3, 3, 3, 2), 1)):
        symbols = [ca.SX.sym(f"x{i}", size) for i, size in enumerate(sizes)]
        t, z, _, v, _, p = symbols
        out = (lookup((0.0, 1.0, 2.0), (3.0, 4.0))(t)[1] * z[:width] + v[:width]) * p[0] * ca.sqrt(p[1])
        stands = [range(size) for size in sizes[:-1]]
        text = emit(ca.Function("kind", symbols, [out]), [(0, width)], stands).text
        assert ("store volatile <4 x double>" in text) == (width == 3)
        old = _dialect(text, 15)
        assert not re.search(r"\bptr\b", old), re.findall(r".*\bptr\b.*", old)
        assert ("store volatile <4 x double> %o0v2, <4 x double>* %o0p.0, align 8" in old) == (width == 3)
        assert _dialect(text, 16) == text
