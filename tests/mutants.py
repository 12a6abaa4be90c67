"""Mistakes in the texts of schemes, drawn by seed, and whether the reference finds them in the rows of a run.

``python tests/mutants.py [scheme ..] [--count 10] [--seed 1]`` draws ten mistakes per scheme among the functions that
its steps execute: signs, operands, constants, conditions, statements. Each mutated text runs uncompiled on small
mechanisms with joints, friction and impacts. A mistake is found by the residuals of `reference`, or before by the
certificate of the step or a failure; one that leaves all rows as they are is equivalent on these steps, is listed, and
another one is drawn. The exit status is the number of those that are not found.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import importlib
import inspect
import random
import re
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
from reference import Reference

from nonsmooth import (
    CirclePlane,
    Damper,
    ErrorControl,
    EventDriven,
    GaussQP,
    GeneralizedAlpha,
    Gravity,
    Ground,
    Landing,
    Model,
    MoreauJean,
    PlanarBody,
    Revolute,
    RevoluteClearance,
    Rigid,
    Spring,
    simulate,
)
from nonsmooth.compile import objects
from nonsmooth.engine.steps import CompiledSteps
from nonsmooth.schemes.event_driven.steps import EventSteps

#: residual of the reference, or of a certificate, above which a mistake is found; change of a row, relative to the
#: column, below which it is the same
FOUND, SAME = 1e-9, 1e-9
#: modules that hold how programs are solved and begun, the times of steps, and energies of rows, not what a scheme is
SOLUTION = ("program", "convergence", "trend", "grid", "observation")
#: seconds after which a mutated run is ended
PATIENCE = 30
#: columns of a run that are compared
COLUMNS = ("q", "v", "P_N", "P_T", "reaction", "reaction_impact", "energy", "mode")


def loose_pendulum(e: float, friction: float) -> Any:
    """A link on an ideal joint, and on it a bob whose pin is loose and hits its bush."""
    law = Rigid(restitution=e, friction=friction)
    body = {"mass": 2.0, "inertia": 0.03}
    parts = [
        Ground(), Gravity(acceleration=(2.0, -9.81)),
        PlanarBody("link", position=(0.0, -0.5), velocity=(0.5, 0.0), angular_velocity=1.0, **body),
        Revolute("hinge", "ground", "link", at_b=(0.0, 0.5)),
        PlanarBody("bob", position=(2e-4, -1.4002), velocity=(1.05, 0.0), angular_velocity=-2.0, **body),
        RevoluteClearance("pin", "link", "bob", at_a=(0.0, -0.5), at_b=(0.0, 0.4), clearance=1e-3,
                        radius=0.02, contact=law),
        Spring("spring", "ground", "bob", at_a=(0.5, -1.4), stiffness=200.0, free_length=0.4),
        Damper("damper", "ground", "link", at_a=(0.5, -0.5), damping=3.0),
    ]  # fmt: skip
    return Model(parts).build()


def rolling_disc(e: float, friction: float) -> Any:
    """A disc that slides on the floor until it rolls, and one that falls."""
    law = Rigid(restitution=e, friction=friction)
    parts: list[Any] = [Ground(), Gravity(acceleration=(0.0, -9.81))]
    for name, x, height, speed in (("slider", 0.0, 0.0, -0.5), ("ball", 1.0, 3e-4, -0.1)):
        parts += [
            PlanarBody(
                name, mass=1.0, inertia=1e-3, position=(x, 0.05 + height), velocity=(0.08, speed if height else 0.0)
            ),
            CirclePlane(f"{name} on floor", "ground", name, radius=0.05, contact=law),
        ]
    return Model(parts).build()


CONTROL = ErrorControl(rtol=1e-6, atol=1e-8, dt_min=1e-6, dt_max=2e-3)
#: stepper, control, restitution, end of the run, by the name of the text
SCHEMES: dict[str, tuple[Any, Any, float, float]] = {
    "moreau_jean": (MoreauJean(), 1e-3, 0.5, 0.03),
    "midpoint": (MoreauJean(joints="midpoint"), 1e-3, 0.5, 0.03),
    "moment_arms": (MoreauJean(moment_arms="balanced"), 1e-3, 0.5, 0.03),
    "projection": (MoreauJean(projection="combined"), 1e-3, 0.5, 0.03),
    "implicit_euler": (GaussQP(), 1e-3, 0.0, 0.03),
    "landing": (GaussQP(), Landing(1e-6, 2e-3), 0.5, 0.03),
    "generalized_alpha": (GeneralizedAlpha(), 1e-3, 0.5, 0.03),
    "event_driven": (EventDriven(), CONTROL, 0.5, 0.02),
}


class Uncertified(Exception):
    """A step that its own text does not certify."""


class Endless(Exception):
    """A run that does not end."""


@contextlib.contextmanager
def interpreted() -> Any:
    """Steps run their text uncompiled; a step that is not certified raises."""

    def give_up(self: Any, *_: Any) -> Any:
        raise Uncertified

    kept = [(of, of.rescue) for of in (CompiledSteps, EventSteps)]
    for of, _ in kept:
        of.rescue = give_up
    try:
        with objects.interpreted():
            yield
    finally:
        for of, rescue in kept:
            of.rescue = rescue


def runs(scheme: str) -> list[tuple[Any, Any]]:
    """Its runs on both mechanisms, with their residuals."""
    stepper, control, e, t_end = SCHEMES[scheme]
    found = []
    for make in (loose_pendulum, rolling_disc):
        system = SYSTEMS.setdefault((make, e), make(e, 0.3))
        run = simulate(system, stepper, t_end=t_end, dt=control)
        worst = Reference(run, system, stepper, control).residuals()
        found.append((run, max(float(np.max(np.nan_to_num(one, nan=np.inf))) for one in worst.values())))
    return found


SYSTEMS: dict[Any, Any] = {}


# ---- mistakes


class Change(ast.NodeTransformer):
    """Makes the mistake of this number among all that a function can have."""

    def __init__(self, number: int = -1) -> None:
        self.number, self.count, self.what = number, 0, ""

    def chosen(self, what: str, node: Any) -> bool:
        self.count += 1
        if self.count - 1 != self.number:
            return False
        self.what = f"{what}: {ast.unparse(node)}"
        return True

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        if isinstance(node.op, ast.Add | ast.Sub) and self.chosen("sign", node):
            node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        if isinstance(node.op, ast.Sub | ast.Div) and self.chosen("swapped", node):
            node.left, node.right = node.right, node.left
        if isinstance(node.op, ast.Mult) and self.chosen("factor dropped", node):
            return node.right
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.USub) and self.chosen("sign", node):
            return node.operand
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, float) and self.chosen("constant", node):
            return ast.Constant(1.5 * node.value if node.value else 1.0)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if self.chosen("negated", node):
            return ast.UnaryOp(ast.Not(), node)
        return self.generic_visit(node)

    def visit_If(self, node: ast.If) -> ast.AST:
        if self.chosen("negated if", node.test):
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if self.chosen("dropped", node):
            return ast.Pass()
        if isinstance(node.op, ast.Add | ast.Sub) and self.chosen("sign", node):
            node.op = ast.Sub() if isinstance(node.op, ast.Add) else ast.Add()
        return self.generic_visit(node)

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        if isinstance(node.targets[0], ast.Attribute) and self.chosen("dropped", node):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if isinstance(node.value, ast.Call) and self.chosen("dropped", node):
            return ast.Pass()
        return self.generic_visit(node)


def executed(scheme: str) -> tuple[list[Any], list[Any]]:
    """Functions of `nonsmooth.schemes` and `nonsmooth.step` that its steps execute, and the runs without mistakes."""
    seen: set[Any] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and re.search("/nonsmooth/(schemes|step)/", frame.f_code.co_filename):
            seen.add(frame.f_code)

    with interpreted():
        runs(scheme)  # what is compiled, as the evaluation of rows, is so now
        sys.setprofile(note)
        try:
            rows = runs(scheme)
        finally:
            sys.setprofile(None)
    found = []
    for code in sorted(seen, key=lambda code: (code.co_filename, code.co_firstlineno)):
        if Path(code.co_filename).stem in SOLUTION:
            continue
        name = code.co_filename.rpartition("/nonsmooth/")[2].removesuffix(".py").replace("/", ".")
        module = importlib.import_module(f"nonsmooth.{name}")
        function = getattr(module, code.co_name, None)
        if getattr(function, "__code__", None) is code:  # functions within functions are shared by all schemes
            found.append(function)
    return found, rows


def tree_of(function: Any) -> ast.FunctionDef:
    (tree,) = ast.parse(inspect.getsource(function)).body
    assert isinstance(tree, ast.FunctionDef)
    tree.decorator_list = []
    return tree


@contextlib.contextmanager
def mistaken(function: Any, tree: ast.FunctionDef, number: int) -> Any:
    """The function with one mistake, everywhere; nothing is compiled meanwhile."""

    def refuse(*_: Any) -> Any:
        raise RuntimeError("mutated text must not be compiled")

    change, space, kept, code = Change(number), {}, function.__code__, objects.compiled_text
    mutated = ast.Module([ast.fix_missing_locations(change.visit(copy.deepcopy(tree)))], [])
    exec(compile(mutated, function.__code__.co_filename, "exec"), function.__globals__.copy(), space)
    function.__code__, objects.compiled_text = space[function.__name__].__code__, refuse
    try:
        yield change.what
    finally:
        function.__code__, objects.compiled_text = kept, code


# ---- verdicts


def differences(found: Any, expected: Any) -> list[str]:
    """Columns that differ from those of the run without mistakes."""
    names = []
    for (one, _), (other, _) in zip(found, expected, strict=True):
        if len(one.t) != len(other.t) or np.max(abs(one.t - other.t)) > SAME:
            return ["t"]
        for name in COLUMNS:
            new, old = getattr(one, name).array, getattr(other, name).array
            if np.max(abs(new - old), initial=0.0) > SAME * (1e-6 + np.max(abs(old), initial=0.0)):
                names.append(name)
    return names


def verdict(scheme: str, expected: Any) -> str:
    """How a mistake shows itself: "reference", "certificate", "failure", "equivalent", or columns that differ."""

    def end(*_: Any) -> None:
        raise Endless

    signal.signal(signal.SIGALRM, end)
    signal.alarm(PATIENCE)
    try:
        with np.errstate(all="ignore"), interpreted():
            found = runs(scheme)
    except Exception as error:  # any error of a mutated text counts
        uncertified = isinstance(error, Uncertified) or isinstance(error.__cause__ or error.__context__, Uncertified)
        return "certificate" if uncertified else f"failure ({type(error).__name__})"
    finally:
        signal.alarm(0)
    if max(residual for _, residual in found) > FOUND:
        return "reference"
    certificates = [run.certificate for run, _ in found]
    if any(max(one.motion_residual, one.complementarity) > FOUND for one in certificates):
        return "certificate"
    return ", ".join(dict.fromkeys(differences(found, expected))) or "equivalent"


def mutants(scheme: str, count: int, seed: int) -> list[tuple[str, str, str]]:
    """So many mistakes that are not equivalent, and the equivalent ones on the way: where, what, and the verdict."""
    functions, expected = executed(scheme)
    assert max(residual for _, residual in expected) <= FOUND
    sites = []
    for function in functions:
        tree, counter = tree_of(function), Change()
        counter.visit(copy.deepcopy(tree))
        sites += [(function, tree, number) for number in range(counter.count)]
    random.Random(f"{scheme} {seed}").shuffle(sites)
    found: list[tuple[str, str, str]] = []
    for function, tree, number in sites:
        if sum(one[2] != "equivalent" for one in found) == count:
            break
        with mistaken(function, tree, number) as what:
            where = f"{function.__module__.rpartition('.')[2]}.{function.__name__}"
            found.append((where, what, verdict(scheme, expected)))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("schemes", nargs="*", default=[], help="all by default")
    parser.add_argument("--count", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    missed, rows = 0, []
    for scheme in given.schemes or SCHEMES:
        found = mutants(scheme, given.count, given.seed)
        kinds = [one[2].partition(" ")[0] for one in found]
        counts = [kinds.count(kind) for kind in ("reference", "certificate", "failure", "equivalent")]
        missed += len(found) - sum(counts)
        for where, what, how in found:
            print(f"{scheme:18} {how:24} {where:40} {what}", flush=True)
        rows.append((scheme, len(found), *counts, len(found) - sum(counts)))
    print(f"\n{'scheme':18} drawn  reference  certificate  failure  equivalent  missed")
    for row in rows:
        print("{:18} {:5}  {:9}  {:11}  {:7}  {:10}  {:6}".format(*row))
    return missed


if __name__ == "__main__":
    sys.exit(main())
