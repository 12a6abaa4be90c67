"""What to cite for a run: BibTeX of the scheme, the solvers used, the laws, the problem and the libraries.

The entries are in assets/references.bib, one field per line; a DOI is given only where it is certain. Everything else
is read from a trajectory's manifest and counts. A class named in `CITED` with no entry has nothing to cite beyond this
package; of one that is not named there, the section References of its docstring is quoted.
"""

import inspect
import re
from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from nonsmooth import laws, solvers, steppers
from nonsmooth.trajectory import Trajectory

__all__ = ["CITED", "ELEMENTS", "ENTRIES", "PACKAGE", "PROBLEMS", "STUDIES", "bibtex", "cited", "quoted"]

Entry = tuple[str, dict[str, str]]


def _read(text: str) -> dict[str, Entry]:
    """The entries of a BibTeX file that has one field per line."""
    entries = re.findall(r"^@(\w+)\{(\w+),\n((?:  .*\n)*)\}$", text, re.M)
    return {key: (kind, dict(re.findall(r"^  (\w+) = \{(.*)\},$", fields, re.M))) for kind, key, fields in entries}


#: key -> kind of entry and its fields
ENTRIES = _read(resources.files(__name__).joinpath("assets/references.bib").read_text(encoding="utf-8"))

#: as CITATION.cff has it; the version is that of the run
TITLE = "nonsmooth: non-smooth multibody dynamics of mechanisms with joint clearance"
PACKAGE: Entry = ("misc", {"author": "{The nonsmooth authors}", "title": TITLE})

#: stepper, solver or law -> what it stands on; nothing where there is nothing to cite beyond this package
CITED: dict[str, tuple[str, ...]] = {
    # steppers
    "GaussMPCC": ("chaturvedi", "gauss1829"), "GaussQP": ("chaturvedi", "gauss1829", "desaxce1998"),
    "MoreauJean": ("jean1999", "andersen1983"), "GeneralizedAlpha": ("bruls2014",),
    "EventDriven": ("hairer1993", "pfeiffer1996"), "CompliantDae": ("floresambrosio2010",),
    # solvers, with their libraries
    "IpoptMPCC": ("waechter2006",), "ActiveSet": ("lam2015",), "Osqp": ("stellato2020",),
    "CasadiQP": ("andersson2019",), "Conic": ("goulart2024", "diamond2016", "desaxce1998", "acary2011"),
    "SemismoothNewton": ("alart1991", "fukushima2002", "lam2015"),
    "SmoothingNewton": ("fukushima2002", "desaxce1998", "lam2015"), "Lemke": ("lemke1965", "cottle1992", "lam2015"),
    "ModeEnumeration": ("lam2015",), "ProjectedGaussSeidel": ("jourdan1998", "lam2015"),
    "Admm": ("boyd2011", "carpentier2024"), "Chain": (), "Radau": ("hairer1996", "virtanen2020"),
    "Dop853": ("hairer1993", "virtanen2020"), "Lsoda": ("petzold1983", "virtanen2020"),
    "Bdf": ("shampine1997", "virtanen2020"), "Cvodes": ("hindmarsh2005",),
    # laws
    "Rigid": ("moreau1988",), "AdamsImpact": (), "Anagnostopoulos": ("anagnostopoulos1988",),
    "BaiZhao": ("baizhao2012",), "DubowskyFreudenstein": ("dubowsky1971",), "ESDU78035": ("esdu1978",),
    "Flores": ("flores2011",), "FractalStiffness": ("sun2021", "kogut2002"), "GharibHurmuzlu": ("gharib2012",),
    "Goldsmith": ("goldsmith1960",), "Gonthier": ("gonthier2004",), "HerbertMcWhannell": ("herbert1977",),
    "Hertz": ("hertz1881",), "HertzStiffness": ("hertz1881",), "HuGuo": ("huguo2015",), "HuntCrossley": ("hunt1975",),
    "Johnson": ("johnson1985",), "KelvinVoigt": (), "LankaraniNikravesh": ("lankarani1990",),
    "LeeWang": ("leewang1983",), "LineContact": ("zhu2025",), "Liu": ("liu2007",), "Pereira": ("pereira2011",),
    "PlaneContact": ("zhu2025",), "Radzimovsky": ("radzimovsky1953",), "RoundedStiffness": ("hertz1881",),
    "WinklerFoundation": ("johnson1985",), "ZhiyingQishao": ("machado2012",), "Ambrosio": ("ambrosio2003",),
    "Bai": ("bai2018",), "BengisuAkay": ("bengisu1994",), "BrownMcPhee": ("brown2016",), "Dahl": ("dahl1968",),
    "Karnopp": ("karnopp1985",), "LuGre": ("canudas1995",), "MostaghelDavis": ("mostaghel1997",),
    "RegularisedCoulomb": ("mostaghel1997",), "SineCosine": ("zhu2025",), "Stribeck": ("marques2016",),
    "Threlfall": ("threlfall1978",),
}  # fmt: skip

