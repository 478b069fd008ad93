"""The page of a run that is being followed: it moves while records come, and stays as the report of the run.

Both are one page. Its script gets the records from the server it came from, or finds them in the page.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from dynid.core.errors import DynidError
from dynid.core.plain import plain
from dynid.report.live_history import HistorySize, LiveHistory, LiveRecord
from dynid.report.page import Page, Section, render_page

Content = Mapping[str, Any]
STREAM = "records"
"""Where the server of the page has the stream of records."""
_PLOTS = 8
"""Parameters drawn at once: two columns of four fill a screen, and more are slow to read and to draw."""
_CLOSED, _LISTENING = "default-src &#39;none&#39;", "default-src &#39;none&#39;; connect-src &#39;self&#39;"
"""The page's policy as its template escapes it, and the same with a way back to its own server."""


def render_live(header: LiveRecord, size: HistorySize | None = None) -> str:
    """The page that listens to its server.

    Args:
        header: first of the live records: robot, joints, parameters, method, rate and delay.
        size: how much of the run the page keeps.
    """
    history = LiveHistory(size)
    history.add(header)
    page = _page_of(history, STREAM)
    if _CLOSED not in page:
        raise AssertionError("The page's policy is not where it was.")
    return page.replace(_CLOSED, _LISTENING, 1)


def render_track(records: Iterable[LiveRecord], size: HistorySize | None = None) -> str:
    """The same page with the records of a finished run in it, thinned: a file that needs no server.

    Args:
        records: header, records, events and end, as ``dynid track`` writes them.
        size: how much of the run the page keeps.
    """
    history = LiveHistory(size)
    for record in records:
        history.add(record)
    return render_history(history)


def render_history(history: LiveHistory) -> str:
    """The page of a run of which a bounded history was kept while it went on."""
    if history.header is None:
        raise DynidError(
            'These records have no header; the first line that dynid track writes has "kind": "header".'
        )
    return _page_of(history, None)


def _page_of(history: LiveHistory, stream: str | None) -> str:
    header = history.header or {}
    content = {"header": header, "history": history, "stream": stream}
    return render_page(LIVE, content, header.get("title") or header["robot"])


def state(content: Content) -> Content:
    """How it goes: connection, figures, counts."""
    header = content["header"]
    facts = {
        "method": header.get("method"),
        "rate [Hz]": header.get("rate_hz"),
        "delay of the filters [s]": header.get("delay_s"),
        "joints": len(header["joints"]),
        "parameters": len(header["parameters"]),
    }
    return {"robot": header["robot"], "facts": facts, "live": content["stream"] is not None}


def parameters(content: Content) -> Content:
    """Base parameters over time and as a table; the script fills in the numbers."""
    return {"rows": content["header"]["parameters"], "plots": _PLOTS}


def torques(content: Content) -> Content:
    """Torque of one joint, measured and predicted, and the errors of all."""
    return {"joints": content["header"]["joints"], "seconds": content["history"].size.window_s}


def drawn_data(content: Content) -> Content:
    """What the script starts from: the header, the sizes of its buffers, and the stream or the history."""
    history, stream = content["history"], content["stream"]
    return {
        "stream": stream,
        "header": plain(content["header"]),
        "size": asdict(history.size),
        "history": None if stream else history.to_dict(),
    }


LIVE = Page(
    "dynid track",
    (
        Section("state", "", state, "live_state"),
        Section("torques", "Torques", torques, "live_torques"),
        Section("innovation", "Innovation", lambda content: content, "live_innovation"),
        Section("events", "Events", lambda content: content, "live_events"),
        Section("parameters", "Parameters", parameters, "live_parameters"),
        Section("words", "Words", lambda content: content, "live_words"),
    ),
    drawn_data,
    "live.js",
)
