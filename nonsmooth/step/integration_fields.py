"""Fields of what a Runge-Kutta pair integrates, one per line, with their units; numbers of the pairs."""

from nonsmooth.compile.records.schema import Link, Many, Motion, record

#: of the pairs of orders five and eight, by their number: stages of a step without its end, those with its end and with
#: the further ones of its interpolant, order, and terms of the interpolant
INNER, ALL, ORDER, TERMS = (6, 12), (7, 16), (5, 8), (4, 7)


@record
class Stage:
    value = Motion("../s", "rates at a stage of a step, or a term of its interpolant")


@record
class StateBlock:
    """The integrated numbers of one body, contact or joint."""

    tried = Motion("..", "where rates are evaluated, or at a time within the step")
    start = Motion("..", "at the start of the step")
    end = Motion("..", "at its end")
    origin = Motion("m, rad", "position from which those of the body are counted")
    last = Motion("N s, N m s, J", "of an integral, at the last row")
    tolerance = Motion("..", "absolute tolerance; 1 where there is no number", constant=True)
    stages = Many(to="Stage")
    terms = Many(to="Stage", note="of the interpolant")


@record
class IntegratedBody:
    body = Link(to="Body")
    q = Link(to="StateBlock")
    v = Link(to="StateBlock")
