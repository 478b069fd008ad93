"""A payload from logs: checked, prepared, identified."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from dynid.calibration.central_form import AT_CARRIER, FlangeFrame
from dynid.calibration.payload import PayloadEstimate
from dynid.calibration.payload_identification import AUTO, identify_payload
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.results.view import ResultView
from dynid.workflow.calibration_logs import CalibrationLogs, prepare_calibration
from dynid.workflow.motion_source import Progress


@dataclass(frozen=True, eq=False)
class WeighedPayload:
    """A payload and the logs that it comes from.

    Args:
        logs: as they were used.
        payload: what was found.
    """

    logs: CalibrationLogs
    payload: PayloadEstimate


@with_one_blas_thread
def weigh_payload(
    robot: Robot,
    loaded: Log | Sequence[Log],
    free: Log | Sequence[Log] = (),
    *,
    model: ResultView | None = None,
    way: str = AUTO,
    mass: float | None = None,
    mass_sigma: float = 0.0,
    flange: FlangeFrame = AT_CARRIER,
    refit_friction: bool = True,
    carrier: str | None = None,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    repair: bool = False,
    accept: Iterable[str] = (),
    progress: Progress | None = None,
) -> WeighedPayload:
    """Identify a payload from logs with it, and logs or a model without it.

    Args:
        robot: without the payload; its drives turn currents into torques.
        loaded: logs with the payload.
        free: logs without it; may be none where a model is given.
        model: result of a fit of the arm without the payload.
        way: "fixed", "refitted", "difference" or "auto"; see ``identify_payload``.
        mass: as weighed [kg]; None when it was not.
        mass_sigma: its standard deviation [kg].
        flange: frame of the centre of mass and the inertia, placed on the carrier.
        refit_friction: whether "fixed" estimates friction and offsets anew.
        carrier: name of the joint whose link carries the payload; the last joint when None.
        plan: preparation; suggested from the logs when None.
        overrides: keys of the suggested preparation to replace.
        repair: whether repairable defects are repaired.
        accept: names of findings of the data check that the user knows better about.
        progress: told what is being done.

    Raises:
        DynidError: when logs, model and way do not go together.
        NotTrustworthyError: when a log is not usable.
    """
    require_kinds(weigh_payload, locals())
    logs = prepare_calibration(
        robot,
        free,
        loaded,
        carrier=carrier,
        plan=plan,
        overrides=overrides,
        repair=repair,
        accept=accept,
        progress=progress,
    )
    if progress is not None:
        progress("identifying the payload")
    found = identify_payload(
        robot,
        logs.motions,
        logs.plan,
        model=None if model is None else model.as_saved.model,
        way=way,
        mass=mass,
        mass_sigma=mass_sigma,
        carrier=carrier,
        flange=flange,
        refit_friction=refit_friction,
    )
    return WeighedPayload(logs, found)
