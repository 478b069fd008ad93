"""Edits of XML change what they name and no other byte."""

from __future__ import annotations

from dynid.export.xml_edit import XmlText, comment, numbers_text, quoted_text

TEXT = "\ufeff<?xml version='1.0'?>\n<a x = '1>2' y=\"ü\" ><!-- <d/> -->\n\t<b/>\n\t<c k='v'></c >\n</a>\n"


def edited(*edits: object) -> str:
    xml = XmlText.parse(TEXT, "text")
    made = [edit for make in edits for edit in make(xml)]  # type: ignore[operator]
    return xml.with_edits(made).decode()


def test_without_edits_the_bytes_are_the_same() -> None:
    assert edited() == TEXT


def test_spans_are_those_of_the_elements() -> None:
    xml = XmlText.parse(TEXT, "text")
    root, (b, c) = xml.root, list(xml.root)
    shown = [xml.content[xml.spans[e].start : xml.spans[e].stop].decode() for e in (root, b, c)]
    assert shown[0].startswith("<a x = '1>2'")
    assert shown[0].endswith("</a>")
    assert shown[1:] == ["<b/>", "<c k='v'></c >"]


def test_attributes_are_set_one_by_one() -> None:
    new = edited(lambda xml: xml.attributes(xml.root, {"x": "3", "y": "ü", "z": 'a"b'}))
    assert new == TEXT.replace("'1>2' y=\"ü\"", '"3" y="ü" z="a&quot;b"')
    assert edited(lambda xml: xml.attributes(xml.root[0], {"k": "1"})) == TEXT.replace("<b/>", '<b k="1"/>')


def test_children_come_after_the_last_one_with_its_indent() -> None:
    assert edited(lambda xml: [xml.new_child(xml.root, ["<d/>", "<e/>"])]) == TEXT.replace(
        "</c >", "</c >\n\t<d/>\n\t<e/>"
    )


def test_an_element_without_children_is_opened() -> None:
    new = edited(
        lambda xml: xml.attributes(xml.root[0], {"k": "1"}),
        lambda xml: [xml.new_child(xml.root[0], ["<d/>"])],
    )
    assert new == TEXT.replace("<b/>", '<b k="1">\n\t  <d/>\n\t</b>')


def test_an_element_is_replaced_by_lines() -> None:
    assert edited(lambda xml: [xml.replacement(xml.root[1], ["<d>", "</d>"])]) == TEXT.replace(
        "<c k='v'></c >", "<d>\n\t</d>"
    )


def test_comments_and_texts_cannot_break_out() -> None:
    assert comment("a-->b---") == "<!-- a- ->b- - - -->"
    assert quoted_text('<&"\n') == '"&lt;&amp;&quot;&#10;"'
    assert numbers_text([0.1, -0.0, 1e-300]) == "0.1 0.0 1e-300"
