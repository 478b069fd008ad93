"""XML from strangers: no entities, no DOCTYPE, bounded depth and size, and numbers that are numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree.ElementTree import Element, TreeBuilder
from xml.parsers import expat

from dynid.core.errors import FileError, ModelError, unknown_name
from dynid.core.files import read_text

MAX_DEPTH = 200
MAX_ELEMENTS = 200_000
MAX_VALUE = 1e50
"""Larger numbers cannot be lengths, masses or angles, and their products would overflow."""
_START_TAG = re.compile(rb"""<(?:[^>"']|"[^"]*"|'[^']*')*>""")
_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")


def read_xml(path: Path, what: str) -> Element:
    """The root element of an XML file.

    Args:
        path: the file.
        what: what it should be, such as "URDF file", for the error sentences.
    """
    return parse_xml(read_text(path, what), f"{what} {path.name}")


def parse_xml(text: str, what: str) -> Element:
    """The root element of an XML text.

    Args:
        text: the XML.
        what: what it is, such as "URDF file arm.urdf", for the error sentences.

    Raises:
        FileError: when the text is not well-formed, declares a DOCTYPE or entities, or is too deep or large.
    """
    return _build(text, what).root()


@dataclass(frozen=True)
class Span:
    """Where an element stands in the bytes of a text.

    Args:
        start: of its start tag.
        inner: first byte after its start tag.
        close: of its end tag; equal to ``inner`` for ``<a/>``.
        stop: first byte after it.
    """

    start: int
    inner: int
    close: int
    stop: int


def parse_xml_spans(text: str, what: str) -> tuple[Element, dict[Element, Span]]:
    """The root element of an XML text, and where each element stands in its UTF-8 bytes.

    Args:
        text: the XML.
        what: what it is, for the error sentences.
    """
    content, builder = text.encode(), _build(text, what)
    spans = {}
    for element, (start, close) in builder.places.items():
        tag = _START_TAG.match(content, start)
        assert tag  # expat has read it
        inner = tag.end()
        empty = content[inner - 2 : inner] == b"/>"
        ends = (inner, inner) if empty else (close, content.index(b">", close) + 1)
        spans[element] = Span(start, inner, *ends)
    return builder.root(), spans


def _build(text: str, what: str) -> _Builder:
    # The text is already decoded, so an encoding named in the XML declaration no longer holds.
    parser = expat.ParserCreate(encoding="utf-8")
    builder = _Builder(what, parser)
    parser.buffer_text = True
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.data
    parser.StartDoctypeDeclHandler = builder.refuse_doctype
    parser.EntityDeclHandler = builder.refuse_doctype
    try:
        parser.Parse(text.encode("utf-8", "surrogatepass"), True)
    except expat.ExpatError as error:
        raise FileError(
            f"The {what} is not well-formed XML: {expat.ErrorString(error.code)} in line {error.lineno}."
        ) from None
    return builder


class _Builder:
    """Builds the tree, notes where its elements start and end, and watches its depth and size."""

    def __init__(self, what: str, parser: expat.XMLParserType) -> None:
        self._what, self._parser, self._tree = what, parser, TreeBuilder()
        self._depth = self._count = 0
        self.places: dict[Element, tuple[int, int]] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        self._count += 1
        if self._depth > MAX_DEPTH:
            raise FileError(
                f"The {self._what} nests elements deeper than {MAX_DEPTH} in line "
                f"{self._parser.CurrentLineNumber}."
            )
        if self._count > MAX_ELEMENTS:
            raise FileError(f"The {self._what} has more than {MAX_ELEMENTS} elements.")
        self.places[self._tree.start(tag, attributes)] = (self._parser.CurrentByteIndex, -1)

    def end(self, tag: str) -> None:
        self._depth -= 1
        element = self._tree.end(tag)
        self.places[element] = (self.places[element][0], self._parser.CurrentByteIndex)

    def data(self, text: str) -> None:
        self._tree.data(text)

    def refuse_doctype(self, *_: object) -> None:
        raise FileError(
            f"The {self._what} declares a DOCTYPE or an entity in line {self._parser.CurrentLineNumber}; "
            "robot files need neither, and they are refused because they can read other files or fill the "
            "memory."
        )

    def root(self) -> Element:
        return self._tree.close()


def numbers(
    attributes: Mapping[str, str],
    key: str,
    where: str,
    default: tuple[float, ...],
    least: int | None = None,
    bound: float = MAX_VALUE,
) -> tuple[float, ...]:
    """The finite numbers of an attribute.

    Args:
        attributes: the element's attributes.
        key: the attribute wanted.
        where: the element, for the error sentence.
        default: what an absent attribute means; its length is the count wanted.
        least: when given, fewer numbers than in ``default`` are taken, down to this count.
        bound: the largest absolute value taken.
    """
    text = attributes.get(key)
    if text is None:
        return default
    words, most = text.split(), len(default)
    fewest = most if least is None else least
    values = tuple(float(word) for word in words if _NUMBER.fullmatch(word))
    finite = len(values) == len(words) and all(math.isfinite(value) for value in values)
    if not finite or not fewest <= len(words) <= most:
        count = str(most) if fewest == most else f"{fewest} to {most}"
        raise ModelError(
            f"{where}: {key}={_short(text)} must be {count} finite number{'' if count == '1' else 's'}."
        )
    if any(abs(value) > bound for value in values):
        raise ModelError(f"{where}: {key}={_short(text)} is beyond {bound:g}, which no robot needs.")
    return values


def number(
    attributes: Mapping[str, str], key: str, where: str, default: float, bound: float = MAX_VALUE
) -> float:
    """The finite number of an attribute."""
    return numbers(attributes, key, where, (default,), bound=bound)[0]


def keyword(attributes: Mapping[str, str], key: str, where: str, allowed: tuple[str, ...]) -> str:
    """The word of an attribute that has a few allowed values; the first is the default."""
    word = attributes.get(key, allowed[0])
    if word not in allowed:
        raise unknown_name(f"{key} of {where}", word, allowed)
    return word


def required_text(attributes: Mapping[str, str], key: str, where: str) -> str:
    """The text of an attribute that must be there."""
    text = attributes.get(key, "").strip()
    if not text:
        raise ModelError(f'{where} has no {key}; give {key}="...".')
    return text


def _short(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
