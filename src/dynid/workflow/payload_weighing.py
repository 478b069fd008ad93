"""A payload from checked and prepared logs."""

from __future__ import annotations

from dynid.calibration.central_form import AT_CARRIER, FlangeFrame
from dynid.calibration.payload import PayloadEstimate
from dynid.calibration.payload_identification import AUTO, identify_payload
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.results.view import ResultView
from dynid.workflow.calibration_logs import CalibrationLogs


@with_one_blas_thread
def weigh_payload(
    logs: CalibrationLogs,
    *,
    model: ResultView | None = None,
    way: str = AUTO,
    mass: float | None = None,
    mass_sigma: float = 0.0,
    flange: FlangeFrame = AT_CARRIER,
    refit_friction: bool = True,
) -> PayloadEstimate:
    """Identify a payload from logs with it, and logs or a model without it.

    Args:
        logs: loaded ones, and free ones where no model is given, from ``prepare_calibration``.
        model: result of a fit of the arm without the payload.
        way: "fixed", "refitted", "difference" or "auto"; see ``identify_payload``.
        mass: as weighed [kg]; None when it was not.
        mass_sigma: its standard deviation [kg].
        flange: frame of the centre of mass and the inertia, placed on the carrier.
        refit_friction: whether "fixed" estimates friction and offsets anew.

    Raises:
        DynidError: when logs, model and way do not go together.
    """
    require_kinds(weigh_payload, locals())
    return identify_payload(
        logs.arm,
        logs.motions,
        logs.plan,
        model=None if model is None else model.as_saved.model,
        way=way,
        mass=mass,
        mass_sigma=mass_sigma,
        carrier=logs.carrier,
        flange=flange,
        refit_friction=refit_friction,
    )
