"""Variants of the tests: a test whose outcome changes in one of them is on an edge.

NONSMOOTH_TEST_JITTER=7 multiplies every parameter of every built system by 1 + 1e-15 xi, xi normally distributed by
seed, system and name of the parameter; only tests marked `exact` are left as they are. NONSMOOTH_TEST_TARGET=x86-64-v2
takes the machine code in the package that is for this family of processors.
"""

import hashlib
import os
from functools import cached_property
from statistics import NormalDist

JITTER, TARGET = "NONSMOOTH_TEST_JITTER", "NONSMOOTH_TEST_TARGET"
SIZE = 1e-15
#: whether systems are perturbed: not while a test runs that is marked `exact`
active = True


def perturbed(seed, system, name, value):
    """A parameter with other last bits, within its range."""
    digest = hashlib.sha256(f"{seed}/{system.name}/{name}".encode()).digest()
    xi = NormalDist().inv_cdf((int.from_bytes(digest[:6], "big") + 0.5) / 2**48)
    owner, _, label = name.rpartition(".")
    accepts = next(one for one in system.elements if one.name == owner).quantity(label).accepts
    both = (float(value) * (1.0 + sign * SIZE * xi) for sign in (1.0, -1.0))
    return next((new for new in both if accepts(new)), value)


def perturb(seed):
    """All systems built from now on have perturbed parameters, which they take along into other processes."""
    from nonsmooth.model.system import System

    built, state = System.parameters.func, System.__getstate__

    def parameters(self):
        found = built(self)
        return {name: perturbed(seed, self, name, value) for name, value in found.items()} if active else found

    System.parameters = cached_property(parameters)
    System.parameters.__set_name__(System, "parameters")
    System.__getstate__ = lambda self: state(self) | {"parameters": self.parameters}


def take_code_for(target):
    """Machine code in the package is that for another family of processors, which this one serves as well."""
    from nonsmooth.compile import shipped

    fitting = [one for one in shipped.served() if one.name == target]
    if not fitting:
        raise ValueError(f"{TARGET}={target}: this processor serves {[one.name for one in shipped.served()]}.")
    shipped.served = lambda: fitting


def begin():
    """The variant that the environment asks for; its name, empty for none."""
    seed, target = os.environ.get(JITTER, ""), os.environ.get(TARGET, "")
    if seed:
        if not seed.isdecimal():
            raise ValueError(f"{JITTER} is a seed, a whole number >= 0, got {seed!r}.")
        perturb(int(seed))
    if target:
        take_code_for(target)
    return " ".join(f"{name}={value}" for name, value in ((JITTER, seed), (TARGET, target)) if value)
