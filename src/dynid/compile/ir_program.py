"""LLVM text of a program: as a chain of short functions, and as a function over arrays of lanes.

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


def signature(program: Program) -> str:
    """Parameters of the function: ``%in0`` … for the input groups, then ``%out0`` … for the output groups."""
    ins = [f"ptr %in{k}" for k in range(len(program.inputs))]
    return ", ".join(ins + [f"ptr noalias %out{k}" for k in range(len(program.outputs))])


def program_function(name: str, program: Program, lanes: int, shared: tuple[int, ...] = ()) -> str:
    """``void name(ptr in0, …, ptr out0, …)``: every group is an array (width, lanes).

    Outputs that are zero by structure are written too, so that a caller may read all of them.

    Args:
        name: of the function.
        program: the program.
        lanes: simulations side by side.
        shared: input groups that all lanes share: arrays (width,).
    """
    starts = [sum(port.width for port in program.outputs[:k]) for k in range(len(program.outputs))]

    def load(emitter: Emitter, port: int, k: int) -> str:
        if port in shared:
            place = emitter.put(f"getelementptr double, ptr %in{port}, i64 {k}")
            return emitter.splat(emitter.put(f"load double, ptr {place}, align 8"))
        place = emitter.put(f"getelementptr {emitter.type}, ptr %in{port}, i64 {k}")
        return emitter.put(f"load {emitter.type}, ptr {place}, align 8")

    def store(emitter: Emitter, output: int, value: str) -> None:
        group = max(k for k, start in enumerate(starts) if start <= output and program.outputs[k].width)
        place = emitter.put(f"getelementptr {emitter.type}, ptr %out{group}, i64 {output - starts[group]}")
        emitter.lines.append(f"  store {emitter.type} {value}, ptr {place}, align 8")

    parts = emit_parts(program, lanes, signature(program), load, store, prefix=name)
    zeros = Emitter(lanes, prefix="z")
    for output in sorted(set(range(len(program.results))) - set(program.nonzero)):
        store(zeros, output, zeros.constant(0.0))
    body = "\n".join([parts.body, *zeros.lines])
    return f"""{parts.text}
define internal void @{name}({signature(program)}) noinline {{
  %work = alloca {zeros.type}, i64 {parts.work}, align 64
{body}
  ret void
}}"""


def combine_function(kind: str, n: int) -> str:
    """``void combine(ptr out, ptr x, double a, ptr k)``: out = x + a k over n values."""
    scale, splat = "%a", ""
    if kind != "double":
        lanes = kind.split()[0].removeprefix("<")
        splat = (
            f"  %one = insertelement {kind} poison, double %a, i32 0\n"
            f"  %all = shufflevector {kind} %one, {kind} poison, <{lanes} x i32> zeroinitializer\n"
        )
        scale = "%all"
    return f"""
define internal void @combine(ptr %out, ptr %x, double %a, ptr %k) {{
entry:
{splat}  br label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %x.place = getelementptr {kind}, ptr %x, i64 %i
  %k.place = getelementptr {kind}, ptr %k, i64 %i
  %o.place = getelementptr {kind}, ptr %out, i64 %i
  %x.value = load {kind}, ptr %x.place, align 8
  %k.value = load {kind}, ptr %k.place, align 8
  %term = fmul contract {kind} {scale}, %k.value
  %sum = fadd contract {kind} %x.value, %term
  store {kind} %sum, ptr %o.place, align 8
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, {n}
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


def copy_function(kind: str) -> str:
    """``void copy(ptr out, ptr x, i64 n)``: out = x over n values."""
    return f"""
define internal void @copy(ptr %out, ptr %x, i64 %n) {{
entry:
  %none = icmp sle i64 %n, 0
  br i1 %none, label %done, label %loop
loop:
  %i = phi i64 [ 0, %entry ], [ %i.next, %loop ]
  %x.place = getelementptr {kind}, ptr %x, i64 %i
  %o.place = getelementptr {kind}, ptr %out, i64 %i
  %x.value = load {kind}, ptr %x.place, align 8
  store {kind} %x.value, ptr %o.place, align 8
  %i.next = add i64 %i, 1
  %more = icmp slt i64 %i.next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""
