"""IPOPT on functions of ours: CasADi's callbacks, with exact first derivatives.

Imported where IPOPT is asked for: it loads CasADi.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

if TYPE_CHECKING:
    from dynid.excitation.solvers import Path


def ipopt(path: Path, options: dict[str, Any]) -> bool:
    """Minimise from the start of a path; whether IPOPT is content with the end.

    Args:
        path: gives values and derivatives, and is told every iterate.
        options: of IPOPT.
    """
    size, rows = path.start.size, len(path.at(path.start.ravel()).rows)
    functions, listener = _Functions(path, size, rows), _Listener(path, size, rows)
    x = ca.MX.sym("x", size)
    value, limits = functions(x)
    quiet = {"print_time": False, "show_eval_warnings": False, "iteration_callback": listener}
    quasi_newton = {"print_level": 0, "sb": "yes", "hessian_approximation": "limited-memory"}
    solver = ca.nlpsol(
        "design",
        "ipopt",
        {"x": x, "f": value, "g": limits},
        {**quiet, "ipopt": {**quasi_newton, **options}},
    )
    solver(x0=path.start.ravel(), lbg=0.0, ubg=np.inf)
    if listener.error is not None:
        raise listener.error
    return bool(solver.stats()["success"])


class _Functions(ca.Callback):  # type: ignore[misc]
    """x → J and the rows that must not be negative."""

    def __init__(self, path: Path, size: int, rows: int) -> None:
        super().__init__()
        self._path, self._size, self._rows = path, size, rows
        self.construct("functions", {})

    def get_n_in(self) -> int:
        return 1

    def get_n_out(self) -> int:
        return 2

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self._size)

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense((1, self._rows)[i])

    def eval(self, arguments: list[Any]) -> list[Any]:
        point = self._path.at(np.array(arguments[0]).ravel())
        return [point.value, point.rows]

    def has_jacobian(self) -> bool:
        return True

    def get_jacobian(self, name: str, inputs: list[str], outputs: list[str], options: dict[str, Any]) -> Any:
        # Kept here, because CasADi does not.
        self._derivatives = _Derivatives(self._path, self._size, self._rows, name, options)
        return self._derivatives


class _Derivatives(_Functions):
    """x and the values there → gradient of J and Jacobian of the rows."""

    def __init__(self, path: Path, size: int, rows: int, name: str, options: dict[str, Any]) -> None:
        ca.Callback.__init__(self)
        self._path, self._size, self._rows = path, size, rows
        self.construct(name, options)

    def get_n_in(self) -> int:
        return 3

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense((self._size, 1, self._rows)[i])

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense((1, self._rows)[i], self._size)

    def eval(self, arguments: list[Any]) -> list[Any]:
        point = self._path.at(np.array(arguments[0]).ravel())
        return [point.gradient[None, :], point.jacobian]

    def has_jacobian(self) -> bool:
        return False


class _Listener(ca.Callback):  # type: ignore[misc]
    """Tells the path every iterate; ends the search with the error that this raises, such as Ctrl-C's."""

    error: Exception | None = None

    def __init__(self, path: Path, size: int, rows: int) -> None:
        super().__init__()
        self._path = path
        self._sizes = {"x": size, "f": 1, "g": rows, "lam_x": size, "lam_g": rows, "lam_p": 0}
        self.construct("listener", {})

    def get_n_in(self) -> int:
        return ca.nlpsol_n_out()

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return str(ca.nlpsol_out(i))

    def get_sparsity_in(self, i: int) -> Any:
        size = self._sizes[ca.nlpsol_out(i)]
        return ca.Sparsity.dense(size) if size else ca.Sparsity(0, 0)

    def eval(self, arguments: list[Any]) -> list[Any]:
        try:
            self._path.tell(np.array(arguments[0]).ravel())
        except Exception as error:  # noqa: BLE001 - CasADi would swallow it
            self.error = error
        return [float(self.error is not None)]
