"""A payload as data: everything that its page and its JSON show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynid.calibration.payload import PayloadEstimate
from dynid.preparation.motion import Motion
from dynid.report.calibration_document import answer_of, run_facts
from dynid.report.checks import UsedLog

PAYLOAD_SCHEMA = "dynid.payload/1"


def payload_document(
    payload: PayloadEstimate, motions: Sequence[Motion], logs: Sequence[UsedLog], run: Mapping[str, Any]
) -> dict[str, Any]:
    """Assemble the document of an identified payload.

    Args:
        payload: what was found.
        motions: that it was found from.
        logs: what the data check says of the logs.
        run: how it was run.
    """
    return {
        "schema": PAYLOAD_SCHEMA,
        "title": f"Payload of {payload.robot}",
        **payload.to_dict(),
        **answer_of(payload.findings, logs),
        "data": [log.to_dict() for log in logs],
        "run": run_facts(run, motions),
    }
