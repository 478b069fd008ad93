"""What a traced function depends on, as text for the cache."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any

import numpy as np


def fingerprint(function: Callable[..., Any]) -> str:
    """Hash of a function's code, of the plain values it takes from outside and of the functions it calls."""
    digest = hashlib.sha256()
    _add_function(digest, function, set())
    return digest.hexdigest()


def _add_function(digest: Any, function: Any, seen: set[int]) -> None:
    if id(function) in seen:
        return
    seen.add(id(function))
    outside = getattr(function, "__globals__", {})

    def add(code: CodeType) -> None:
        digest.update(code.co_code)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                add(constant)
            else:
                _add_value(digest, constant, seen)
        digest.update(repr((code.co_names, code.co_varnames)).encode())
        for name in code.co_names:
            _add_value(digest, outside.get(name), seen)

    add(function.__code__)
    for cell in function.__closure__ or ():
        _add_value(digest, cell.cell_contents, seen)
    _add_value(digest, function.__defaults__, seen)
    _add_value(digest, tuple((function.__kwdefaults__ or {}).items()), seen)


def _add_value(digest: Any, value: object, seen: set[int]) -> None:
    """Numbers, texts, arrays, and tuples or lists of them; other functions of Python by their own code.

    Anything else is for the caller's key.
    """
    if isinstance(value, FunctionType):
        _add_function(digest, value, seen)
    elif isinstance(value, np.ndarray):
        digest.update(value.tobytes())
    elif isinstance(value, list | tuple):
        for item in value:
            _add_value(digest, item, seen)
    elif isinstance(value, frozenset):
        digest.update(repr(sorted(map(repr, value))).encode())  # its own order differs from run to run
    elif isinstance(value, bool | int | float | complex | str | bytes | np.generic | None):
        digest.update(repr(value).encode())
