"""A straight-line program: the customised model of one robot, ready for any code generator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dynid.core.errors import ModelError

COMMUTATIVE = frozenset({"add", "mul", "min", "max", "eq", "ne", "and", "or"})
BINARY = frozenset({"sub", "div", "pow", "lt", "le", "if", *COMMUTATIVE})
UNARY = frozenset(
    {"neg", "sin", "cos", "sign", "abs", "exp", "log", "sqrt", "tanh", "atan", "tan", "floor", "ceil", "not"}
)

Instruction = tuple[str, Any, Any]
"""(operation, a, b): operands are earlier instruction numbers; ("const", value, 0), ("input", port, i)."""


@dataclass(frozen=True)
class Port:
    """A named group of scalars that enters or leaves a program together.

    Args:
        name: what it is, such as "q".
        width: number of scalars.
        uniform: whether all samples of a batch share the same values (parameters).
        columns: whether a batch is laid out (width, samples), one contiguous column per scalar, instead of
            (samples, width).
    """

    name: str
    width: int
    uniform: bool = False
    columns: bool = False


@dataclass(frozen=True)
class Program:
    """Instructions in single-assignment form, common subexpressions and dead code removed.

    Args:
        name: for messages and generated source.
        inputs: groups of input scalars.
        outputs: groups of output scalars.
        instructions: see ``Instruction``; instruction i defines value i.
        results: value number of each output scalar, all groups in a row; −1 is the constant zero.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    instructions: tuple[Instruction, ...]
    results: tuple[int, ...]

    @property
    def nonzero(self) -> tuple[int, ...]:
        """Output scalars that are not zero by structure."""
        return tuple(i for i, value in enumerate(self.results) if value >= 0)

    def count(self) -> dict[str, int]:
        """How often each operation occurs."""
        counts: dict[str, int] = {}
        for op, _, _ in self.instructions:
            counts[op] = counts.get(op, 0) + 1
        return counts


class _ProgramBuilder:
    """Collects instructions, giving equal ones the same number."""

    def __init__(self) -> None:
        self.instructions: list[Instruction] = []
        self.numbers: dict[Instruction, int] = {}

    def put(self, op: str, a: Any = 0, b: Any = 0) -> int:
        if op in COMMUTATIVE and a > b:
            a, b = b, a
        # 0.0 and −0.0 are equal as keys but not as values.
        key = (op, repr(a), b) if op == "const" else (op, a, b)
        if key not in self.numbers:
            self.numbers[key] = len(self.instructions)
            self.instructions.append((op, a, b))
        return self.numbers[key]


def from_casadi(function: Any, inputs: Sequence[Port], outputs: Sequence[Port]) -> Program:
    """Read the instructions of a CasADi SX function.

    Args:
        function: SX function whose arguments are column vectors as wide as ``inputs``, and whose results are
            dense column vectors as wide as ``outputs``.
        inputs: names of the arguments.
        outputs: names of the results.
    """
    import casadi as ca

    names = _operation_names()
    builder = _ProgramBuilder()
    registers: dict[int, int] = {}
    starts = [sum(p.width for p in outputs[:k]) for k in range(len(outputs))]
    results = [-1] * sum(p.width for p in outputs)
    for k in range(function.n_instructions()):
        code = function.instruction_id(k)
        given, into = function.instruction_input(k), function.instruction_output(k)
        if code == ca.OP_CONST:
            registers[into[0]] = builder.put("const", function.instruction_constant(k))
        elif code == ca.OP_INPUT:
            registers[into[0]] = builder.put("input", given[0], given[1])
        elif code == ca.OP_OUTPUT:
            results[starts[into[0]] + into[1]] = registers[given[0]]
        else:
            registers[into[0]] = _put(builder, names.get(code), code, [registers[g] for g in given])
    zero = ("const", 0.0, 0)
    results = [-1 if r >= 0 and builder.instructions[r] == zero else r for r in results]
    return _without_dead_code(function.name(), tuple(inputs), tuple(outputs), builder.instructions, results)


def _put(builder: _ProgramBuilder, name: str | None, code: int, given: list[int]) -> int:
    match name:
        case None:
            raise ModelError(f"CasADi operation number {code} cannot be compiled.")
        case "sq":
            return builder.put("mul", given[0], given[0])
        case "twice":
            return builder.put("add", given[0], given[0])
        case "inv":
            return builder.put("div", builder.put("const", 1.0), given[0])
        case "div":
            # CasADi turns x·(1/d) into x/d; one reciprocal per divisor and products are far cheaper.
            return builder.put("mul", given[0], builder.put("div", builder.put("const", 1.0), given[1]))
        case "assign":
            return given[0]
        case _ if name in UNARY:
            return builder.put(name, given[0])
        case _:
            return builder.put(name, given[0], given[1])


def _operation_names() -> dict[int, str]:
    import casadi as ca

    pairs = (
        "ADD add, SUB sub, MUL mul, DIV div, NEG neg, SQ sq, TWICE twice, INV inv, ASSIGN assign, SIN sin, "
        "COS cos, TAN tan, TANH tanh, ATAN atan, EXP exp, LOG log, SQRT sqrt, POW pow, CONSTPOW pow, "
        "SIGN sign, FABS abs, FMIN min, FMAX max, FLOOR floor, CEIL ceil, LT lt, LE le, EQ eq, NE ne, "
        "NOT not, AND and, OR or, IF_ELSE_ZERO if"
    )
    return {getattr(ca, f"OP_{a}"): b for a, b in (pair.split() for pair in pairs.split(", "))}


def _without_dead_code(
    name: str,
    inputs: tuple[Port, ...],
    outputs: tuple[Port, ...],
    instructions: list[Instruction],
    results: list[int],
) -> Program:
    live = [False] * len(instructions)
    for r in results:
        if r >= 0:
            live[r] = True
    for i in reversed(range(len(instructions))):
        op, a, b = instructions[i]
        if not live[i] or op in ("const", "input"):
            continue
        live[a] = True
        if op in BINARY:
            live[b] = True
    moved: dict[int, int] = {-1: -1}
    kept: list[Instruction] = []
    for i, (op, a, b) in enumerate(instructions):
        if live[i]:
            moved[i] = len(kept)
            operands = (a, b) if op in ("const", "input") else (moved[a], moved[b] if op in BINARY else 0)
            kept.append((op, *operands))
    return Program(name, inputs, outputs, tuple(kept), tuple(moved[r] for r in results))
