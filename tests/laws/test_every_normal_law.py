"""What every normal law must do. A new law without an example here fails."""

from __future__ import annotations

from types import SimpleNamespace

import casadi as ca
import numpy as np
import pytest

import nonsmooth.laws as laws
from nonsmooth.exceptions import InputError
from nonsmooth.laws import Compliant, Material, NormalLaw

STEEL, BRONZE = Material(2.07e11, 0.3), Material(1.1e11, 0.34, density=8800.0)
GEOMETRY = {"radius": 9.5e-3, "clearance": 0.5e-3, "length": 15e-3, "effective_radius": 0.19}
PAIR = {"a": STEEL, "b": BRONZE}
HYSTERESIS = {"stiffness": 1e10, "restitution": 0.6}

EXAMPLES = {
    "AdamsImpact": {"stiffness": 1e10, "damping": 1e3, "full_depth": 1e-4},
    "Anagnostopoulos": {"stiffness": 1e7, "restitution": 0.6, "effective_mass": 0.3},
    "BaiZhao": PAIR,
    "DubowskyFreudenstein": PAIR,
    "ESDU78035": PAIR,
    "Flores": HYSTERESIS | {"stiffness": laws.Johnson(**PAIR), "calibrated": True},
    "FractalStiffness": PAIR
    | {
        "yield_strength": 3e8,
        "fractal_dimension": 2.56,
        "fractal_scale": 5e-9,
        "area_share": 0.1,
        "asperity_friction": 0.4,
    },
    "GharibHurmuzlu": HYSTERESIS,
    "Goldsmith": PAIR,
    "Gonthier": HYSTERESIS,
    "HerbertMcWhannell": HYSTERESIS,
    "Hertz": {"stiffness": 1e10},
    "HertzStiffness": PAIR,
    "HuGuo": HYSTERESIS,
    "HuntCrossley": HYSTERESIS | {"exponent": 2.0},
    "Johnson": PAIR,
    "KelvinVoigt": {"stiffness": 1e7, "damping": 1e3},
    "LankaraniNikravesh": HYSTERESIS | {"stiffness": laws.HertzStiffness(**PAIR)},
    "LeeWang": HYSTERESIS | {"calibrated": True},
    "LineContact": PAIR | {"line_length": 0.06, "edge_radius": 1e-3},
    "Liu": PAIR,
    "Pereira": PAIR,
    "PlaneContact": {"young": 2e11, "area": 1e-4, "thickness": 0.02},
    "Radzimovsky": PAIR,
    "RoundedStiffness": PAIR | {"rounding": 1e-3},
    "WinklerFoundation": {"young": 1e9, "poisson": 0.3, "thickness": 1e-3},
    "ZhiyingQishao": HYSTERESIS,
}


def test_every_law_has_an_example():
    found = {laws.by_name(name, "normal").__name__ for name in laws.names("normal")}
    assert not found - set(EXAMPLES), f"give {', '.join(found - set(EXAMPLES))} numbers in EXAMPLES above"
    assert not set(EXAMPLES) - found, f"there is no law {', '.join(set(EXAMPLES) - found)}: remove its example"


def test_bases_and_laws_are_told_apart_by_name():
    def subclasses(cls):
        for sub in cls.__subclasses__():
            yield sub
            yield from subclasses(sub)

    laws.names("normal")
    public = {cls.__name__ for cls in subclasses(NormalLaw) if cls.__module__.startswith("nonsmooth.")}
    assert {name for name in public if not name.endswith("Law") and name[0] != "_"} == set(EXAMPLES)


def example(name):
    law = getattr(laws, name)(**EXAMPLES[name])
    numbers = law.numbers() | {need: GEOMETRY[need] for need in law.needs()}
    return law, numbers


def functions(law, numbers):
    """Normal force, its elastic part and their derivatives, compiled with every number as an input."""
    p = {name: ca.SX.sym(name) for name in numbers}
    k = SimpleNamespace(**law.coefficients(SimpleNamespace(**p)))
    motion = ca.SX.sym("motion", 3)
    force, _, elastic, _ = Compliant(law).forces(*ca.vertsplit(motion), 0, ca.SX(0, 1), 0, k)
    both = ca.vertcat(force, elastic)
    inputs = [motion, ca.vertcat(*p.values())]
    return ca.Function("force", inputs, [both, ca.jacobian(both, motion), ca.jacobian(both, inputs[1])])


@pytest.mark.parametrize("name", EXAMPLES)
def test_finite_from_nothing_to_huge_depth(name):
    law, numbers = example(name)
    f = functions(law, numbers)
    for depth in (0.0, 1e-300, 1e-30, 1e-12, 1e-6, 1e-3, 1.0, 1e3):
        for rate in (-1.0, 0.0, 1.0):
            force, slope, _ = f([depth, rate, 1.0], list(numbers.values()))
            assert np.isfinite(np.array(force)).all() and np.isfinite(np.array(slope)).all()
    assert float(f([0.0, 0.0, 1.0], list(numbers.values()))[0][1]) == 0.0


