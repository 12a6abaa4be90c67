"""Mechanisms that several test files use."""

import os
import signal

# small matrices gain nothing by threads, and lose much where the cores are busy
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import pytest

from nonsmooth import Gravity, Ground, Model, PlanarBody, RevoluteClearance, Rigid

LENGTH = 0.1


def pytest_configure() -> None:
    """Where tests are started in the background Ctrl-C is ignored, here and in every process that they start."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def loose_chain():
    """A horizontal chain of links under gravity, each journal centred in a bearing with clearance."""

    def build(links, clearance=5e-3, contact=Rigid(restitution=0.0, friction=0.0)):  # noqa: B008
        elements = [Ground(), Gravity(acceleration=(0.0, -9.81))]
        for i in range(1, links + 1):
            before, at_a = ("ground", 0.0) if i == 1 else (f"link{i - 1}", LENGTH / 2)
            elements.append(PlanarBody(f"link{i}", mass=0.1, inertia=1e-4, position=((i - 0.5) * LENGTH, 0.0)))
            elements.append(
                RevoluteClearance(
                    f"joint{i}",
                    before,
                    f"link{i}",
                    clearance=clearance,
                    at_a=(at_a, 0.0),
                    at_b=(-LENGTH / 2, 0.0),
                    contact=contact,
                )
            )
        return Model(elements, name=f"chain of {links}").build()

    return build
