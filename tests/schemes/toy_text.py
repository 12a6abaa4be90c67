"""The text of a toy stepper, by the recipe in CONTRIBUTING.md: symplectic Euler, without contacts and joints."""

from nonsmooth.compile.kernels import kernel
from nonsmooth.compile.records.values import weighed
from nonsmooth.step.grid import run_of
from nonsmooth.step.mechanism import evaluate_loads, momentum_residual, place_by_u
from nonsmooth.step.motion import inverse_mass, moved
from nonsmooth.step.rows import write_row
from nonsmooth.step.tolerances import DONE, UNCERTAIN


@kernel
def step(system):
    """v+ = v + dt M^-1 h(q, v),  q+ = q moved by v+ for dt."""
    for body in system.bodies:
        body.u = body.v
    place_by_u(system, 0.0)
    evaluate_loads(system)
    for body in system.bodies:
        body.v_next = body.v + weighed(system.dt * body.force, inverse_mass(body))
        body.at = moved(body, body.q, body.v_next, system.dt)
    system.residual, system.complementarity = momentum_residual(system), 0.0
    if not system.residual <= system.certified:
        return UNCERTAIN
    write_row(system, system.t_next, 0.0, 0.0, False)
    for body in system.bodies:
        body.q, body.v = body.at, body.v_next
    system.t, system.last_dt = system.t_next, system.dt
    system.steps += 1
    return DONE


run = run_of(step)


def begin(system):
    """Nothing is to be prepared."""
    return DONE
