"""A straight-line program as statements of a programming language: C, Python with NumPy, MATLAB."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from dynid.compile.program import BINARY, Program
from dynid.core.errors import ModelError

_FUNCTIONS = ("sin", "cos", "tan", "tanh", "atan", "exp", "log", "sqrt", "abs", "floor", "ceil")
_NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")
NO_NUMBER = "nan"
INFINITE = "inf"


@dataclass(frozen=True)
class Dialect:
    """How a language writes what a program does.

    Args:
        operations: by operation, the expression of its operands ``{a}`` and ``{b}``.
        specials: what stands for "nan" and "inf".
        statement: a value that gets a name, of ``{name}`` and ``{value}``.
        element: a scalar of a port, of its ``{port}`` and its number ``{i}``.
        first: number of the first element of an array.
        reserved: names that a function must not have.
    """

    operations: Mapping[str, str]
    specials: Mapping[str, str]
    statement: str
    element: str
    first: int
    reserved: frozenset[str]

    def number(self, value: float) -> str:
        """A number with all its digits; negative ones in brackets, so that any operator may stand before."""
        if math.isnan(value):
            return self.specials[NO_NUMBER]
        text = repr(abs(value)) if math.isfinite(value) else self.specials[INFINITE]
        return f"(-{text})" if math.copysign(1.0, value) < 0 else text

    def at(self, port: str, i: int) -> str:
        """Element i, from 0, of a port."""
        return self.element.format(port=port, i=i + self.first)

    def require_name(self, name: str, what: str) -> str:
        """The name of a function, refused where the language has no room for it."""
        if not _NAME.fullmatch(name) or name in self.reserved:
            raise ModelError(f"{name!r} is not a name for {what} of one's own; give another.")
        return name


def statements(program: Program, dialect: Dialect, ports: Mapping[str, str]) -> tuple[list[str], list[str]]:
    """Statements that compute a program, and the expressions of its output scalars.

    Inputs are read before anything is computed, so results may be written over them.

    Args:
        program: what to write.
        dialect: the language.
        ports: what its inputs are called, by port.
    """
    names: list[str] = []
    reads, lines = list[str](), list[str]()
    for i, (op, a, b) in enumerate(program.instructions):
        if op == "const":
            names.append(dialect.number(float(a)))
        elif op == "input":
            port = ports[program.inputs[a].name]
            names.append(f"{port}_{b}")
            reads.append(dialect.statement.format(name=names[i], value=dialect.at(port, b)))
        else:
            names.append(f"v{i}")
            operands = {"a": names[a], "b": names[b] if op in BINARY else ""}
            value = dialect.operations[op].format(**operands)
            lines.append(dialect.statement.format(name=names[i], value=value))
    results = [dialect.number(0.0) if k < 0 else names[k] for k in program.results]
    return reads + lines, results


def operation_counts(program: Program) -> dict[str, int]:
    """How many additions, multiplications, divisions, sines and cosines, and other operations it takes."""
    kinds = {"add": "additions", "sub": "additions", "mul": "multiplications", "div": "divisions"}
    kinds |= {"sin": "sines and cosines", "cos": "sines and cosines"}
    made = dict.fromkeys((*kinds.values(), "others"), 0)
    for op, count in program.count().items():
        if op not in ("const", "input"):
            made[kinds.get(op, "others")] += count
    return made


def _operations(
    product: str, quotient: str, power: str, choose: Callable[[str, str, str], str], calls: Mapping[str, str]
) -> dict[str, str]:
    """The table of a language from its signs, its choice between two values, and its functions."""

    def truth(condition: str) -> str:
        return choose(condition, "1.0", "0.0")

    return {
        "add": "{a} + {b}",
        "sub": "{a} - {b}",
        "mul": f"{{a}} {product} {{b}}",
        "div": f"{{a}} {quotient} {{b}}",
        "neg": "-{a}",
        "pow": power,
        "lt": truth("{a} < {b}"),
        "le": truth("{a} <= {b}"),
        "eq": truth("{a} == {b}"),
        "ne": truth("{a} != {b}"),
        "not": truth("{a} == 0.0"),
        "if": choose("{a} != 0.0", "{b}", "0.0"),
        **{name: f"{calls.get(name, name)}({{a}})" for name in _FUNCTIONS},
        **{name: f"{calls.get(name, name)}({{a}}, {{b}})" for name in ("min", "max")},
    }


def _words(text: str, more: Iterable[str] = ()) -> frozenset[str]:
    return frozenset([*text.split(), *more])


_C_CALLS = {"abs": "fabs", "min": "fmin", "max": "fmax"}
C = Dialect(
    _operations("*", "/", "pow({a}, {b})", lambda c, x, y: f"({c}) ? {x} : {y}", _C_CALLS)
    | {
        "sign": "({a} > 0.0) ? 1.0 : (({a} < 0.0) ? -1.0 : {a})",
        "and": "(({a} != 0.0) && ({b} != 0.0)) ? 1.0 : 0.0",
        "or": "(({a} != 0.0) || ({b} != 0.0)) ? 1.0 : 0.0",
    },
    {NO_NUMBER: "NAN", INFINITE: "INFINITY"},
    "  const double {name} = {value};",
    "{port}[{i}]",
    0,
    _words(
        "auto break case char const continue default do double else enum extern float for goto if inline int "
        "long register restrict return short signed sizeof static struct switch typedef union unsigned void "
        "volatile while main fma hypot round trunc rint exp2 expm1 log2 log10 log1p cbrt asin acos atan2 "
        "sinh cosh asinh acosh atanh erf tgamma lgamma remainder fmod modf frexp ldexp gamma j0 j1 jn y0 y1 "
        "yn pow",
        (_C_CALLS.get(name, name) for name in (*_FUNCTIONS, "min", "max")),
    ),
)
"""C99; keywords and functions of math.h are taken."""

_NUMPY_CALLS = {name: f"np.{name}" for name in _FUNCTIONS} | {
    "atan": "np.arctan",
    "min": "np.minimum",
    "max": "np.maximum",
}
PYTHON = Dialect(
    _operations("*", "/", "{a} ** {b}", lambda c, x, y: f"np.where({c}, {x}, {y})", _NUMPY_CALLS)
    | {
        "sign": "np.sign({a})",
        "and": "np.where(({a} != 0.0) & ({b} != 0.0), 1.0, 0.0)",
        "or": "np.where(({a} != 0.0) | ({b} != 0.0), 1.0, 0.0)",
    },
    {NO_NUMBER: "np.nan", INFINITE: "np.inf"},
    "    {name} = {value}",
    "{port}[..., {i}]",
    0,
    _words(
        "False None True and as assert async await break class continue def del elif else except finally for "
        "from global if import in is lambda nonlocal not or pass raise return try while with yield np"
    ),
)
"""Python with NumPy as np, over samples."""

MATLAB = Dialect(
    _operations("*", "/", "{a} ^ {b}", lambda c, x, y: f"choose({c}, {x}, {y})", {})
    | {
        "sign": "sign({a})",
        "ne": "choose({a} ~= {b}, 1.0, 0.0)",
        "if": "choose({a} ~= 0.0, {b}, 0.0)",
        "and": "choose(({a} ~= 0.0) && ({b} ~= 0.0), 1.0, 0.0)",
        "or": "choose(({a} ~= 0.0) || ({b} ~= 0.0), 1.0, 0.0)",
    },
    {NO_NUMBER: "NaN", INFINITE: "Inf"},
    "  {name} = {value};",
    "{port}({i})",
    1,
    _words(
        "break case catch classdef continue do else elseif end endfunction endif endwhile for function "
        "global if otherwise parfor persistent return spmd switch try until unwind_protect while choose "
        "sign NaN Inf zeros pi i j eps ans q qd qdd tau",
        (*_FUNCTIONS, "min", "max"),
    ),
)
"""MATLAB and GNU Octave, one sample; ``choose`` is a function of the file."""
