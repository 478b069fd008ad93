"""``dynid validate``: a saved model against logs it has not seen."""

from __future__ import annotations

from typing import Annotated

import typer

from dynid.cli.fit import progress_line
from dynid.cli.fit_options import LogsArgument, MapOption
from dynid.cli.output import console, print_json, table
from dynid.cli.report import ResultArgument
from dynid.export.result import load_result
from dynid.signals.convert import to_joint_side
from dynid.signals.prepare import prepare
from dynid.signals.read import read_logs
from dynid.signals.repair import repair_log
from dynid.validation.model import Model
from dynid.validation.validate import validate as validate_model


def validate(
    result: ResultArgument,
    logs: LogsArgument,
    mapping: MapOption = None,
    repair: Annotated[bool, typer.Option("--repair", help="Repair repairable defects of the logs.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> int:
    """Predict the torques of logs with a saved model and say what the prediction is worth."""
    saved = load_result(result)
    with progress_line(quiet=as_json) as tell:
        tell("reading")
        given = [to_joint_side(log, saved.robot) for log in read_logs(logs, mapping)]
        tell("predicting")
        motions = [prepare(repair_log(log) if repair else log, saved.plan) for log in given]
        model = Model(saved.robot, saved.base, saved.values, saved.covariance)
        found = validate_model(model, motions, saved.plan)
    if as_json:
        print_json({"result": str(result), **found.to_dict()})
    else:
        screen = console()
        screen.print(found.verdict.sentence, markup=False)
        figures = found.judged
        rows = [
            [name, f"{figures.relative_percent[j]:.2f} %", f"{figures.rms[j]:.4g} {found.units[j]}"]
            for j, name in enumerate(found.joints)
        ]
        screen.print(table("", ("joint", "relative error", "RMS"), rows))
    return 0 if found.trustworthy else 2
