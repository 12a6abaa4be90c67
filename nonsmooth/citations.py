"""What to cite for a run: BibTeX of the scheme, the solvers that answered, the laws, the problem and the libraries.

Everything is read from a trajectory's manifest and counts, so that a file that was saved long ago is enough. A class
that is named in `CITED` with no entry says that there is nothing to cite beyond this package; a digital object
identifier stands only where it is certain.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

__all__ = ["CITED", "ENTRIES", "PACKAGE", "PROBLEMS", "bibtex", "cited"]

Entry = tuple[str, dict[str, str]]


class Run(Protocol):
    """What is needed of a trajectory."""

    @property
    def manifest(self) -> Mapping[str, Any]: ...

    @property
    def counts(self) -> Mapping[str, Any]: ...


def _article(author: str, title: str, journal: str, year: int, volume: str, pages: str = "", doi: str = "") -> Entry:
    return _entry(
        "article", author=author, title=title, journal=journal, year=year, volume=volume, pages=pages, doi=doi
    )


def _book(author: str, title: str, publisher: str, year: int, doi: str = "") -> Entry:
    return _entry("book", author=author, title=title, publisher=publisher, year=year, doi=doi)


def _other(author: str, title: str, year: int | str, note: str, doi: str = "") -> Entry:
    return _entry("misc", author=author, title=title, year=year, note=note, doi=doi)


def _entry(kind: str, **fields: str | int) -> Entry:
    return kind, {name: str(value) for name, value in fields.items() if value != ""}


CMAME = "Computer Methods in Applied Mechanics and Engineering"
MMT = "Mechanism and Machine Theory"
MSD = "Multibody System Dynamics"
NONLINEAR = "Nonlinear Dynamics"

#: as CITATION.cff has it; the version is that of the run
PACKAGE: Entry = _other(
    "{The nonsmooth authors}", "nonsmooth: non-smooth multibody dynamics of mechanisms with joint clearance", "", ""
)

#: key -> kind of entry and its fields
ENTRIES: dict[str, Entry] = {
    # schemes
    "chaturvedi": _other(
        "Chaturvedi, Ekansh and Sandu, Corina and Sandu, Adrian",
        "Non-smooth dynamics formulation for planar prismatic joints with clearances", "", "Virginia Tech",
    ),
    "gauss1829": _article(
        "Gau{\\ss}, Carl Friedrich", "{\\\"U}ber ein neues allgemeines Grundgesetz der Mechanik",
        "Journal f{\\\"u}r die reine und angewandte Mathematik", 1829, "4", "232--235", "10.1515/crll.1829.4.232",
    ),
    "desaxce1998": _article(
        "de Saxc{\\'e}, G. and Feng, Z.-Q.",
        "The bipotential method: a constructive approach to design the complete contact law with friction and improved "
        "numerical algorithms", "Mathematical and Computer Modelling", 1998, "28", "225--245",
        "10.1016/S0895-7177(98)00119-8",
    ),
    "anitescu2010": _article(
        "Anitescu, Mihai and Tasora, Alessandro",
        "An iterative approach for cone complementarity problems for nonsmooth dynamics",
        "Computational Optimization and Applications", 2010, "47", "207--235", "10.1007/s10589-008-9223-4",
    ),
    "jean1999": _article(
        "Jean, M.", "The non-smooth contact dynamics method", CMAME, 1999, "177", "235--257",
        "10.1016/S0045-7825(98)00383-1",
    ),
    "bruls2014": _article(
        "Br{\\\"u}ls, Olivier and Acary, Vincent and Cardona, Alberto",
        "Simultaneous enforcement of constraints at position and velocity levels in the nonsmooth generalized-alpha "
        "scheme", CMAME, 2014, "281", "131--161", "10.1016/j.cma.2014.07.025",
    ),
    "andersen1983": _article(
        "Andersen, Hans C.",
        "Rattle: a ``velocity'' version of the Shake algorithm for molecular dynamics calculations",
        "Journal of Computational Physics", 1983, "52", "24--34", "10.1016/0021-9991(83)90014-1",
    ),
    "hairer1993": _book(
        "Hairer, Ernst and N{\\o}rsett, Syvert P. and Wanner, Gerhard",
        "Solving ordinary differential equations {I}: nonstiff problems", "Springer", 1993, "10.1007/978-3-540-78862-1",
    ),
    "hairer1996": _book(
        "Hairer, Ernst and Wanner, Gerhard",
        "Solving ordinary differential equations {II}: stiff and differential-algebraic problems", "Springer", 1996,
        "10.1007/978-3-642-05221-7",
    ),
    "pfeiffer1996": _book(
        "Pfeiffer, Friedrich and Glocker, Christoph", "Multibody dynamics with unilateral contacts", "Wiley", 1996,
        "10.1002/9783527618385",
    ),
    "floresambrosio2010": _article(
        "Flores, Paulo and Ambr{\\'o}sio, Jorge",
        "On the contact detection for contact/impact analysis in multibody systems", MSD, 2010, "24", "103--122",
        "10.1007/s11044-010-9209-8",
    ),
    "baumgarte1972": _article(
        "Baumgarte, J.", "Stabilization of constraints and integrals of motion in dynamical systems", CMAME, 1972, "1",
        "1--16", "10.1016/0045-7825(72)90018-7",
    ),
    # solvers
    "waechter2006": _article(
        "W{\\\"a}chter, Andreas and Biegler, Lorenz T.",
        "On the implementation of an interior-point filter line-search algorithm for large-scale nonlinear programming",
        "Mathematical Programming", 2006, "106", "25--57", "10.1007/s10107-004-0559-y",
    ),
    "kanzow1996": _article(
        "Kanzow, Christian", "Some noninterior continuation methods for linear complementarity problems",
        "SIAM Journal on Matrix Analysis and Applications", 1996, "17", "851--868",
    ),
    "scholtes2001": _article(
        "Scholtes, Stefan",
        "Convergence properties of a regularization scheme for mathematical programs with complementarity constraints",
        "SIAM Journal on Optimization", 2001, "11", "918--936", "10.1137/S1052623499361233",
    ),
    "stellato2020": _article(
        "Stellato, Bartolomeo and Banjac, Goran and Goulart, Paul and Bemporad, Alberto and Boyd, Stephen",
        "{OSQP}: an operator splitting solver for quadratic programs", "Mathematical Programming Computation", 2020,
        "12",
        "637--672", "10.1007/s12532-020-00179-2",
    ),
    "arnstrom2022": _article(
        "Arnstr{\\\"o}m, Daniel and Bemporad, Alberto and Axehill, Daniel",
        "A dual active-set solver for embedded quadratic programming using recursive {LDL}$^T$ updates",
        "IEEE Transactions on Automatic Control", 2022, "67", "4362--4369", "10.1109/TAC.2022.3176430",
    ),
    "goulart2024": _other(
        "Goulart, Paul J. and Chen, Yuwen",
        "Clarabel: an interior-point solver for conic programs with quadratic objectives", 2024, "arXiv:2405.12762",
    ),
    "diamond2016": _article(
        "Diamond, Steven and Boyd, Stephen", "{CVXPY}: a {P}ython-embedded modeling language for convex optimization",
        "Journal of Machine Learning Research", 2016, "17", "1--5",
    ),
    "acary2011": _article(
        "Acary, Vincent and Cadoux, Florent and Lemar{\\'e}chal, Claude and Malick, J{\\'e}r{\\^o}me",
        "A formulation of the linear discrete {C}oulomb friction problem via convex optimization",
        "ZAMM", 2011, "91", "155--175", "10.1002/zamm.201000073",
    ),
    "alart1991": _article(
        "Alart, P. and Curnier, A.",
        "A mixed formulation for frictional contact problems prone to {N}ewton like solution methods", CMAME, 1991,
        "92",
        "353--375", "10.1016/0045-7825(91)90022-X",
    ),
    "fukushima2002": _article(
        "Fukushima, Masao and Luo, Zhi-Quan and Tseng, Paul",
        "Smoothing functions for second-order-cone complementarity problems", "SIAM Journal on Optimization", 2002,
        "12",
        "436--460", "10.1137/S1052623400380365",
    ),
    "lemke1965": _article(
        "Lemke, C. E.", "Bimatrix equilibrium points and mathematical programming", "Management Science", 1965, "11",
        "681--689", "10.1287/mnsc.11.7.681",
    ),
    "cottle1992": _book(
        "Cottle, Richard W. and Pang, Jong-Shi and Stone, Richard E.", "The linear complementarity problem",
        "Academic Press", 1992,
    ),
    "jourdan1998": _article(
        "Jourdan, Franck and Alart, Pierre and Jean, Michel",
        "A {Gauss-Seidel} like algorithm to solve frictional contact problems", CMAME, 1998, "155", "31--47",
        "10.1016/S0045-7825(97)00137-0",
    ),
    "boyd2011": _article(
        "Boyd, Stephen and Parikh, Neal and Chu, Eric and Peleato, Borja and Eckstein, Jonathan",
        "Distributed optimization and statistical learning via the alternating direction method of multipliers",
        "Foundations and Trends in Machine Learning", 2011, "3", "1--122", "10.1561/2200000016",
    ),
    "carpentier2024": _other(
        "Carpentier, Justin and Montaut, Louis and Le Lidec, Quentin",
        "From compliant to rigid contact simulation: a unified and efficient approach", 2024,
        "Robotics: Science and Systems",
    ),
    "petzold1983": _article(
        "Petzold, Linda",
        "Automatic selection of methods for solving stiff and nonstiff systems of ordinary differential equations",
        "SIAM Journal on Scientific and Statistical Computing", 1983, "4", "136--148", "10.1137/0904010",
    ),
    "shampine1997": _article(
        "Shampine, Lawrence F. and Reichelt, Mark W.", "The {MATLAB} {ODE} suite",
        "SIAM Journal on Scientific Computing", 1997, "18", "1--22", "10.1137/S1064827594276424",
    ),
    "hindmarsh2005": _article(
        "Hindmarsh, Alan C. and Brown, Peter N. and Grant, Keith E. and Lee, Steven L. and Serban, Radu and "
        "Shumaker, Dan E. and Woodward, Carol S.",
        "{SUNDIALS}: suite of nonlinear and differential/algebraic equation solvers",
        "ACM Transactions on Mathematical Software", 2005, "31", "363--396", "10.1145/1089014.1089020",
    ),
    # libraries
    "andersson2019": _article(
        "Andersson, Joel A. E. and Gillis, Joris and Horn, Greg and Rawlings, James B. and Diehl, Moritz",
        "{CasADi}: a software framework for nonlinear optimization and optimal control",
        "Mathematical Programming Computation", 2019, "11", "1--36", "10.1007/s12532-018-0139-4",
    ),
    "harris2020": _article(
        "Harris, Charles R. and Millman, K. Jarrod and van der Walt, St{\\'e}fan J. and others",
        "Array programming with {NumPy}", "Nature", 2020, "585", "357--362", "10.1038/s41586-020-2649-2",
    ),
    "virtanen2020": _article(
        "Virtanen, Pauli and Gommers, Ralf and Oliphant, Travis E. and others",
        "{SciPy} 1.0: fundamental algorithms for scientific computing in {Python}", "Nature Methods", 2020, "17",
        "261--272", "10.1038/s41592-019-0686-2",
    ),
    "lam2015": _other(
        "Lam, Siu Kwan and Pitrou, Antoine and Seibert, Stanley", "Numba: a {LLVM}-based {P}ython {JIT} compiler", 2015,
        "Second Workshop on the LLVM Compiler Infrastructure in HPC", "10.1145/2833157.2833162",
    ),
    # laws of contact
    "moreau1988": _other(
        "Moreau, J. J.", "Unilateral contact and dry friction in finite freedom dynamics", 1988,
        "Nonsmooth Mechanics and Applications, CISM 302, Springer", "10.1007/978-3-7091-2624-0_1",
    ),
    "glocker1995": _article(
        "Glocker, Christoph and Pfeiffer, Friedrich", "Multiple impacts with friction in rigid multibody systems",
        NONLINEAR, 1995, "7", "471--497",
    ),
    "stronge1990": _article(
        "Stronge, W. J.", "Rigid body collisions with friction", "Proceedings of the Royal Society of London A", 1990,
        "431", "169--181", "10.1098/rspa.1990.0125",
    ),
    "keller1986": _article(
        "Keller, J. B.", "Impact with friction", "Journal of Applied Mechanics", 1986, "53", "1--4",
        "10.1115/1.3171712",
    ),
    "routh1905": _book("Routh, E. J.", "Dynamics of a system of rigid bodies", "Macmillan", 1905),
    "hertz1881": _article(
        "Hertz, Heinrich", "Ueber die Ber{\\\"u}hrung fester elastischer K{\\\"o}rper",
        "Journal f{\\\"u}r die reine und angewandte Mathematik", 1882, "92", "156--171", "10.1515/crll.1882.92.156",
    ),
    "hunt1975": _article(
        "Hunt, K. H. and Crossley, F. R. E.", "Coefficient of restitution interpreted as damping in vibroimpact",
        "Journal of Applied Mechanics", 1975, "42", "440--445", "10.1115/1.3423596",
    ),
    "herbert1977": _article(
        "Herbert, R. G. and McWhannell, D. C.", "Shape and frequency composition of pulses from an impact pair",
        "Journal of Engineering for Industry", 1977, "99",
    ),
    "leewang1983": _article(
        "Lee, T. W. and Wang, A. C.", "On the dynamics of intermittent-motion mechanisms",
        "Journal of Mechanisms, Transmissions, and Automation in Design", 1983, "105",
    ),
    "lankarani1990": _article(
        "Lankarani, H. M. and Nikravesh, P. E.",
        "A contact force model with hysteresis damping for impact analysis of multibody systems",
        "Journal of Mechanical Design", 1990, "112", "369--376", "10.1115/1.2912617",
    ),
    "machado2012": _article(
        "Machado, Margarida and Moreira, Pedro and Flores, Paulo and Lankarani, Hamid M.",
        "Compliant contact force models in multibody dynamics: evolution of the {Hertz} contact theory", MMT, 2012,
        "53",
        "99--121", "10.1016/j.mechmachtheory.2012.02.010",
    ),
    "gonthier2004": _article(
        "Gonthier, Yves and McPhee, John and Lange, Christian and Piedboeuf, Jean-Claude",
        "A regularized contact model with asymmetric damping and dwell-time dependent friction", MSD, 2004, "11",
        "209--233",
    ),
    "flores2011": _article(
        "Flores, Paulo and Machado, Margarida and Silva, Miguel T. and Martins, Jorge M.",
        "On the continuous contact force models for soft materials in multibody dynamics", MSD, 2011, "25", "357--375",
        "10.1007/s11044-010-9237-4",
    ),
    "huguo2015": _article(
        "Hu, Shengwei and Guo, Xinglin",
        "A dissipative contact force model for impact analysis in multibody dynamics", MSD, 2015, "35", "131--151",
        "10.1007/s11044-015-9453-z",
    ),
    "gharib2012": _article(
        "Gharib, Mohamed and Hurmuzlu, Yildirim",
        "A new contact force model for low coefficient of restitution impact", "Journal of Applied Mechanics", 2012,
        "79",
    ),
    "anagnostopoulos1988": _article(
        "Anagnostopoulos, Stavros A.", "Pounding of buildings in series during earthquakes",
        "Earthquake Engineering and Structural Dynamics", 1988, "16", "443--456", "10.1002/eqe.4290160311",
    ),
    "johnson1985": _book("Johnson, K. L.", "Contact mechanics", "Cambridge University Press", 1985),
    "radzimovsky1953": _other(
        "Radzimovsky, E. I.", "Stress distribution and strength condition of two rolling cylinders", 1953,
        "University of Illinois",
    ),
    "dubowsky1971": _article(
        "Dubowsky, S. and Freudenstein, F.",
        "Dynamic analysis of mechanical systems with clearances, part 1: formation of dynamic model",
        "Journal of Engineering for Industry", 1971, "93",
    ),
    "goldsmith1960": _book(
        "Goldsmith, W.", "Impact: the theory and physical behaviour of colliding solids", "Arnold", 1960
    ),
    "esdu1978": _other(
        "{ESDU}",
        "Contact phenomena {I}: stresses, deflections and contact dimensions for normally loaded unlubricated elastic "
        "components", 1978, "ESDU 78035",
    ),
    "liu2007": _article(
        "Liu, Caishan and Zhang, Ke and Yang, Rei",
        "The {FEM} analysis and approximate model for cylindrical joints with clearances", MMT, 2007, "42", "183--197",
    ),
    "baizhao2012": _article(
        "Bai, Z. F. and Zhao, Y.",
        "Dynamic behaviour analysis of planar mechanical systems with clearance in revolute joints using a new hybrid "
        "contact force model", "International Journal of Mechanical Sciences", 2012, "54", "190--205",
    ),
    "pereira2011": _article(
        "Pereira, C{\\^a}ndida M. and Ramalho, Am{\\'i}lcar L. and Ambr{\\'o}sio, Jorge A.",
        "A critical overview of internal and external cylinder contact force models", NONLINEAR, 2011, "63", "681--697",
        "10.1007/s11071-010-9830-3",
    ),
    "sun2021": _article(
        "Sun, Jing and Han, Xueyan and Li, Tong and Li, Shihua",
        "Dynamic parameter identification of a pointing mechanism considering the joint clearance", "Robotics", 2021,
        "10", "36", "10.3390/robotics10010036",
    ),
    "kogut2002": _article(
        "Kogut, L. and Etsion, I.", "Elastic-plastic contact analysis of a sphere and a rigid flat",
        "Journal of Applied Mechanics", 2002, "69", "657--662", "10.1115/1.1490373",
    ),
    "zhu2025": _article(
        "Zhu, Shuaishuai and Cheng, Gang and Guo, Feng and Pang, Yusong",
        "Dynamic modeling and response analysis of an optical machining robot with prismatic joint clearance",
        "Applied Sciences", 2025, "15", "3197", "10.3390/app15063197",
    ),
    "threlfall1978": _article(
        "Threlfall, D. C.",
        "The inclusion of {Coulomb} friction in mechanisms programs with particular reference to {DRAM} au programme "
        "{DRAM}", MMT, 1978, "13", "475--483",
    ),
    "ambrosio2003": _other(
        "Ambr{\\'o}sio, Jorge A. C.",
        "Impact of rigid and flexible multibody systems: deformation description and contact models", 2003,
        "Virtual Nonlinear Multibody Systems, Kluwer",
    ),
    "mostaghel1997": _article(
        "Mostaghel, Naser and Davis, Todd", "Representations of {Coulomb} friction for dynamic analysis",
        "Earthquake Engineering and Structural Dynamics", 1997, "26", "541--548",
    ),
    "bengisu1994": _article(
        "Bengisu, M. T. and Akay, A.", "Stability of friction-induced vibrations in multi-degree-of-freedom systems",
        "Journal of Sound and Vibration", 1994, "171", "557--570",
    ),
    "marques2016": _article(
        "Marques, Filipe and Flores, Paulo and Claro, J. C. Pimenta and Lankarani, Hamid M.",
        "A survey and comparison of several friction force models for dynamic analysis of multibody mechanical systems",
        NONLINEAR, 2016, "86", "1407--1443", "10.1007/s11071-016-2999-3",
    ),
    "brown2016": _article(
        "Brown, Peter and McPhee, John",
        "A continuous velocity-based friction model for dynamics and control with physically meaningful parameters",
        "Journal of Computational and Nonlinear Dynamics", 2016, "11", "054502", "10.1115/1.4033658",
    ),
    "bai2018": _article(
        "Bai, Z. F. and Zhao, J. J. and Chen, J. and Zhao, Y.",
        "Design optimization of dual-axis driving mechanism for satellite antenna with two planar revolute clearance "
        "joints", "Acta Astronautica", 2018, "144", "80--89",
    ),
    "karnopp1985": _article(
        "Karnopp, Dean", "Computer simulation of stick-slip friction in mechanical dynamic systems",
        "Journal of Dynamic Systems, Measurement, and Control", 1985, "107", "100--103", "10.1115/1.3140698",
    ),
    "dahl1968": _other("Dahl, P. R.", "A solid friction model", 1968, "The Aerospace Corporation, TOR-0158(3107-18)-1"),
    "canudas1995": _article(
        "Canudas de Wit, C. and Olsson, H. and {\\AA}str{\\\"o}m, K. J. and Lischinsky, P.",
        "A new model for control of systems with friction", "IEEE Transactions on Automatic Control", 1995, "40",
        "419--425", "10.1109/9.376053",
    ),
    # problems
    "flores2010": _article(
        "Flores, Paulo and Leine, Remco and Glocker, Christoph",
        "Modeling and analysis of planar rigid multibody systems with translational clearance joints based on the "
        "non-smooth dynamics approach", MSD, 2010, "23", "165--190", "10.1007/s11044-009-9178-y",
    ),
    "ravn1998": _article(
        "Ravn, P.", "A continuous analysis method for planar multibody systems with joint clearance", MSD, 1998, "2",
        "1--24",
    ),
    "schwab2002": _article(
        "Schwab, A. L. and Meijaard, J. P. and Meijers, P.",
        "A comparison of revolute joint clearance models in the dynamic analysis of rigid and elastic mechanical "
        "systems",
        MMT, 2002, "37", "895--913",
    ),
    "flores2004": _article(
        "Flores, P. and Ambr{\\'o}sio, J.", "Revolute joints with clearance in multibody systems",
        "Computers and Structures", 2004, "82", "1359--1369",
    ),
    "akhadkar2016": _article(
        "Akhadkar, Narendra and Acary, Vincent and Brogliato, Bernard",
        "Analysis of collocated feedback controllers for four-bar planar mechanisms with joint clearances", MSD, 2016,
        "38", "101--136", "10.1007/s11044-016-9523-x",
    ),
    "geradin2001": _book(
        "G{\\'e}radin, Michel and Cardona, Alberto", "Flexible multibody dynamics: a finite element approach", "Wiley",
        2001,
    ),
    "arnold2007": _article(
        "Arnold, Martin and Br{\\\"u}ls, Olivier",
        "Convergence of the generalized-alpha scheme for constrained mechanical systems", MSD, 2007, "18",
        "185--202", "10.1007/s11044-007-9084-0",
    ),
    "mazzia2008": _other(
        "Mazzia, Francesca and Magherini, Cecilia", "Test Set for Initial Value Problem Solvers, release 2.4", 2008,
        "Department of Mathematics, University of Bari",
    ),
    "schiehlen1990": _book("Schiehlen, Werner (editor)", "Multibody Systems Handbook", "Springer", 1990),
    "bennett1903": _article("Bennett, G. T.", "A new mechanism", "Engineering", 1903, "76", "777--778"),
    "haug1989": _book(
        "Haug, Edward J.", "Computer aided kinematics and dynamics of mechanical systems", "Allyn and Bacon", 1989
    ),
    "painleve1895": _book("Painlev{\\'e}, P.", "Le{\\c c}ons sur le frottement", "Hermann", 1895),
    "aerospace2026": _other(
        "", "Motion accuracy and dynamic responses of dual-manipulator on spacecraft considering clearance joints",
        2026,
        "Aerospace",
    ),
    "wang2021": _other(
        "Wang, Linjun and Xu, Bo and Zheng, Min and Zhu, Zongxiao and Zhang, Dong",
        "Elastic dynamics modeling and analysis for a 6-RSS parallel robot with joint clearance", 2021,
        "Computer Integrated Manufacturing Systems, published online 29 December 2021",
    ),
}  # fmt: skip

#: stepper, solver or law -> what it stands on; nothing where there is nothing to cite beyond this package
CITED: dict[str, tuple[str, ...]] = {
    # steppers
    "GaussMPCC": ("chaturvedi", "gauss1829"),
    "GaussQP": ("chaturvedi", "gauss1829", "desaxce1998"),
    "MoreauJean": ("jean1999", "andersen1983"),
    "GeneralizedAlpha": ("bruls2014",),
    "EventDriven": ("hairer1993", "pfeiffer1996"),
    "CompliantDae": ("floresambrosio2010",),
    # solvers, with their libraries
    "IpoptMPCC": ("waechter2006",),
    "ActiveSet": ("lam2015",),
    "Osqp": ("stellato2020",),
    "CasadiQP": ("andersson2019",),
    "Conic": ("goulart2024", "diamond2016", "desaxce1998", "acary2011"),
    "SemismoothNewton": ("alart1991", "fukushima2002", "lam2015"),
    "SmoothingNewton": ("fukushima2002", "desaxce1998", "lam2015"),
    "Lemke": ("lemke1965", "cottle1992", "lam2015"),
    "ModeEnumeration": ("lam2015",),
    "ProjectedGaussSeidel": ("jourdan1998", "lam2015"),
    "Admm": ("boyd2011", "carpentier2024"),
    "Chain": (),
    "Radau": ("hairer1996", "virtanen2020"),
    "Dop853": ("hairer1993", "virtanen2020"),
    "Lsoda": ("petzold1983", "virtanen2020"),
    "Bdf": ("shampine1997", "virtanen2020"),
    "Cvodes": ("hindmarsh2005",),
    "Idas": ("hindmarsh2005",),
    # laws
    "Rigid": ("moreau1988",),
    "AdamsImpact": (),
    "Anagnostopoulos": ("anagnostopoulos1988",),
    "BaiZhao": ("baizhao2012",),
    "DubowskyFreudenstein": ("dubowsky1971",),
    "ESDU78035": ("esdu1978",),
    "Flores": ("flores2011",),
    "FractalStiffness": ("sun2021", "kogut2002"),
    "GharibHurmuzlu": ("gharib2012",),
    "Goldsmith": ("goldsmith1960",),
    "Gonthier": ("gonthier2004",),
    "HerbertMcWhannell": ("herbert1977",),
    "Hertz": ("hertz1881",),
    "HertzStiffness": ("hertz1881",),
    "HuGuo": ("huguo2015",),
    "HuntCrossley": ("hunt1975",),
    "Johnson": ("johnson1985",),
    "KelvinVoigt": (),
    "LankaraniNikravesh": ("lankarani1990",),
    "LeeWang": ("leewang1983",),
    "LineContact": ("zhu2025",),
    "Liu": ("liu2007",),
    "Pereira": ("pereira2011",),
    "PlaneContact": ("zhu2025",),
    "Radzimovsky": ("radzimovsky1953",),
    "RoundedStiffness": ("hertz1881",),
    "WinklerFoundation": ("johnson1985",),
    "ZhiyingQishao": ("machado2012",),
    "Ambrosio": ("ambrosio2003",),
    "Bai": ("bai2018",),
    "BengisuAkay": ("bengisu1994",),
    "BrownMcPhee": ("brown2016",),
    "Dahl": ("dahl1968",),
    "Karnopp": ("karnopp1985",),
    "LuGre": ("canudas1995",),
    "MostaghelDavis": ("mostaghel1997",),
    "RegularisedCoulomb": ("mostaghel1997",),
    "SineCosine": ("zhu2025",),
    "Stribeck": ("marques2016",),
    "Threlfall": ("threlfall1978",),
}

#: ready problem -> where it comes from; of a problem that is not named, its own source is quoted
PROBLEMS: dict[str, tuple[str, ...]] = {
    "andrews-squeezer": ("mazzia2008", "schiehlen1990"),
    "bennett": ("bennett1903",),
    "block-on-incline": (),
    "bouncing-ball": (),
    "cam-follower": (),
    "chain": (),
    "crank-rocker": (),
    "double-pendulum-clearance": (),
    "dual-manipulator": ("aerospace2026",),
    "four-bar": ("akhadkar2016",),
    "heavy-top": ("geradin2001", "arnold2007"),
    "loose-journal": (),
    "newtons-cradle": (),
    "painleve-rod": ("painleve1895",),
    "pendulum-with-stop": (),
    "polishing-robot": ("zhu2025",),
    "six-rss": ("wang2021",),
    "slide-in-guide": (),
    "slider-crank-revolute": ("ravn1998", "schwab2002", "flores2004"),
    "slider-crank-translational": ("flores2010",),
    "slider-rod": ("chaturvedi",),
    "socket-pendulum": (),
    "spatial-slider-crank": ("haug1989",),
    "stick-slip-oscillator": (),
    "turntable-ball": (),
    "universal-shaft": (),
    "xy-pointing": ("sun2021",),
}

#: a setting, as the manifest prints it -> what it stands on
VARIANTS: dict[str, tuple[str, ...]] = {
    "relaxation='fischer-burmeister'": ("kanzow1996",),
    "relaxation='scholtes'": ("scholtes2001",),
    "plugin='daqp'": ("arnstrom2022",),
    "cone='convex'": ("anitescu2010",),
    "baumgarte=(": ("baumgarte1972",),
}
ALWAYS = ("andersson2019", "harris2020")
NATIVE = ("lam2015",)
#: impact laws beside Newton's, as the manifest names them
IMPACTS: dict[str, tuple[str, ...]] = {
    "poisson": ("glocker1995", "pfeiffer1996"),
    "routh": ("routh1905", "keller1986"),
    "stronge": ("stronge1990", "keller1986"),
}


def cited(run: Run) -> dict[str, tuple[str, ...]]:
    """What took part in a run -> keys of its entries in `ENTRIES`, in the order of the printed list.

    A foreign problem, stepper, solver or law has no entry; it is named all the same, so that nothing is passed over.

    >>> from nonsmooth import GaussQP, simulate
    >>> from nonsmooth_problems import slider_rod
    >>> run = simulate(slider_rod(case=1).build(), GaussQP(), t_end=2e-3, dt=1e-3, engine="python")
    >>> for what, keys in cited(run).items():
    ...     print(f"{what}: {', '.join(keys) or 'no entry'}")
    stepper GaussQP: chaturvedi, gauss1829, desaxce1998
    solver ActiveSet: lam2015
    law Rigid: moreau1988
    problem slider-rod: chaturvedi
    libraries: andersson2019, harris2020
    """
    manifest, settings = run.manifest, str(run.manifest["settings"]["stepper"])
    stepper = settings.partition("(")[0]
    found = {f"stepper {stepper}": CITED.get(stepper, ())}
    found |= {f"solver {name}": CITED.get(name, ()) for name in _solvers(run.counts, settings)}
    for text, keys in VARIANTS.items():
        if text in settings:
            found[f"setting {text.rstrip('(')}"] = keys
    for element in manifest["model"]["elements"]:
        for law in _kinds(element.get("contact")):
            found[f"law {law}"] = CITED.get(law, IMPACTS.get(law.partition("'")[0].lower(), ()))
    problem = manifest["model"].get("problem")
    if problem is not None:
        found[f"problem {problem}"] = PROBLEMS.get(problem, ())
    found["libraries"] = ALWAYS + (NATIVE if manifest.get("engine") == "native" else ())
    return found


def bibtex(run: Run) -> str:
    """BibTeX of everything that took part in a run, each entry once, with a comment that says what it is for."""
    manifest = run.manifest
    version = manifest.get("versions", {}).get("nonsmooth") or "unknown"
    kind, fields = PACKAGE
    blocks = [_written("this package", "nonsmooth", (kind, {**fields, "note": f"version {version}"}))]
    uses: dict[str, list[str]] = {}
    nothing: list[str] = []
    problem, source = (manifest["model"].get(name) for name in ("problem", "source"))
    for what, keys in cited(run).items():
        for key in keys:
            uses.setdefault(key, []).append(what)
        if not keys and what == f"problem {problem}" and problem not in PROBLEMS:
            blocks.append(_written(what, str(problem), _other("", f"Problem {problem}", "", str(source))))
        elif not keys:
            nothing.append(what)
    blocks += [_written(", ".join(what), key, ENTRIES[key]) for key, what in uses.items()]
    if nothing:
        blocks.append(f"% no entry: {', '.join(nothing)}\n")
    return "\n".join(blocks)


def _solvers(counts: Mapping[str, Any], settings: str) -> Iterable[str]:
    """Those that answered, by the counts; the first one asked where an engine or integrator keeps no names."""
    named = [name for name in counts if name[:1].isupper()]
    first = re.search(r"solver=(\w+)\(", settings)
    if first and first[1] not in named and (not named or counts.get("solves", 0) > sum(counts[one] for one in named)):
        named.insert(0, first[1])
    return named


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
