"""Drivers that prescribe a motion beyond the reach of the mechanism, which no step can follow."""

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import ModelError
from nonsmooth.model.closing import closed_pose
from nonsmooth.model.drivers import PrescribedMotion, PrescribedPose
from nonsmooth.model.model import Model
from nonsmooth.model.review import REMARKS
from nonsmooth.model.state import State
from nonsmooth.model.system import System

#: time after the last step at which the joints are tried, as a share of the run
AHEAD = 5e-3
#: accuracy of the time that is named, as a share of the run
LOCATED = 1e-6
#: drivers that the sentence names
NAMED = 3


def beyond_reach(system: System, values: Array, state: State, begin: float, t_end: float) -> str:
    """A sentence, after a blank, on drivers that the joints cannot follow beyond some time; or "".

    Clearances are replaced by ideal joints: they extend the reach little. The joints must not close shortly after the
    last step, and must at a time before, which is looked for from that step back; the time between is located by
    bisection.
    """
    drivers = [  # with a function of time
        element.name
        for element in system.elements
        if (isinstance(element, PrescribedMotion) and callable(element.motion))
        or (isinstance(element, PrescribedPose) and (callable(element.position) or callable(element.quaternion)))
    ]
    if not drivers:
        return ""
    try:
        ideal = Model(system.elements, name=system.name, silence=REMARKS).ideal().build(assemble=True)
    except ModelError:  # without its clearances the mechanism has no motion at all
        return ""
    known = dict(zip(system.parameters, values.tolist(), strict=True))
    p = ideal.parameter_vector({name: value for name, value in known.items() if name in ideal.parameters})
    ahead = AHEAD * (t_end - begin)
    low, high = state.t, min(state.t + ahead, t_end)
    if closed_pose(ideal, high, state.q, p) is not None:
        return ""
    while (pose := closed_pose(ideal, low, state.q, p, nearby=low > begin)) is None:
        if low <= begin:
            return ""
        high, low, ahead = low, max(begin, state.t - ahead), 2 * ahead
    while high - low > LOCATED * (t_end - begin):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        found = closed_pose(ideal, middle, pose, p, nearby=True)
        if found is None:
            high = middle
        else:
            low, pose = middle, found
    listed = ", ".join(f'"{name}"' for name in drivers[:NAMED]) + (", ..." if len(drivers) > NAMED else "")
    what = f"The driver {listed} prescribes" if len(drivers) == 1 else f"The drivers {listed} prescribe"
    return (
        f" {what} a motion beyond the reach of the mechanism: its joints cannot be closed after t = {high:.6g} s. "
        "Shorten the motion or the run, or change the lengths."
    )
