"""Names of modules that are loaded when first used.

A command uses one reader and one estimator of many; loading all of them would take longer than a short fit.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Mapping, Sequence
from importlib import import_module
from typing import Any


def later(module: str, name: str) -> Callable[..., Any]:
    """A function that imports its module at its first call, for tables of formats and kinds.

    Args:
        module: full name of the module.
        name: the function in it.
    """

    def call(*args: Any, **options: Any) -> Any:
        return getattr(import_module(module), name)(*args, **options)

    call.__name__ = call.__qualname__ = name
    return call


def lazy_exports(
    package: str, names: Mapping[str, Sequence[str]], families: Collection[str] = ()
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package whose names are imported when first used.

    Type checkers cannot see such names: the package imports them under ``if TYPE_CHECKING`` as well, and
    calls this function in the ``else`` branch.

    Args:
        package: ``__name__`` of the package.
        names: public names by their module relative to the package, such as ``linear.irls``, or in full,
            such as ``dynid.model.joint``; where the name there is another one, it follows a colon:
            ``check:check_log``.
        families: packages inside that can be used without an import of their own.
    """

    pairs = [(entry.partition(":"), module) for module, entries in names.items() for entry in entries]
    homes = {public: (module, own or public) for (public, _, own), module in pairs}

    def get(name: str) -> Any:
        if name in families:
            return import_module(f"{package}.{name}")
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, own = homes[name]
        path = module if module.startswith("dynid.") else f"{package}.{module}"
        value = getattr(import_module(path), own)
        setattr(sys.modules[package], name, value)
        return value

    return get, lambda: sorted((*homes, *families)), sorted(homes)
