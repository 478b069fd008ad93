"""Estimates that follow the robot: streams of samples, put in order and counted."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.tracking.feed import Feed as Feed, FeedRules as FeedRules, counts_of as counts_of
    from dynid.tracking.message import JsonReader as JsonReader, joint_state_text as joint_state_text
    from dynid.tracking.refusals import Refusal as Refusal
    from dynid.tracking.sample import Arrival as Arrival, Sample as Sample
    from dynid.tracking.tracker import Tracker as Tracker, TrackOptions as TrackOptions
    from dynid.tracking.watch import WatchEvent as WatchEvent, WatchOptions as WatchOptions
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "feed": ("Feed", "FeedRules", "counts_of"),
        "message": ("JsonReader", "joint_state_text"),
        "refusals": ("Refusal",),
        "sample": ("Arrival", "Sample"),
        "tracker": ("TrackOptions", "Tracker"),
        "watch": ("WatchEvent", "WatchOptions"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES, families=("sources",))
