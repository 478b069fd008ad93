"""Charts as data, and as pictures that need no script: lines on straight or logarithmic axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.core.arrays import FloatArray

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 520, 260, 52, 10, 16, 38
MOST_POINTS = 1500
COLOURS = ("predicted", "residual", "inertia", "drive", "gravity", "friction", "good", "measured")
"""Colours of the page's style sheet, in the order lines take them."""


@dataclass(frozen=True)
class Line:
    """One line of a chart.

    Args:
        name: in the legend.
        x: abscissae.
        y: ordinates.
        marks: whether every point is marked.
        colour: one of ``COLOURS``, or "limit"; the next free colour when empty.
    """

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    marks: bool = False
    colour: str = ""


@dataclass(frozen=True)
class Chart:
    """Lines on common axes.

    Args:
        title: what is drawn.
        x_label: with its unit.
        y_label: with its unit.
        lines: what to draw.
        logarithmic: whether the ordinate is.
    """

    title: str
    x_label: str
    y_label: str
    lines: tuple[Line, ...]
    logarithmic: bool = False


@dataclass(frozen=True)
class Figure:
    """Charts that belong together.

    Args:
        title: such as "Fig. 10".
        caption: what it shows.
        charts: its charts.
    """

    title: str
    caption: str
    charts: tuple[Chart, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self)


def line(name: str, x: ArrayLike, y: ArrayLike, *, marks: bool = False, colour: str = "") -> Line:
    """A line with so few points that a page can hold it; of many, the extremes of each stretch are kept."""
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if len(xs) > MOST_POINTS:
        kept = _extremes(ys, MOST_POINTS // 2)
        xs, ys = xs[kept], ys[kept]
    rounded = [[float(f"{v:.6g}") for v in values.tolist()] for values in (xs, ys)]
    return Line(name, tuple(rounded[0]), tuple(rounded[1]), marks, colour)


def _extremes(values: FloatArray, stretches: int) -> NDArray[np.int64]:
    edges = np.linspace(0, len(values), stretches + 1).astype(int)
    found = []
    for a, b in pairwise(edges.tolist()):
        pair = (a + int(np.argmin(values[a:b])), a + int(np.argmax(values[a:b])))
        found += sorted(set(pair))
    return np.array(found, dtype=np.int64)


def figure_drawing(figure: Figure) -> dict[str, Any]:
    """A figure as its template draws it."""
    charts = [chart_drawing(chart) for chart in figure.charts]
    return {"title": figure.title, "caption": figure.caption, "charts": charts}


def chart_drawing(chart: Chart) -> dict[str, Any]:
    """A chart with everything in place: ticks and points in the units of its picture, y downwards."""
    x_low, x_high = _span([v for item in chart.lines for v in item.x], False)
    y_low, y_high = _span([v for item in chart.lines for v in item.y], chart.logarithmic)
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def across(value: float) -> float:
        return round(LEFT + (value - x_low) / (x_high - x_low) * (right - LEFT), 1)

    def up(value: float) -> float:
        place = math.log10(value) if chart.logarithmic else value
        return round(bottom - (place - y_low) / (y_high - y_low) * (bottom - TOP), 1)

    whole = all(v.is_integer() for item in chart.lines for v in item.x)
    x_marks = [v for v in _marks(x_low, x_high, False) if v.is_integer() or not whole]  # no iteration 1.5
    return {
        "title": chart.title,
        "label": f"{chart.title}: {', '.join(item.name for item in chart.lines)}",
        "x_label": chart.x_label,
        "y_label": chart.y_label,
        "x_span": (x_low, x_high),
        "x_ticks": [(across(v), tick_label(v)) for v in x_marks],
        "y_ticks": [(up(v), tick_label(v)) for v in _marks(y_low, y_high, chart.logarithmic)],
        "lines": [
            {
                "name": item.name,
                "colour": item.colour or COLOURS[k % len(COLOURS)],
                "marks": item.marks,
                "points": [
                    (across(x), up(y))
                    for x, y in zip(item.x, item.y, strict=True)
                    if math.isfinite(y) and (y > 0 or not chart.logarithmic)
                ],
            }
            for k, item in enumerate(chart.lines)
        ],
        **{"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": right, "top": TOP, "bottom": bottom},
    }


def _span(values: Sequence[float], logarithmic: bool) -> tuple[float, float]:
    """Least and largest, with a little air; decimal logarithms of them on a logarithmic axis."""
    finite = [v for v in values if math.isfinite(v) and (v > 0 or not logarithmic)]
    places = [math.log10(v) for v in finite] if logarithmic else finite
    low, high = (min(places), max(places)) if places else (0.0, 1.0)
    air = 0.05 * (high - low) or 0.5
    return low - air, high + air


def _marks(low: float, high: float, logarithmic: bool) -> list[float]:
    """Round values inside a span."""
    if logarithmic:
        decades = range(math.ceil(low), math.floor(high) + 1)
        fine = (1.0,) if len(decades) > 2 else (1.0, 2.0, 5.0)
        wanted = [m * 10.0**d for d in range(math.floor(low), math.ceil(high) + 1) for m in fine]
        return [value for value in wanted if low <= math.log10(value) <= high]
    return multiples(round_step(high - low), low, high)


def round_step(span: float) -> float:
    """1, 2 or 5 times a power of ten: the smallest of which at most five fit into a span."""
    rough = span / 5
    power = 10.0 ** math.floor(math.log10(rough))
    return float(next(m * power for m in (1, 2, 5, 10) if m * power >= rough))


def multiples(step: float, low: float, high: float) -> list[float]:
    """The multiples of a step inside a span."""
    return [float(k * step) for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def tick_label(value: float) -> str:
    """A number beside a tick."""
    return f"{float(f'{value:.4g}'):g}".replace("-", "−")
