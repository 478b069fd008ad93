"""IPOPT on functions of ours: CasADi's callbacks, with exact first derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dynid.excitation.solvers import Path


def ipopt(path: Path, options: dict[str, Any]) -> bool:
    """Minimise from the start of a path; whether IPOPT is content with the end.

    Args:
        path: gives values and derivatives, and is told every iterate.
        options: of IPOPT.

    Raises:
        Exception: what the path raises when it is told an iterate, such as the end that Ctrl-C asks for.
    """
    import casadi as ca

    size, rows = path.start.size, len(path.at(path.start.ravel()).rows)
    errors: list[Exception] = []

    def listen(*iterate: Any) -> list[Any]:
        try:
            path.tell(iterate[0])
        except Exception as error:  # CasADi would swallow it
            errors.append(error)
        return [float(len(errors))]  # above 0 ends the search

    shapes = [(size, 1), (1, 1), (rows, 1)]
    derivatives = _callback(
        "derivatives",
        shapes,
        [(1, size), (rows, size)],
        lambda x, *_: [path.at(x).gradient[None, :], path.at(x).jacobian],
    )
    functions = _callback(
        "functions", shapes[:1], shapes[1:], lambda x: [path.at(x).value, path.at(x).rows], derivatives
    )
    sizes = {"x": size, "f": 1, "g": rows, "lam_x": size, "lam_g": rows, "lam_p": 0}
    outputs = [(sizes[ca.nlpsol_out(i)], 1) for i in range(ca.nlpsol_n_out())]
    listener = _callback("listener", outputs, [(1, 1)], listen)
    x = ca.MX.sym("x", size)
    value, limits = functions(x)
    quiet = {"print_time": False, "show_eval_warnings": False, "iteration_callback": listener}
    quasi_newton = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory"}
    asked: Any = {"x": x, "f": value, "g": limits}
    how: Any = {**quiet, "ipopt": {**quasi_newton, **options}}
    solver = ca.nlpsol("design", "ipopt", asked, how)
    solver(x0=path.start.ravel(), lbg=0.0, ubg=np.inf)
    if errors:
        raise errors[0]
    return bool(solver.stats()["success"])


def _callback(
    name: str,
    inputs: Sequence[tuple[int, int]],
    outputs: Sequence[tuple[int, int]],
    function: Callable[..., list[Any]],
    jacobian: Any = None,
) -> Any:
    """A Python function of vectors as one of CasADi's, all shapes known, with that of its Jacobian."""
    return _callback_type()(name, inputs, outputs, function, jacobian)


@cache
def _callback_type() -> Any:
    import casadi as ca

    class Callback(ca.Callback):
        def __init__(self, name: str, *parts: Any) -> None:
            super().__init__()
            self.inputs, self.outputs, self.function, self.jacobian_callback = parts
            self.construct(name, {})

        def get_n_in(self) -> int:
            return len(self.inputs)

        def get_n_out(self) -> int:
            return len(self.outputs)

        def get_sparsity_in(self, i: int) -> Any:
            return ca.Sparsity.dense(*self.inputs[i])

        def get_sparsity_out(self, i: int) -> Any:
            return ca.Sparsity.dense(*self.outputs[i])

        def eval(self, values: Any) -> list[Any]:
            return list(self.function(*(np.array(value).ravel() for value in values)))

        def has_jacobian(self) -> bool:
            return self.jacobian_callback is not None

        def get_jacobian(self, *_: Any) -> Any:
            return self.jacobian_callback

    return Callback
