"""What happens beside a running robot: payloads, friction, collisions, M(q)."""

from dynid.tracking.watch.alarm import WatchEvent, WatchOptions
from dynid.tracking.watch.definite import InertiaMonitor
from dynid.tracking.watch.watch import PayloadColumns, Watch, WatchedInstant

__all__ = ["InertiaMonitor", "PayloadColumns", "Watch", "WatchEvent", "WatchOptions", "WatchedInstant"]
