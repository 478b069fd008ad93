"""The text of a Python module that needs NumPy and nothing else, and its functions.

Every form that is code is tried by these functions: they come from the same programs.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence
from typing import Any

from dynid.compile.dialects import PYTHON, statements
from dynid.export.functions import ModelFunction
from dynid.export.words import coordinate_names, coordinate_units, heading_lines
from dynid.results.result import SavedResult

_HELPER = '''
def _samples(*given):
    """The arrays as numbers of one shape, whose last axis is that of the joints."""
    made = np.broadcast_arrays(*(np.asarray(x, dtype=float) for x in given))
    if made[0].shape[-1:] != (len(JOINTS),):
        raise ValueError(f"The arrays have shape {made[0].shape}; the last axis must be {len(JOINTS)} long.")
    return made
'''


def python_text(result: SavedResult, functions: Sequence[ModelFunction], notes: Sequence[str] = ()) -> str:
    """The text of a module.

    Args:
        result: the model, for what the module says about itself.
        functions: what it computes.
        notes: what else it says.
    """
    said = [
        line
        for words in heading_lines(result, notes)
        for line in textwrap.wrap(words, 100, subsequent_indent="    ")
    ]
    said += ["", "Arrays are (samples, joints) or (joints,), in the order of JOINTS."]
    positions, torques = zip(*coordinate_units(result.robot), strict=True)
    lines = ['"""' + "\n".join(said).strip(), '"""', "", "import numpy as np", ""]
    lines += [f"JOINTS = {_texts(coordinate_names(result.robot))}"]
    lines += [f"POSITION_UNITS = {_texts(positions)}", f"TORQUE_UNITS = {_texts(torques)}", ""]
    lines += [_HELPER.rstrip()]
    for function in functions:
        lines += ["", "", *_function(function)]
    return "\n".join([*lines, ""])


def _texts(names: Sequence[str]) -> str:
    """Texts as a literal; whatever they hold is escaped."""
    return f"({', '.join(ascii(name) for name in names)},)"


def _function(function: ModelFunction) -> list[str]:
    inputs = function.inputs
    lines, results = statements(function.program, PYTHON, {name: name for name in inputs})
    square = function.output == "M"
    size = f"{inputs[0]}.shape[:-1] + ({len(results)},)" if square else f"{inputs[0]}.shape"
    made = [f"    out[..., {k}] = {value}" for k, value in enumerate(results)]
    last = f"    return out.reshape({inputs[0]}.shape + (len(JOINTS),))" if square else "    return out"
    return [
        f"def {function.name}({', '.join(inputs)}):",
        f'    """{function.words}"""',
        f"    {', '.join(inputs)}{',' * (len(inputs) == 1)} = _samples({', '.join(inputs)})",
        *lines,
        f"    out = np.empty({size})",
        *made,
        last,
    ]


def module_functions(text: str, functions: Sequence[ModelFunction]) -> dict[str, Callable[..., Any]]:
    """The functions of a module that this file has written, by name."""
    space: dict[str, Any] = {}
    exec(compile(text, "exported model", "exec"), space)
    return {function.name: space[function.name] for function in functions}
