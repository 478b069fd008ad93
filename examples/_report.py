"""The demo's report: one HTML page that needs nothing but itself, and files written whole."""

from __future__ import annotations

import json
import os
import tempfile
from html import escape
from pathlib import Path

from _plots import STYLE, error_strip, sigma_bar, torque_plot

CSS = """
:root { --ink: #1b2733; --soft: #5b6b7b; --line: #dfe5ea; --paper: #fff; --card: #f5f8fa;
  --measured: #9db4c8; --predicted: #0b5cad; --rest: #c2410c; --good: #17683a; --bad: #a61b1b; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9aa9b8; --line: #2c3946;
  --paper: #10171e; --card: #18222c; --measured: #52687c; --predicted: #6cb2f7; --rest: #f0894d;
  --good: #5fd08c; --bad: #ff8a80; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1080px; padding: 1.2rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.5rem; line-height: 1.25; margin: .2rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 .5rem; }
p { max-width: 46rem; } .soft { color: var(--soft); }
.verdict { background: var(--card); border-left: 6px solid var(--good); border-radius: 6px;
  padding: .8rem 1.1rem; margin-top: .8rem; }
.verdict.bad { border-color: var(--bad); } .verdict strong { font-size: 1.2rem; color: var(--good); }
.verdict.bad strong { color: var(--bad); }
.plots { display: grid; grid-template-columns: repeat(auto-fit, minmax(280px, 1fr)); gap: .6rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line);
  white-space: nowrap; }
th { font-size: .8rem; color: var(--soft); font-weight: 600; vertical-align: bottom; }
th:first-child, td:first-child { text-align: left; } td svg { display: block; margin-left: auto; }
tbody tr:nth-child(even) { background: var(--card); }
code { font: .9em ui-monospace, monospace; } .formulas { columns: 24rem; padding-left: 1.2rem; }
.formulas li { break-inside: avoid; overflow-wrap: anywhere; margin-bottom: .15rem; }
.key b { font-weight: 400; white-space: nowrap; }
.key span { display: inline-block; width: 1.6rem; height: 0; border-top: 3px solid; vertical-align: middle;
  margin-right: .4rem; } .key b { margin-right: 1rem; }
.bar { fill: var(--predicted); } .weak { fill: var(--rest); } .band { fill: var(--line); }
.dot { fill: var(--predicted); } .dot.out { fill: var(--rest); }
@media print { :root { --ink: #000; --soft: #444; --line: #ccc; --paper: #fff; --card: #f4f4f4;
  --measured: #aaa; --predicted: #0b5cad; --rest: #c2410c; --good: #17683a; --bad: #a61b1b; }
  body { max-width: none; padding: 0; font-size: 10pt; }
  .plots { grid-template-columns: repeat(2, 1fr); } .scroll { overflow: visible; }
  h2 { break-after: avoid; } tr, svg, .verdict { break-inside: avoid; } }
"""


def html_report(study: dict) -> str:  # type: ignore[type-arg]
    """The page: verdict, proof on unseen motion, parameters with uncertainty, formulas, how it was made."""
    parts = [
        _verdict(study),
        _plots(study),
        _joints(study),
        _parameters(study),
        _formulas(study),
        _made(study),
    ]
    title = f"Dynamic model of a simulated {escape(study['robot']['name'].upper())}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{CSS}{STYLE}</style></head><body>\n"
        f'<p class="soft">dynid {study["versions"]["dynid"]} · demo on simulated data</p><h1>{title}</h1>\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _verdict(study: dict) -> str:  # type: ignore[type-arg]
    worst = max(study["joints"], key=lambda joint: joint["prediction"] / joint["noise_floor"])
    good = study["trusted"]
    word = "This model can be trusted." if good else "Do not trust this model."
    weak = [p["name"] for p in study["base"] if p["sigma"] > 0.2 * abs(p["value"])]
    return (
        f'<div class="verdict{"" if good else " bad"}"><strong>{word}</strong><br>'
        f"On motion the fit has not seen, the worst joint ({worst['name']}) is predicted to "
        f"{worst['prediction']:.2%} of its torque, where the noise alone makes {worst['noise_floor']:.2%}. "
        f"{study['within_two_sigma']:.0%} of the {len(study['base'])} base parameters lie within two "
        f"standard deviations of the truth (95% are expected). {len(weak)} of them are known no "
        "better than 20%; they hardly move the torques.</div>"
    )


