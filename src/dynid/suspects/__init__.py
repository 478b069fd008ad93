"""What is wrong with a log, what is missing in a model: suspects as columns of the regression."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.suspects.candidate import Candidate as Candidate
    from dynid.suspects.discrete import discrete_suspects as discrete_suspects
    from dynid.suspects.ranking import SuspectTable as SuspectTable, rank_suspects as rank_suspects
    from dynid.suspects.stretches import short_problem as short_problem
    from dynid.suspects.suspect import Suspect as Suspect
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "candidate": ("Candidate",),
        "discrete": ("discrete_suspects",),
        "ranking": ("SuspectTable", "rank_suspects"),
        "stretches": ("short_problem",),
        "suspect": ("Suspect",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
