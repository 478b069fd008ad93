"""Torques: of the fit, of unseen motion, their parts and what is left of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynid.report.html import badge, bar, cell, chance, section, shown, table, text, unit, words
from dynid.report.plots import autocorrelation_plot, curve_set
from dynid.validation.verdict import tested_on

PARTS = (
    ("gravity", "gravity"),
    ("friction", "friction and offset"),
    ("inertia", "links: inertia, Coriolis"),
    ("drive", "drive inertia"),
)


def fit_section(document: Mapping[str, Any]) -> str:
    """The fit's own torques, per joint."""
    fit = document["fit"]
    lead = (
        "How far the model is from the torques it was fitted to. Relative error is the size of what is left "
        "against the size of the torque."
    )
    parts = (error_table(fit, "Errors of the fit"), _residual_note(fit), curve_set(document, seen=True))
    return section("fit", "Torque fit per joint", *parts, lead=lead)


def validation_section(document: Mapping[str, Any]) -> str:
    """Torques of motion that the fit has not seen."""
    validation = document["validation"]
    if validation is None:
        nothing = (
            "<p>No unseen motion was given. A model that was never tried on other motion is not proven: "
            "record a second log and validate with it.</p>"
        )
        return section("validation", "Validation on unseen motion", nothing)
    where = _where(document)
    lead = "The proof: torques of motion that the fit has not seen, predicted and compared."
    if validation["seen"] or validation.get("repeated"):
        lead = f"Torques of {where}, predicted and compared: a small error here proves little."
    parts = [error_table(validation, f"Errors on {where}", document["fit"])]
    parts.append(_residual_note(validation))
    if len(validation["motions"]) > 1:
        parts.append(_motions(validation))
    parts.append(curve_set(document, seen=False))
    return section("validation", f"Validation on {where}", *parts, lead=lead)


def _where(document: Mapping[str, Any]) -> str:
    tested = document["validation"] or document["fit"]
    return tested_on(tested["seen"], tested.get("repeated", False))


def judged(figures: Mapping[str, Any]) -> Mapping[str, Any]:
    """The figures comparable with the residual of a regression."""
    found: Mapping[str, Any] = figures["decimated"] or figures["full"]
    return found


def error_table(validation: Mapping[str, Any], label: str, fit: Mapping[str, Any] | None = None) -> str:
    """Errors per joint and in all; beside those of the fit where given."""
    used, full = judged(validation), validation["full"]
    both = validation["decimated"] is not None
    head = ["joint", "relative error [%]", ""]
    head += ["in the fit [%]"] if fit else []
    head += ["rms", "rms / range [%]", "bias", "largest error"]
    head += ["at full rate [%]"] if both else []
    rows = []
    for j, name in enumerate(validation["joints"]):
        row = words(name, "name") + cell(used["relative_percent"][j])
        row += f"<td>{bar(_scaled(used['relative_percent'][j]), _grade(used['relative_percent'][j]))}</td>"
        row += cell(judged(fit)["relative_percent"][j]) if fit else ""
        row += cell(used["rms"][j], suffix=f" <em>{unit(validation['units'][j])}</em>")
        row += cell(used["nrmse_percent"][j], 2) + _bias(used["bias"][j], used["rms"][j])
        row += cell(used["max_error"][j])
        row += cell(full["relative_percent"][j]) if both else ""
        rows.append(row)
    total = words("all joints", "name") + cell(used["overall_percent"]) + "<td></td>"
    total += cell(judged(fit)["overall_percent"]) if fit else ""
    total += "<td></td>" * 4 + (cell(full["overall_percent"]) if both else "")
    return table(head, rows, label=label, mark="errors", foot=[total])


def _bias(bias: float | None, rms: float | None) -> str:
    """The mean error; a thousandth of the error's size is rounding and shown as zero."""
    small = bias is not None and rms is not None and abs(bias) < 1e-3 * rms
    return f'<td data-value="{bias!r}">0</td>' if small else cell(bias, 2)


def _scaled(percent: float | None) -> float:
    """Bars end at 30 %, where a joint fails."""
    return 100.0 if percent is None else percent / 0.3


