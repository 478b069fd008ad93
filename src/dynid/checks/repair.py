"""Repair of a log: what can be repaired is, and only what is asked for."""

from __future__ import annotations

from collections.abc import Iterable

from dynid.checks.stamps import check_stamps
from dynid.checks.steps import check_steps
from dynid.checks.values import check_values, log_columns
from dynid.core.errors import NotTrustworthyError, unknown_name
from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.preparation.clock import clock_of
from dynid.preparation.repair import REPAIRS


def repair_log(log: Log, defects: Iterable[str] | None = None) -> Log:
    """Repair defects of a log; each repair becomes a step of its history.

    Args:
        log: the log.
        defects: names of the defects to repair, of ``REPAIRS``; all repairable ones that it has when None.

    Raises:
        UnknownNameError: for a defect that no repair is for.
        NotTrustworthyError: when a defect asked for is too bad to be repaired.
    """
    wanted = None if defects is None else tuple(defects)
    for name in wanted or ():
        if name not in REPAIRS:
            raise unknown_name("repair", name, [known.value for known in REPAIRS])
    findings = _findings(log)
    for name, repair in REPAIRS.items():
        here = [finding for finding in findings if finding.name is name]
        if not here or (wanted is not None and name not in wanted):
            continue
        if any(finding.repairable for finding in here):
            log = repair(log)
            findings = _findings(log)  # one repair may mend or show another defect
        elif wanted is not None:
            raise NotTrustworthyError(f"Log {log.name!r} cannot be repaired: {here[0].text}")
    return log


def _findings(log: Log) -> tuple[Finding, ...]:
    columns = log_columns(log)
    parts = (check_stamps(log, clock_of(log)), check_values(log, columns), check_steps(log, columns))
    return tuple(finding for part in parts for finding in part.findings)
