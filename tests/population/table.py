"""Rows of judged cases as rates: sound logs, then defect × size."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import groupby
from typing import Any

import numpy as np
from scipy.stats import beta

from population.defects import DEFECTS

Row = dict[str, Any]
CRASH = "crash"
"""What stands in the place of a defect where the judge broke down."""
WELL = 0.10
"""Error of the worst joint on clean motion up to which sound logs have led to a good model."""
SHOWS = 5.0
"""Standard errors of a test of the one right column from which a defect shows: parameters take the rest."""
SOUND = 0.05
"""Error of the worst joint on clean motion beyond which the model of a sound log lacks what matters."""
WORSE = 1.05
"""How many times the error before may be after advice was followed, before it counts as worse."""


def bounds(hits: int, count: int) -> tuple[float, float]:
    """95 % interval of a rate (Clopper and Pearson)."""
    if count == 0:
        return 0.0, 1.0
    low = 0.0 if hits == 0 else float(beta.ppf(0.025, hits, count - hits + 1))
    high = 1.0 if hits == count else float(beta.ppf(0.975, hits + 1, count - hits))
    return low, high


def rate(rows: Sequence[Row], test: Callable[[Row], bool]) -> str:
    """Hits of all, in per cent with bounds."""
    hits = sum(test(row) for row in rows)
    if not rows:
        return "–"
    low, high = bounds(hits, len(rows))
    return f"{hits}/{len(rows)} = {100 * hits / len(rows):.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def table_lines(rows: Iterable[Row]) -> list[str]:
    """All rates as Markdown."""
    rows = list(rows)
    crashes = [f"Broke down on case {r['index']}: {r['words']}" for r in rows if r["defect"] == CRASH]
    rows = [row for row in rows if row["defect"] != CRASH]
    sound = [row for row in rows if row["defect"] == "sound"]
    damaged = [
        row
        for row in rows
        if row["defect"] not in ("sound", "weak motion") and row.get("sound_worst", 0.0) <= WELL
    ]
    advised = [row for row in rows if row.get("advised_worst") is not None and "worst" in row]
    advice = f"Worse after advice was followed, sound or damaged: {rate(advised, _is_worse)}"
    return [
        *crashes,
        *_sound_lines(sound),
        "",
        *_damaged_lines(damaged),
        "",
        advice,
        "",
        *_defect_lines(rows),
    ]


def _sound_lines(sound: Sequence[Row]) -> list[str]:
    well = [row for row in sound if row.get("worst", math.inf) <= WELL]
    best = [row for row in well if row["worst"] <= SOUND]
    blamed: dict[str, int] = {}
    for row in best:
        for words in {cause[0].split("@")[0] for cause in row["causes"]}:
            blamed[words] = blamed.get(words, 0) + 1
    listed = ", ".join(f"{words} {n}" for words, n in sorted(blamed.items(), key=lambda item: -item[1]))
    return [
        f"Sound cases: {len(sound)}. The model of {len(best)} errs by at most {100 * SOUND:.0f} % on every "
        f"joint on clean motion; in the others the robot has more friction, ripple or give than that, or the "
        "motion shows too little: there a word is not false.",
        f"- false cautions or errors: {rate(best, _is_told)}; causes named: {listed or 'none'}",
        f"- false errors, where the model errs by at most {100 * WELL:.0f} %: "
        f"{rate(well, lambda r: r['level'] == 'fail')}",
        f"- cautions or errors where it errs by {100 * SOUND:.0f} to {100 * WELL:.0f} %: "
        f"{rate([r for r in well if r not in best], _is_told)}, and by more: "
        f"{rate([r for r in sound if r not in well], _is_told)}; of all sound cases: {rate(sound, _is_told)}",
    ]


def _is_told(row: Row) -> bool:
    return bool(row["level"] != "good")


def _damaged_lines(damaged: Sequence[Row]) -> list[str]:
    heavy = [row for row in damaged if row.get("matters", True)]
    shown = [row for row in heavy if (row.get("shows") or 0.0) >= SHOWS]
    told = [row for row in heavy if row["told"]]
    first = [row for row in told if row["first"]]
    sized = [row for row in first if row["right_size"] is not None]
    return [
        f"Damaged cases whose sound twins lead to good models: {len(damaged)}; {len(heavy)} matter (they add "
        "an error of 5 % on a joint, or move a parameter by 5σ and 5 %).",
        f"- of those that matter and show, told: {rate(shown, _is_told)}",
        f"- of all that matter, those included that the parameters take up: {rate(heavy, _is_told)}",
        f"- cause first, of those told: {rate(told, lambda r: r['first'])}",
        f"- size within 20 %, of those with the cause first: {rate(sized, lambda r: bool(r['right_size']))}",
        f"- of those that do not matter, told: "
        f"{rate([r for r in damaged if not r.get('matters', True)], _is_told)}",
    ]


def _is_worse(row: Row) -> bool:
    return bool(row["advised_worst"] > WORSE * row["worst"] and row["advised_error"] > WORSE * row["error"])


def _defect_lines(rows: Sequence[Row]) -> list[str]:
    lines = [
        "| defect | size | n | matter | told | told of those that matter | cause first | size right "
        "| clean error (worst joint) | after advice |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    order = {name: i for i, name in enumerate(DEFECTS)}
    chosen = [row for row in rows if row["defect"] in order]

    def key(row: Row) -> tuple[int, float]:
        return order[row["defect"]], row["grade"]

    for (number, grade), group in groupby(sorted(chosen, key=key), key=key):
        name = list(order)[number]
        lines.append(_defect_line(name, grade, list(group)))
    return lines


def _defect_line(name: str, grade: float, rows: Sequence[Row]) -> str:
    heavy = [row for row in rows if row.get("matters", True)]
    sized = [row for row in rows if row["first"] and row["right_size"] is not None]
    cells = [
        name,
        f"{grade:g} {DEFECTS[name].unit}".strip(),
        str(len(rows)),
        str(len(heavy)),
        _count(rows, "told"),
        _count(heavy, "told"),
        _count([row for row in heavy if row["told"]], "first"),
        _count(sized, "right_size"),
        _median(rows, "worst"),
        _median(rows, "advised_worst"),
    ]
    return f"| {' | '.join(cells)} |"


def _count(rows: Sequence[Row], key: str) -> str:
    return f"{sum(bool(row[key]) for row in rows)}/{len(rows)}" if rows else "–"


def _median(rows: Sequence[Row], key: str) -> str:
    values = [row[key] for row in rows if row.get(key) is not None]
    return f"{100 * float(np.median(values)):.3g} %" if values else "–"
