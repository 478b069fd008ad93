"""A model as one Python module that needs NumPy and nothing else."""

from __future__ import annotations

import keyword
import sys

from dynid.core.errors import DynidError
from dynid.export.model import Export, ExportedFile
from dynid.export.model_code import model_code
from dynid.export.numpy_module import module_functions, python_text
from dynid.results.result import SavedResult


def to_python(result: SavedResult, name: str) -> Export:
    """The model as a module of functions over samples, run and compared with dynid's own kernels.

    Args:
        result: the model.
        name: of the module.
    """
    if keyword.iskeyword(name) or name in sys.stdlib_module_names or name == "numpy":
        raise DynidError(
            f"A module called {name!r} could not be imported, or would hide one of Python's own; give "
            "another name."
        )
    code = model_code(result)
    text = python_text(result, code.functions, [code.form_words])
    figures = code.figures_of("python", module_functions(text, code.functions))
    return Export("python", (ExportedFile(f"{name}.py", text.encode()),), code.lost, figures=figures)
