"""The main job from logs to a judged model, as one verb."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.workflow.calibration_logs import (
        CalibrationLogs as CalibrationLogs,
        prepare_calibration as prepare_calibration,
    )
    from dynid.workflow.checking import check as check
    from dynid.workflow.controller_model import (
        ControllerModel as ControllerModel,
        identify_controller_model as identify_controller_model,
    )
    from dynid.workflow.fitting import fit as fit
    from dynid.workflow.gain_calibration import GainCalibration as GainCalibration, calibrate as calibrate
    from dynid.workflow.next_motion import design_next_motion as design_next_motion, prior_of as prior_of
    from dynid.workflow.payload_weighing import weigh_payload as weigh_payload
    from dynid.workflow.proof import Proof as Proof
    from dynid.workflow.resolution import StudiedLogs as StudiedLogs, study_resolution as study_resolution
    from dynid.workflow.result import FitResult as FitResult
    from dynid.workflow.saved_model import validate as validate
    from dynid.workflow.saved_suspects import NewSuspects as NewSuspects, find_suspects as find_suspects
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "calibration_logs": ("CalibrationLogs", "prepare_calibration"),
        "checking": ("check",),
        "controller_model": ("ControllerModel", "identify_controller_model"),
        "fitting": ("fit",),
        "gain_calibration": ("GainCalibration", "calibrate"),
        "next_motion": ("design_next_motion", "prior_of"),
        "payload_weighing": ("weigh_payload",),
        "proof": ("Proof",),
        "resolution": ("StudiedLogs", "study_resolution"),
        "result": ("FitResult",),
        "saved_model": ("validate",),
        "saved_suspects": ("NewSuspects", "find_suspects"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
