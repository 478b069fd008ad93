"""The parameters of a result as a LaTeX table, as papers print them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

from dynid.core.errors import DynidError
from dynid.export.model import Export, ExportedFile
from dynid.export.tables import ParameterRow, base_rows, further_rows
from dynid.export.words import heading_lines
from dynid.results.result import SavedResult

_ESCAPES = {
    "\\": r"\textbackslash{}", "{": r"\{", "}": r"\}", "$": r"\$", "&": r"\&", "#": r"\#", "%": r"\%",
    "_": r"\_", "^": r"\textasciicircum{}", "~": r"\textasciitilde{}",
}  # fmt: skip
_HEAD = r"Parameter & Value & $\sigma$ & $\sigma$ in \% & Unit & Grouped from \\"
_UNKNOWN = "--"


def to_latex(result: SavedResult, name: str) -> Export:
    """A table of base parameters and one of added terms, to be set by ``\\input``.

    Args:
        result: the model.
        name: of the file.
    """
    names = _math_names(result)
    tables = [("Base parameters", base_rows(result), True), ("Added terms", further_rows(result), False)]
    lines = [f"% {line}" for line in heading_lines(result, ["A plain tabular that needs no packages."])]
    for title, rows, grouped in tables:
        lines += _table(title, rows, names, grouped) if rows else []
    text = "\n".join([*lines, ""])
    _require_balance(text)
    lost = ("All digits of the values, and covariances.", "Standard parameters.")
    count = sum(len(rows) for _, rows, _ in tables)
    return Export("latex", (ExportedFile(f"{name}.tex", text.encode()),), lost, figures={"parameters": count})


def _table(title: str, rows: Sequence[ParameterRow], names: dict[str, str], grouped: bool) -> list[str]:
    head = _HEAD if grouped else _HEAD.replace("Grouped from", "Torque")
    lines = [f"% {title}", r"\begin{tabular}{lrrrll}", r"\hline", head, r"\hline"]
    for row in rows:
        text = row.formula.partition(" = ")[2] if grouped else row.formula
        made = _formula(text, names) if grouped and text != row.name else "" if grouped else _text(text)
        lines.append(" & ".join([f"${names[row.name]}$", *_numbers(row), _unit(row.unit), made]) + r" \\")
    return [*lines, r"\hline", r"\end{tabular}"]


def _numbers(row: ParameterRow) -> list[str]:
    """Value, σ and %σ; the value has two digits beyond the first of its σ."""
    if not row.kept:
        return ["0", _UNKNOWN, _UNKNOWN]
    if not 0 < row.sigma < math.inf:
        return [_number(f"{row.value:.4g}"), _UNKNOWN, _UNKNOWN]
    digits = 4 if not row.value else 2 + max(0, math.ceil(math.log10(abs(row.value) / row.sigma)))
    percent = f"{row.percent:.2g}" if row.percent < 100 else f"{row.percent:.0f}"
    share = _number(percent) if math.isfinite(row.percent) else _UNKNOWN
    return [_number(f"{row.value:.{min(max(digits, 2), 12)}g}"), _number(f"{row.sigma:.2g}"), share]


def _number(text: str) -> str:
    """A number in math mode: 1.2e-05 as 1.2 × 10⁻⁵."""
    mantissa, _, exponent = text.partition("e")
    return f"${mantissa}$" if not exponent else rf"${mantissa}\times 10^{{{int(exponent)}}}$"


def _unit(unit: str) -> str:
    """A unit such as ``kg m^2``: powers are set as such, and all else as text."""
    return "".join(
        f"$^{{{p[1:]}}}$" if re.fullmatch(r"\^\d", p) else _text(p) for p in re.split(r"(\^\d)", unit)
    )


def _text(text: str) -> str:
    """Any text outside of math mode; what is no printable ASCII becomes a question mark."""
    return "".join(_ESCAPES.get(c, c if " " <= c <= "~" else "?") for c in text)


def _math_names(result: SavedResult) -> dict[str, str]:
    """Parameters and lengths in math mode, by name: ZZ1R as ZZ_{1R}, Fv1 as F_{v1}, D3 as D_{3}."""
    table = result.robot.table
    parts = {entry.name: (entry.symbol, entry.name.removeprefix(entry.symbol)) for entry in table}
    made = {name: _math_name(*part) for name, part in parts.items()}
    for name, column in zip(result.base.names, result.base.columns, strict=True):
        symbol, label = parts[table.names[column]]
        made[name] = _math_name(symbol, label + "R" * (name != table.names[column]))
    for name in (*result.robot.lengths, *(row.name for row in further_rows(result))):
        symbol = name.rstrip("0123456789")
        made[name] = _math_name(symbol, name.removeprefix(symbol))
    return made


def _math_name(symbol: str, label: str) -> str:
    """A symbol with its label as index; the second letter of Fv, Fc and Ia stands below as well."""
    if symbol in ("Fv", "Fc", "Ia"):
        symbol, label = symbol[0], symbol[1] + label
    return f"{_in_math(symbol)}_{{{_in_math(label)}}}" if label else _in_math(symbol)


def _in_math(text: str) -> str:
    """Letters and digits as they are, any other text as text."""
    return text if re.fullmatch(r"[A-Za-z0-9]*", text) else rf"\mbox{{\scriptsize {_text(text)}}}"


def _formula(text: str, names: dict[str, str]) -> str:
    """A sum of parameters and lengths in math mode."""
    known = "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))
    parts = re.split(rf"({known})", text)
    return f"${''.join(names[part] if part in names else _signs(part) for part in parts)}$"


def _signs(text: str) -> str:
    """Numbers and signs between names."""
    if not re.fullmatch(r"[0-9+\-.,()^* e]*", text):
        return _in_math(text)
    return re.sub(r"\^(\d+)", r"^{\1}", text.replace("*", r"\,"))


def _require_balance(text: str) -> None:
    """Read back: braces and dollars outside of comments come in pairs, and every row has six cells."""
    lines = [line for line in text.splitlines() if not line.startswith("%")]
    for line in lines:
        bare = re.sub(r"\\(textbackslash|textasciicircum|textasciitilde){}|\\.", "", line)
        cells = len(re.findall(r"(?<!\\)&", line))
        if bare.count("{") != bare.count("}") or bare.count("$") % 2 or cells not in (0, 5):
            raise DynidError(f"The row {line!r} of the LaTeX table is not whole; please report it.")
