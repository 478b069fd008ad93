"""C99 source of a kernel: one function, no dependency but math.h."""

from __future__ import annotations

import re

from dynid.compile.program import BINARY, Program
from dynid.core.errors import ModelError

_INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/"}
_COMPARE = {"lt": "<", "le": "<=", "eq": "==", "ne": "!="}
_CALL = {
    "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "atan": "atan", "exp": "exp", "log": "log",
    "sqrt": "sqrt", "abs": "fabs",
    "min": "fmin", "max": "fmax", "pow": "pow", "floor": "floor", "ceil": "ceil",
}  # fmt: skip
_RESERVED = frozenset([
    "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum",
    "extern", "float", "for", "goto", "if", "inline", "int", "long", "register", "restrict", "return",
    "short", "signed", "sizeof", "static", "struct", "switch", "typedef", "union", "unsigned", "void",
    "volatile", "while", "main", "fma", "hypot", "round", "trunc", "rint", "exp2", "expm1", "log2",
    "log10", "log1p", "cbrt", "asin", "acos", "atan2", "sinh", "cosh", "asinh", "acosh", "atanh", "erf",
    "tgamma", "lgamma", "remainder", "fmod", "modf", "frexp", "ldexp", "gamma", "j0", "j1", "jn", "y0",
    "y1", "yn",
]) | frozenset(_CALL.values())  # fmt: skip
"""C keywords and functions of math.h."""
_LOGIC = {
    "neg": "-{a}",
    "sign": "({a} > 0.0) ? 1.0 : (({a} < 0.0) ? -1.0 : {a})",
    "not": "{a} == 0.0 ? 1.0 : 0.0",
    "and": "({a} != 0.0 && {b} != 0.0) ? 1.0 : 0.0",
    "or": "({a} != 0.0 || {b} != 0.0) ? 1.0 : 0.0",
    "if": "{a} != 0.0 ? {b} : 0.0",
}


def c_source(program: Program, name: str | None = None) -> str:
    """C99 source of a program for one sample: ``void name(const double *q, …, double *W, …)``.

    All outputs are written, structural zeros included. The code calls nothing but math.h, allocates nothing,
    and has no state, so it may run in a real-time controller.

    Args:
        program: what to write.
        name: function name; the program's own when None.
    """
    function = name or program.name
    if not re.fullmatch(r"[A-Za-z_][A-Za-z_0-9]*", function) or function in _RESERVED:
        raise ModelError(f"{function!r} is not a name for a C function of one's own.")
    ins = [f"in_{port.name}" for port in program.inputs]
    outs = [f"out_{port.name}" for port in program.outputs]
    arguments = ", ".join([*(f"const double *{i}" for i in ins), *(f"double *{o}" for o in outs)])
    lines = ["#include <math.h>", "", f"/* {_sizes(program)} */", f"void {function}({arguments})", "{"]
    lines += [
        f"  const double v{i} = {_expression(program, i, ins)};" for i in range(len(program.instructions))
    ]
    position = 0
    for port, out in zip(program.outputs, outs, strict=True):
        for k in range(port.width):
            value = program.results[position]
            lines.append(f"  {out}[{k}] = {'0.0' if value < 0 else f'v{value}'};")
            position += 1
    # Ports the program never reads would warn as unused.
    used = {a for op, a, _ in program.instructions if op == "input"}
    lines += [f"  (void){ins[p]};" for p in range(len(ins)) if p not in used]
    return "\n".join([*lines, "}", ""])


def _sizes(program: Program) -> str:
    sizes = [f"{p.name}[{p.width}]" for p in program.inputs]
    results = [f"{p.name}[{p.width}]" for p in program.outputs]
    return f"{program.name}: {', '.join(sizes)} -> {', '.join(results)}"


def _expression(program: Program, i: int, ins: list[str]) -> str:
    op, a, b = program.instructions[i]
    if op == "const":
        return repr(float(a)) if a == a and abs(a) != float("inf") else ("NAN" if a != a else "INFINITY")
    if op == "input":
        return f"{ins[a]}[{b}]"
    x, y = f"v{a}", f"v{b}"
    if op in _INFIX:
        return f"{x} {_INFIX[op]} {y}"
    if op in _COMPARE:
        return f"{x} {_COMPARE[op]} {y} ? 1.0 : 0.0"
    if op in _CALL:
        return f"{_CALL[op]}({x}, {y})" if op in BINARY else f"{_CALL[op]}({x})"
    return _LOGIC[op].format(a=x, b=y)
