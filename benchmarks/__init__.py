"""Timings of the installed package: ``python -m benchmarks``, from the root of the repository.

``python -m`` puts the checkout first on the path; it is dropped here, so that the installed package is measured.
"""

import sys
from pathlib import Path

_ROOT = Path(__file__).resolve().parents[1]
sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != _ROOT]
