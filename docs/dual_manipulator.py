"""The dual manipulator beside its paper, as tables and a figure: ``python docs/dual_manipulator.py [FIGURE]``.

With ``agreement`` in place of the figure it prints how far rigid steppers are from the compliant law, which takes
minutes.
"""

from __future__ import annotations

import sys

from nonsmooth import ErrorControl, EventDriven, GaussMPCC, GaussQP, Landing, MoreauJean, plots
from nonsmooth.studies import published
from nonsmooth.studies.published import KINDS as SETTINGS
from nonsmooth_problems import dual_manipulator

ARMS = ("arm1", "arm2", "arm3", "arm4")
KINDS = (("compliant", "compliant"), ("rigid", "rigid, by events"), ("stronge", "rigid, by events, Stronge's law"))
#: what is told of runs besides `FACTS` where accelerations, which cost more than the runs, are not
MOTION = [f"{kind} error, {arm}" for kind in ("angle", "velocity") for arm in ARMS]
#: as `published` steps the rigid runs
RIGID = (EventDriven(), ErrorControl(rtol=1e-9, atol=1e-11, dt_min=1e-6, dt_max=1e-2))


STEPS = (
    RIGID,
    (MoreauJean(), 1e-3),
    (MoreauJean(), 5e-4),
    (MoreauJean(), 2e-4),
    (GaussQP(), Landing(1e-6, 5e-3)),
    (GaussQP(), Landing(1e-6, 2e-3)),
    (GaussMPCC(), Landing(1e-6, 5e-3)),
    (GaussMPCC(), Landing(1e-6, 2e-3)),
)


def words(numbers: dict[str, float], names: list[str]) -> str:
    """The numbers that there are, to three or four digits."""
    return " ".join(f"{numbers[name]:.4g}" for name in names if name in numbers)


def table(title: str, sets: dict, columns: tuple[tuple[str, list[str]], ...], kinds=KINDS) -> None:
    """One row per case and source."""
    print(f"\n| {title}{' ' if title else ''}| " + " | ".join(name for name, _ in columns) + " |")
    print("|---|" + "---|" * len(columns))
    for case in sets["S2"].table:
        sources = [("published", sets["S2"].printed[case])]
        sources += [
            (f"{name} {label}", found.table[case][kind]) for name, found in sets.items() for kind, label in kinds
        ]
        for source, numbers in sources:
            entries = [words(numbers, names) for _, names in columns]
            if any(entries):
                print(f"| case {case}, {source} | " + " | ".join(entries) + " |")


def agreement() -> None:
    """Largest difference of the four angle errors from those of the compliant law, set S1."""
    soft = published(dual_manipulator, parameters="S1", kinds={"compliant": SETTINGS["compliant"]}).table
    print("| stepper, step [s] | impacts | " + " | ".join(f"case {case}" for case in soft) + " | impulse |")
    print("|---" * (len(soft) + 3) + "|")
    for stepper, dt in STEPS:
        for impact in ("newton", "stronge"):
            row = []
            for case, numbers in soft.items():
                kind = {"rigid": (stepper, dt)}
                angles = [f"angle error, {arm}" for arm in ARMS]
                found = published(
                    dual_manipulator, [case], parameters="S1", impact=impact, kinds=kind, measures=angles
                ).table[case]
                row.append(max(abs(found["rigid"][name] - numbers["compliant"][name]) for name in angles))
                if case == "1":
                    impulse = found["rigid"]["largest impulse"]
            step = f"{dt:g}" if isinstance(dt, float) else dt
            differences = " | ".join(f"{value:.4f}" for value in row)
            print(f"| `{type(stepper).__name__}`, {step} | {impact} | {differences} | {impulse:.3f} |", flush=True)


def main() -> None:
    sets = {name: published(dual_manipulator, parameters=name, kinds=SETTINGS) for name in ("S1", "S2")}
    for name, found in sets.items():
        followed = published(
            dual_manipulator, parameters=name, impact="stronge", kinds={"rigid": RIGID}, measures=MOTION
        )
        for case, numbers in followed.table.items():
            found.table[case]["stronge"] = numbers["rigid"]
    kinds = ("angle", "velocity", "acceleration")
    angle, velocity, acceleration = ([f"{kind} error, {arm}" for arm in ARMS] for kind in kinds)
    table("", sets, (("angle error, arms 1-4 [deg]", angle), ("velocity error [deg/s]", velocity)))
    peaks = (("acceleration error, arms 1-4 [deg/s²]", acceleration), ("force x, y [N]", ["force x", "force y"]))
    table("", sets, peaks, KINDS[:2])
    facts = ("first contact", "first impulse", "largest impulse", "contact share")
    table("", sets, tuple((name, [name]) for name in facts))
    print(
        "\n| step of MoreauJean [s] | largest impulse, S1 case 1 [mN s] | angle error of arm 2 [deg] |\n|---|---|---|"
    )
    for dt in (1e-3, 5e-4, 2e-4, 1e-4, 5e-5):
        kind = {"rigid": (MoreauJean(), dt)}
        found = published(dual_manipulator, ["1"], parameters="S1", kinds=kind, measures=MOTION).table["1"]
        row = (found["rigid"][name] for name in ("largest impulse", "angle error, arm2"))
        print(f"| {dt:g} | " + " | ".join(f"{value:.4f}" for value in row) + " |")
    if len(sys.argv) > 1:
        plots.published(sets["S2"]).savefig(sys.argv[1], dpi=72)


if __name__ == "__main__":
    if sys.argv[1:] == ["agreement"]:
        agreement()
    else:
        main()
