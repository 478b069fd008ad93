"""Samples from lines: JSON objects or CSV from standard input, a pipe or an open file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import IO

from dynid.core.errors import FileError
from dynid.core.finding import Finding
from dynid.logs.log import Step
from dynid.logs.mapping import LogMapping
from dynid.model.robot import Robot
from dynid.tracking.csv_rows import CsvReader
from dynid.tracking.message import JsonReader, SampleReader
from dynid.tracking.refusals import Refusal
from dynid.tracking.sample import Sample
from dynid.tracking.sources.source import SampleSource


class Lines(SampleSource):
    """Samples from the lines of an open binary file; the first lines show whether they are JSON or CSV.

    A line is taken when its end has come. At most ``limit`` bytes are held, however long a line is.

    Args:
        stream: opened for reading bytes, such as ``sys.stdin.buffer``.
        robot: which the samples are for.
        mapping: what keys or columns mean, as for a log; None to go by common names.
        name: of the stream, for sentences.
        limit: bytes of the longest line; 64 KiB hold a thousand joints with four channels.
        patience: lines of which one at least must be understood.
    """

    def __init__(
        self,
        stream: IO[bytes],
        robot: Robot,
        mapping: LogMapping | None = None,
        *,
        name: str = "standard input",
        limit: int = 65_536,
        patience: int = 100,
    ) -> None:
        """Begin at the next line of the stream."""
        self.name, self.limit = name, limit
        self._stream, self._robot, self._mapping = stream, robot, mapping
        self._received = 0
        self._json = JsonReader(robot, mapping, name=name, patience=patience)
        self._csv = CsvReader(robot, mapping, name=name, patience=patience)
        self._csv.refusals = self._json.refusals  # one stream, one count
        self._reader: SampleReader[dict[str, object]] | SampleReader[list[str]] | None = None

    def __iter__(self) -> Iterator[Sample]:
        """Samples until the stream ends."""
        for line, cut in self._lines():
            if not line.strip():
                continue
            self._received += 1
            yield from self._reader_for(line).read(line, cut=cut)
        if self._reader is not None:
            yield from self._reader.finish()
        else:
            yield from self._json.finish()

    @property
    def counts(self) -> dict[str, int]:
        """Lines received and refused, and those that a number in them says to be lost."""
        refused = self._json.refusals.total
        return {"received": self._received, "refused": refused, "lost": self._json.lost}

    @property
    def refused_by_reason(self) -> dict[str, int]:
        """Refused lines by reason."""
        return dict(self._json.refusals.by_reason)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was understood of the columns."""
        return () if self._reader is None else self._reader.steps

    def findings(self) -> tuple[Finding, ...]:
        """What was noticed until now."""
        return self._json.refusals.findings()

    def _reader_for(self, line: bytes) -> SampleReader[dict[str, object]] | SampleReader[list[str]]:
        """JSON from the first line that looks like it, unless rows of numbers came before."""
        if self._reader is None or (self._reader is self._csv and self._csv.layout is None):
            if line.removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"{"):
                above = self._csv.unread_lines()
                if above:
                    self._json.refusals.add(Refusal.NOT_JSON, count=above)
                self._reader = self._json
            else:
                self._reader = self._csv
        return self._reader

    def _lines(self) -> Iterator[tuple[bytes, bool]]:
        """Lines within the limit, and whether each may be cut off; longer ones are passed over."""
        while line := self._stream.readline(self.limit + 1):
            if len(line) > self.limit and not line.endswith(b"\n"):
                self._pass_over_line()
                self._received += 1
                self._json.refusals.add(Refusal.TOO_LONG, f"more than {self.limit} bytes")
            elif b"\0" in line:
                self._received += 1
                self._json.refusals.add(Refusal.NOT_TEXT)
            else:
                yield line, not line.endswith(b"\n")

    def _pass_over_line(self, most: int = 1000) -> None:
        """Read to the end of a line, unless it has none within ``most`` times the limit."""
        for _ in range(most):
            part = self._stream.readline(self.limit)
            if not part or part.endswith(b"\n"):
                return
        raise FileError(
            f"A line of {self.name} has no end within {most * self.limit / 1e6:.0f} MB; send one JSON object "
            "or one row of CSV per line."
        )
