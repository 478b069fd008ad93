"""Functions of modules that are loaded when first called, for tables of formats and kinds.

A command uses one reader and one estimator of many; loading all of them would take longer than a short fit.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def later(module: str, name: str) -> Callable[..., Any]:
    """A function that imports its module at its first call.

    Args:
        module: full name of the module.
        name: the function in it.
    """

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*args, **options)

    call.__name__ = call.__qualname__ = name
    return call
