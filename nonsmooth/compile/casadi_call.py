"""Fast numerical evaluation of CasADi functions from NumPy.

A plain call ``F(array)`` converts every argument to ``DM`` and back, about 12 us; copying into memory that CasADi reads
directly costs well under 1 us.
"""

import math
from collections.abc import Callable, Iterable
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


#: what CasADi's operations do with numbers or arrays
OPERATIONS: dict[int, Callable[..., Any]] = {
    ca.OP_ADD: np.add, ca.OP_SUB: np.subtract, ca.OP_MUL: np.multiply, ca.OP_DIV: np.divide,
    ca.OP_ATAN2: np.arctan2, ca.OP_FMIN: np.fmin, ca.OP_FMAX: np.fmax,
    ca.OP_ASSIGN: np.positive, ca.OP_NEG: np.negative, ca.OP_TWICE: lambda x: 2.0 * x, ca.OP_SQ: np.square,
    ca.OP_INV: lambda x: 1.0 / x, ca.OP_SQRT: np.sqrt, ca.OP_FABS: np.abs, ca.OP_SIN: np.sin, ca.OP_COS: np.cos,
    ca.OP_LT: lambda x, y: np.less(x, y) * 1.0, ca.OP_LE: lambda x, y: np.less_equal(x, y) * 1.0,
    ca.OP_NOT: lambda x: np.equal(x, 0.0) * 1.0,
    ca.OP_IF_ELSE_ZERO: lambda x, y: np.where(np.not_equal(x, 0.0), y, 0.0),
}  # fmt: skip


class Evaluator:
    """Calls one CasADi ``Function`` with NumPy arrays, columns or scalars; outputs are new dense arrays, vectors (n,),
    or matrices (n, m) if the output's name is listed in `matrices`.

    >>> import casadi as ca
    >>> x = ca.SX.sym("x", 2)
    >>> f = ca.Function("f", [x], [x**2, ca.jacobian(x**2, x)], ["x"], ["y", "J"])
    >>> Evaluator(f, matrices=["J"])([1.0, 3.0])
    (array([1., 9.]), array([[2., 0.],
           [0., 6.]]))
    """

    def __init__(self, function: ca.Function, matrices: Iterable[str] = ()) -> None:
        self.function = function
        self._buffer, self._run = self.function.buffer()
        self._inputs = [np.zeros(function.numel_in(i)) for i in range(function.n_in())]
        for i, array in enumerate(self._inputs):
            if not function.sparsity_in(i).is_dense():
                raise TypeError(f"{function.name()} takes a sparse argument, {function.name_in(i)}.")
            self._buffer.set_arg(i, array.data)
        # entries that CasADi writes, with shape and indices of these entries; None for a dense output
        self._outputs: list[Array] = []
        self._forms: list[tuple[tuple[int, ...], Any]] = []
        named = {*matrices}
        for i, name in enumerate(function.name_out()):
            sparsity, entries = function.sparsity_out(i), np.zeros(function.nnz_out(i))
            self._buffer.set_res(i, entries.data)
            shape = sparsity.shape if name in named else (math.prod(sparsity.shape),)
            if sparsity.is_dense():
                self._outputs.append(entries.reshape(shape, order="F"))
                self._forms.append((shape, None))
            else:
                self._outputs.append(entries)
                self._forms.append((shape, np.array(sparsity.find(), dtype=np.intp)))

    def __call__(self, *arguments: Any) -> tuple[Array, ...]:
        if len(arguments) != len(self._inputs):
            raise TypeError(
                f"{self.function.name()} takes {len(self._inputs)} arguments "
                f"({', '.join(self.function.name_in())}), got {len(arguments)}."
            )
        for array, value in zip(self._inputs, arguments, strict=True):
            array[:] = value.ravel(order="F") if isinstance(value, np.ndarray) and value.ndim == 2 else value
        self._run()
        results = []
        for entries, (shape, places) in zip(self._outputs, self._forms, strict=True):
            if places is None:
                results.append(entries.copy())
            else:
                flat = np.zeros(math.prod(shape))
                flat[places] = entries
                results.append(flat.reshape(shape, order="F"))
        return tuple(results)


class Callback(ca.Callback):
    """A function of CasADi by values, for inputs and outputs of these sparsities, with another one as its Jacobian."""

    def __init__(
        self, name: str, evaluate: Callable[..., list[Any]], inputs: list[ca.Sparsity], outputs: list[ca.Sparsity],
        derivative: Any = None,
    ) -> None:  # fmt: skip
        ca.Callback.__init__(self)
        self.evaluate, self.inputs, self.outputs, self.derivative = evaluate, inputs, outputs, derivative
        self.construct(name, {})

    def get_n_in(self) -> int:
        return len(self.inputs)

    def get_n_out(self) -> int:
        return len(self.outputs)

    def get_sparsity_in(self, i: int) -> ca.Sparsity:
        return self.inputs[i]

    def get_sparsity_out(self, i: int) -> ca.Sparsity:
        return self.outputs[i]

    def has_jacobian(self) -> bool:
        return self.derivative is not None

    def get_jacobian(self, name: str, inputs: Any, outputs: Any, options: Any) -> Any:
        return self.derivative

    def eval(self, arguments: list[ca.DM]) -> list[Any]:
        return self.evaluate(*arguments)


class Columnwise:
    """Evaluates a CasADi ``Function`` that it `covers` for many rows, one operation for all at once: with thousands of
    rows an operation takes 0.5 ns, a fifth of CasADi's interpreter.

    >>> import casadi as ca
    >>> x, p = ca.SX.sym("x", 2), ca.SX.sym("p")
    >>> Columnwise(ca.Function("f", [x, p], [ca.vertcat(p * x[0], ca.sqrt(x[1]))]))([[1.0, 4.0], [3.0, 9.0]], [2.0])
    array([[2., 2.],
           [6., 3.]])
    """

    def __init__(self, function: ca.Function) -> None:
        self.columns, self.size = function.numel_out(0), function.sz_w()
        self.operations = [
            (
                function.instruction_id(k), function.instruction_input(k), function.instruction_output(k),
                function.instruction_constant(k) if function.instruction_id(k) == ca.OP_CONST else 0.0,
            )
            for k in range(function.n_instructions())
        ]  # fmt: skip

    @staticmethod
    def covers(function: ca.Function) -> bool:
        """Whether this is a function of `SX` with known operations, and a dense output."""
        known = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, *OPERATIONS}
        return (
            function.class_name() == "SXFunction"
            and function.sparsity_out(0).is_dense()
            and {function.instruction_id(k) for k in range(function.n_instructions())} <= known
        )

    def __call__(self, *arguments: Any) -> Array:
        """Rows (n, m); arguments are arrays (n, ...), the last one is the same for all rows."""
        inputs: list[Any] = [np.asarray(one, float).reshape(len(one), -1).T for one in arguments[:-1]]
        inputs.append(np.asarray(arguments[-1], float).ravel())
        found = np.empty((len(arguments[0]), self.columns))
        work: list[Any] = [None] * self.size
        with np.errstate(all="ignore"):
            for operation, taken, given, constant in self.operations:
                if operation == ca.OP_CONST:
                    work[given[0]] = constant
                elif operation == ca.OP_INPUT:
                    work[given[0]] = inputs[taken[0]][taken[1]]
                elif operation == ca.OP_OUTPUT:
                    found[:, given[1]] = work[taken[0]]
                else:
                    work[given[0]] = OPERATIONS[operation](*(work[i] for i in taken))
        return found
