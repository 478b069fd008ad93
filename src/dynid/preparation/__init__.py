"""From a log to a motion: filters, derivatives, decimation, as a plan."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.preparation.causal import CausalFilter as CausalFilter
    from dynid.preparation.causal_plan import CausalPlan as CausalPlan, suggest_causal as suggest_causal
    from dynid.preparation.causal_rows import CausalRows as CausalRows
    from dynid.preparation.motion import Motion as Motion
    from dynid.preparation.preparation import Preparation as Preparation
    from dynid.preparation.prepared_motion import prepare as prepare
    from dynid.preparation.suggestion import Suggestion as Suggestion, suggest as suggest
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "causal": ("CausalFilter",),
        "causal_plan": ("CausalPlan", "suggest_causal"),
        "causal_rows": ("CausalRows",),
        "motion": ("Motion",),
        "preparation": ("Preparation",),
        "prepared_motion": ("prepare",),
        "suggestion": ("Suggestion", "suggest"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
