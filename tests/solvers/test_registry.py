"""Solvers by name, what is installed, and settings that are refused."""

from __future__ import annotations

import builtins
import subprocess
import sys

import pytest

import nonsmooth
from nonsmooth import solvers
from nonsmooth.exceptions import InputError, SolverMissing
from nonsmooth.solvers import (
    ActiveSet,
    Admm,
    Bdf,
    CasadiQP,
    Conic,
    Cvodes,
    Dop853,
    IpoptMPCC,
    Lemke,
    Lsoda,
    ModeEnumeration,
    Osqp,
    ProjectedGaussSeidel,
    Radau,
    SemismoothNewton,
    SmoothingNewton,
    available,
    by_name,
    names,
)


@pytest.mark.parametrize(
    ("name", "solver"),
    [
        ("active-set", ActiveSet()),
        ("osqp", Osqp()),
        ("casadi-qp", CasadiQP()),
        ("conic", Conic()),
        ("ipopt-mpcc", IpoptMPCC()),
        ("daqp", CasadiQP("daqp")),
        ("qrqp", CasadiQP("qrqp")),
        ("admm", Admm()),
        ("lemke", Lemke()),
        ("mode-enumeration", ModeEnumeration()),
        ("projected-gauss-seidel", ProjectedGaussSeidel()),
        ("semismooth-newton", SemismoothNewton()),
        ("smoothing-newton", SmoothingNewton()),
        ("bdf", Bdf()),
        ("cvodes", Cvodes()),
        ("dop853", Dop853()),
        ("lsoda", Lsoda()),
        ("radau", Radau()),
    ],
)
def test_solvers_have_names(name: str, solver: object) -> None:
    assert by_name(name)() == solver
    assert hash(by_name(name)()) == hash(solver)


def test_a_misspelt_name_lists_all_and_the_nearest() -> None:
    with pytest.raises(InputError, match="no solver 'osqq'. Did you mean 'osqp'.*active-set, admm, bdf, casadi-qp"):
        by_name("osqq")


def test_the_name_of_idas_says_what_to_take() -> None:
    with pytest.raises(InputError, match=r"no Idas any more.*take Cvodes\(\)"):
        by_name("idas")
    for module in (nonsmooth, solvers):
        with pytest.raises(ImportError, match=r"no Idas any more.*take Cvodes\(\)"):
            module.Idas  # noqa: B018


def test_names_are_lazy_and_complete() -> None:
    assert set(dir(solvers)) == set(solvers.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Simplex'"):
        solvers.Simplex  # noqa: B018
    code = "import sys, nonsmooth.solvers; print({'numba', 'osqp', 'cvxpy', 'casadi'} & set(sys.modules))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "set()"


def test_what_is_available_is_listed_with_versions() -> None:
    rows = {name: (version, missing) for name, version, missing in available()}
    friction = {"semismooth-newton", "smoothing-newton", "lemke", "mode-enumeration", "projected-gauss-seidel", "admm"}
    integrators = {"radau", "dop853", "bdf", "lsoda", "cvodes"}
    assert friction | integrators | {"active-set", "osqp", "conic"} <= set(rows)
    plugins = {"daqp", "qrqp", "ipopt-mpcc (ccopt)"}
    assert set(rows) == {*names(), *plugins} - {"casadi-qp"}  # which is listed by its plugins
    for version, missing in rows.values():
        assert (version is None) == bool(missing)
    assert rows["osqp"][0]


@pytest.mark.parametrize(
    ("solver", "library"),
    [
        (Osqp(), "osqp"),
        (Conic(), "cvxpy"),
        (Conic(), "clarabel"),
    ],
    ids=str,
)
def test_a_missing_library_gives_one_clear_sentence(
    solver: Osqp | Conic, library: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def without(name: str, *arguments: object, **keywords: object) -> object:
        if name.split(".")[0] == library:
            raise ImportError(f"No module named {library!r}")
        return original(name, *arguments, **keywords)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(SolverMissing, match=f"needs .*{library}.*pip install"):
        solver.setup()


@pytest.mark.parametrize("eps", [1e-3, 2e-9, 0.0, -1e-10, float("nan")])
def test_a_loose_osqp_is_refused(eps: float) -> None:
    with pytest.raises(InputError, match="would give wrong motions.*8.8 rad/s on 150.*0 < eps <= 1e-09"):
        Osqp(eps=eps)


def test_an_unknown_plugin_is_refused_and_highs_explained() -> None:
    with pytest.raises(InputError, match="no plugin 'highs'; it takes daqp or qrqp"):
        CasadiQP("highs")
