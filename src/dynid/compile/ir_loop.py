"""LLVM text of a sampled loop: a controller that acts at samples, and a plant integrated between them."""

from __future__ import annotations

from dataclasses import dataclass

from dynid.compile.ir_program import combine_function, copy_function, program_function
from dynid.compile.ir_scalar import Emitter, literal
from dynid.compile.program import Program

STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
"""Classical Runge–Kutta: place of the stage in the step, and its weight."""


@dataclass(frozen=True)
class LoopSizes:
    """How many scalars of each kind a loop has.

    Args:
        states: integrated states, first in the state vector.
        modes: discrete states of the plant, constant while it is integrated, second.
        memory: states of the controller, changed once a sample, last.
        inputs: values given from outside at every sample.
        held: values the controller holds over a sample.
        parameters: constants.
        records: values noted at every sample.
        noted: how many of the first rates of a sample are noted behind the records, the last ones; all when
            None.
    """

    states: int
    modes: int
    memory: int
    inputs: int
    held: int
    parameters: int
    records: int
    noted: int | None = None

    @property
    def first_noted(self) -> int:
        """The first rate that is noted."""
        return 0 if self.noted is None else self.states - self.noted

    @property
    def row(self) -> int:
        """Values that a sample leaves: records, then the noted rates."""
        return self.records + self.states - self.first_noted

    @property
    def plant(self) -> int:
        """States and modes."""
        return self.states + self.modes

    @property
    def total(self) -> int:
        """Length of the state vector."""
        return self.plant + self.memory


def loop_ir(
    step: Program, rate: Program, jump: Program | None, sizes: LoopSizes, lanes: int, shared: bool = False
) -> str:
    """LLVM module with ``loop``.

    ``void loop(i64 steps, i64 substeps, double h, ptr state, ptr inputs, ptr parameters, ptr records)``

    Every array ends in an axis of lanes, but for inputs that all lanes share. At a sample, ``step(state,
    inputs, parameters)`` gives the held values, the controller's next memory and the records. Then
    ``substeps`` classical Runge–Kutta steps of length h advance the states by ``rate(plant, held,
    parameters)``. Before the first of them and after each, ``jump(plant, held, parameters, length)`` may set
    states and modes anew; length is that of the substep just made, zero before the first. The first rate of
    a sample follows its records.
    """
    kind = Emitter(lanes).type
    programs = [
        program_function("step", step, lanes, shared=(1,) if shared else ()),
        program_function("rate", rate, lanes),
    ]
    if jump is not None:
        programs.append(program_function("jump", jump, lanes))
    texts = [
        *programs,
        combine_function(kind, sizes.states),
        copy_function(kind),
        _loop(kind, "double" if shared else kind, sizes, jump is not None),
    ]
    return _module(texts)


def _module(texts: list[str]) -> str:
    """One module: a declaration may stand in it only once."""
    lines = [line for text in texts for line in text.splitlines()]
    declarations = sorted({line for line in lines if line.startswith("declare ")})
    return "\n".join([line for line in lines if not line.startswith("declare ")] + declarations)


def _loop(kind: str, input_kind: str, sizes: LoopSizes, jumps: bool) -> str:
    buffers = {
        "held": sizes.held,
        "next": sizes.memory,
        "rate": sizes.states,
        "trial": sizes.plant,
        "total": sizes.states,
        "jumped": sizes.plant,
        "instant": 1,
        "length": 1,
    }
    allocations = "\n".join(
        f"  %{name} = alloca {kind}, i64 {max(1, width)}, align 64" for name, width in buffers.items()
    )
    return f"""
define void @loop(i64 %steps, i64 %substeps, double %h,
                  ptr %state, ptr %inputs, ptr %parameters, ptr %records) {{
entry:
{allocations}
  %memory = getelementptr {kind}, ptr %state, i64 {sizes.plant}
  %trial.modes = getelementptr {kind}, ptr %trial, i64 {sizes.states}
  %modes = getelementptr {kind}, ptr %state, i64 {sizes.states}
{_lengths(kind) if jumps else ""}
  %none = icmp sle i64 %steps, 0
  br i1 %none, label %done, label %step
step:
  %k = phi i64 [ 0, %entry ], [ %k.next, %step.end ]
  %u.shift = mul i64 %k, {sizes.inputs}
  %u = getelementptr {input_kind}, ptr %inputs, i64 %u.shift
  %y.shift = mul i64 %k, {sizes.row}
  %y = getelementptr {kind}, ptr %records, i64 %y.shift
  %y.rate = getelementptr {kind}, ptr %y, i64 {sizes.records}
  %rate.noted = getelementptr {kind}, ptr %rate, i64 {sizes.first_noted}
{_prefetch(kind, sizes.row)}
  call void @step(ptr %state, ptr %u, ptr %parameters, ptr %held, ptr %next, ptr %y)
{_jump(sizes, "%instant") if jumps else ""}
  br label %substep
substep:
  %s = phi i64 [ 0, %step ], [ %s.next, %substep.end ]
{_substep(sizes, jumps) if sizes.states else "  br label %substep.end"}
substep.end:
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %substeps
  br i1 %s.more, label %substep, label %step.end
step.end:
  call void @copy(ptr %memory, ptr %next, i64 {sizes.memory})
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %steps
  br i1 %k.more, label %step, label %done
done:
  ret void
}}"""


