"""Logs and how they are prepared, as command lines name them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid.checks.check import accept_findings
from dynid.cli.command import OptionGroup, numbers_in, option
from dynid.core.errors import DynidError
from dynid.core.keys import option_help
from dynid.logs.log import Log
from dynid.preparation.preparation import DIFFERENTIATED, MEASURED, STAMPS, Preparation, load_preparation

LogsArgument = Annotated[
    list[Path],
    typer.Argument(metavar="LOG…", help="Log files, bags, or folders that a mapping describes."),
]


@dataclass(frozen=True)
class LogOptions(OptionGroup, title="The logs"):
    """What the columns of logs mean."""

    mapping: Path | None = option(
        None,
        "MAP",
        "TOML file that says what the columns of the logs mean; `dynid map` writes one to start from.",
        name="--map",
    )
    accept: list[str] | None = option(
        None,
        "NAME",
        "Finding, or suspect such as delay@2, that you know better about, once each; the report says so.",
    )

    condition: list[str] | None = option(
        None,
        "NAME…",
        "The robot's condition in which the logs were taken, such as free or loaded: one for all, or one for "
        "each log, those of --validate last.",
        shown="that of the mapping",
    )

    def in_conditions(self, logs: Sequence[Log]) -> tuple[Log, ...]:
        """The logs in the conditions that the command line names."""
        names = self.condition or []
        if not names:
            return tuple(logs)
        if len(names) not in (1, len(logs)):
            raise DynidError(
                f"--condition names {len(names)} conditions for {len(logs)} logs; give one for all of them, "
                "or one for each, those of --validate last."
            )
        each = names * len(logs) if len(names) == 1 else names
        return tuple(replace(log, condition=name) for log, name in zip(logs, each, strict=True))

    def with_accepted(self, logs: Iterable[Log]) -> tuple[Log, ...]:
        """The logs with what the user accepts."""
        return tuple(accept_findings(log, self.accept or ()) for log in logs)


@dataclass(frozen=True)
class UsedLogOptions(LogOptions):
    """Logs that are used, not only checked."""

    repair: bool = option(False, "", "Repair repairable defects of the logs.")


@dataclass(frozen=True)
class FitLogOptions(UsedLogOptions):
    """Which logs, or parts of them, are kept for validation."""

    validate: list[Path] | None = option(
        None,
        "LOG…",
        "Logs kept for validation: all words up to the next option; ROBOT and LOG… stand before it.",
    )
    split: float | None = option(None, "SHARE", "Fit this share of each log, validate on the rest.")


@dataclass(frozen=True)
class PreparationOptions(OptionGroup, title="Preparation (suggested from the data where nothing is given)"):
    """Filters and decimation: a plan, or keys of one."""

    plan: Path | None = option(
        None, "FILE", "Preparation as TOML; the options below override its keys, or those suggested."
    )
    trim_start_s: float | None = option(None, "S", option_help(Preparation, "trim_start_s"))
    trim_end_s: float | None = option(None, "S", option_help(Preparation, "trim_end_s"))
    stamps: str | None = option(None, "NAME", option_help(Preparation, "stamps"), choices=STAMPS)
    cutoff_hz: float | None = option(None, "F", option_help(Preparation, "cutoff_hz"))
    decimation: int | None = option(None, "N", option_help(Preparation, "decimation"))
    mask: str | None = option(None, "V", "Speeds below which rows are left out: one, or one per joint.")
    velocity: str | None = option(
        None,
        "NAME",
        option_help(Preparation, "velocity"),
        choices=(DIFFERENTIATED, MEASURED),
        shown="what predicts better",
    )
    convention: str | None = option(
        None, "NAME", option_help(Preparation, "convention"), choices=("scipy", "matlab")
    )

    def chosen(self, axes: int) -> tuple[Preparation | None, dict[str, Any]]:
        """The preparation of a command line, or None with the keys that replace suggested ones."""
        keys = {name: value for name, value in self.given.items() if name not in ("plan", "mask")}
        if self.mask is not None:
            keys["speed_thresholds"] = numbers_in(self.mask, axes)
            if not keys["speed_thresholds"]:
                raise DynidError(f"--mask is {self.mask!r}; give one speed, or {axes} separated by commas.")
        return (None, keys) if self.plan is None else (replace(load_preparation(self.plan), **keys), {})
