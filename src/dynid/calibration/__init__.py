"""Calibration: drive gains from free and loaded motions with a weighed payload, and payloads themselves."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.calibration.central_form import CentralForm as CentralForm, FlangeFrame as FlangeFrame
    from dynid.calibration.gains import (
        DriveGain as DriveGain,
        DriveGains as DriveGains,
        calibrate_gains as calibrate_gains,
    )
    from dynid.calibration.knowledge import PayloadKnowledge as PayloadKnowledge
    from dynid.calibration.motor_payload import MotorPayload as MotorPayload
    from dynid.calibration.payload import PayloadEstimate as PayloadEstimate
    from dynid.calibration.payload_identification import identify_payload as identify_payload
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "central_form": ("CentralForm", "FlangeFrame"),
        "gains": ("DriveGain", "DriveGains", "calibrate_gains"),
        "knowledge": ("PayloadKnowledge",),
        "motor_payload": ("MotorPayload",),
        "payload": ("PayloadEstimate",),
        "payload_identification": ("identify_payload",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
