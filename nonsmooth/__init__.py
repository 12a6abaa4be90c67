"""Non-smooth multibody dynamics of mechanisms with joint clearance.

A **model** describes the mechanism; `build()` turns it into an immutable **system**. A **stepper** discretises the
system in time: each step assembles one or several **step problems**, which a **solver** solves. The accepted steps form
a **trajectory**. **Studies** run and compare many trajectories, **plots** draw them.

SI units throughout. The names below are imported when first used.
"""

import ast
import importlib
import sys
from pathlib import Path
from typing import Any

from nonsmooth.moved import OldNames

__version__ = "0.2.0"

#: public name -> its module: the imports of the stub `__init__.pyi`
_MODULE_OF = {
    name.name: str(line.module)
    for line in ast.parse(Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8")).body
    if isinstance(line, ast.ImportFrom)
    for name in line.names
}
__all__ = sorted(_MODULE_OF)

sys.meta_path.append(OldNames())


def __getattr__(name: str) -> Any:
    if name == "Idas":
        from nonsmooth.solvers import NO_IDAS

        raise ImportError(NO_IDAS)
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}", name=name, obj=sys.modules[__name__])
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, "__doc__", "__file__", "__name__", "__path__", "__version__"})
