"""A model as C99: one header and one source file, for a controller.

No allocation, no state, no recursion, no loops, nothing but math.h; ``const`` wherever C allows it; every
function has a prototype; inputs are read before results are written.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from dynid.compile.csource import c_body
from dynid.compile.dialects import C
from dynid.export.functions import ModelFunction
from dynid.export.model import Export, ExportedFile
from dynid.export.model_code import ModelCode, model_code
from dynid.export.numpy_module import module_functions, python_text
from dynid.export.words import heading_lines
from dynid.results.result import SavedResult

_WIDTH = 100


def to_c(result: SavedResult, name: str) -> Export:
    """The model as ``name.h`` and ``name.c``; the same programs, run by NumPy, are compared with the kernels.

    Args:
        result: the model.
        name: what files and functions begin with.
    """
    code = model_code(result)
    callables = module_functions(python_text(result, code.functions), code.functions)
    figures = code.figures_of("c", callables)
    files = (
        ExportedFile(f"{name}.h", _header(result, code, name).encode()),
        ExportedFile(f"{name}.c", _source(result, code, name).encode()),
    )
    return Export("c", files, code.lost, figures=figures)


def _header(result: SavedResult, code: ModelCode, name: str) -> str:
    guard, count = f"{name.upper()}_H", f"{name.upper()}_JOINTS"
    notes = [
        code.form_words,
        "Arrays hold one sample; M is row by row. A result may be written over an input.",
        "Operations of one call:",
        *(f"  {function.name}: {_count_words(function)}" for function in code.functions),
    ]
    lines = [*_comment(heading_lines(result, notes)), f"#ifndef {guard}", f"#define {guard}", ""]
    lines += [f"#define {count} ({result.robot.n_coordinates})", ""]
    lines += ["#ifdef __cplusplus", 'extern "C" {', "#endif", ""]
    for function in code.functions:
        lines += [f"/* {function.words} */", f"{_prototype(function, name, count)};", ""]
    return "\n".join([*lines, "#ifdef __cplusplus", "}", "#endif", "", f"#endif /* {guard} */", ""])


def _count_words(function: ModelFunction) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in function.operations.items())


def _source(result: SavedResult, code: ModelCode, name: str) -> str:
    count = f"{name.upper()}_JOINTS"
    lines = [*_comment(heading_lines(result)), "#include <math.h>", "", f'#include "{name}.h"']
    for function in code.functions:
        names = {port: port for port in (*function.inputs, function.output)}
        body = c_body(function.program, names, names)
        lines += ["", _prototype(function, name, count), *body]
    return "\n".join([*lines, ""])


def _prototype(function: ModelFunction, name: str, count: str) -> str:
    own = C.require_name(f"{name}_{function.name}", "a C function")
    size = f"{count} * {count}" if function.output == "M" else count
    arguments = [f"const double {port}[{count}]" for port in function.inputs]
    arguments.append(f"double {function.output}[{size}]")
    return f"void {own}(\n    " + ",\n    ".join(arguments) + ")"


def _comment(lines: Sequence[str]) -> list[str]:
    wrapped = [part for line in lines for part in textwrap.wrap(line, _WIDTH, subsequent_indent="    ")]
    return ["/*", *(f" * {line}" for line in wrapped), " */"]
