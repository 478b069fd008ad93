"""Places where the script draws, and small pictures that need no script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from dynid.report.html import shown, text, unit

_TOOLS = (
    ("in", "+", "Zoom in"),
    ("out", "−", "Zoom out"),
    ("left", "◀", "Move left"),
    ("right", "▶", "Move right"),
    ("reset", "Reset", "Show everything"),
)
_KEY = (
    '<p class="key"><span><i class="measured"></i>measured</span>'
    '<span><i class="predicted"></i>predicted</span>'
    '<span><i class="residual"></i>left over (own scale)</span></p>'
    '<noscript><p class="remark">The curves need JavaScript; all figures of this page are in its tables.'
    "</p></noscript>"
)
_HELP = (
    '<p class="remark noprint">Drag across a plot to zoom, Shift-drag to move, double-click to reset; '
    "with the keyboard: + − ← → 0.</p>"
)


def curve_set(document: Mapping[str, Any], *, seen: bool) -> str:
    """Torque plots of the fit's own or of the unseen motions: one figure per motion and joint."""
    chosen = [i for i, curve in enumerate(document["curves"]) if curve["seen"] == seen]
    if not chosen:
        return ""
    validation = document["fit"] if seen else document["validation"] or document["fit"]
    joints = validation["joints"]
    key = "fit" if seen else "unseen"
    figures = "".join(
        _figure(document, i, j, validation, n, len(chosen) > 1)
        for n, i in enumerate(chosen)
        for j in range(len(joints))
    )
    names = [document["curves"][i]["name"] for i in chosen]
    return (
        f'<div class="curves" data-set="{key}">{_toolbar(key, names, joints, chosen)}{_KEY}'
        f'<div class="grid">{figures}</div>{_HELP}</div>'
    )


def _toolbar(key: str, motions: Sequence[str], joints: Sequence[str], chosen: Sequence[int]) -> str:
    names = "".join(
        f'<option value="{i}">{text(name)}</option>' for i, name in zip(chosen, motions, strict=True)
    )
    axes = "".join(f'<option value="{j}">{text(name)}</option>' for j, name in enumerate(joints))
    buttons = "".join(
        f'<button type="button" data-act="{act}" aria-label="{label}" title="{label}">{sign}</button>'
        for act, sign, label in _TOOLS
    )
    return (
        '<div class="tools noprint">'
        f'<label>Experiment <select data-pick="motion" id="{key}-motion">{names}</select></label>'
        f'<label>Joint <select data-pick="joint" id="{key}-joint">'
        f'<option value="all">all</option>{axes}</select></label>'
        '<label class="check"><input type="checkbox" data-pick="pan"> drag to move</label>'
        f'<span class="buttons" role="group" aria-label="Zoom">{buttons}</span></div>'
    )


def _figure(
    document: Mapping[str, Any], i: int, j: int, validation: Mapping[str, Any], n: int, several: bool
) -> str:
    curve = document["curves"][i]
    name = validation["joints"][j]
    figures = validation["motions"][n] if n < len(validation["motions"]) else validation
    used = figures["decimated"] or figures["full"]
    shares = (
        f"{shown(used['relative_percent'][j])} % · rms {shown(used['rms'][j])} {unit(validation['units'][j])}"
    )
    whose = f' <span class="whose">{text(curve["name"])}</span>' if several else ""
    hidden = " hidden" if n else ""
    label = f"Torque of {name}, measured, predicted and left over"
    return (
        f'<figure class="plot" data-motion="{i}" data-joint="{j}"{hidden}>'
        f"<figcaption><b>{text(name)}</b>{whose} <span>{shares}</span></figcaption>"
        f'<div class="canvas" tabindex="0" role="img" aria-label="{text(label)}"></div>'
        '<p class="readout" aria-hidden="true">&nbsp;</p></figure>'
    )


def autocorrelation_plot(values: Sequence[float], samples: int) -> str:
    """Bars of r_1 … r_k with the band ±1.96/√n of chance."""
    if not values:
        return ""
    step, height = 6, 36
    width, middle = step * len(values), height / 2
    band = min(1.0, 1.96 / math.sqrt(max(samples, 1))) * middle
    bars = "".join(
        f'<rect x="{k * step + 1}" y="{middle - max(r, 0.0) * middle:.1f}" width="4" '
        f'height="{max(abs(r) * middle, 0.5):.1f}"/>'
        for k, r in enumerate(values)
    )
    return (
        f'<svg class="acf" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'aria-hidden="true">'
        f'<rect class="band" x="0" y="{middle - band:.1f}" width="{width}" height="{2 * band:.1f}"/>{bars}'
        f'<line x1="0" x2="{width}" y1="{middle}" y2="{middle}"/></svg>'
    )
