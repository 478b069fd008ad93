"""LLVM text of a scan kernel: a step program run over time, one simulation per vector lane."""

from __future__ import annotations

from dynid.compile.ir_function import combine_function, program_function
from dynid.compile.ir_scalar import Emitter, literal
from dynid.compile.program import Program

RK4, MAP = "rk4", "map"
STAGES = ((0.0, 1 / 6), (0.5, 1 / 3), (0.5, 1 / 3), (1.0, 1 / 6))
"""Classical Runge–Kutta: place of the stage in the step, and its weight."""


def scan_ir(program: Program, lanes: int, integrator: str) -> str:
    """LLVM module with ``scan``.

    ``void scan(i64 steps, i64 substeps, double h, ptr state, ptr inputs, ptr parameters, ptr records)``

    Every array ends in an axis of ``lanes`` simulations: state (x), inputs (steps, u), parameters (p),
    records (steps, y). The program takes ports x, u, p and yields ports (dx or next x, y). Inputs are held
    over a step; the record of a step is taken at its start. With "rk4" the program is a right-hand side and
    each step is ``substeps`` Runge–Kutta steps of length h; with "map" it gives the next state itself.
    """
    kind = Emitter(lanes).type
    return "\n".join(
        [
            program_function("program", program, lanes),
            combine_function(kind, program.outputs[0].width),
            _scan(program, kind, integrator),
        ]
    )


def _scan(program: Program, kind: str, integrator: str) -> str:
    n_x, n_u, n_y = program.outputs[0].width, program.inputs[1].width, program.outputs[1].width
    step = _rk4_step() if integrator == RK4 else _map_step()
    copy_back = (
        "\n  call void @combine(ptr %state, ptr %rate, double 0.0, ptr %rate)" if integrator == MAP else ""
    )
    return f"""
define void @scan(i64 %steps, i64 %substeps, double %h,
                  ptr %state, ptr %inputs, ptr %parameters, ptr %records) {{
entry:
  %rate = alloca {kind}, i64 {n_x}, align 64
  %trial = alloca {kind}, i64 {n_x}, align 64
  %total = alloca {kind}, i64 {n_x}, align 64
  %scratch = alloca {kind}, i64 {max(1, n_y)}, align 64
  %none = icmp sle i64 %steps, 0
  br i1 %none, label %done, label %step
step:
  %k = phi i64 [ 0, %entry ], [ %k.next, %step.end ]
  %u.shift = mul i64 %k, {n_u}
  %u = getelementptr {kind}, ptr %inputs, i64 %u.shift
  %y.shift = mul i64 %k, {n_y}
  %y = getelementptr {kind}, ptr %records, i64 %y.shift
  br label %substep
substep:
  %s = phi i64 [ 0, %step ], [ %s.next, %substep ]
  %first = icmp eq i64 %s, 0
  %note = select i1 %first, ptr %y, ptr %scratch
{step}{copy_back}
  %s.next = add i64 %s, 1
  %s.more = icmp slt i64 %s.next, %substeps
  br i1 %s.more, label %substep, label %step.end
step.end:
  %k.next = add i64 %k, 1
  %k.more = icmp slt i64 %k.next, %steps
  br i1 %k.more, label %step, label %done
done:
  ret void
}}"""


def _rk4_step() -> str:
    """Four stages through one copy of the program, so that it stays in the code cache."""
    lines = []
    for i, (place, weight) in enumerate(STAGES):
        start, note = ("%state", "%note") if i == 0 else ("%trial", "%scratch")
        if i:
            lines.append(f"  %c{i} = fmul double %h, {literal(place)}")
            lines.append(f"  call void @combine(ptr %trial, ptr %state, double %c{i}, ptr %rate)")
        lines.append(f"  call void @program(ptr {start}, ptr %u, ptr %parameters, ptr %rate, ptr {note})")
        lines.append(f"  %w{i} = fmul double %h, {literal(weight)}")
        into = "%state" if i == 0 else "%total"
        lines.append(f"  call void @combine(ptr %total, ptr {into}, double %w{i}, ptr %rate)")
    lines.append("  call void @combine(ptr %state, ptr %total, double 0.0, ptr %total)")
    return "\n".join(lines)


def _map_step() -> str:
    return "  call void @program(ptr %state, ptr %u, ptr %parameters, ptr %rate, ptr %note)"
