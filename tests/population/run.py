"""Rates of a judge on the population: ``python -m population.run --half showing --cases 600 OUT.jsonl``.

Every sound case is judged once, and then with a few defects, turn by turn, so that all defects and sizes come
equally often. Rows are appended to the file as they are made; a run that was broken off goes on where it was.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any

from population.cases import draw_case
from population.defects import DEFECTS, damage
from population.judge import Judge, judge
from population.robots import HALVES
from population.table import CRASH, table_lines
from population.today import Today

JUDGES: dict[str, type[Judge]] = {"today": Today}
Work = Callable[[str, int], list[dict[str, Any]]]
MARK = "<!-- results: written by make judge -->"
GRADES = [(name, grade) for name, defect in DEFECTS.items() for grade in defect.sizes]
"""Every defect at every size, in turn."""


def defects_of(index: int, count: int) -> list[tuple[str, float]]:
    """The defects that a case is tried with, far apart in the list from each other."""
    return [GRADES[(count * index + k) * 53 % len(GRADES)] for k in range(count)]


def rows_of(half: str, index: int, count: int, name: str) -> list[dict[str, Any]]:
    """Rows of one case: sound, then with each of its defects that it can have."""
    judged_by = JUDGES[name]()
    case = draw_case(half, index)
    row, sound = judge(case, judged_by)
    rows = [row]
    for defect, grade in defects_of(index, count):
        damaged = damage(case, defect, grade)
        if damaged is not None:
            rows.append(judge(damaged, judged_by, sound)[0])
    return rows


def read_rows(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a file; a last line that was cut off is none."""
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                yield json.loads(line)
            except json.JSONDecodeError:
                continue


def run(path: Path, half: str, cases: range, work: Work, workers: int) -> None:
    """Judge cases that the file does not have yet; ``work`` gives the rows of one, by its half and number."""
    done = {row["index"] for row in read_rows(path) if row["half"] == half}
    left = [index for index in cases if index not in done]
    begun = time.monotonic()
    with ProcessPoolExecutor(workers) as pool, path.open("a", encoding="utf-8") as file:
        waiting = {pool.submit(work, half, index): index for index in left}
        for number, future in enumerate(as_completed(waiting)):
            file.writelines(json.dumps(row) + "\n" for row in _rows_or_crash(future, half, waiting[future]))
            file.flush()
            each = (time.monotonic() - begun) / (number + 1)
            minutes = each * (len(left) - number - 1) / 60
            print(
                f"\r{number + 1} of {len(left)} cases, {minutes:.0f} minutes left ", end="", file=sys.stderr
            )
    print(file=sys.stderr)


def publish(page: Path, lines: list[str], mark: str = MARK) -> None:
    """Put the table into a page, in place of what stands behind the mark."""
    head, _, _ = page.read_text(encoding="utf-8").partition(mark)
    page.write_text("\n".join([head + mark, "", *lines, ""]), encoding="utf-8")


def _rows_or_crash(future: Future[list[dict[str, Any]]], half: str, index: int) -> list[dict[str, Any]]:
    """Rows of a case; one that names the error where the judge broke down on it."""
    try:
        return future.result()
    except Exception as error:
        return [{"half": half, "index": index, "defect": CRASH, "words": repr(error)}]


def main() -> None:
    """Run, and print the table."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("file", type=Path, help="JSON lines, one per judged case")
    options.add_argument("--half", choices=HALVES, default="showing")
    options.add_argument("--cases", type=int, default=640, help="sound cases")
    options.add_argument("--first", type=int, default=0, help="number of the first case")
    options.add_argument("--defects", type=int, default=2, help="defects per case")
    options.add_argument("--judge", choices=JUDGES, default="today")
    options.add_argument("--workers", type=int, default=2)
    options.add_argument("--page", type=Path, help="a document whose table is renewed")
    given = options.parse_args()
    cases = range(given.first, given.first + given.cases)
    work = partial(rows_of, count=given.defects, name=given.judge)
    run(given.file, given.half, cases, work, given.workers)
    wanted = [row for row in read_rows(given.file) if row["half"] == given.half and row["index"] in cases]
    lines = table_lines(wanted)
    print("\n".join(lines))
    if given.page is not None:
        publish(given.page, lines)


if __name__ == "__main__":
    main()
