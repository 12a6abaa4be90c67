"""Quantities of a run by words: ``slider.x``, ``v:slider.x``, ``lam_N:guide``."""

from __future__ import annotations

from nonsmooth.exceptions import InputError
from nonsmooth.files.csv_data import conversion, split_unit
from nonsmooth.plots.curves import KINDS, columns_of, units_of
from nonsmooth.plots.panel import Panel
from nonsmooth.quantities import Wrong, parse_unit
from nonsmooth.settings import hint
from nonsmooth.trajectory import Trajectory

#: in which order a name without a kind is looked for; of contacts the force comes first, of bodies the position
ORDER = ("q", "lam_N", "reaction", "energy", "v", "gap", "impulse")
TITLES = {
    "q": "", "v": "velocity of ", "gap": "gap of ", "lam_N": "contact force of ", "impulse": "impulse of ",
    "reaction": "force of ", "energy": "",
}  # fmt: skip


def quantities(trajectory: Trajectory) -> list[tuple[str, str, str]]:
    """Kind, name and SI unit of everything that a panel over time can show."""
    return [
        (kind, name, units_of(trajectory, kind, name)) for kind in KINDS for name in columns_of(trajectory, kind).names
    ]


def named(trajectory: Trajectory, word: str, unit: str = "") -> list[tuple[str, str]]:
    """Kind and name of each column that a word stands for: one of that name, or all of an element or a body.

    Parameters
    ----------
    word
        ``name`` or ``kind:name`` with a kind of `Panel`.
    unit
        A unit that the columns must have; it also chooses between coordinates and velocities.

    Raises
    ------
    InputError
        If there is nothing of that name, with names that are like it.
    """
    kind, colon, name = word.partition(":")
    if not colon:
        kind, name = "", word
    if kind and kind not in KINDS:
        raise InputError(f"There is no kind {kind!r} of quantity in {word!r}; write {', '.join(KINDS)}, as lam_N:pin.")
    try:
        parse_unit(unit)
    except Wrong as error:
        raise InputError(f"{word!r} {error}") from None
    for one in (kind,) if kind else ORDER:
        names = columns_of(trajectory, one).names
        found = [name] if name in names else [known for known in names if known.startswith(f"{name}.")]
        fitting = [known for known in found if _in_unit(unit, units_of(trajectory, one, known))]
        if fitting:
            return [(one, known) for known in fitting]
        if found and kind:
            own = units_of(trajectory, one, found[0])
            raise InputError(f"{word!r} is in {own}, which cannot be shown in {unit}.")
    every = dict.fromkeys(known for one in ((kind,) if kind else KINDS) for known in columns_of(trajectory, one).names)
    raise InputError(f"The run has no quantity {word!r}.{hint(name, every)} There are: {', '.join(every) or 'none'}.")


def _in_unit(unit: str, base: str) -> bool:
    try:
        conversion(unit, base)
    except Wrong:
        return False
    return True


def panel_of(trajectory: Trajectory, word: str) -> Panel:
    """A panel of one quantity, or of several with commas between: ``"lam_N:guide.left_lower,guide.right_lower [kN]"``.

    Raises
    ------
    InputError
        For an unknown name, or quantities of different units.
    """
    text, unit = split_unit(word)
    kind, colon, names = text.partition(":")
    prefix, names = (f"{kind}:", names) if colon else ("", text)
    found: list[tuple[str, str]] = []
    for name in filter(None, (part.strip() for part in names.split(","))):
        own = name if ":" in name else prefix + name
        found += [one for one in named(trajectory, own, unit) if one not in found]
    if not found:
        raise InputError(f"{word!r} names no quantity; write, for example, slider.x or lam_N:pin.")
    units = list(dict.fromkeys(units_of(trajectory, *one) for one in found))
    if len(units) > 1:
        several = ", ".join(f"{kind}:{name} [{units_of(trajectory, kind, name)}]" for kind, name in found)
        raise InputError(f"{word!r} has quantities of different units ({several}); draw them in panels of their own.")
    kinds = {kind for kind, _ in found}
    title = TITLES[found[0][0]] + names.replace(",", ", ") if len(kinds) == 1 else text
    title = title[:1].upper() + title[1:] if TITLES.get(found[0][0]) else title
    owner = names + "."
    labels = [name.removeprefix(owner) for _, name in found]
    return Panel(title, unit, tuple((*one, label) for one, label in zip(found, labels, strict=True)))
