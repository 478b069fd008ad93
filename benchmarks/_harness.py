"""Measuring on a shared machine: interleaved runs, best of several, ratios to a peer, versions kept."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
PACKAGES = ("dynid", "numpy", "scipy", "casadi", "llvmlite", "clarabel", "pin", "mujoco", "figaroh")


@dataclass(frozen=True)
class Job:
    """Something to time.

    Args:
        run: the work.
        units: how many samples, right-hand sides … one call does.
        inner: calls per measurement, for very short work.
    """

    run: Callable[[], Any]
    units: int = 1
    inner: int = 1


def best_of(jobs: Mapping[str, Job], rounds: int) -> dict[str, float]:
    """Seconds per unit of every job: the best of several rounds, jobs interleaved within each round."""
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            for _ in range(job.inner):
                job.run()
            best[name] = min(best[name], (time.perf_counter() - start) / (job.units * job.inner))
    return best


@dataclass
class Report:
    """Rows of one benchmark, printed and saved as JSON with versions."""

    name: str
    rows: list[dict[str, Any]] = field(default_factory=list)

    def ratio(
        self, what: str, peer: str, ours: float, theirs: float, wanted: float, unit: str = "µs"
    ) -> None:
        """Record how many times faster than a peer we are."""
        scale = {"µs": 1e6, "ms": 1e3, "s": 1.0}[unit]
        row = {
            "what": what,
            "peer": peer,
            "ours": ours * scale,
            "theirs": theirs * scale,
            "unit": unit,
            "ratio": theirs / ours,
            "wanted": wanted,
            "ok": theirs / ours >= wanted,
        }
        self._add(row, f"{what}: {ours * scale:.3g} {unit} against {theirs * scale:.3g} {unit} of {peer}, "
                       f"{theirs / ours:.1f}× (wanted {wanted:g}×)")  # fmt: skip

    def bound(self, what: str, value: float, wanted: float, unit: str) -> None:
        """Record a figure that has an upper bound."""
        row = {"what": what, "ours": value, "unit": unit, "wanted": wanted, "ok": value <= wanted}
        self._add(row, f"{what}: {value:.3g} {unit} (at most {wanted:g} {unit})")

    def note(self, what: str, **values: Any) -> None:
        """Record figures without a bound."""
        listing = ", ".join(f"{k} {v:.4g}" if isinstance(v, float) else f"{k} {v}" for k, v in values.items())
        self._add({"what": what, **values}, f"{what}: {listing}")

    def _add(self, row: dict[str, Any], text: str) -> None:
        self.rows.append(row)
        mark = {True: "ok  ", False: "MISS", None: "    "}[row.get("ok")]
        print(f"{mark} {text}", flush=True)

    def save(self) -> Path:
        """Write the rows beside the versions and the machine."""
        RESULTS.mkdir(exist_ok=True)
        document = {
            "benchmark": self.name,
            "versions": {p: _version(p) for p in PACKAGES} | {"python": platform.python_version()},
            "machine": {"processor": _processor(), "cores": os.cpu_count()},
            "rows": self.rows,
        }
        missed = sum(row.get("ok") is False for row in self.rows)
        if missed:
            print(f"{missed} of {len(self.rows)} figures missed what was wanted; a busy machine can do that.")
        path = RESULTS / f"{self.name}.json"
        path.write_text(json.dumps(document, indent=2, ensure_ascii=False) + "\n")
        return path


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor()