def _plots(study: dict) -> str:  # type: ignore[type-arg]
    curves = study["curves"]
    plots = [
        torque_plot(
            f"{joint['name']} [N m]", curves["t"], curves["measured"][:, k], curves["predicted"][:, k]
        )
        for k, joint in enumerate(study["joints"])
    ]
    key = "".join(
        f'<b><span style="color:var(--{name})"></span>{text}</b> '
        for name, text in (("measured", "measured"), ("predicted", "predicted"), ("rest", "what is left"))
    )
    return (
        f'<h2>Torques on unseen motion</h2><p class="key">{key}</p><div class="plots">{"".join(plots)}</div>'
    )


def _joints(study: dict) -> str:  # type: ignore[type-arg]
    head = (
        "joint",
        "noise found [N m]",
        "left of the fit",
        "left on unseen motion",
        "noise alone",
        "without noise",
    )
    rows = [
        (
            j["name"],
            f"{j['noise']:.3g}",
            *(f"{j[k]:.2%}" for k in ("fit", "prediction", "noise_floor", "bias")),
        )
        for j in study["joints"]
    ]
    note = '<p class="soft">Shares of the joint\'s torque, root mean square.</p>'
    return f"<h2>Fit per joint</h2>{_table(head, rows)}{note}"


def _parameters(study: dict) -> str:  # type: ignore[type-arg]
    head = (
        "parameter",
        "estimate",
        "± σ",
        "unit",
        "σ relative",
        "0.1 · 1 · 10 · 100 %",
        "truth",
        "error / σ",
        "±2σ",
    )
    rows = []
    for p in study["base"]:
        share = p["sigma"] / abs(p["value"])
        z = (p["value"] - p["truth"]) / p["sigma"]
        numbers = (
            f"{p['value']:.4g}",
            f"{p['sigma']:.1g}",
            escape(p["unit"]).replace("^2", "²"),
            "> 100%" if share > 1 else f"{share:.1%}",
            sigma_bar(share),
        )
        rows.append((f"<b>{p['name']}</b>", *numbers, f"{p['truth']:.4g}", f"{z:+.1f}", error_strip(z)))
    return (
        "<h2>Base parameters with their uncertainty</h2><p>The truth is known here because the data are "
        f"simulated: errors should lie within ±2σ nineteen times out of twenty.</p>{_table(head, rows)}"
    )


def _formulas(study: dict) -> str:  # type: ignore[type-arg]
    grouped = [p["formula"] for p in study["base"] if p["name"].endswith("R")]
    items = "".join(f"<li><code>{escape(text)}</code></li>" for text in grouped)
    return (
        "<h2>What the base parameters are</h2><p>Only these sums of inertias, moments and masses move the "
        f"torques. The other {len(study['base']) - len(grouped)} base parameters are single ones.</p>"
        f'<ul class="formulas">{items}</ul>'
    )


def _made(study: dict) -> str:  # type: ignore[type-arg]
    facts = {**study["options"], **study["versions"], "samples": study["robot"]["samples"]}
    text = " · ".join(f"{name} {value}" for name, value in facts.items())
    return (
        "<h2>How this was made</h2><p>Weighted least squares on the base regressor. Positions, speeds and "
        "accelerations are exact here and only the torques carry noise, white and independent: a real log "
        "needs filtering first and is less kind.</p><p>The verdict asks that 85% of the parameters lie "
        "within 2σ of the truth, and that no joint is predicted worse than 1.1 times the noise on motion the "
        f'fit has not seen.</p><p class="soft">{escape(text)}</p>'
    )


def _table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    top = "".join(f"<th>{cell}</th>" for cell in head)
    body = "".join("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
    return f'<div class="scroll"><table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table></div>'


def write_json(path: Path, document: dict) -> None:  # type: ignore[type-arg]
    """Write a JSON file whole or not at all."""
    write_text(path, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def write_text(path: Path, text: str) -> None:
    """Write a file whole or not at all: a reader never meets half a report."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)
