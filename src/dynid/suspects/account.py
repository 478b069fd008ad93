"""A judged table of suspects as a document, and what people read of it: a conclusion, lines, a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dynid.core.finding import Level
from dynid.core.plain import plain
from dynid.core.text import TextTable
from dynid.suspects.judgement import SuspectJudgement, percent

Entry = Mapping[str, Any]
HEADS = ("suspect", "size ± σ", "z", "alone", "after better ones", "looks like", "level")


def suspects_document(judged: SuspectJudgement) -> dict[str, Any]:
    """Ready for JSON: the table, the level of each ranked suspect, and the conclusion.

    Args:
        judged: what was found.
    """
    told = {
        finding.figures["suspect"]: finding for finding in judged.findings if "suspect" in finding.figures
    }
    made, rows = judged.table.to_dict(), list[dict[str, Any]]()
    for ranked, row in zip(judged.table.ranked, made["ranked"], strict=True):
        found = told.get(ranked.suspect.key)
        if found is None:
            rows.append({**row, "level": Level.NOTE.word})
            continue
        size = np.atleast_1d(np.asarray(found.figures["size"], dtype=float))
        mended = {
            "size": plain(size),
            "words": ranked.suspect.words_in_doubt(size, ranked.together.sigma),
            "remedy": found.remedy,
        }
        rows.append({**row, **mended, "level": found.level.word})
    return {"sentence": conclusion(judged, rows), **made, "ranked": rows}


def conclusion(judged: SuspectJudgement, rows: Sequence[Entry]) -> str:
    """What wins and what to do about it; or that nothing does, what is left and where."""
    table = judged.table
    grave = [finding for finding in judged.findings if finding.level >= Level.CARE]
    if grave:
        others = len(grave) - 1
        more = f" {others} more below ask{'s' * (others == 1)} for care too." if others else ""
        return f"{grave[0].text}{more}"
    explained = sum(row["share"] for row in rows)
    noise, unexplained = 100 * max(min(table.noise_share, 1.0 - explained), 0.0), table.ledger.unexplained
    left = f"noise alone would leave {noise:.0f} % of the residual's squares"
    if table.noise_share < 1.0 and unexplained.any():
        worst = int(np.argmax(unexplained))
        share = percent(unexplained[worst])
        left += f", and the rest is largest on joint {worst + 1}: {share} of its torque"
    if rows:
        words, share = rows[0]["words"], percent(rows[0]["share"])
        return f"No suspect asks for care: the first one ({words}) explains {share} of the residual; {left}."
    return f"No suspect explains more than chance would; {left}."


def suspect_lines(entry: Entry) -> list[str]:
    """Which suspects are more than chance, and what noise would leave, in a line.

    Args:
        entry: of a document, as ``suspects_document`` makes it.
    """
    ranked = entry["ranked"]
    named = ", ".join(f"{row['suspect']} ({percent(row['share'])})" for row in ranked[:3])
    more = f" and {len(ranked) - 3} more" if len(ranked) > 3 else ""
    verb = "explains" if len(ranked) == 1 else "explain"
    found = f"{named}{more} {verb} part of the residual" if ranked else "none is more than chance"
    asked = f"suspects ({len(entry['scores'])} asked): {found}"
    noise = min(entry["noise_share"], 1.0 - sum(row["share"] for row in ranked))
    return [f"{asked}; noise alone would leave {percent(max(noise, 0.0))}"]


def suspect_table(entry: Entry, most: int | None = None) -> TextTable:
    """The ranked suspects, and behind them the others that explain most alone.

    Args:
        entry: of a document.
        most: rows at most; the ranked ones alone when None.
    """
    ranked = entry["ranked"]
    rows = [suspect_cells(row) for row in ranked]
    named = {row["suspect"] for row in ranked}
    others = [score for score in entry["scores"] if score["suspect"] not in named]
    rows += [
        [
            score["suspect"],
            _sizes(score["size"], ()),
            f"{score['z']:.1f}",
            percent(score["share"]),
            "",
            "",
            "",
        ]
        for score in others[: max(0, (most or 0) - len(rows))]
    ]
    return TextTable("", HEADS, rows[:most])


def suspect_cells(row: Entry) -> list[str]:
    """A ranked suspect under ``HEADS``."""
    unit = f" {row['unit']}" if row["unit"] else ""
    return [
        row["suspect"],
        f"{_sizes(row['size'], row['sigma'])}{unit}",
        f"{row['z']:.1f}",
        percent(row["alone"]["share"]),
        percent(row["share"]),
        ", ".join(row["confusable"]) or "–",
        row["level"],
    ]


def _sizes(sizes: Sequence[float], sigmas: Sequence[float]) -> str:
    doubts = [f" ± {sigma:.2g}" for sigma in sigmas] or [""] * len(sizes)
    return ", ".join(f"{size:.3g}{doubt}" for size, doubt in zip(sizes, doubts, strict=True))
