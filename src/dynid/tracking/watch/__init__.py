"""What happens beside a running robot: payloads, friction, collisions, M(q)."""

from dynid.tracking.watch.alarm import WatchEvent, WatchOptions
from dynid.tracking.watch.watch import WatchedInstant, PayloadColumns, Watch

__all__ = ["WatchedInstant", "PayloadColumns", "Watch", "WatchEvent", "WatchOptions"]
