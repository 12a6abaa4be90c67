"""Laws of contacts that a stepper does not support with given steps, refused before the first one; stated rules."""

import numpy as np

from nonsmooth.compile.casadi_call import Array
from nonsmooth.exceptions import InputError
from nonsmooth.laws.rigid import INCREMENTAL, LAWS
from nonsmooth.model.system import System

#: rule for bodies at rest, for the manifest
REST = "a state at rest remains at rest if Coulomb's law admits it"
#: rule for impacts of several contacts, for the manifest
SHARING = (
    "approaching contacts receive impulse together, in proportion to their velocities; contacts that this "
    "makes approach impact next; a sequence decayed to 1e-3 of its first velocity ends by a plastic impact"
)


def check_impact_laws(system: System, values: Array, stepper: str) -> None:
    """Raise InputError unless contacts have one law known in this dimension, Newton's with tangential restitution."""
    laws = system.impact_laws
    impact, tangential = laws[0] if laws else "newton", system.elementwise.contact_law(values)[2]
    if impact in INCREMENTAL and system.dimension == 3:
        raise InputError(
            f"{LAWS[impact]}'s impact law integrates along the impulse, which is available in the plane only, "
            f"but contact '{system.contact_names[0]}' is spatial; give it impact='newton' or 'poisson'."
        )
    if len(set(laws)) > 1:
        mixed = " and ".join(f"{LAWS[law]}'s" for law in sorted(set(laws), reverse=True))
        raise InputError(f"{stepper}: {mixed} impact laws cannot be mixed; give all contacts one of them.")
    if impact != "newton" and np.any(tangential > 0):
        i = int(np.argmax(tangential > 0))
        raise InputError(
            f"{stepper}: {LAWS[impact]}'s impact law has no tangential restitution here, but contact "
            f"'{system.contact_names[i]}' has tangential = {tangential[i]:g}; set it to 0."
        )