#: kind of element -> what it stands on: floating frame and geometric stiffness, fixed-interface and attachment modes
FLEXIBLE = ("shabana2013", "schwertassek1999", "craig1968", "rubin1975")
ELEMENTS: dict[str, tuple[str, ...]] = {"PlanarFlexibleBody": FLEXIBLE, "SpatialFlexibleBody": FLEXIBLE}

#: fits and studies -> what they stand on
STUDIES: dict[str, tuple[str, ...]] = {
    "Fit": ("iso286",), "allocate": ("spotts1973", "chase1988"),
    "failure_probability": ("ditlevsen1996", "au2001", "baudin2017"), 
    "long_run": ("white1997", "schmeiser1982", "coles2001"),
}  # fmt: skip

#: ready problem -> where it comes from; of a problem that is not named, its own source is quoted
PROBLEMS: dict[str, tuple[str, ...]] = {
    "andrews-squeezer": ("mazzia2008", "schiehlen1990"), "beam-on-stop": (), "bennett": ("bennett1903",),
    "block-on-incline": (), "bouncing-ball": (), "brick-on-steps": (), "cam-follower": (), "chain": (),
    "crank-rocker": (), "double-pendulum-clearance": (), "dual-manipulator": ("aerospace2026",),
    "euler-disc": ("moffatt2000",), "flexible-slider-crank": ("simeon1996",), "four-bar": ("akhadkar2016",),
    "heavy-top": ("geradin2001", "arnold2007"), "loose-journal": (), "motor-backlash-load": (), "newtons-cradle": (),
    "painleve-rod": ("painleve1895",), "pendulum-with-stop": (), "polishing-robot": ("zhu2025",),
    "rattleback": ("kane1982", "garcia1988"), "six-rss": ("wang2021",), "slide-in-guide": (),
    "slider-crank-revolute": ("ravn1998", "schwab2002", "flores2004"), "slider-crank-translational": ("flores2010",),
    "slider-rod": ("chaturvedi",), "socket-pendulum": (), "spatial-slider-crank": ("haug1989",),
    "stick-slip-oscillator": (), "tippe-top": ("leine2003",), "turntable-ball": (), "universal-shaft": (),
    "xy-pointing": ("sun2021",),
}  # fmt: skip

#: a setting, as the manifest prints it -> what it stands on
VARIANTS: dict[str, tuple[str, ...]] = {
    "relaxation='fischer-burmeister'": ("kanzow1996",), "relaxation='scholtes'": ("scholtes2001",),
    "plugin='daqp'": ("arnstrom2022",), "cone='convex'": ("anitescu2010",), "baumgarte=(": ("baumgarte1972",),
}  # fmt: skip
ALWAYS = ("andersson2019", "harris2020", "lam2015")
#: impact laws other than Newton's, by their names in the manifest
IMPACTS: dict[str, tuple[str, ...]] = {
    "poisson": ("glocker1995", "pfeiffer1996"),
    "routh": ("routh1905", "keller1986"),
    "stronge": ("stronge1990", "keller1986"),
}


