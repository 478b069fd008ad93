"""Write the saved results into docs/benchmarks.md; a test fails when the page is stale."""

from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "benchmarks.md"
RESULTS = ROOT / "benchmarks" / "results"
START, END = "<!-- results: written by make bench -->", "<!-- end of results -->"


def tables() -> str:
    """All saved results as Markdown."""
    parts = []
    for file in sorted(RESULTS.glob("*.json")):
        document = json.loads(file.read_text())
        rows = document["rows"]
        versions = ", ".join(f"{name} {v}" for name, v in document["versions"].items() if v)
        parts.append(f"### {document['benchmark'].replace('_', ' ')}\n")
        parts += _ratios([r for r in rows if "ratio" in r and "peer" in r])
        parts += _bounds([r for r in rows if "wanted" in r and "peer" not in r])
        parts += _notes([r for r in rows if "wanted" not in r])
        machine = document["machine"]
        parts.append(f"{machine['processor']}, {machine['cores']} cores; {versions}.\n")
    return "\n".join(parts)


def _table(head: list[str], rows: list[list[str]]) -> list[str]:
    if not rows:
        return []
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return [*lines, *("| " + " | ".join(row) + " |" for row in rows), ""]


def _ratios(rows: list[dict]) -> list[str]:  # type: ignore[type-arg]
    head = ["what", "peer", "dynid", "peer's", "times faster", "wanted"]
    lines = []
    for r in rows:
        ours, theirs = f"{r['ours']:.3g} {r['unit']}", f"{r['theirs']:.3g} {r['unit']}"
        mark = "" if r["ok"] else " (missed)"
        lines.append([r["what"], r["peer"], ours, theirs, f"{r['ratio']:.1f}{mark}", f"{r['wanted']:g}"])
    return _table(head, lines)


def _bounds(rows: list[dict]) -> list[str]:  # type: ignore[type-arg]
    lines = [[r["what"], f"{r['ours']:.3g} {r['unit']}", f"{r['wanted']:g} {r['unit']}"] for r in rows]
    return _table(["what", "measured", "at most"], lines)


def _notes(rows: list[dict]) -> list[str]:  # type: ignore[type-arg]
    parts = []
    for keys in dict.fromkeys(tuple(r) for r in rows):
        same = [r for r in rows if tuple(r) == keys]
        cells = [[f"{v:.3g}" if isinstance(v, float) else str(v) for v in r.values()] for r in same]
        parts += _table([k.replace("_", " ") for k in keys], cells)
    return parts


def page() -> str:
    """The page with its results renewed."""
    text = PAGE.read_text()
    before, rest = text.split(START, 1)
    _, after = rest.split(END, 1)
    return f"{before}{START}\n\n{tables()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(page())
    print(f"wrote {PAGE.relative_to(ROOT)}")
