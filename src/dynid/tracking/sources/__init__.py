"""Sources of samples: logs, lines, datagrams, ZeroMQ."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.tracking.sources.address import SourceOptions as SourceOptions, open_source as open_source
    from dynid.tracking.sources.lines import Lines as Lines
    from dynid.tracking.sources.mailbox import SocketLimits as SocketLimits
    from dynid.tracking.sources.replay import Replay as Replay
    from dynid.tracking.sources.source import SampleSource as SampleSource
    from dynid.tracking.sources.udp import Udp as Udp
    from dynid.tracking.sources.zeromq import ZeroMq as ZeroMq
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "address": ("SourceOptions", "open_source"),
        "lines": ("Lines",),
        "mailbox": ("SocketLimits",),
        "replay": ("Replay",),
        "source": ("SampleSource",),
        "udp": ("Udp",),
        "zeromq": ("ZeroMq",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
