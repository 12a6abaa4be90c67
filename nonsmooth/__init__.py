"""Non-smooth multibody dynamics of mechanisms with joint clearance.

A **model** describes the mechanism; `build()` turns it into an immutable **system**. A **stepper** discretises the
system in time: each step assembles one or several **step problems**, which a **solver** solves. The accepted steps form
a **trajectory**. **Studies** run and compare many trajectories, **plots** draw them.

SI units throughout. The names below are imported when first used.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

from nonsmooth.moved import OldNames

if TYPE_CHECKING:
    from nonsmooth.declarative import read_model, write_model
    from nonsmooth.exceptions import (
        DeclarationError,
        InputError,
        Interrupted,
        ModelError,
        ModelWarning,
        NonsmoothError,
        SimulationFailed,
        SolverFailed,
        SolverMissing,
        ValidityWarning,
    )
    from nonsmooth.laws.compliant import Compliant
    from nonsmooth.laws.rigid import Rigid
    from nonsmooth.model.bodies import Ground, PlanarBody, PointMass, SpatialBody, with_point_masses
    from nonsmooth.model.clearances import PrismaticClearance, RevoluteClearance
    from nonsmooth.model.contacts import CircleCircle, CirclePlane, PointBox, PointPlane
    from nonsmooth.model.drivers import PrescribedMotion, PrescribedPose
    from nonsmooth.model.fits import Fit, Toleranced
    from nonsmooth.model.flexible_bodies import PlanarFlexibleBody, SpatialFlexibleBody
    from nonsmooth.model.forces import (
        Bushing,
        Damper,
        Gravity,
        PointForce,
        Spring,
        Torque,
        TorsionDamper,
        TorsionSpring,
    )
    from nonsmooth.model.joints import Fixed, PointOnLine, Prismatic, Revolute
    from nonsmooth.model.loads import Load
    from nonsmooth.model.model import Model
    from nonsmooth.model.shapes import (
        BoxShape,
        CylinderShape,
        Mesh,
        MeshShape,
        PolygonShape,
        RodShape,
        SphereShape,
        read_stl,
    )
    from nonsmooth.model.signals import AxisAngle, FourierSignal, Harmonic, Ramp, Table, TimeVector
    from nonsmooth.model.spatial_clearances import CylindricalClearance, SpatialPrismaticClearance, SphericalClearance
    from nonsmooth.model.spatial_contacts import BoxPlane, CylinderPlane, EllipsoidPlane, SpherePlane, SphereSphere
    from nonsmooth.model.spatial_joints import (
        Cylindrical,
        Distance,
        NoTwist,
        ParallelAxes,
        PerpendicularAxes,
        Planar,
        PointInPlane,
        SameOrientation,
        Screw,
        Spherical,
        Universal,
        UniversalPrismatic,
    )
    from nonsmooth.model.state import State
    from nonsmooth.report.notebook import explore
    from nonsmooth.run.batch import simulate_batch
    from nonsmooth.run.simulate import simulate
    from nonsmooth.schemes.compliant.settings import CompliantDae
    from nonsmooth.schemes.event_driven.settings import EventDriven
    from nonsmooth.schemes.gauss.gauss_mpcc import GaussMPCC
    from nonsmooth.schemes.gauss.gauss_qp import GaussQP
    from nonsmooth.schemes.generalized_alpha.settings import GeneralizedAlpha
    from nonsmooth.schemes.moreau_jean.settings import MoreauJean
    from nonsmooth.solvers.active_set import ActiveSet
    from nonsmooth.solvers.admm import Admm
    from nonsmooth.solvers.casadi_qp import CasadiQP
    from nonsmooth.solvers.conic import Conic
    from nonsmooth.solvers.initial_value import Bdf, Cvodes, Dop853, Lsoda, Radau
    from nonsmooth.solvers.ipopt import IpoptMPCC
    from nonsmooth.solvers.lemke import Lemke
    from nonsmooth.solvers.mode_enumeration import ModeEnumeration
    from nonsmooth.solvers.osqp import Osqp
    from nonsmooth.solvers.projected_gauss_seidel import ProjectedGaussSeidel
    from nonsmooth.solvers.semismooth_newton import SemismoothNewton
    from nonsmooth.solvers.smoothing_newton import SmoothingNewton
    from nonsmooth.step.control import ErrorControl, Landing
    from nonsmooth.trajectory import Instants, States, Trajectory

__version__ = "0.2.0"

__all__ = [
    "ActiveSet",
    "Admm",
    "AxisAngle",
    "Bdf",
    "BoxPlane",
    "BoxShape",
    "Bushing",
    "CasadiQP",
    "CircleCircle",
    "CirclePlane",
    "Compliant",
    "CompliantDae",
    "Conic",
    "Cvodes",
    "CylinderPlane",
    "CylinderShape",
    "Cylindrical",
    "CylindricalClearance",
    "Damper",
    "DeclarationError",
    "Distance",
    "Dop853",
    "EllipsoidPlane",
    "ErrorControl",
    "EventDriven",
    "Fit",
    "Fixed",
    "FourierSignal",
    "GaussMPCC",
    "GaussQP",
    "GeneralizedAlpha",
    "Gravity",
    "Ground",
    "Harmonic",
    "InputError",
    "Instants",
    "Interrupted",
    "IpoptMPCC",
    "Landing",
    "Lemke",
    "Load",
    "Lsoda",
    "Mesh",
    "MeshShape",
    "ModeEnumeration",
    "Model",
    "ModelError",
    "MoreauJean",
    "NoTwist",
    "NonsmoothError",
    "Osqp",
    "ParallelAxes",
    "PerpendicularAxes",
    "Planar",
    "PlanarBody",
    "PlanarFlexibleBody",
    "PointBox",
    "PointForce",
    "PointInPlane",
    "PointMass",
    "PointOnLine",
    "PointPlane",
    "PolygonShape",
    "PrescribedMotion",
    "PrescribedPose",
    "Prismatic",
    "PrismaticClearance",
    "ProjectedGaussSeidel",
    "Radau",
    "Ramp",
    "Revolute",
    "RevoluteClearance",
    "Rigid",
    "RodShape",
    "SameOrientation",
    "Screw",
    "SemismoothNewton",
    "SimulationFailed",
    "SmoothingNewton",
    "SolverFailed",
    "SolverMissing",
    "SpatialBody",
    "SpatialFlexibleBody",
    "SpatialPrismaticClearance",
    "SpherePlane",
    "SphereShape",
    "SphereSphere",
    "Spherical",
    "SphericalClearance",
    "Spring",
    "State",
    "States",
    "Table",
    "TimeVector",
    "Toleranced",
    "Torque",
    "TorsionDamper",
    "TorsionSpring",
    "Trajectory",
    "Universal",
    "UniversalPrismatic",
    "ModelWarning",
    "ValidityWarning",
    "explore",
    "read_model",
    "read_stl",
    "simulate",
    "simulate_batch",
    "with_point_masses",
    "write_model",
]

_NAMES_OF = {
    "declarative": ("read_model", "write_model"),
    "exceptions": (
        "DeclarationError",
        "InputError",
        "Interrupted",
        "ModelError",
        "NonsmoothError",
        "SimulationFailed",
        "SolverFailed",
        "SolverMissing",
        "ModelWarning",
        "ValidityWarning",
    ),
    "model.fits": ("Fit", "Toleranced"),
    "laws.compliant": ("Compliant",),
    "laws.rigid": ("Rigid",),
    "model.bodies": ("Ground", "PlanarBody", "PointMass", "SpatialBody", "with_point_masses"),
    "model.clearances": ("PrismaticClearance", "RevoluteClearance"),
    "model.contacts": ("CircleCircle", "CirclePlane", "PointBox", "PointPlane"),
    "model.drivers": ("PrescribedMotion", "PrescribedPose"),
    "model.flexible_bodies": ("PlanarFlexibleBody", "SpatialFlexibleBody"),
    "model.forces": (
        "Bushing",
        "Damper",
        "Gravity",
        "PointForce",
        "Spring",
        "Torque",
        "TorsionDamper",
        "TorsionSpring",
    ),
    "model.joints": ("Fixed", "PointOnLine", "Prismatic", "Revolute"),
    "model.loads": ("Load",),
    "model.model": ("Model",),
    "model.shapes": (
        "BoxShape",
        "CylinderShape",
        "Mesh",
        "MeshShape",
        "PolygonShape",
        "RodShape",
        "SphereShape",
        "read_stl",
    ),
    "model.signals": ("AxisAngle", "FourierSignal", "Harmonic", "Ramp", "Table", "TimeVector"),
    "model.spatial_clearances": ("CylindricalClearance", "SpatialPrismaticClearance", "SphericalClearance"),
    "model.spatial_contacts": ("BoxPlane", "CylinderPlane", "EllipsoidPlane", "SpherePlane", "SphereSphere"),
    "model.spatial_joints": (
        "Cylindrical",
        "Distance",
        "NoTwist",
        "ParallelAxes",
        "PerpendicularAxes",
        "Planar",
        "PointInPlane",
        "SameOrientation",
        "Screw",
        "Spherical",
        "Universal",
        "UniversalPrismatic",
    ),
    "model.state": ("State",),
    "report.notebook": ("explore",),
    "run.batch": ("simulate_batch",),
    "run.simulate": ("simulate",),
    "solvers.active_set": ("ActiveSet",),
    "solvers.casadi_qp": ("CasadiQP",),
    "solvers.conic": ("Conic",),
    "solvers.initial_value": ("Bdf", "Cvodes", "Dop853", "Lsoda", "Radau"),
    "solvers.ipopt": ("IpoptMPCC",),
    "solvers.admm": ("Admm",),
    "solvers.lemke": ("Lemke",),
    "solvers.mode_enumeration": ("ModeEnumeration",),
    "solvers.projected_gauss_seidel": ("ProjectedGaussSeidel",),
    "solvers.semismooth_newton": ("SemismoothNewton",),
    "solvers.smoothing_newton": ("SmoothingNewton",),
    "solvers.osqp": ("Osqp",),
    "step.control": ("ErrorControl", "Landing"),
    "schemes.compliant.settings": ("CompliantDae",),
    "schemes.event_driven.settings": ("EventDriven",),
    "schemes.gauss.gauss_mpcc": ("GaussMPCC",),
    "schemes.gauss.gauss_qp": ("GaussQP",),
    "schemes.generalized_alpha.settings": ("GeneralizedAlpha",),
    "schemes.moreau_jean.settings": ("MoreauJean",),
    "trajectory": ("Instants", "States", "Trajectory"),
}
_MODULE_OF = {name: f"{__name__}.{module}" for module, names in _NAMES_OF.items() for name in names}


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
