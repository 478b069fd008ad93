"""Logs and motions put on disk, as long ones are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.logs.log import Log
from dynid.logs.spool import Spool, SpoolWriter
from dynid.preparation.motion import SIGNALS, Motion


def spooled(values: np.ndarray) -> Spool:
    writer = SpoolWriter(values.shape[1])
    writer.append(np.asarray(values))
    return writer.finish()


def log_on_disk(log: Log) -> Log:
    return replace(log, channels={name: spooled(values) for name, values in log.channels.items()})


def motion_on_disk(motion: Motion) -> Motion:
    return replace(motion, **{name: spooled(getattr(motion, name)) for name in SIGNALS})
