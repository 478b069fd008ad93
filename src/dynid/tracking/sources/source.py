"""What every source of samples is: an iterator that counts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from types import TracebackType
from typing import Self

from dynid.core.finding import Finding
from dynid.logs.log import Step
from dynid.tracking.sample import Sample


class SampleSource(ABC):
    """Samples one after the other, in the order in which they arrive.

    Messages that cannot be used are refused and counted. A source is closed when it is left: ``with``.
    """

    name: str

    @abstractmethod
    def __iter__(self) -> Iterator[Sample]:
        """Samples until the stream ends."""

    @property
    @abstractmethod
    def counts(self) -> dict[str, int]:
        """Messages received and refused; where the stream can tell, also those lost and dropped."""

    @property
    @abstractmethod
    def refused_by_reason(self) -> dict[str, int]:
        """Refused messages by reason."""

    @property
    @abstractmethod
    def steps(self) -> tuple[Step, ...]:
        """What was understood and done, as in the history of a log."""

    @abstractmethod
    def findings(self) -> tuple[Finding, ...]:
        """What was noticed until now."""

    def close(self) -> None:  # noqa: B027 (most sources hold nothing)
        """Let go of what the source holds."""

    def __enter__(self) -> Self:
        """The source itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the source."""
        self.close()