def _substep(sizes: LoopSizes, jumps: bool) -> str:
    """One Runge–Kutta step; the first of a sample notes its rates."""
    return f"""  call void @copy(ptr %trial.modes, ptr %modes, i64 {sizes.modes})
  call void @rate(ptr %state, ptr %held, ptr %parameters, ptr %rate)
  %first = icmp eq i64 %s, 0
  br i1 %first, label %note, label %stages
note:
  call void @copy(ptr %y.rate, ptr %rate.noted, i64 {sizes.row - sizes.records})
  br label %stages
stages:
{_stages()}
{_jump(sizes, "%length") if jumps else ""}
  br label %substep.end"""


def _lanes(kind: str) -> int:
    return 1 if kind == "double" else int(kind.split()[0].removeprefix("<"))


def _prefetch(kind: str, row: int) -> str:
    """Ask for the memory of the records two samples on.

    A store that misses the caches holds up all stores behind it, and the rates store as often as they
    multiply: with four lanes it cost a tenth of the time.
    """
    size = 8 * _lanes(kind) * row
    lines = ["declare void @llvm.prefetch.p0(ptr, i32, i32, i32)"]
    for byte in range(2 * size, 3 * size, 64):
        lines.append(f"  %ahead.{byte} = getelementptr i8, ptr %y, i64 {byte}")
        lines.append(f"  call void @llvm.prefetch.p0(ptr %ahead.{byte}, i32 1, i32 3, i32 1)")
    return "\n".join(lines)


def _stages() -> str:
    """Runge–Kutta from the first rate, already in ``%rate``, to the new states in ``%state``."""
    lines = []
    for i, (place, weight) in enumerate(STAGES):
        if i:
            lines.append(f"  %c{i} = fmul double %h, {literal(place)}")
            lines.append(f"  call void @combine(ptr %trial, ptr %state, double %c{i}, ptr %rate)")
            lines.append("  call void @rate(ptr %trial, ptr %held, ptr %parameters, ptr %rate)")
        lines.append(f"  %w{i} = fmul double %h, {literal(weight)}")
        into = "%total" if i else "%state"
        lines.append(f"  call void @combine(ptr %total, ptr {into}, double %w{i}, ptr %rate)")
    lines.append("  call void @combine(ptr %state, ptr %total, double 0.0, ptr %total)")
    return "\n".join(lines)


def _lengths(kind: str) -> str:
    """Zero and h in all lanes, for the jumps."""
    lanes = _lanes(kind)
    zero = "0.0" if lanes == 1 else "zeroinitializer"
    lines = [f"  store {kind} {zero}, ptr %instant, align 8"]
    for lane in range(lanes):
        lines.append(f"  %length.{lane} = getelementptr double, ptr %length, i64 {lane}")
        lines.append(f"  store double %h, ptr %length.{lane}, align 8")
    return "\n".join(lines)


def _jump(sizes: LoopSizes, length: str) -> str:
    return (
        f"  call void @jump(ptr %state, ptr %held, ptr %parameters, ptr {length}, ptr %jumped)\n"
        f"  call void @copy(ptr %state, ptr %jumped, i64 {sizes.plant})"
    )
