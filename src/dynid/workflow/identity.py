"""Which log is which: the same data under two names is one log."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.logs.spool import blocks


@dataclass(frozen=True)
class LogIdentity:
    """What tells a log from others.

    Args:
        name: name of the experiment.
        samples: how many it has; None where an earlier version of dynid did not know.
        data: SHA-256 of its positions and torques, joint side and before any repair; None likewise.
        files: SHA-256 of the files it came from.
    """

    name: str
    samples: int | None
    data: str | None
    files: tuple[str, ...]

    def is_part_of(self, other: LogIdentity) -> bool:
        """Whether both hold the same data, or come from the same files."""
        return (self.data is not None and self.data == other.data) or bool(
            self.files and set(self.files) == set(other.files)
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self) | {"files": list(self.files)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> LogIdentity:
        """Read back what ``to_dict`` wrote."""
        files = tuple(str(file) for file in content["files"])
        return cls(str(content["name"]), content["samples"], content["data"], files)


def identity_of(log: Log) -> LogIdentity:
    """The identity of a log.

    Args:
        log: joint side, before any repair.
    """
    files = tuple(source.sha256 for source in log.sources)
    digest = hashlib.sha256()
    for name in ("position", "torque"):
        if name in log.channels:
            for rows in blocks(log.samples):
                digest.update(np.ascontiguousarray(log.channels[name][rows]).data)
    return LogIdentity(log.name, log.samples, digest.hexdigest(), files)


def refuse_duplicates(logs: Sequence[LogIdentity]) -> None:
    """Stop where a log is given twice: counted twice, it would make σ too small by √2."""
    for k, later in enumerate(logs):
        for first in logs[:k]:
            if later.is_part_of(first):
                raise DynidError(
                    f"Logs {first.name!r} and {later.name!r} hold the same data; a log that counts twice "
                    "makes standard deviations too small. Give each log once."
                )


def own_logs(held: Sequence[LogIdentity], fitted: Sequence[LogIdentity]) -> tuple[bool, ...]:
    """Which of the logs kept for validation are the fit's own."""
    return tuple(any(log.is_part_of(own) for own in fitted) for log in held)
