"""LLVM text of a program as a function over arrays whose last axis is a lane."""

from __future__ import annotations

from dynid.compile.ir_parts import emit_parts
from dynid.compile.ir_scalar import Emitter
from dynid.compile.program import Program


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
