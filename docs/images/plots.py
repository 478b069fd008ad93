"""Small plots as SVG text: no library, no script, sharp on phone, screen and paper."""

from __future__ import annotations

import math

import numpy as np

WIDTH, HEIGHT = 360, 170
LEFT, RIGHT, TOP, BOTTOM = 44, 8, 22, 22


def ticks(low: float, high: float, count: int = 4) -> list[float]:
    """Round numbers between two values."""
    raw = (high - low) / count
    step = 10 ** math.floor(math.log10(raw))
    step *= next(k for k in (1, 2, 5, 10) if k * step >= raw)
    return [k * step for k in range(math.ceil(low / step), math.floor(high / step) + 1)]


def torque_plot(
    title: str,
    t: np.ndarray,
    measured: np.ndarray,
    predicted: np.ndarray,
    place: tuple[int, int] | None = None,
) -> str:
    """Measured torque, predicted torque and what is left between them, of one joint.

    Args:
        title: above the plot.
        t: (samples,) [s].
        measured: (samples,) [N m].
        predicted: (samples,) [N m].
        place: upper left corner inside a larger picture; a picture of its own when None.
    """
    every = max(1, len(t) // 250)  # more points than pixels only make the page heavy
    t, measured, predicted = t[::every], measured[::every], predicted[::every]
    bound = 1.08 * float(np.abs(measured).max())

    def x(value: float) -> float:
        return LEFT + (value - t[0]) / (t[-1] - t[0]) * (WIDTH - LEFT - RIGHT)

    def y(value: float) -> float:
        return TOP + (bound - value) / (2 * bound) * (HEIGHT - TOP - BOTTOM)

    def path(values: np.ndarray, style: str) -> str:
        points = " ".join(f"{x(a):.1f},{y(b):.1f}" for a, b in zip(t, values, strict=True))
        return f'<polyline class="{style}" points="{points}"/>'

    parts = [f'<text class="title" x="{LEFT}" y="14">{title}</text>']
    for value in ticks(-bound, bound):
        parts.append(f'<path class="grid" d="M{LEFT} {y(value):.1f}H{WIDTH - RIGHT}"/>')
        parts.append(
            f'<text class="tick" x="{LEFT - 5}" y="{y(value) + 3:.1f}" text-anchor="end">{value:g}</text>'
        )
    for value in ticks(t[0], t[-1]):
        parts.append(
            f'<text class="tick" x="{x(value):.1f}" y="{HEIGHT - 7}" text-anchor="middle">{value:g} s</text>'
        )
    parts += [path(measured, "measured"), path(predicted, "predicted"), path(measured - predicted, "rest")]
    inside = "".join(parts)
    if place is not None:
        return f'<g transform="translate({place[0]} {place[1]})">{inside}</g>'
    return f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{title}">{inside}</svg>'


STYLE = """
.title { font: 600 12px system-ui, sans-serif; fill: var(--ink, #1b2733); }
.tick { font: 10px system-ui, sans-serif; fill: var(--soft, #5b6b7b); }
.grid { stroke: var(--line, #dfe5ea); stroke-width: 1; fill: none; }
polyline { fill: none; stroke-linejoin: round; }
.measured { stroke: var(--measured, #9db4c8); stroke-width: 3; }
.predicted { stroke: var(--predicted, #0b5cad); stroke-width: 1.2; }
.rest { stroke: var(--rest, #c2410c); stroke-width: 1; }
"""


def picture(t: np.ndarray, measured: np.ndarray, predicted: np.ndarray, names: list[str]) -> str:
    """All joints in one SVG file, three to a row, on white."""
    rows = -(-len(names) // 3)
    plots = [
        torque_plot(name, t, measured[:, k], predicted[:, k], (WIDTH * (k % 3), 26 + HEIGHT * (k // 3)))
        for k, name in enumerate(names)
    ]
    width, height = 3 * WIDTH, 26 + rows * HEIGHT
    legend = "".join(
        f'<path class="{style}" d="M{place} 14h26"/><text class="tick" x="{place + 32}" y="18">{text}</text>'
        for place, style, text in (
            (LEFT, "measured", "measured torque [N m]"),
            (LEFT + 190, "predicted", "predicted on motion the fit has not seen"),
            (LEFT + 460, "rest", "what is left"),
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="Measured and predicted torques of each joint">\n<style>{STYLE}</style>\n'
        f'<rect width="{width}" height="{height}" fill="#fff"/>\n{legend}\n' + "\n".join(plots) + "\n</svg>\n"
    )


def sigma_bar(share: float) -> str:
    """Relative standard deviation on a logarithmic scale from 0.1 % to 100 %."""
    width = 90 * min(1.0, max(0.02, (math.log10(max(share, 1e-3)) + 3) / 3))
    style = "bar weak" if share > 0.2 else "bar"
    marks = "".join(f'<path class="grid" d="M{x} 0V14"/>' for x in (30, 60))
    bar = f'<rect class="{style}" y="3" width="{width:.1f}" height="8" rx="2"/>'
    return f'<svg viewBox="0 0 90 14" width="90" height="14">{marks}{bar}</svg>'


def error_strip(z: float) -> str:
    """Error in units of σ: the band is ±2σ, the dot should lie in it 19 times out of 20."""
    x = 60 + 15 * max(-3.8, min(3.8, z))
    style = "dot out" if abs(z) > 2 else "dot"
    return (
        '<svg viewBox="0 0 120 14" width="120" height="14">'
        '<rect class="band" x="30" y="2" width="60" height="10"/>'
        f'<path class="grid" d="M60 0V14"/><circle class="{style}" cx="{x:.1f}" cy="7" r="4"/></svg>'
    )
