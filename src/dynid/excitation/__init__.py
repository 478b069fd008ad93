"""Exciting motion: criteria, limits, workcell, and the verb ``design_motion``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.excitation.clearance import CollisionScene as CollisionScene
    from dynid.excitation.clearance_proof import (
        LeastClearance as LeastClearance,
        verified_clearance as verified_clearance,
    )
    from dynid.excitation.criteria import (
        CRITERIA as CRITERIA,
        AOptimal as AOptimal,
        Combined as Combined,
        Criterion as Criterion,
        Hadamard as Hadamard,
        LogCond as LogCond,
        LogDet as LogDet,
        LogSigma as LogSigma,
        Scaled as Scaled,
    )
    from dynid.excitation.design import (
        Design as Design,
        design_motion as design_motion,
    )
    from dynid.excitation.information import standard_deviations as standard_deviations
    from dynid.excitation.limits import LimitChoice as LimitChoice, motion_limits as motion_limits
    from dynid.excitation.solvers import (
        SOLVERS as SOLVERS,
        Barrier as Barrier,
        Ipopt as Ipopt,
        Slsqp as Slsqp,
        Solver as Solver,
    )
    from dynid.excitation.task import DesignTask as DesignTask, PriorInformation as PriorInformation
    from dynid.excitation.workcell import HalfSpace as HalfSpace, Workcell as Workcell
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "clearance": ("CollisionScene",),
        "criteria": (
            *("CRITERIA", "AOptimal", "Combined", "Criterion", "Hadamard", "LogCond", "LogDet", "LogSigma"),
            "Scaled",
        ),
        "design": ("Design", "design_motion"),
        "information": ("standard_deviations",),
        "limits": ("LimitChoice", "motion_limits"),
        "solvers": ("SOLVERS", "Barrier", "Ipopt", "Slsqp", "Solver"),
        "workcell": ("HalfSpace", "Workcell"),
        "task": ("DesignTask", "PriorInformation"),
        "clearance_proof": ("LeastClearance", "verified_clearance"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
