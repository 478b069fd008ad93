"""Tasks for executors, in a module that worker processes can import; calls are counted in a folder."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np


def drawn(task: int, rng: np.random.Generator) -> float:
    return task + float(rng.standard_normal())


def shared_drawn(shared: np.ndarray, task: int, rng: np.random.Generator) -> float:
    return float(shared[task] * rng.standard_normal(3).sum())


def counted(folder: str, task: int, rng: np.random.Generator) -> float:
    """A number, and a file for each time that a task was run."""
    begun = time.time_ns()
    (Path(folder) / f"{task}-{os.getpid()}-{begun}").touch()
    time.sleep(0.01)
    return task + float(rng.standard_normal())


def counted_slowly(folder: str, task: int, rng: np.random.Generator) -> float:
    time.sleep(0.05)
    return counted(folder, task, rng)


def killing(folder: str, task: int, rng: np.random.Generator) -> float:
    """As ``counted``; the first run of tasks 5 and 6 kills the worker."""
    if task in (5, 6):
        mark = Path(folder) / f"killed-{task}"
        if not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
    return counted(folder, task, rng)


def always_killing(task: int) -> int:
    os.kill(os.getpid(), signal.SIGKILL)
    return task


def refused(task: int) -> int:
    time.sleep(0.02)
    if task == 3:
        raise ValueError("Three is refused.")
    return task


def runs_of(folder: Path) -> list[int]:
    """Tasks that were run, sorted; a task that ran twice is there twice."""
    return sorted(int(file.name.split("-")[0]) for file in folder.iterdir() if file.name[0].isdigit())


def told_process(folder: str, task: int) -> None:
    """Tell which process this is, and stay."""
    Path(folder, f"pid-{os.getpid()}").touch()
    time.sleep(600)
