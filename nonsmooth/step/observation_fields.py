"""The fields of quantities derived from recorded rows, one per line, with their units."""

from nonsmooth.compile.records.schema import Table, record


@record
class ViewTables:
    """Quantities derived from rows, one row each; the last ones before the jumps of velocities, one row per jump."""

    gap = Table("m", column="column")
    rate = Table("m/s", column="column")
    closure = Table("m, rad", "largest constraint violation")
    potential = Table("J")
    kinetic = Table("J")
    power = Table("W", "of loads")
    damping = Table("W")

    rate_left = Table("m/s", column="column")
    kinetic_left = Table("J")
    power_left = Table("W")
    damping_left = Table("W")
