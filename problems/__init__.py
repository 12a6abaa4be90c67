"""Ready mechanisms with their papers' values: one mechanism, one file, one function that returns a `Model`."""

from __future__ import annotations

from nonsmooth_problems.slider_rod import slider_rod

__all__ = ["slider_rod"]
