"""Hostile and broken XML is refused in one sentence before anything is built from it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from dynid.core.errors import FileError, ModelError, UnknownNameError
from dynid.model.loaders import xml_safe
from dynid.model.loaders.xml_safe import keyword, numbers, parse_xml, required_text

BOMB = """<?xml version="1.0"?>
<!DOCTYPE lolz [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>
<robot name="&b;"/>"""


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="a">&x;</robot>',
        '<!DOCTYPE r SYSTEM "http://example.org/r.dtd"><robot/>',
        "<!DOCTYPE robot><robot/>",
    ],
)
def test_doctype_and_entities_are_refused(text: str) -> None:
    with pytest.raises(
        FileError, match=r"The URDF text declares a DOCTYPE or an entity in line \d+; .*refused"
    ):
        parse_xml(text, "URDF text")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "not well-formed XML: no element found in line 1"),
        ("<robot>\n<link>\n</robot>", "not well-formed XML: mismatched tag in line 3"),
        ("<robot/><robot/>", "junk after document element in line 1"),
        ('<robot a="1" a="2"/>', "duplicate attribute in line 1"),
        ("<robot>&nosuch;</robot>", "undefined entity in line 1"),
        ("{}", "not well-formed"),
        ("<robot>\x00</robot>", "not well-formed"),
    ],
)
def test_malformed_xml_names_the_line(text: str, sentence: str) -> None:
    with pytest.raises(FileError, match=re.escape(sentence)):
        parse_xml(text, "URDF text")


def test_depth_is_bounded() -> None:
    deep = "<a>" * 200 + "</a>" * 200
    assert parse_xml(deep, "text").tag == "a"
    with pytest.raises(FileError, match="nests elements deeper than 200 in line 1"):
        parse_xml("<a>" * 100_000, "text")


def test_element_count_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xml_safe, "MAX_ELEMENTS", 50)
    assert len(parse_xml("<a>" + "<b/>" * 49 + "</a>", "text")) == 49
    with pytest.raises(FileError, match="has more than 50 elements"):
        parse_xml("<a>" + "<b/>" * 50 + "</a>", "text")


def test_a_declared_encoding_does_not_change_decoded_text() -> None:
    root = parse_xml('<?xml version="1.0" encoding="ISO-8859-1"?><robot name="bras é"/>', "text")
    assert root.get("name") == "bras é"


def test_comments_and_cdata_and_instructions_are_harmless() -> None:
    root = parse_xml("<a><!-- <b/> --><?php x?><![CDATA[<c/>]]><d/></a>", "text")
    assert [child.tag for child in root] == ["d"]


@pytest.mark.parametrize(
    "text",
    ["1e400", "nan", "inf", "-Infinity", "abc", "", "1 2", "1_0", "0x10", "1,5", "١", "${pi/2}", "1e", "--1"],
)
def test_what_is_not_one_finite_number_is_refused(text: str) -> None:
    with pytest.raises(ModelError, match=r"^Joint 'a': x=.* must be 1 finite number\.$"):
        numbers({"x": text}, "x", "Joint 'a'", (0.0,))


@pytest.mark.parametrize(
    ("text", "value"), [("1", 1.0), (" -1.5e-3\n", -0.0015), ("+.5", 0.5), ("2.", 2.0), ("1E2", 100.0)]
)
def test_numbers_are_read_in_every_usual_form(text: str, value: float) -> None:
    assert numbers({"x": text}, "x", "here", (0.0,)) == (value,)


def test_counts_of_numbers_are_checked() -> None:
    assert numbers({}, "x", "here", (1.0, 2.0, 3.0)) == (1.0, 2.0, 3.0)
    assert numbers({"x": "4 5"}, "x", "here", (0.0, 0.0, 0.0), least=1) == (4.0, 5.0)
    with pytest.raises(ModelError, match=r"x='1 2' must be 3 finite numbers"):
        numbers({"x": "1 2"}, "x", "here", (0.0, 0.0, 0.0))
    with pytest.raises(ModelError, match=r"must be 1 to 3 finite numbers"):
        numbers({"x": "1 2 3 4"}, "x", "here", (0.0, 0.0, 0.0), least=1)


def test_long_values_are_shortened_in_the_sentence() -> None:
    with pytest.raises(ModelError) as caught:
        numbers({"x": "9" * 10_000 + "z"}, "x", "here", (0.0,))
    assert len(str(caught.value)) < 150


def test_keywords_suggest_and_required_attributes_are_named() -> None:
    assert keyword({}, "angle", "<compiler>", ("degree", "radian")) == "degree"
    with pytest.raises(
        UnknownNameError, match=r"Unknown angle of <compiler> 'radians'\. Did you mean 'radian'\?"
    ):
        keyword({"angle": "radians"}, "angle", "<compiler>", ("degree", "radian"))
    with pytest.raises(ModelError, match="A <link> has no name"):
        required_text({"name": "  "}, "name", "A <link>")


def test_file_name_is_in_the_sentence(tmp_path: Path) -> None:
    file = tmp_path / "arm.urdf"
    file.write_text("<robot>")
    with pytest.raises(FileError, match=r"The URDF file arm\.urdf is not well-formed XML"):
        xml_safe.read_xml(file, "URDF file")
