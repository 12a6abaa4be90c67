"""What became of the parts of a robot's file, or of a model that is written to one: taken, replaced, or left out."""

import warnings
from collections import Counter
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from nonsmooth.exceptions import ModelWarning

Became = Literal["taken", "replaced", "left out"]


class Row(NamedTuple):
    """One part of the file."""

    became: Became
    part: str  #: kind of part, as ``"limits"``
    name: str  #: of the joint, body or actuator in the file
    text: str  #: what stands for it in the model, or its numbers, which are not in the model


@dataclass
class Report:
    """The parts of a robot's file, or of a model written to one, in order; printed as a table, those left out last.

    >>> report = Report()
    >>> report.add("left out", "limits", "elbow", "-1 to 1 rad")
    >>> print(report)
    left out limits elbow -1 to 1 rad
    """

    rows: list[Row] = field(default_factory=list)

    def add(self, became: Became, part: str, name: str, text: str) -> None:
        """Note a part."""
        self.rows.append(Row(became, part, name, text))

    @property
    def taken(self) -> list[Row]:
        """Parts that act as in the file."""
        return [row for row in self.rows if row.became == "taken"]

    @property
    def replaced(self) -> list[Row]:
        """Parts in whose place stands something else, which `Row.text` says."""
        return [row for row in self.rows if row.became == "replaced"]

    @property
    def left_out(self) -> list[Row]:
        """Parts that are not in the model."""
        return [row for row in self.rows if row.became == "left out"]

    def warn(self, file: str, owner: str) -> None:
        """A ModelWarning of the kinds of parts that are left out, for who calls the function that calls this."""
        if counts := Counter(row.part for row in self.left_out):
            left = ", ".join(f"{part} ({count})" for part, count in counts.items())
            warnings.warn(f"{file}: left out are {left}; {owner} lists them.", ModelWarning, stacklevel=3)

    def __str__(self) -> str:
        rows = [*self.taken, *self.replaced, *self.left_out]
        widths = [max((len(row[i]) for row in rows), default=0) for i in range(3)]
        cells = ([text.ljust(width) for text, width in zip(row, [*widths, 0], strict=True)] for row in rows)
        return "\n".join(" ".join(one) for one in cells)
