"""A long program as a chain of short functions.

A code generator's time grows faster than the length of a function, so a program is cut into parts of bounded
length. A value that a later part needs travels through a small work array.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from dynid.compile.ir_scalar import Emitter
from dynid.compile.program import BINARY, Program

PART = 2000
"""Instructions per part: the model of a seven-axis arm is one part."""

Load = Callable[[Emitter, int, int], str]
"""Writes the load of input scalar (port, index); returns its name."""
Store = Callable[[Emitter, int, str], None]
"""Writes the store of an output scalar."""


@dataclass(frozen=True)
class ProgramParts:
    """LLVM text of a program in parts.

    Args:
        text: definitions of the part functions, if any, and declarations of what they call.
        body: instructions that run the whole program where the parameters and ``%work`` are in scope.
        work: values in the array ``%work``.
    """

    text: str
    body: str
    work: int


def emit_parts(
    program: Program, lanes: int, parameters: str, load: Load, store: Store, prefix: str = "part"
) -> ProgramParts:
    """Cut a program into parts.

    Args:
        program: the program.
        lanes: samples per value.
        parameters: LLVM parameter list of every part, without the work array.
        load: how inputs are read.
        store: how outputs are written.
        prefix: begins the names of the part functions, for modules of several programs.
    """
    slots = _work_slots(program)
    bodies: list[str] = []
    declared: set[str] = set()
    for first, last in _ranges(program):
        emitter = Emitter(lanes)
        _Part(program, emitter, slots, load, store).write(first, last)
        bodies.append("\n".join(emitter.lines))
        declared |= emitter.intrinsics
    declarations = "\n".join(sorted(declared))
    if len(bodies) == 1:
        # A call per step costs a tenth of a short program's time, so a single part stands in place.
        return ProgramParts(declarations, bodies[0], 1)
    given = f"{parameters}, ptr noalias %work"
    functions = [
        f"define internal void @{prefix}.{k}({given}) noinline {{\n{body}\n  ret void\n}}"
        for k, body in enumerate(bodies)
    ]
    arguments = given.replace("noalias ", "")
    calls = "\n".join(f"  call void @{prefix}.{k}({arguments})" for k in range(len(bodies)))
    return ProgramParts("\n".join([*functions, declarations]), calls, len(slots))


def _ranges(program: Program) -> Iterator[tuple[int, int]]:
    total = len(program.instructions)
    count = max(1, -(-total // PART))
    for k in range(count):
        yield total * k // count, total * (k + 1) // count


def _operands(program: Program, i: int) -> tuple[int, ...]:
    op, a, b = program.instructions[i]
    if op in ("const", "input"):
        return ()
    return (a, b) if op in BINARY else (a,)


def _work_slots(program: Program) -> dict[int, int]:
    """Places in the work array of the values that cross from one part into a later one."""
    slots: dict[int, int] = {}
    for first, last in _ranges(program):
        for i in range(first, last):
            for value in _operands(program, i):
                if value < first and program.instructions[value][0] not in ("const", "input"):
                    slots.setdefault(value, len(slots))
    return slots


class _Part:
    """Writes one part: loads inputs, constants and earlier values when first needed."""

    def __init__(
        self, program: Program, emitter: Emitter, slots: dict[int, int], load: Load, store: Store
    ) -> None:
        self.program, self.emitter, self.slots = program, emitter, slots
        self.load, self.store = load, store
        self.values: dict[int, str] = {}
        self.outputs: dict[int, list[int]] = {}
        for output, value in enumerate(program.results):
            if value >= 0:
                self.outputs.setdefault(value, []).append(output)

    def write(self, first: int, last: int) -> None:
        emitter = self.emitter
        for i in range(first, last):
            op, a, b = self.program.instructions[i]
            if op not in ("const", "input"):
                left = self.value(a)
                self.values[i] = emitter.apply(op, left, self.value(b) if op in BINARY else left)
                if i in self.slots:
                    emitter.lines.append(
                        f"  store {emitter.type} {self.values[i]}, ptr {self._slot(i)}, align 8"
                    )
            for output in self.outputs.get(i, ()):
                self.store(emitter, output, self.value(i))

    def value(self, i: int) -> str:
        """Name of value i in this part."""
        if i not in self.values:
            op, a, b = self.program.instructions[i]
            if op == "const":
                self.values[i] = self.emitter.constant(a)
            elif op == "input":
                self.values[i] = self.load(self.emitter, a, b)
            else:
                self.values[i] = self.emitter.put(f"load {self.emitter.type}, ptr {self._slot(i)}, align 8")
        return self.values[i]

    def _slot(self, i: int) -> str:
        return self.emitter.put(f"getelementptr {self.emitter.type}, ptr %work, i64 {self.slots[i]}")
