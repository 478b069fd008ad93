"""Versions of what computed."""

from __future__ import annotations

import platform
from importlib.util import find_spec
from pathlib import Path

import dynid

_PACKAGES = ("numpy", "scipy", "casadi", "llvmlite")


def versions() -> dict[str, str]:
    """Versions of dynid and its libraries, the interpreter and the machine's kind."""
    machine = f"{platform.system()} {platform.machine()}"
    own = {"python": platform.python_version(), "machine": machine, "dynid": dynid.__version__}
    return own | {package: _version(package) for package in _PACKAGES}


def _version(package: str) -> str:
    """From the name of the folder that an installer leaves beside a package.

    To ask Python for it would load a parser of mail headers, which takes longer than this whole report.
    """
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        return "not installed"
    for folder in Path(spec.origin).parents[1].glob(f"{package}-*.dist-info"):
        return folder.name.removeprefix(f"{package}-").removesuffix(".dist-info")
    return "unknown"