def cited(run: Trajectory) -> dict[str, tuple[str, ...]]:
    """All that took part in a run -> keys of its entries in `ENTRIES`, in the order of the printed list.

    A foreign problem, stepper, solver or law has no entry; it is named all the same, so that nothing is passed over.

    >>> from nonsmooth import GaussQP, simulate
    >>> from nonsmooth_problems import slider_rod
    >>> run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=2e-3, dt=1e-3)
    >>> for what, keys in cited(run).items():
    ...     print(f"{what}: {', '.join(keys) or 'no entry'}")
    stepper GaussQP: chaturvedi, gauss1829, desaxce1998
    solver SemismoothNewton: alart1991, fukushima2002, lam2015
    law Rigid: moreau1988
    problem slider-rod: chaturvedi
    libraries: andersson2019, harris2020, lam2015
    """
    manifest, settings = run.manifest, str(run.manifest["settings"]["stepper"])
    stepper, counts = settings.partition("(")[0], run.counts
    named = [name for name in counts if name[:1].isupper()]
    first = re.search(r"solver=(\w+)\(", settings)
    if "implicit" in counts:  # by default, where contact is compliant
        named = ["Dop853", "Radau"] if counts["implicit"] else ["Dop853"]
    elif first and first[1] not in named and (not named or counts.get("solves", 0) > sum(counts[x] for x in named)):
        named.insert(0, first[1])  # which no count names
    found = {f"stepper {stepper}": CITED.get(stepper, ())}
    found |= {f"solver {name}": CITED.get(name, ()) for name in named}
    for text, keys in VARIANTS.items():
        if text in settings:
            found[f"setting {text.rstrip('(')}"] = keys
    for element in manifest["model"]["elements"]:
        if element.get("kind") in ELEMENTS:
            found[f"body {element['kind']}"] = ELEMENTS[element["kind"]]
        for law in _kinds(element.get("contact")):
            found[f"law {law}"] = CITED.get(law, IMPACTS.get(law.partition("'")[0].lower(), ()))
    problem = manifest["model"].get("problem")
    if problem is not None:
        found[f"problem {problem}"] = PROBLEMS.get(problem, ())
    found["libraries"] = ALWAYS
    return found


def quoted(name: str) -> str:
    """The section References in the docstring of a law, solver or stepper that `CITED` does not name; "" without one.

    >>> quoted("Flores"), quoted("Nothing")
    ('', '')
    """
    found = next((getattr(one, name) for one in (laws, steppers, solvers) if hasattr(one, name)), None)
    text = re.search(r"^References\n-+\n((?:.+\n?)+)", inspect.getdoc(found) or "", re.M)
    return "" if name in CITED or found is None or text is None else " ".join(text[1].split())


def bibtex(run: Trajectory) -> str:
    """BibTeX of everything that took part in a run, each entry once, with a comment that says what it is for."""
    version = run.manifest.get("versions", {}).get("nonsmooth") or "unknown"
    blocks = [_written("this package", "nonsmooth", (PACKAGE[0], {**PACKAGE[1], "note": f"version {version}"}))]
    uses, nothing = dict[str, list[str]](), list[str]()
    problem, source = (run.manifest["model"].get(name) for name in ("problem", "source"))
    for what, keys in cited(run).items():
        for key in keys:
            uses.setdefault(key, []).append(what)
        if not keys and what == f"problem {problem}" and problem not in PROBLEMS:
            blocks.append(_written(what, str(problem), ("misc", {"title": f"Problem {problem}", "note": str(source)})))
        elif not keys and (text := quoted(what.rpartition(" ")[2])):
            blocks.append(_written(what, what.rpartition(" ")[2].lower(), ("misc", {"title": what, "note": text})))
        elif not keys:
            nothing.append(what)
    blocks += [_written(", ".join(what), key, ENTRIES[key]) for key, what in uses.items()]
    if nothing:
        blocks.append(f"% no entry: {', '.join(nothing)}\n")
    return "\n".join(blocks)


def _kinds(contact: Any) -> Iterator[str]:
    """Names of the laws within a contact's description, those that are made of others first."""
    if not isinstance(contact, Mapping):
        return
    kind = str(contact.get("kind", ""))
    if kind not in ("", "Compliant", "Material"):
        yield kind
    if contact.get("impact") in IMPACTS:
        yield f"{str(contact['impact']).capitalize()}'s impact law"
    for value in contact.values():
        yield from _kinds(value)


def _written(comment: str, key: str, entry: Entry) -> str:
    kind, fields = entry
    lines = [f"  {name} = {{{value}}}," for name, value in fields.items()]
    return "\n".join([f"% {comment}", f"@{kind}{{{key},", *lines, "}", ""])
