"""What can be wrong with a log, a motion or a fit: one question per file, each a function to findings."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.checks.check import (
        accept_findings as accept_findings,
        check_log as check_log,
        repair_log as repair_log,
        split_log as split_log,
    )
    from dynid.checks.data_check import VERDICTS as VERDICTS, DataCheck as DataCheck
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "check": ("accept_findings", "check_log", "repair_log", "split_log"),
        "data_check": ("DataCheck", "VERDICTS"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
