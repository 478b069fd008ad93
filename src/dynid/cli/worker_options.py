"""Where a command that repeats work runs it: processes of this machine, or a Dask cluster."""

from __future__ import annotations

from dataclasses import dataclass

from dynid.cli.command import OptionGroup, option
from dynid.core.executor import Executor, executor_for


@dataclass(frozen=True)
class WorkerOptions(OptionGroup, title="Where the work is done"):
    """Processes of this machine, or a cluster."""

    workers: int | None = option(None, "N", "Processes of this machine.", shown="one per core", min=1)
    scheduler: str | None = option(
        None,
        "ADDRESS",
        "Scheduler of a Dask cluster that runs already and sees the same files, such as tcp://10.0.0.5:8786.",
    )

    def executor(self) -> Executor:
        """What the options ask for."""
        return executor_for(self.scheduler, self.workers, "processes")
