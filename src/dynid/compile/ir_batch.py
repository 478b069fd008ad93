"""LLVM text of a batch kernel: one straight-line program run over all samples, tile by tile.

A tile of samples is computed into a buffer that stays in cache, with strides known to the compiler, and then
copied to its place; copies that fill main memory bypass the caches.
"""

from __future__ import annotations

from dynid.compile.ir_program import ProgramParts, emit_parts
from dynid.compile.ir_scalar import Emitter
from dynid.compile.program import Program

LANES = 4
"""Samples per step. Four doubles are one AVX register; eight halve the speed by outgrowing the code cache."""
TILE = 56
"""Samples per tile: not a power of two (columns would alias in L1), a multiple of a cache line's eight."""


def batch_ir(program: Program) -> str:
    """LLVM module with the functions ``tile``, ``run``, ``stream`` and ``fill``.

    ``void tile(i64 blocks, ptr ports, ptr strides, ptr buffer)`` computes ``blocks`` × LANES samples. Port p
    is an array (samples, width) in C order, one row when uniform, or (width, samples) with the given stride
    when it holds columns. Nonzero output number s of a sample goes to buffer[s·TILE + sample].

    ``void run(i64 tiles, ptr ports, ptr strides, ptr buffer, ptr rows, ptr out, i64 stride)`` computes whole
    tiles and copies output s to out[rows[s]·stride + sample]; ``stream`` does so past the caches and needs
    ``out`` aligned to 32 bytes and a stride of a multiple of 4.

    ``void fill(i64 tiles, ptr ports, ptr strides, ptr buffers)`` leaves each tile in a buffer of its own, one
    behind the other, for consumers that work in cache.
    """
    slots = {output: slot for slot, output in enumerate(program.nonzero)}

    def load(emitter: Emitter, port: int, k: int) -> str:
        return _load(emitter, program, port, k)

    def store(emitter: Emitter, output: int, value: str) -> None:
        place = emitter.put(f"add i64 %sample, {slots[output] * TILE}")
        address = emitter.put(f"getelementptr double, ptr %buffer, i64 {place}")
        emitter.lines.append(f"  store {emitter.type} {value}, ptr {address}, align 32")

    parts = emit_parts(program, LANES, _parameters(program), load, store)
    functions = [
        _tile(program, parts),
        _copy(program, "copy", ""),
        _copy(program, "copy_past", ", !nontemporal !0"),
        _run(program, "run", "copy"),
        _run(program, "stream", "copy_past"),
        _fill(program),
    ]
    return "\n".join([parts.text, *functions, "!0 = !{i32 1}"])


def _parameters(program: Program) -> str:
    """What every part is given: the first sample of the step, the ports, and where outputs go."""
    ports = [f"ptr %port{p}, i64 %stride{p}" for p in range(len(program.inputs))]
    return ", ".join(["i64 %sample", *ports, "ptr noalias %buffer"])


def _tile(program: Program, parts: ProgramParts) -> str:
    """Loop over the steps of a tile."""
    kind = Emitter(LANES).type
    return f"""
define void @tile(i64 %blocks, ptr %ports, ptr %strides, ptr noalias %buffer) noinline {{
entry:
  %work = alloca {kind}, i64 {parts.work}, align 32
{_port_pointers(program)}
  %none = icmp sle i64 %blocks, 0
  br i1 %none, label %done, label %loop
loop:
  %block = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sample = mul i64 %block, {LANES}
{parts.body}
  %next = add i64 %block, 1
  %more = icmp slt i64 %next, %blocks
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


def _port_pointers(program: Program) -> str:
    lines = []
    for p in range(len(program.inputs)):
        lines.append(f"  %slot{p} = getelementptr ptr, ptr %ports, i64 {p}")
        lines.append(f"  %port{p} = load ptr, ptr %slot{p}")
        lines.append(f"  %place{p} = getelementptr i64, ptr %strides, i64 {p}")
        lines.append(f"  %stride{p} = load i64, ptr %place{p}")
    return "\n".join(lines)


def _load(emitter: Emitter, program: Program, p: int, k: int) -> str:
    """Load one input scalar of the step's samples into lanes."""
    port = program.inputs[p]
    if port.uniform:
        address = emitter.put(f"getelementptr double, ptr %port{p}, i64 {k}")
        return emitter.splat(emitter.put(f"load double, ptr {address}"))
    if port.columns:
        start = emitter.put(f"mul i64 %stride{p}, {k}")
        place = emitter.put(f"add i64 {start}, %sample")
        address = emitter.put(f"getelementptr double, ptr %port{p}, i64 {place}")
        return emitter.put(f"load {emitter.type}, ptr {address}, align 8")
    start = emitter.put(f"mul i64 %sample, {port.width}")
    value = "poison"
    for lane in range(emitter.lanes):
        place = emitter.put(f"add i64 {start}, {lane * port.width + k}")
        address = emitter.put(f"getelementptr double, ptr %port{p}, i64 {place}")
        one = emitter.put(f"load double, ptr {address}")
        value = emitter.put(f"insertelement {emitter.type} {value}, double {one}, i32 {lane}")
    return value


