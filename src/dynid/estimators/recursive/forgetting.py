"""How a recursion forgets: not at all, evenly, faster when surprised, or only where new rows speak."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from dynid.compile.fold import FoldedRows
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.kinds import require_field_kinds
from dynid.problem.factor import triangular


@dataclass(frozen=True, kw_only=True)
class Forgetting(ABC):
    """What happens to old rows before new ones are folded."""

    def __post_init__(self) -> None:
        """Refuse options of other kinds."""
        require_field_kinds(self)

    @property
    def kept_updates(self) -> float:
        """Updates that count, when all is as expected."""
        return float("inf")

    @property
    def even(self) -> bool:
        """Whether all rows before fade alike, so that stretches of time keep their moments."""
        return True

    @abstractmethod
    def share(self, surprise: float) -> float:
        """λ: what old rows count from now on.

        Args:
            surprise: χ² of the last innovation per row; one is expected.
        """

    def apply(self, folded: FoldedRows, rows: FloatArray, surprise: float) -> float:
        """Fade the factor in place before new rows.

        Args:
            folded: the factor.
            rows: the new rows of its pivot columns, weighted, (rows, pivots).
            surprise: see ``share``.

        Returns:
            λ by which all old rows were faded, for whoever keeps them apart; 1 where they were not.
        """
        share = self.share(surprise)
        if share < 1.0:
            folded.fade(share)
        return share


@dataclass(frozen=True, kw_only=True)
class Remember(Forgetting):
    """Nothing is forgotten: the recursion ends where the batch does."""

    def share(self, surprise: float) -> float:
        """One."""
        return 1.0


@dataclass(frozen=True, kw_only=True)
class ByFactor(Forgetting):
    """Forgetting by one factor.

    Args:
        factor: λ, above 0, below 1.
    """

    factor: float

    def __post_init__(self) -> None:
        """Refuse a factor that remembers nothing or everything."""
        super().__post_init__()
        require_factor(self.factor)


@dataclass(frozen=True, kw_only=True)
class Exponential(ByFactor):
    """λ per update: rows count λᵏ after k further updates, a memory of 1/(1 − λ) updates.

    Where the motion shows nothing the covariance grows without end; ``CovarianceLimits`` hold it.
    """

    @property
    def kept_updates(self) -> float:
        """1/(1 − λ)."""
        return 1.0 / (1.0 - self.factor)

    def share(self, surprise: float) -> float:
        """Always λ."""
        return self.factor


@dataclass(frozen=True, kw_only=True)
class Variable(Forgetting):
    """λ_k = 1 − (χ²/n) / memory: a constant amount of information (Fortescue, Kershenbaum and Ydstie 1981).

    Args:
        memory: updates that count when innovations are as large as expected.
        least: smallest λ, for the largest surprises.
    """

    memory: float
    least: float = 0.9

    def __post_init__(self) -> None:
        """Refuse memories of less than a few updates."""
        super().__post_init__()
        if not 2.0 <= self.memory < float("inf"):
            raise DynidError(f"The memory is {self.memory:g} updates; give a number from 2 on.")
        require_factor(self.least)

    @property
    def kept_updates(self) -> float:
        """The memory."""
        return self.memory

    def share(self, surprise: float) -> float:
        """Less when the last innovation was large."""
        return float(min(max(1.0 - surprise / self.memory, self.least), 1.0))


@dataclass(frozen=True, kw_only=True)
class Directional(ByFactor):
    """Only what new rows speak of is forgotten (Kulhavý 1987; Cao and Schwartz 2000).

    With R of the old rows and U an orthonormal basis of R Wᵀ, R ← (1 − (1 − √λ) U Uᵀ) R: information in the
    directions of W fades by λ, all other stays, and so does R χ = z. A robot at rest forgets nothing.
    """

    @property
    def even(self) -> bool:
        """No: each direction has its own past, and σ is the classical one."""
        return False

    def share(self, surprise: float) -> float:
        """Rows themselves are kept whole: only the factor fades, and not in all directions."""
        return 1.0

    def apply(self, folded: FoldedRows, rows: FloatArray, surprise: float) -> float:
        """Fade in the directions of the rows."""
        R = folded.factor
        U, s, _ = np.linalg.svd(R[:, : folded.pivots] @ rows.T, full_matrices=False)
        seen = U[:, s > 1e-9 * s[0]] if s.size and s[0] > 0 else U[:, :0]
        if seen.size:
            faded = R - (1.0 - self.factor**0.5) * seen @ (seen.T @ R)
            folded.set_factor(_with_triangular_pivots(faded, folded.pivots))
        return 1.0


def _with_triangular_pivots(factor: FloatArray, pivots: int) -> FloatArray:
    """The same rows turned so that the pivot columns are triangular again."""
    if factor.shape[1] == pivots + 1:
        return triangular(factor)[:pivots]
    Q, R = np.linalg.qr(factor[:, :pivots])
    return np.hstack([R, Q.T @ factor[:, pivots:]])


def require_factor(factor: float) -> None:
    """Refuse λ outside (0, 1)."""
    if not 0.0 < factor < 1.0:
        raise DynidError(
            f"The forgetting factor is {factor:g}; it must be above 0 and below 1 (leave forgetting out to "
            "remember everything)."
        )


def factor_of_memory(memory_s: float, rate_hz: float) -> float:
    """λ with which rows count 1/e after a time: exp(−1 / (memory · rate)).

    Args:
        memory_s: the time [s].
        rate_hz: updates per second.
    """
    if not memory_s * rate_hz >= 2.0:
        raise DynidError(
            f"A memory of {memory_s:g} s is {memory_s * rate_hz:.2g} updates at {rate_hz:g} Hz; give a "
            "memory of many updates."
        )
    return float(np.exp(-1.0 / (memory_s * rate_hz)))
