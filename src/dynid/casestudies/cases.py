"""All cases by name."""

from __future__ import annotations

from dynid.casestudies import double_pendulum_log, emps, scara, tx40_log, ur10_log
from dynid.casestudies.case import Case

CASES: dict[str, Case] = {
    case.name: case
    for case in (scara.CASE, emps.CASE, tx40_log.CASE, ur10_log.CASE, double_pendulum_log.CASE)
}
