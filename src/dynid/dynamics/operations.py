"""The elementary functions a kernel may call, for each scalar type."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.core.errors import ModelError
from dynid.dynamics.algebra import Scalar, is_constant, neg
from dynid.model.friction import parse_expression


@dataclass(frozen=True)
class Operations:
    """Elementary functions over one scalar type; the names are those of friction expressions."""

    functions: dict[str, Callable[..., Scalar]]

    def cos(self, x: Scalar) -> Scalar:
        """cos x."""
        return self.functions["cos"](x)

    def sin(self, x: Scalar) -> Scalar:
        """sin x."""
        return self.functions["sin"](x)

    def sign(self, x: Scalar) -> Scalar:
        """−1, 0 or 1."""
        return self.functions["sign"](x)

    def one_or_nan(self, x: Scalar) -> Scalar:
        """1 where x is positive and NaN elsewhere, for factors of what has a meaning only there."""
        return self.functions["one_or_nan"](x)

    def with_smooth_sign(self, width: float) -> Operations:
        """The same functions with sign and step smooth over |x| < width and exact outside; 0 changes nothing.

        sign → c (3 − c²)/2 with c = x/width limited to ±1.
        """
        if width == 0:
            return self
        low, high = self.functions["max"], self.functions["min"]

        def sign(x: Scalar) -> Scalar:
            c = high(low(x * (1.0 / width), -1.0), 1.0)
            return c * (1.5 - 0.5 * (c * c))

        return Operations(self.functions | {"sign": sign, "step": lambda x: 0.5 + 0.5 * sign(x)})

    def evaluate(self, expression: str, q: Scalar, qd: Scalar, term: str = "") -> Scalar:
        """Value of a friction expression at a joint position and speed; ``term`` is for the error."""
        return self.evaluate_named(expression, {"q": q, "qd": qd}, term)

    def evaluate_named(self, expression: str, values: Mapping[str, Scalar], term: str = "") -> Scalar:
        """Value of an expression whose names have the values given."""
        try:
            return _walk(parse_expression(expression, tuple(values)), values, self.functions)
        except (ZeroDivisionError, OverflowError) as error:
            of_term = f" of the term {term!r}" if term else ""
            raise ModelError(
                f"The friction expression {expression!r}{of_term} has no value ({error}); "
                "give one that has a value at every position and speed."
            ) from None


def _walk(
    node: ast.expr, variables: Mapping[str, Scalar], functions: dict[str, Callable[..., Scalar]]
) -> Scalar:
    match node:
        case ast.Constant(value=value):
            return float(value)  # type: ignore[arg-type]
        case ast.Name(id=name):
            return variables[name]
        case ast.UnaryOp(op=op, operand=operand):
            value = _walk(operand, variables, functions)
            return neg(value) if isinstance(op, ast.USub) else value
        case ast.Call(func=ast.Name(id=name), args=args):
            return functions[name](*(_walk(a, variables, functions) for a in args))
        case ast.BinOp(left=left, op=op, right=right):
            return _binary(op, _walk(left, variables, functions), _walk(right, variables, functions))
    raise AssertionError(ast.dump(node))  # parse_expression lets nothing else through


def _binary(op: ast.operator, a: Scalar, b: Scalar) -> Scalar:
    match op:
        case ast.Add():
            return a + b
        case ast.Sub():
            return a - b
        case ast.Mult():
            return a * b
        case ast.Div():
            return a / b
    if is_constant(b) and float(b).is_integer() and 0 < b <= 8:
        result = a
        for _ in range(int(b) - 1):
            result = result * a
        return result
    return a**b


NUMERIC = Operations(
    {
        "sign": np.sign,
        "step": lambda x: np.heaviside(x, 0.0),
        "abs": np.abs,
        "exp": np.exp,
        "tanh": np.tanh,
        "atan": np.arctan,
        "sqrt": np.sqrt,
        "sin": np.sin,
        "cos": np.cos,
        "log": np.log,
        "min": np.minimum,
        "max": np.maximum,
        "one_or_nan": lambda x: np.where(np.asarray(x) > 0, 1.0, np.nan),
    }
)
"""Operations on floats and NumPy arrays over samples."""


def symbolic() -> Operations:
    """Operations on CasADi symbols; imported only when a kernel is traced."""
    import casadi as ca

    functions: dict[str, Callable[..., Any]] = {
        "sign": ca.sign,
        "step": lambda x: (x > 0) * 1.0,
        "abs": ca.fabs,
        "exp": ca.exp,
        "tanh": ca.tanh,
        "atan": ca.atan,
        "sqrt": ca.sqrt,
        "sin": ca.sin,
        "cos": ca.cos,
        "log": ca.log,
        "min": ca.fmin,
        "max": ca.fmax,
        # A root instead of a constant NaN, which not every language of generated code can write.
        "one_or_nan": lambda x: ca.sqrt(2.0 * (x > 0) - 1.0),
    }
    return Operations(functions)
