"""A result as people look at it: a summary in words, a table, a plot, a page in a notebook, torques.

Everything is read from the document of the report, so that a finished fit and a result folder that was read
back show the same.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from html import escape
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import DynidError, FileError, ShapeError
from dynid.core.finding import Name, finding_line
from dynid.core.kinds import require_kinds
from dynid.core.lazy import later
from dynid.core.text import TextTable
from dynid.estimators.estimate import SIGMA_WORDS
from dynid.preparation.motion import Motion
from dynid.suspects.account import suspect_lines
from dynid.validation.curves import drawn_motion
from dynid.validation.figures import ErrorFigures
from dynid.validation.model import IdentifiedModel, predictions

if TYPE_CHECKING:
    from dynid.results.result import SavedResult

_may_be_accepted = later("dynid.checks.check", "may_be_accepted")
MAIN = 12
"""Parameters listed in a summary: those known best."""
_FRAME = ("value", "sigma", "percent_sigma", "unit", "status", "formula")


class _HasDocument(Protocol):
    @property
    def document(self) -> Mapping[str, Any]: ...

    @property
    def model(self) -> IdentifiedModel: ...


@contextmanager
def document_reader() -> Iterator[None]:
    """A sentence where a document lacks something: it was changed, or written by another version."""
    try:
        yield
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        reason = f"it lacks {error.args[0]!r}" if isinstance(error, KeyError) else str(error)
        raise FileError(f"The document of the result cannot be shown ({reason}); fit again.") from error


class ResultView(ABC):
    """What a finished fit and a loaded result can show; both have a ``document`` and a ``model``."""

    @property
    @abstractmethod
    def as_saved(self) -> SavedResult:
        """The result as it is read back from a folder."""

    @document_reader()
    def summary(self: _HasDocument, *, verbose: bool = False) -> str:
        """Verdict, findings, errors of the joints and the main parameters, as text.

        Args:
            verbose: whether to add how the data were prepared and to list all parameters.
        """
        return "\n".join(summary_lines(self.document, verbose=verbose))

    @document_reader()
    def to_frame(self: _HasDocument) -> Any:
        """Parameters as a pandas DataFrame: value, sigma, percent_sigma, unit, status, formula; by name."""
        pandas = _library("pandas", "a table of the parameters")
        rows = self.document["parameters"]
        names = [row["name"] for row in rows]
        columns = {key: [row.get(key) for row in rows] for key in _FRAME}
        return pandas.DataFrame(columns, index=pandas.Index(names, name="parameter"))

    def plot(self: _HasDocument, path: str | Path | None = None) -> Any:
        """Measured and predicted torques and what is left between them, as a matplotlib figure.

        Args:
            path: file to write it to (PNG, SVG or PDF), besides returning it.
        """
        require_kinds(ResultView.plot, locals())
        figure = torque_figure(self.document)
        if path is not None:
            try:
                figure.savefig(path)
            except (OSError, ValueError) as error:
                reason = " ".join(str(getattr(error, "strerror", None) or error).split()).rstrip(".")
                raise FileError(
                    f"The figure cannot be written to {path}: {reason}. Give a file that ends in .png, .svg "
                    "or .pdf, in a folder that exists."
                ) from None
        return figure

    def predict(self: _HasDocument, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """Torques of the model.

        Args:
            q: positions (samples, coordinates), or (coordinates,) for one sample [rad or m].
            qd: speeds, likewise.
            qdd: accelerations, likewise.

        Returns:
            Torques of the same shape [N m or N].
        """
        return predicted_torques(self.model, q, qd, qdd)

    @document_reader()
    def _repr_html_(self: _HasDocument) -> str:
        """The summary as a notebook shows it."""
        verdict, *rest = summary_lines(self.document)
        return f"<p><b>{escape(verdict)}</b></p><pre>{escape(chr(10).join(rest))}</pre>"


def summary_lines(document: Mapping[str, Any], *, verbose: bool = False) -> list[str]:
    """Verdict, findings, joints and main parameters of a report's document, line by line.

    Args:
        document: as ``build_document`` makes it.
        verbose: whether to add the preparation and to list all parameters.
    """
    verdict = document["verdict"]
    lines = [verdict["words"], verdict["sentence"]]
    lines += [finding_line(finding) for finding in verdict["findings"]]
    lines += accept_lines(verdict["findings"])
    lines += suspect_lines(document["suspects"]) if document.get("suspects") else []
    lines += [possible_line(document["possibility"])] if document.get("possibility") else []
    lines += ["", *joint_table(document).lines()]
    base, friction = _parameter_rows(document)
    lines += ["", *parameter_table(base, every=verbose).lines(), sigma_line(document)]
    speeds = document["reproducibility"].get("logged_speeds")
    lines += [str(speeds)] if speeds else []
    if friction:
        lines += ["", *_parameter_cells("added terms:", friction).lines()]
    if verbose:
        lines += ["", "How the data were prepared:"]
        lines += [f"  {reason}" for reason in document["reproducibility"].get("preparation_reasons", ())]
    return lines


def accept_lines(findings: Iterable[Mapping[str, Any]]) -> list[str]:
    """How findings that ask for care can be accepted, in a line; none where no such one can be.

    Args:
        findings: as ``Finding.to_dict`` gives them.
    """
    grave = [f for f in findings if f["level"] in ("care", "fail") and _may_be_accepted(Name(f["name"]))]
    names = dict.fromkeys(str(f["figures"].get("suspect", f["name"])) for f in grave)
    quoted = ", ".join(f'"{name}"' if " " in name else name for name in names)
    return [f"  (known to you and right? --accept NAME makes a note of it: {quoted})"] if names else []


def possible_line(possibility: Mapping[str, Any]) -> str:
    """The nearest robot that can exist, in a line.

    Args:
        possibility: as the document of the report has it.
    """
    if possibility["as_it_is"]:
        return "possible robot: the fit is one as it is"
    bounds = len(possibility["active"])
    line = f"possible robot: {bounds} bound{'' if bounds == 1 else 's'} active"
    if possibility["possible_percent"] is None:
        return line
    both = [f"{possibility[key]:.3g} %" for key in ("possible_percent", "plain_percent")]
    return f"{line}, misses {both[0]} of parts not used (the fit alone {both[1]})"


def sigma_line(document: Mapping[str, Any]) -> str:
    """How σ was found, and why so where it was chosen."""
    estimate = document["estimate"]
    reason = estimate["facts"].get("uncertainty_reason")
    return f"σ is {SIGMA_WORDS[estimate['uncertainty']]}" + (f": {reason}" if reason else "")


def joint_table(document: Mapping[str, Any]) -> TextTable:
    """Relative torque error of each joint, in the fit and on other motion, after filtering."""
    fit, other = document["fit"], document.get("validation")
    tried = [fit] if other is None else [fit, other]
    heads = ["joint", "error in the fit"]
    if other is not None:
        heads.append("on its own motion" if other["seen"] else "repeated" if other["repeated"] else "unseen")
    figures = [ErrorFigures.from_dict(part["decimated"] or part["full"]) for part in tried]
    rows = [
        [str(name), *(own.share(j, unit) if own.samples[j] else "" for own in figures)]
        for j, (name, unit) in enumerate(zip(fit["joints"], fit["units"], strict=True))
    ]
    return TextTable("", heads, rows)


def _parameter_rows(document: Mapping[str, Any]) -> tuple[list[Mapping[str, Any]], list[Mapping[str, Any]]]:
    """Base parameters that have values, and those of added terms, which come last."""
    rows, n_base = document["parameters"], document["estimate"]["n_base"]
    return [row for row in rows[:n_base] if row["value"] is not None], list(rows[n_base:])


def parameter_table(rows: Sequence[Mapping[str, Any]], *, every: bool = False) -> TextTable:
    """The parameters known best, or every one of them."""
    known = sorted(rows, key=lambda row: _sort_key(row["percent_sigma"]))
    shown = rows if every else known[:MAIN]
    title = f"{len(shown)} of {len(rows)} parameters" + ("" if every else ", those known best:")
    return _parameter_cells(title, shown)


def _parameter_cells(title: str, rows: Sequence[Mapping[str, Any]]) -> TextTable:
    cells = [
        [
            row["name"],
            f"{row['value']:.4g}",
            _doubt(row["sigma"]),
            row["unit"],
            _percent(row["percent_sigma"]),
        ]
        for row in rows
    ]
    return TextTable(title, ("name", "value", "± σ", "unit", "σ in %"), cells)


def _sort_key(percent: float | None) -> float:
    return float("inf") if percent is None else percent


def _doubt(sigma: float | None) -> str:
    return "unknown" if sigma is None else f"{sigma:.2g}"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.3g} %"


def predicted_torques(model: IdentifiedModel, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
    """Torques of a model for states given as arrays; see ``ResultView.predict``."""
    given = [as_numbers(part, name) for part, name in ((q, "q"), (qd, "qd"), (qdd, "qdd"))]
    if len({part.shape for part in given}) != 1 or given[0].ndim not in (1, 2):
        shapes = ", ".join(str(part.shape) for part in given)
        raise ShapeError(
            f"q, qd and qdd have shapes {shapes}; give three equal ones, (samples, coordinates) or "
            "(coordinates,)."
        )
    position, speed, acceleration = (np.atleast_2d(part) for part in given)
    time, torque = np.arange(len(position), dtype=float), np.zeros_like(position)
    motion = Motion("predicted", time, position, speed, acceleration, torque, rate_hz=1.0)
    return np.asarray(predictions(model, motion)[0]).reshape(given[0].shape)


@document_reader()
def torque_figure(document: Mapping[str, Any]) -> Any:
    """One row per joint: measured and predicted torque of the last motion tried, and what is left."""
    figures = _library("matplotlib.figure", "a plot of the torques")
    curves: Sequence[Mapping[str, Any]] = document["curves"]
    if not curves:
        raise DynidError("The result holds no curves to plot; fit again with this version.")
    shown = next((curve for curve in curves if not curve["seen"]), curves[0])
    joints, units = document["fit"]["joints"], document["fit"]["units"]
    figure = figures.Figure(figsize=(9, 1.8 * len(joints) + 0.6), layout="constrained")
    time, drawn = drawn_motion(shown)
    plots = np.atleast_1d(figure.subplots(len(joints), 1, sharex=True))
    for axes, joint, torques, unit in zip(plots, joints, drawn, units, strict=True):
        for what, style in (("measured", "-"), ("predicted", "--"), ("residual", "-")):
            axes.plot(time, torques[what], style, label=what, linewidth=1)
        axes.set_ylabel(f"{joint} [{unit}]")
    axes.set_xlabel("time [s]")
    figure.legend(*axes.get_legend_handles_labels(), loc="outside upper right", ncols=3)
    figure.suptitle(
        f"{document['title']}: {'the fit' if shown['seen'] else 'unseen motion'}", x=0.02, ha="left"
    )
    return figure


def _library(name: str, what: str) -> Any:
    try:
        return import_module(name)
    except ImportError:
        package = name.split(".")[0]
        raise DynidError(
            f"For {what} the package {package!r} is needed; install it with dynid's plots extra."
        ) from None
