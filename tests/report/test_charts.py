"""Charts: what a page draws without any script."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from dynid.report.charts import HEIGHT, MOST_POINTS, TOP, WIDTH, Chart, Figure, line
from dynid.report.page import render_case


def page(*charts: Chart, title: str = "Fig. 1", caption: str = "") -> str:
    case = {"case": "c", "title": "A case", "rows": [], "notes": [], "ok": True}
    return render_case(case, [Figure(title, caption, charts)])


def points(html: str) -> list[list[float]]:
    found = re.findall(r'<polyline [^>]*points="([^"]*)"', html)
    return [[float(v) for v in re.split(r"[ ,]", text.strip())] for text in found]


def test_long_lines_keep_their_peaks() -> None:
    t = np.linspace(0.0, 100.0, 20001)
    y = np.sin(t)
    y[12345] = 7.0
    drawn = line("a", t, y)
    assert len(drawn.x) <= MOST_POINTS
    assert max(drawn.y) == 7.0
    assert drawn.x[drawn.y.index(7.0)] == pytest.approx(t[12345], rel=1e-5)
    assert list(drawn.x) == sorted(drawn.x)


def test_points_stay_inside_and_larger_is_higher() -> None:
    chart = Chart("T", "x", "y", (line("a", [0, 1, 2], [0.01, 1.0, 100.0], marks=True),), logarithmic=True)
    html = page(chart)
    (drawn,) = points(html)
    xs, ys = drawn[::2], drawn[1::2]
    assert all(0 <= x <= WIDTH for x in xs)
    assert all(TOP <= y <= HEIGHT for y in ys)
    assert ys[0] - ys[1] == pytest.approx(ys[1] - ys[2], abs=0.2)  # decades are equal on a logarithmic axis
    assert html.count("<circle") == 3
    assert ">0.5<" not in html  # whole abscissae have whole marks


def test_what_cannot_be_drawn_is_left_out() -> None:
    chart = Chart("T", "x", "y", (line("a", [0, 1, 2], [1.0, math.nan, 0.0]),), logarithmic=True)
    assert len(points(page(chart))[0]) == 2
    assert "nan" not in page(chart)


def test_names_from_outside_are_escaped() -> None:
    chart = Chart("<b>", "x", "y", (line("<i>", [0, 1], [1, 1]),))
    html = page(chart, title="<Fig>", caption="a & b")
    assert "&lt;Fig&gt;" in html
    assert "</i>&lt;i&gt;</span>" in html
    assert "a &amp; b" in html
    assert 'aria-label="&lt;b&gt;: &lt;i&gt;"' in html
    assert "style=" not in html  # the content security policy would not let it work
    assert Figure("", "", (chart,)).to_dict()["charts"][0]["lines"][0]["y"] == (1.0, 1.0)
