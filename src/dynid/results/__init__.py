"""Result folders: saved, loaded, compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.results.comparison import Comparison as Comparison, compare_results as compare_results
    from dynid.results.load import load_result as load_result
    from dynid.results.result import SavedResult as SavedResult
    from dynid.results.save import save_result as save_result
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "comparison": ("Comparison", "compare_results"),
        "load": ("load_result",),
        "result": ("SavedResult",),
        "save": ("save_result",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