@pytest.mark.parametrize("name", EXAMPLES)
def test_elastic_force_grows_with_depth(name):
    law, numbers = example(name)
    f = functions(law, numbers)
    elastic = [float(f([depth, 0.0, 1.0], list(numbers.values()))[0][1]) for depth in np.logspace(-12, -1, 80)]
    assert elastic[0] >= 0 and (np.diff(elastic) > 0).all()


@pytest.mark.parametrize("name", EXAMPLES)
def test_numbers_and_symbols_agree(name):
    law, numbers = example(name)
    p = SimpleNamespace(**numbers)
    k = SimpleNamespace(**law.coefficients(p))
    f = functions(law, numbers)
    for depth, rate in ((1e-6, 0.3), (2e-5, -0.1)):
        compiled = f([depth, rate, 0.5], list(numbers.values()))[0]
        assert float(law.elastic(depth, k)) == pytest.approx(float(compiled[1]), rel=1e-12)
        assert max(float(law.force(depth, rate, 0.5, k)), -np.inf if law.tensile else 0.0) == pytest.approx(
            float(compiled[0]), rel=1e-12
        )


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_number_is_an_input_that_matters(name):
    law, numbers = example(name)
    _, _, by_number = functions(law, numbers)([1e-5, 0.3, 1.0], list(numbers.values()))
    force = np.array(by_number)[0]
    unused = {key for key, value in zip(numbers, force, strict=True) if value == 0}
    known = {"Radzimovsky": {"radius"}, "Johnson": {"radius"}, "ESDU78035": {"radius"}, "Goldsmith": set()}
    assert np.isfinite(force).all()
    assert unused <= known.get(name, {"radius"} if name == "Flores" else set())


@pytest.mark.parametrize("name", EXAMPLES)
def test_limits_name_known_quantities(name):
    law, numbers = example(name)
    p = SimpleNamespace(**numbers)
    k = SimpleNamespace(**{key: float(value) for key, value in law.coefficients(p).items()})
    for limit in law.limits(p, k):
        assert limit.quantity in {*numbers, "approach", "force", "depth"}
        assert limit.reason and limit.low < limit.high


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_law_prints_as_what_makes_it(name):
    law, _ = example(name)
    assert eval(repr(law), vars(laws) | {cls: getattr(laws, cls) for cls in (*EXAMPLES, "Material")}) == law


def test_names():
    assert laws.by_name("lankarani-nikravesh") is laws.LankaraniNikravesh
    assert laws.by_name("herbert-mcwhannell") is laws.HerbertMcWhannell
    assert laws.by_name("esdu78035", "normal") is laws.ESDU78035
    with pytest.raises(InputError, match="There is no law 'flors'. Did you mean flores?"):
        laws.by_name("flors")
    with pytest.raises(InputError, match="There is no friction law 'flores'"):
        laws.by_name("flores", "friction")
    with pytest.raises(InputError, match='"normal" or "friction"'):
        laws.names("thermal")
    with pytest.raises(AttributeError, match="Nothing"):
        getattr(laws, "Nothing")  # noqa: B009


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: laws.Flores(stiffness=-1.0, restitution=0.5), r"Flores: stiffness must be a positive number .*-1.0"),
        (lambda: laws.Flores(stiffness=1e9, restitution=0.0), r"restitution must be a number in \(0, 1\]"),
        (lambda: laws.Flores(stiffness=1e9, restitution=1.1), r"restitution must be a number in \(0, 1\]"),
        (lambda: laws.Flores(stiffness="hard", restitution=0.5), r"stiffness must be a number or an ElasticLaw"),
        (lambda: laws.Flores(stiffness=laws.Johnson, restitution=0.5), r"write it with its brackets"),
        (lambda: laws.Flores(stiffness=laws.Hertz(stiffness=1.0), restitution=0.5), r"a number or an ElasticLaw"),
        (lambda: laws.Flores(stiffness=1e9, restitution=0.5, exponent=0.0), r"exponent must be a positive number"),
        (
            lambda: laws.Flores(stiffness=laws.Johnson(**PAIR), restitution=0.5, exponent=1.5),
            r"Johnson has its own form, so leave exponent out",
        ),
        (lambda: laws.KelvinVoigt(stiffness=1e6, damping=-1.0), r"KelvinVoigt: damping must be a number >= 0"),
        (lambda: laws.Johnson(STEEL, 2e11), r"Johnson: b must be a Material"),
        (lambda: Material(0.0, 0.3), r"Material: young must be a positive number"),
        (lambda: Material(2e11, 0.6), r"Material: poisson must be a number in .0, 0.5."),
        (lambda: Material(2e11, 0.3, density=0.0), r"Material: density must be a positive number"),
    ],
)
def test_input_errors(make, message):
    with pytest.raises(InputError, match=message):
        make()
