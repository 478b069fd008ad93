"""What can be wrong with a log, a motion or a fit: one question per file, each a function to findings."""

from dynid.checks.check import check_log, repair_log
from dynid.checks.data_check import VERDICTS, DataCheck

__all__ = ["VERDICTS", "DataCheck", "check_log", "repair_log"]
