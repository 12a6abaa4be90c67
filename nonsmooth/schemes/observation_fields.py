"""The fields of quantities derived from a recorded row, one per line, with their units."""

from nonsmooth.records.schema import Number, record


@record
class ContactView:
    gap = Number("m")
    rate = Number("m/s")
    rate_left = Number("m/s", "before the impact of the row, where velocities jump")


@record
class View:
    t = Number("s")
    closure = Number("m, rad", "largest constraint violation")
    potential = Number("J")
    kinetic = Number("J")
    power = Number("W", "of loads")
    damping = Number("W")
    jumps = Number("-", "1 where velocities jump, 0 elsewhere")
    kinetic_left = Number("J", "before the jump, as the next two")
    power_left = Number("W")
    damping_left = Number("W")
