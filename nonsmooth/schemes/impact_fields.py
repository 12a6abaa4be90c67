"""The fields of impacts by other laws than Newton's, one per line, with their units."""

from nonsmooth.records.schema import Count, Link, Rows, record

#: impact laws by their number in a `System`
LAWS = ("newton", "poisson", "routh", "stronge")
#: from this number on laws are integrated along the impulse
INCREMENTAL = 2


@record
class Impact:
    """What a contact knows of an impact besides its impulse."""

    contact = Link(to="Contact")
    kept = Rows("N s", "impulse of the step, while impacts after it are computed")
    kept_on = Count("-", "1: in the program of the step")
    before = Rows("m/s", "rates before the impact")
    after = Rows("m/s", "rates after it")
