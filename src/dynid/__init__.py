"""dynid: the dynamic model of robots, identified from motion logs.

The main job is ``result = dynid.fit(robot, logs, validate=…)``. The names below are imported when first used,
so that ``import dynid`` stays light. Families of nouns have packages of their own, which need no further
import: ``dynid.simulation.Sines``, ``dynid.estimators.HAC``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.base import BaseMap as BaseMap, find_base as find_base
    from dynid.checks import repair_log
    from dynid.compile.kernels import kernels as kernels
    from dynid.core.errors import DynidError as DynidError
    from dynid.core.finding import Finding as Finding
    from dynid.estimators import (
        DIDIM as DIDIM,
        IRLS as IRLS,
        IV as IV,
        OLS as OLS,
        TLS as TLS,
        WLS as WLS,
        Consistent as Consistent,
        Essential as Essential,
        OutputError as OutputError,
        Ridge as Ridge,
        Separable as Separable,
        identify as identify,
    )
    from dynid.export import export_model as export_model
    from dynid.logs import Log as Log, read_log as read_log, read_logs as read_logs, save_log as save_log
    from dynid.model import Robot as Robot, catalog as catalog, load_robot as load_robot
    from dynid.preparation import Preparation as Preparation, prepare as prepare, suggest as suggest
    from dynid.problem import build_problem as build_problem
    from dynid.results import compare_results, load_result as load_result
    from dynid.simulation import (
        load_controller as load_controller,
        load_reference as load_reference,
        simulate as simulate,
    )
    from dynid.workflow import (
        FitResult as FitResult,
        check as check,
        find_suspects as find_suspects,
        fit as fit,
        validate as validate,
    )

    repair, compare = repair_log, compare_results
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "base": ("BaseMap", "find_base"),
        "checks": ("repair:repair_log",),
        "compile.kernels": ("kernels",),
        "core.errors": ("DynidError",),
        "core.finding": ("Finding",),
        "estimators": (
            *(
                "Consistent",
                "DIDIM",
                "Essential",
                "IRLS",
                "IV",
                "OLS",
                "OutputError",
                "Ridge",
                "Separable",
                "TLS",
                "WLS",
            ),
            "identify",
        ),
        "export": ("export_model",),
        "logs": ("Log", "read_log", "read_logs", "save_log"),
        "model": ("Robot", "catalog", "load_robot"),
        "preparation": ("Preparation", "prepare", "suggest"),
        "problem": ("build_problem",),
        "results": ("compare:compare_results", "load_result"),
        "simulation": ("load_controller", "load_reference", "simulate"),
        "workflow": ("FitResult", "check", "find_suspects", "fit", "validate"),
    }
    _FAMILIES = (
        *("base", "calibration", "checks", "compile", "consistency", "dynamics", "estimators", "excitation"),
        *("export", "logs", "model", "preparation", "problem", "resolution", "results", "simulation"),
        *("tracking", "trajectories", "validation", "workflow"),
    )
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES, _FAMILIES)

__version__ = "0.1.0"