def _copy(program: Program, name: str, hint: str) -> str:
    """Copy a full tile to its rows, one cache line at a time."""
    align = 32 if hint else 8
    return f"""
define void @{name}(ptr noalias %buffer, ptr %rows, ptr noalias %out, i64 %stride) noinline {{
entry:
  br label %row
row:
  %s = phi i64 [ 0, %entry ], [ %s.next, %row.end ]
  %from = mul i64 %s, {TILE}
  %row.place = getelementptr i64, ptr %rows, i64 %s
  %row.number = load i64, ptr %row.place
  %to = mul i64 %row.number, %stride
  br label %line
line:
  %c = phi i64 [ 0, %row ], [ %c.next, %line ]
  %a = add i64 %from, %c
  %a.place = getelementptr double, ptr %buffer, i64 %a
  %b.place = getelementptr double, ptr %a.place, i64 4
  %u = load <4 x double>, ptr %a.place, align 32
  %v = load <4 x double>, ptr %b.place, align 32
  %o = add i64 %to, %c
  %o.place = getelementptr double, ptr %out, i64 %o
  %p.place = getelementptr double, ptr %o.place, i64 4
  store <4 x double> %u, ptr %o.place, align {align}{hint}
  store <4 x double> %v, ptr %p.place, align {align}{hint}
  %c.next = add i64 %c, 8
  %c.more = icmp slt i64 %c.next, {TILE}
  br i1 %c.more, label %line, label %row.end
row.end:
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, {len(program.nonzero)}
  br i1 %s.more, label %row, label %done
done:
  ret void
}}"""


def _advance(program: Program) -> str:
    """Ports of tile number %t: those that hold samples move on."""
    advance = []
    for p, port in enumerate(program.inputs):
        step = 0 if port.uniform else TILE if port.columns else TILE * port.width
        advance += [
            f"  %in{p} = getelementptr ptr, ptr %ports, i64 {p}",
            f"  %start{p} = load ptr, ptr %in{p}",
            f"  %shift{p} = mul i64 %t, {step}",
            f"  %now{p} = getelementptr double, ptr %start{p}, i64 %shift{p}",
            f"  %here{p} = getelementptr ptr, ptr %moved, i64 {p}",
            f"  store ptr %now{p}, ptr %here{p}",
        ]
    return "\n".join(advance)


def _over_tiles(program: Program, head: str, body: str) -> str:
    """A function that runs its body for every tile %t, with the tile's ports in %moved."""
    return f"""
define void {head} {{
entry:
  %moved = alloca ptr, i64 {max(1, len(program.inputs))}
  %none = icmp sle i64 %tiles, 0
  br i1 %none, label %done, label %loop
loop:
  %t = phi i64 [ 0, %entry ], [ %t.next, %loop ]
{_advance(program)}
{body}
  %t.next = add i64 %t, 1
  %more = icmp slt i64 %t.next, %tiles
  br i1 %more, label %loop, label %done
done:
  ret void
}}"""


_COMPUTE = f"  call void @tile(i64 {TILE // LANES}, ptr %moved, ptr %strides, ptr %buffer)"


def _fill(program: Program) -> str:
    """Whole tiles, each into the next buffer."""
    head = "@fill(i64 %tiles, ptr %ports, ptr %strides, ptr %buffers)"
    body = f"""  %first = mul i64 %t, {TILE * len(program.nonzero)}
  %buffer = getelementptr double, ptr %buffers, i64 %first
{_COMPUTE}"""
    return _over_tiles(program, head, body)


def _run(program: Program, name: str, copy: str) -> str:
    """Whole tiles, each computed in the same buffer and copied to its place."""
    head = f"@{name}(i64 %tiles, ptr %ports, ptr %strides, ptr %buffer, ptr %rows, ptr %out, i64 %stride)"
    body = f"""{_COMPUTE}
  %first = mul i64 %t, {TILE}
  %target = getelementptr double, ptr %out, i64 %first
  call void @{copy}(ptr %buffer, ptr %rows, ptr %target, i64 %stride)"""
    return _over_tiles(program, head, body)
