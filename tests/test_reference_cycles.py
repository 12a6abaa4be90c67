"""Systems are freed with their last reference, in the thread that gives it up.

Python collects reference cycles in whichever thread happens to allocate. CasADi releases the interpreter's lock, and
its table of constants is not safe for threads: an expression that is freed while another thread makes one is a memory
fault.
"""

import gc

import pytest
from loops import some

from nonsmooth import (
    Bdf,
    Compliant,
    CompliantDae,
    Cvodes,
    Dop853,
    ErrorControl,
    EventDriven,
    GaussMPCC,
    GaussQP,
    GeneralizedAlpha,
    Landing,
    Lemke,
    Lsoda,
    MoreauJean,
    Radau,
    Rigid,
    SimulationFailed,
    simulate,
    simulate_batch,
)
from nonsmooth.laws import Dahl, Flores, RegularisedCoulomb
from nonsmooth.studies import free_impact
from nonsmooth_problems import beam_on_stop, slider_rod, socket_pendulum

SOFT = Compliant(Flores(stiffness=1e8, restitution=0.7), RegularisedCoulomb(friction=0.1, slip_speed=0.01))

BRISTLES = Compliant(Flores(stiffness=1e8, restitution=0.7), Dahl(friction=0.1, bristle_stiffness=1e5))


def slider(contact=Rigid(restitution=0.0, friction=0.1)):  # noqa: B008
    return slider_rod(case=2, contact=contact).build()


def batch():
    simulate_batch(slider(), MoreauJean(), {"slider.mass": [4.0, 5.0]}, t_end=1e-3, dt=1e-4)


def failing():
    """A run with steps chosen automatically, of which each finer one fails as well."""
    with pytest.raises(SimulationFailed):
        simulate(slider(), MoreauJean(), t_end=0.02, max_steps=10)


RUNS = {
    "MoreauJean": lambda: simulate(slider(), MoreauJean(), t_end=1e-3, dt=1e-4),
    "MoreauJean with a requested solver": lambda: simulate(slider(), MoreauJean(solver=Lemke()), t_end=1e-3, dt=1e-4),
    "GaussQP": lambda: simulate(slider(), GaussQP(), t_end=1e-3, dt=Landing(1e-7, 1e-4)),
    "GaussMPCC": lambda: simulate(slider(), GaussMPCC(), t_end=5e-4, dt=1e-4),
    "GeneralizedAlpha": lambda: simulate(slider(), GeneralizedAlpha(), t_end=1e-3, dt=1e-4),
    "EventDriven": lambda: simulate(slider(), EventDriven(), t_end=1e-3),
    "automatic": lambda: simulate(slider(), t_end=1e-3),
    "space": lambda: simulate(socket_pendulum().build(), MoreauJean(), t_end=1e-3, dt=1e-4),
    "flexible": lambda: simulate(beam_on_stop().build(), MoreauJean(), t_end=1e-4, dt=1e-5),
    "batch": batch,
    "failing": failing,
    "forces between rows": lambda: simulate(slider(BRISTLES), t_end=1e-4).instant(5e-5),
    "law card": lambda: free_impact(Flores(stiffness=1e8, restitution=0.7), speed=1.0, mass=1.0),
} | {
    type(solver).__name__: lambda solver=solver: simulate(
        slider(SOFT), CompliantDae(solver=solver), t_end=1e-4, dt=ErrorControl(1e-6, 1e-8, 1e-9, 1e-3)
    )
    for solver in (Radau(), Dop853(), Lsoda(), Bdf(), Cvodes())
}


@pytest.fixture(scope="module", autouse=True)
def only_new_objects_are_looked_at():
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.mark.parametrize("kind", some(RUNS, 4))
def test_no_reference_cycle_owns_what_belongs_to_casadi(kind):
    RUNS[kind]()  # which may compile: that leaves garbage of its own, with the frames of its callers
    gc.collect()
    gc.set_debug(gc.DEBUG_SAVEALL)
    try:
        RUNS[kind]()
        gc.collect()
        found = sorted({type(one).__name__ for one in gc.garbage if type(one).__module__.startswith("casadi")})
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
    assert found == []
