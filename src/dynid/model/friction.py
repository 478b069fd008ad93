"""Friction as a family of columns: each term is a named function of position and speed, given as data."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache, lru_cache

from dynid.core.errors import ModelError
from dynid.core.keys import key
from dynid.core.tables import check_fields

FUNCTIONS = ("sign", "step", "abs", "exp", "tanh", "atan", "sqrt", "sin", "cos", "log", "min", "max")
VARIABLES = ("q", "qd")
_OPERATORS = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow)
_TWO_ARGUMENTS = ("min", "max")


@dataclass(frozen=True, slots=True)
class FrictionTerm:
    """One friction column per joint: torque = coefficient × expression(q, qd)."""

    name: str = key("symbol of the coefficient, such as Fv; the joint's label is appended")
    expression: str = key(
        "formula in q and qd, position and speed in SI, with the signs and functions named below"
    )
    unit_revolute: str = key("unit of the coefficient on a revolute joint", "N m")
    unit_prismatic: str = key("unit of the coefficient on a prismatic joint", "N")

    def __post_init__(self) -> None:
        """Refuse names that could not stand in a table and expressions that are not plain formulas."""
        check_fields(self, "Friction term", ModelError)
        if not re.fullmatch(r"[A-Za-z_]+[A-Za-z_0-9]*[A-Za-z_]|[A-Za-z_]", self.name):
            raise ModelError(
                f"Friction term name {self.name!r} must be letters, digits or _ and must not end in a digit, "
                "because the joint's number is appended to it."
            )
        parse_expression(self.expression)


@lru_cache(maxsize=256)
def parse_expression(text: str, names: tuple[str, ...] | None = VARIABLES) -> ast.expr:
    """Parse a friction formula into a checked syntax tree.

    Args:
        text: the formula; ``^`` is the power sign.
        names: of what it may hold beside numbers; any when None.

    Raises:
        ModelError: when anything but arithmetic on these, numbers and the known functions appears.
    """
    if len(text) > 500:
        raise ModelError(f"The friction expression has {len(text)} characters; at most 500 are taken.")
    try:
        tree = ast.parse(text.replace("^", "**"), mode="eval").body
        _check(tree, text, names)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise ModelError(f"The friction expression {text!r} is not a formula ({error}).") from None
    return tree


@cache
def names_in(expression: str) -> tuple[str, ...]:
    """What a formula holds beside numbers and functions, in order of appearance."""
    nodes = ast.walk(parse_expression(expression, None))
    names = dict.fromkeys(node.id for node in nodes if isinstance(node, ast.Name))
    return tuple(name for name in names if name not in FUNCTIONS)


def _check(node: ast.expr, text: str, names: tuple[str, ...] | None) -> None:
    match node:
        case ast.BinOp(left=left, op=op, right=right) if isinstance(op, _OPERATORS):
            _check(left, text, names)
            _check(right, text, names)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
            _check(operand, text, names)
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            wanted = 2 if name in _TWO_ARGUMENTS else 1
            if len(args) != wanted:
                raise ModelError(
                    f"In the friction expression {text!r}, {name} takes {wanted} argument(s), not "
                    f"{len(args)}."
                )
            for argument in args:
                _check(argument, text, names)
        case ast.Name(id=name) if name not in FUNCTIONS if names is None else name in names:
            pass
        case ast.Constant(value=int() | float() as value) if (
            not isinstance(value, bool) and abs(value) < 1e300
        ):
            pass
        case _:
            raise ModelError(
                f"The friction expression {text!r} contains {ast.unparse(node)!r}; allowed are "
                f"{', '.join(names or ('names',))}, numbers, + - * / ^ and the functions "
                f"{', '.join(FUNCTIONS)}."
            )


VISCOUS = FrictionTerm("Fv", "qd", "N m s/rad", "N s/m")
COULOMB = FrictionTerm("Fc", "sign(qd)")
OFFSET = FrictionTerm("off", "1")
VISCOUS_FORWARD = FrictionTerm("Fvp", "max(qd, 0)", "N m s/rad", "N s/m")
VISCOUS_BACKWARD = FrictionTerm("Fvn", "min(qd, 0)", "N m s/rad", "N s/m")
COULOMB_FORWARD = FrictionTerm("Fcp", "step(qd)")
COULOMB_BACKWARD = FrictionTerm("Fcn", "-step(-qd)")

BUILT_IN: dict[str, FrictionTerm] = {
    term.name: term
    for term in (
        VISCOUS,
        COULOMB,
        OFFSET,
        VISCOUS_FORWARD,
        VISCOUS_BACKWARD,
        COULOMB_FORWARD,
        COULOMB_BACKWARD,
    )
}
