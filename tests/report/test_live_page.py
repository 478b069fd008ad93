"""The page of a followed run as text: nothing of a robot's names runs, the policy stays tight."""

from __future__ import annotations

import json
import re

import pytest

from dynid.core.errors import DynidError
from dynid.report.live_history import HistorySize
from dynid.report.live_page import render_live, render_track
from support.live_records import live_header, live_records

POLICY = re.compile(r'Content-Security-Policy" content="([^"]*)"')


def data_of(page: str) -> dict[str, object]:
    found = re.search(r'<script type="application/json" id="document">(.*?)</script>', page, re.DOTALL)
    assert found
    document: dict[str, object] = json.loads(found[1])
    return document


def test_only_the_live_page_may_ask_its_server() -> None:
    policies = [POLICY.findall(page) for page in (render_live(live_header()), render_track(live_records(3)))]
    assert ["connect-src" in policy for (policy,) in policies] == [True, False]
    assert all(policy.startswith("default-src &#39;none&#39;;") for (policy,) in policies)
    assert all("unsafe" not in policy for (policy,) in policies)


def test_names_are_text() -> None:
    header = live_header()
    header["robot"] = "</script><script>alert(1)</script>"
    header["parameters"][0]["name"] = '"><img src=x onerror=alert(1)>'
    header["joints"][0] = "<b>"
    page = render_live(header)
    assert page.count("<script") == 2
    assert "<img" not in page
    assert "&lt;b&gt;</b>" in page


def test_the_written_page_holds_a_bounded_history() -> None:
    size = HistorySize(recent=20, older=10)
    short, long = (render_track(live_records(n, parameters=30), size) for n in (60, 600))
    assert len(long) < 1.05 * len(short)
    document = data_of(long)
    assert document["stream"] is None
    history = document["history"]
    assert isinstance(history, dict)
    assert len(history["recent"]) == 20
    assert history["end"]["outcome"] == "The source has ended."


def test_records_without_a_header_are_one_sentence() -> None:
    with pytest.raises(DynidError, match="have no header"):
        render_track(list(live_records(3))[1:])
