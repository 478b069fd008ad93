"""Changes of an XML text that leave every other byte as it is."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element
from xml.sax.saxutils import escape

from dynid.core.arrays import FloatArray
from dynid.model.loaders.xml_safe import Span, parse_xml_spans

_STEP = "  "
_ATTRIBUTE = re.compile(rb"""([^\s=<>"'/]+)\s*=\s*("[^"]*"|'[^']*')""")


@dataclass(frozen=True)
class Edit:
    """The bytes from ``start`` to ``stop`` become ``text``."""

    start: int
    stop: int
    text: str


@dataclass(frozen=True, eq=False)
class XmlText:
    """An XML text with the places of its elements.

    Args:
        content: its UTF-8 bytes.
        root: its root element.
        spans: where each element stands.
    """

    content: bytes
    root: Element
    spans: Mapping[Element, Span]

    @classmethod
    def parse(cls, text: str, what: str) -> XmlText:
        """Read a text; ``what`` it is, for the error sentences."""
        root, spans = parse_xml_spans(text, what)
        return cls(text.encode(), root, spans)

    def with_edits(self, edits: Iterable[Edit]) -> bytes:
        """The bytes with all edits made; they must not overlap."""
        parts, at = [], 0
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.stop)):
            parts += [self.content[at : edit.start], edit.text.encode()]
            at = edit.stop
        return b"".join([*parts, self.content[at:]])

    def attributes(self, element: Element, values: Mapping[str, str]) -> list[Edit]:
        """Set attributes; those that have the value already stay as they are written."""
        span = self.spans[element]
        found = {
            m.group(1).decode(): (m.start(2), m.end(2))
            for m in _ATTRIBUTE.finditer(self.content, span.start, span.inner)
        }
        edits, new = [], ""
        for name, value in values.items():
            if name not in found:
                new += f" {name}={quoted_text(value)}"
            elif element.get(name) != value:
                edits.append(Edit(*found[name], quoted_text(value)))
        if new:
            last = max(
                (stop for _, stop in found.values()), default=span.start + 1 + len(element.tag.encode())
            )
            edits.append(Edit(last, last, new))
        return edits

    def replacement(self, element: Element, lines: Sequence[str]) -> Edit:
        """Other lines in the place of an element."""
        span = self.spans[element]
        return Edit(span.start, span.stop, self._on_lines(lines, self._indent(span.start)))

    def new_child(self, parent: Element, lines: Sequence[str]) -> Edit:
        """Lines after the last child of an element."""
        span = self.spans[parent]
        if len(parent):
            last = self.spans[parent[-1]]
            indent = self._indent(last.start)
            return Edit(last.stop, last.stop, self._break(indent) + self._on_lines(lines, indent))
        outer = self._indent(span.start)
        indent = None if outer is None else outer + _STEP
        body = self._break(indent) + self._on_lines(lines, indent)
        if span.inner == span.stop:  # <a/>
            return Edit(span.stop - 2, span.stop, f">{body}{self._break(outer)}</{parent.tag}>")
        return Edit(span.inner, span.inner, body)

    def _indent(self, at: int) -> str | None:
        """The white space before a place; None where something else stands before it on its line."""
        before = self.content[self.content.rfind(b"\n", 0, at) + 1 : at].decode()
        return None if before.strip() else before

    def _break(self, indent: str | None) -> str:
        line_end = "\r\n" if b"\r\n" in self.content else "\n"
        return "" if indent is None else line_end + indent

    def _on_lines(self, lines: Sequence[str], indent: str | None) -> str:
        shown = lines if indent is not None else [line.strip() for line in lines]
        return self._break(indent).join(shown)


def quoted_text(text: str) -> str:
    """An attribute's value in double quotes."""
    return '"' + escape(text, {'"': "&quot;", "\n": "&#10;", "\t": "&#9;", "\r": "&#13;"}) + '"'


def comment(text: str) -> str:
    """A comment; XML allows no double hyphen in it."""
    while "--" in text:
        text = text.replace("--", "- -")
    return f"<!-- {text} -->"


def numbers_text(values: Iterable[float] | FloatArray) -> str:
    """Numbers with all their digits, which reads back to the same doubles."""
    return " ".join(repr(float(value) + 0.0) for value in values)


def changed_numbers(
    given: Mapping[str, str], wanted: Mapping[str, float], *, absent: float = 0.0
) -> dict[str, str]:
    """The attributes that do not have their number yet, as texts.

    Args:
        given: attributes of an element.
        wanted: numbers by attribute.
        absent: what an attribute that is not there means.
    """
    found = {}
    for key, value in wanted.items():
        try:
            number = float(given.get(key, absent))
        except ValueError:
            number = math.nan
        if number != value:
            found[key] = numbers_text([value])
    return found


def tag(name: str, attributes: Mapping[str, str]) -> str:
    """The inside of a start tag: name and attributes."""
    return " ".join([name, *(f"{key}={quoted_text(value)}" for key, value in attributes.items())])
