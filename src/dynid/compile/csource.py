"""C99 source of a kernel: one function, no dependency but math.h."""

from __future__ import annotations

from dynid.compile.dialects import C, statements
from dynid.compile.program import Program


def c_source(program: Program, name: str | None = None) -> str:
    """C99 source of a program for one sample: ``void name(const double *in_q, …, double *out_W, …)``.

    All outputs are written, structural zeros included. The code calls nothing but math.h, allocates nothing,
    and has no state, so it may run in a real-time controller.

    Args:
        program: what to write.
        name: function name; the program's own when None.
    """
    function = C.require_name(name or program.name, "a C function")
    ins = {port.name: f"in_{port.name}" for port in program.inputs}
    outs = {port.name: f"out_{port.name}" for port in program.outputs}
    arguments = [
        *(f"const double *{name}" for name in ins.values()),
        *(f"double *{o}" for o in outs.values()),
    ]
    lines = ["#include <math.h>", "", f"/* {_sizes(program)} */", f"void {function}({', '.join(arguments)})"]
    return "\n".join([*lines, *c_body(program, ins, outs), ""])


def c_body(program: Program, ins: dict[str, str], outs: dict[str, str]) -> list[str]:
    """The braces of a function and what is between them, line by line.

    Args:
        program: what it computes.
        ins: names of the arguments, by input port.
        outs: names of the arguments, by output port.
    """
    lines, results = statements(program, C, ins)
    targets = [C.at(outs[port.name], k) for port in program.outputs for k in range(port.width)]
    stores = [f"  {target} = {value};" for target, value in zip(targets, results, strict=True)]
    # Ports the program never reads would warn as unused.
    used = {a for op, a, _ in program.instructions if op == "input"}
    unused = [f"  (void){ins[port.name]};" for p, port in enumerate(program.inputs) if p not in used]
    return ["{", *unused, *lines, *stores, "}"]


def _sizes(program: Program) -> str:
    sizes = [f"{p.name}[{p.width}]" for p in program.inputs]
    results = [f"{p.name}[{p.width}]" for p in program.outputs]
    return f"{program.name}: {', '.join(sizes)} -> {', '.join(results)}"