def _grade(percent: float | None) -> str:
    if percent is None or percent > 30:
        return "fail"
    return "care" if percent > 15 else "good"


def _residual_note(validation: Mapping[str, Any]) -> str:
    if validation["decimated"] is None:
        return '<p class="remark">Bars end at 30 %.</p>'
    return (
        '<p class="remark">Errors are those of the low-passed, decimated rows that a regression uses; the '
        "last column has them at full rate, noise and standstill included. Bars end at 30 %.</p>"
    )


def _motions(validation: Mapping[str, Any]) -> str:
    rows = []
    for motion in validation["motions"]:
        used = judged(motion)
        row = words(motion["name"], "name") + cell(motion["samples"]) + cell(used["overall_percent"])
        rows.append(row + "".join(cell(value) for value in used["relative_percent"]))
    head = ["motion", "samples", "all joints [%]", *(f"{text(name)} [%]" for name in validation["joints"])]
    return "<h3>By motion</h3>" + table(head, rows, label="Relative errors by motion")


def parts_section(document: Mapping[str, Any]) -> str:
    """What the torque is made of."""
    tested = document["validation"] or document["fit"]
    parts: Mapping[str, Any] = tested["parts"]
    rows = []
    for j, name in enumerate(tested["joints"]):
        row = words(name, "name")
        for key, _ in PARTS:
            percent, rms = parts[key]["percent"][j], parts[key]["rms"][j]
            size = shown(rms, 2) if percent and percent >= 0.05 else "0"
            row += (
                f'<td data-value="{text("" if percent is None else percent)}">{bar(percent, key)}'
                f"<span>{_tenths(percent)} %</span><small>{size} "
                f"{unit(tested['units'][j])}</small></td>"
            )
        rows.append(row)
    head = ("joint", *(label for _, label in PARTS))
    where = _where(document)
    lead = (
        f"The predicted torque on {where}, taken apart: size of each part against the measured torque. Parts "
        "may cancel each other, so they need not sum to 100 %."
    )
    return section(
        "parts",
        "What the torque is made of",
        table(head, rows, label="Parts of the torque", mark="parts"),
        lead=lead,
    )


def _tenths(percent: float | None) -> str:
    return "–" if percent is None else f"{percent:.1f}"


def tests_section(document: Mapping[str, Any]) -> str:
    """Whiteness and normality of what is left."""
    tested = document["validation"] or document["fit"]
    rows = [_test_row(*item) for item in zip(tested["joints"], tested["tests"], strict=True)]
    head = (
        "joint",
        "white?",
        "autocorrelation",
        "Durbin–Watson",
        "Ljung–Box p",
        "runs z",
        "Gaussian?",
        "Jarque–Bera p",
        "excess kurtosis",
    )
    where = _where(document)
    lead = (
        f"What is left of the torque on {where}. If it is white, σ of the parameters is honest; if not, "
        "something systematic is left (friction, flexibility, a delay) and a classical σ is too small."
    )
    note = (
        '<p class="remark">Autocorrelation from lag 1 to 20; bars beyond the shaded band are not chance. '
        "Durbin–Watson is 2 for white residuals and falls towards 0 as neighbours agree.</p>"
    )
    return section("tests", "Residual tests", table(head, rows, label="Residual tests"), note, lead=lead)


def _test_row(name: str, test: Mapping[str, Any]) -> str:
    def answer(good: bool) -> str:
        return f"<td>{badge('good' if good else 'note', 'yes' if good else 'no')}</td>"

    picture = autocorrelation_plot(_numbers(test["autocorrelation"]), test["samples"])
    return (
        words(name, "name")
        + answer(test["white"])
        + f"<td>{picture}</td>"
        + cell(test["durbin_watson"])
        + chance(test["ljung_box_p"])
        + cell(test["runs_z"], 2)
        + answer(test["gaussian"])
        + chance(test["jarque_bera_p"])
        + cell(test["excess_kurtosis"], 2)
    )


def _numbers(values: Sequence[float | None]) -> list[float]:
    return [0.0 if value is None else value for value in values]
