"""Messages that a stream refuses: why, how many, and when that is all there is."""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Finding, Level, Name


class Refusal(StrEnum):
    """Why a message was refused."""

    TOO_LONG = "too long"
    CUT_OFF = "cut off"
    NOT_TEXT = "no UTF-8 text"
    NOT_JSON = "no JSON object"
    NESTED = "nested too deep"
    TWICE = "a key stands twice"
    NOT_UNDERSTOOD = "not understood"
    LACKING = "keys are missing"
    JOINTS = "other joints"
    WIDTH = "wrong number of values"
    NOT_A_NUMBER = "no number"
    NOT_FINITE = "not finite or huge"
    STAMP = "impossible stamp"
    HEADER = "header repeated"
    SENDER = "another sender"


class RefusedMessageError(DynidError):
    """A message that is left out.

    Args:
        reason: why.
        detail: what was seen, in a few words.
    """

    def __init__(self, reason: Refusal, detail: str = "") -> None:
        """Put reason and detail into one sentence."""
        self.reason, self.detail = reason, detail
        super().__init__(f"The message was refused: {reason}{f' ({detail})' if detail else ''}.")


class Refusals:
    """Refused messages of a stream, counted by reason.

    Args:
        stream: its name, for the sentence.
        patience: messages of which one at least must be understood, else the stream is given up.
    """

    def __init__(self, stream: str, patience: int = 100) -> None:
        """Begin with none."""
        self.stream, self.patience = stream, patience
        self.by_reason: Counter[str] = Counter()
        self.accepted = 0
        self._last = ""

    @property
    def total(self) -> int:
        """Messages refused so far."""
        return self.by_reason.total()

    def add(self, reason: Refusal, detail: str = "", count: int = 1) -> None:
        """Count refused messages.

        Args:
            reason: why.
            detail: what was seen in one of them; it may come from a stranger, so little of it is kept.
            count: how many.

        Raises:
            NotTrustworthyError: when nothing but refused messages came.
        """
        self.by_reason[reason.value] += count
        if detail:
            self._last = " ".join(detail.split())[:300]
        if not self.accepted and self.total >= self.patience:
            raise self.hopeless()

    def hopeless(self) -> NotTrustworthyError:
        """The error of a stream of which no message was understood."""
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.by_reason.most_common())
        seen = f" The last one: {self._last.rstrip('.')}." if self._last else ""
        return NotTrustworthyError(
            f"None of the first {self.total} messages of {self.stream} was understood: {reasons}.{seen} "
            "Send time, position and torque of all joints as JSON or CSV, or say in a mapping what the "
            "columns mean."
        )

    def findings(self) -> tuple[Finding, ...]:
        """What refused messages mean for the result; none when there were none."""
        if not self.total:
            return ()
        reasons = ", ".join(f"{count} {reason}" for reason, count in self.by_reason.most_common())
        sentence = f"of the messages of {self.stream} were refused: {reasons}."
        figures = dict(self.by_reason)
        return (
            share_finding(
                Name.DAMAGED_LINES, self.total, self.total + self.accepted, sentence, figures=figures
            ),
        )


def share_finding(
    name: Name,
    count: int,
    total: int,
    sentence: str,
    remedy: str = "",
    *,
    figures: dict[str, int] | None = None,
    care: float = 0.01,
    fail: float = 0.5,
) -> Finding:
    """A finding about a share of a stream.

    Args:
        name: of the finding.
        count: how many it is about.
        total: of how many.
        sentence: what goes on behind "3 of 100 (3 %)".
        remedy: what to do about it.
        figures: further numbers.
        care: share from which the result may suffer: causal filters of some ten samples then restart or
            interpolate within each second of a stream at 1 kHz. Chosen by hand.
        fail: share from which more is lacking than is there.
    """
    share = count / max(total, 1)
    level = Level.FAIL if share >= fail else Level.CARE if share >= care else Level.NOTE
    text = f"{count} of {total} ({100 * share:.2g} %) {sentence}"
    return Finding(
        name, level, text, remedy, figures={"count": count, "total": total, "share": share, **(figures or {})}
    )
