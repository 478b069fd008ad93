"""Problems: observation matrices of logs streamed into triangular factors, and closed loops to simulate."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.problem.build import build_problem as build_problem
    from dynid.problem.closed_loop import (
        LoopExperiment as LoopExperiment,
        LoopProblem as LoopProblem,
        build_loop_problem as build_loop_problem,
    )
    from dynid.problem.problem import Problem as Problem
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "build": ("build_problem",),
        "closed_loop": ("LoopExperiment", "LoopProblem", "build_loop_problem"),
        "problem": ("Problem",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
