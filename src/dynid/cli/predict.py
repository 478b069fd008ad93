"""``dynid predict``: torques of a saved model along logs, as a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from dynid.cli.command import JsonOption, ResultArgument, command, option
from dynid.cli.log_options import LogsArgument, UsedLogOptions
from dynid.cli.output import Screen, TextFileOptions, print_json, progress_line, require_free
from dynid.core.arrays import FloatArray
from dynid.core.disk import replaced_file
from dynid.core.errors import FileError
from dynid.core.text import TextTable
from dynid.export.words import coordinate_names, coordinate_units
from dynid.logs.spool import blocks
from dynid.results.load import load_result
from dynid.results.result import SavedResult
from dynid.workflow.prediction import PredictedLog, predict_logs, read_to_predict


@dataclass(frozen=True)
class TorqueFileOptions(TextFileOptions):
    """A file for the torques."""

    out: Path | None = option(None, "FILE", "CSV file to write, whole or not at all.")


@command(
    examples=["dynid predict out/fit other.csv", "dynid predict out/fit planned.csv --out torques.csv"],
    exit_0="The torques were predicted.",
    exit_2="A log is not usable.",
)
def predict(
    result: ResultArgument,
    logs: LogsArgument,
    files: UsedLogOptions,
    target: TorqueFileOptions,
    as_json: JsonOption = False,
) -> None:
    """Predict the torques of a saved model along logs, which need not hold torques themselves."""
    saved = load_result(result)
    if target.out is not None:
        require_free(target.out, target.force)
    with progress_line(quiet=as_json) as tell:
        tell("reading")
        given = files.with_accepted(files.in_conditions(read_to_predict(saved, logs, files.mapping)))
        tell("predicting")
        found = predict_logs(saved, given, repair=files.repair)
    if target.out is not None:
        _write(target.out, found)
    if as_json:
        print_json(_document(saved, found, target.out))
    else:
        _print(saved, found, target.out)


def _write(path: Path, found: Sequence[PredictedLog]) -> None:
    """One row per sample: the log's number where there are several, time, and the torques joint by joint."""
    try:
        with replaced_file(path) as file:
            for number, one in enumerate(found, 1):
                _write_log(file, one, number if len(found) > 1 else None, measured=_any_measured(found))
    except OSError as error:
        raise FileError(f"{path} cannot be written: {error.strerror or error}.") from None


def _any_measured(found: Sequence[PredictedLog]) -> bool:
    return any(one.errors is not None for one in found)


def _write_log(file: BinaryIO, one: PredictedLog, number: int | None, *, measured: bool) -> None:
    for rows in blocks(one.motion.samples):
        columns = dict(_columns(one, rows, measured))
        if number is not None:
            columns = {"log": np.full(len(columns["t"]), float(number)), **columns}
        head = ",".join(columns) if rows.start == 0 and number in (None, 1) else ""
        table = np.column_stack(list(columns.values()))
        np.savetxt(file, table, fmt="%.15g", delimiter=",", header=head, comments="")


def _columns(one: PredictedLog, rows: slice, measured: bool) -> Iterator[tuple[str, FloatArray]]:
    """Columns by name; measured torques are nan where one of several logs has none."""
    yield "t", one.motion.time[rows]
    predicted, tau = np.asarray(one.torques[rows]), np.asarray(one.motion.tau[rows])
    for j in range(predicted.shape[1]):
        if measured:
            yield f"tau{j + 1}_measured", tau[:, j] if one.errors is not None else np.full(len(tau), np.nan)
        yield f"tau{j + 1}_predicted", predicted[:, j]
        if one.sigma is not None:
            yield f"tau{j + 1}_sigma", np.asarray(one.sigma[rows])[:, j]


def _document(saved: SavedResult, found: Sequence[PredictedLog], out: Path | None) -> dict[str, Any]:
    units = [tau for _, tau in coordinate_units(saved.robot)]
    logs = [
        {
            "name": one.motion.name,
            "samples": one.motion.samples,
            "rate_hz": one.motion.rate_hz,
            "errors": None if one.errors is None else one.errors.to_dict(),
        }
        for one in found
    ]
    return {
        "result": str(saved.folder),
        "joints": list(coordinate_names(saved.robot)),
        "units": units,
        "logs": logs,
        "file": None if out is None else str(out),
    }


def _print(saved: SavedResult, found: Sequence[PredictedLog], out: Path | None) -> None:
    screen = Screen()
    names, units = coordinate_names(saved.robot), coordinate_units(saved.robot)
    for one in found:
        screen.print(f"{one.motion.name}: {one.motion.samples} samples", style="bold")
        rows = [
            [name, _size(one, j, unit), _doubt(one, j, unit), _error(one, j, unit)]
            for j, (name, (_, unit)) in enumerate(zip(names, units, strict=True))
        ]
        screen.print(TextTable("", ("joint", "predicted RMS", "σ of it", "error"), rows))
    if out is not None:
        screen.print(f"wrote {out}")


def _size(one: PredictedLog, j: int, unit: str) -> str:
    return f"{_rms(np.asarray(one.torques[:, j])):.4g} {unit}"


def _doubt(one: PredictedLog, j: int, unit: str) -> str:
    return "unknown" if one.sigma is None else f"{_rms(np.asarray(one.sigma[:, j])):.2g} {unit}"


def _error(one: PredictedLog, j: int, unit: str) -> str:
    """Share of the measured torque that the model misses, sample by sample."""
    return "not measured" if one.errors is None else one.errors.share(j, unit)


def _rms(values: FloatArray) -> float:
    return float(np.sqrt(np.mean(values**2)))
