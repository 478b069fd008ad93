"""Pages from templates: a section is a template and a context, a page is a list of sections.

A page is one file that needs nothing but itself. The templates escape whatever comes from a document, and a
content security policy lets no script or style run but the two that the page carries, known by their hashes.
"""

from __future__ import annotations

import base64
import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Any

from dynid.core.errors import DynidError
from dynid.report import sections
from dynid.report.charts import Figure, figure_drawing
from dynid.report.document import READABLE
from dynid.report.possible import possible

if TYPE_CHECKING:
    from jinja2 import Environment

Content = Mapping[str, Any]


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Args:
        key: its id on the page.
        label: its link in the navigation; none when empty.
        context: what its template shows, from the page's content; the section is left out when this is None.
        template: name of the template, without its ending; the key when empty.
    """

    key: str
    label: str
    context: Callable[[Content], Content | None]
    template: str = ""


@dataclass(frozen=True)
class Page:
    """A kind of page.

    Args:
        name: what the page is, above its title.
        sections: in reading order; the first one stands above the navigation.
        data: what the script draws, from the page's content; without a script when None.
        script: the asset that draws it, after ``common.js``.
    """

    name: str
    sections: tuple[Section, ...]
    data: Callable[[Content], Content] | None = None
    script: str = "page.js"


REPORT = Page(
    "dynid report",
    (
        Section("verdict", "", sections.verdict),
        Section("robot", "Robot", sections.robot),
        Section("data", "Data", sections.data_checks),
        Section("fit", "Fit", sections.fit, "torques"),
        Section("parameters", "Parameters", sections.parameters),
        Section("possible", "Possible robot", possible),
        Section("essential", "Essential set", sections.essential),
        Section("condition", "Correlation", sections.condition),
        Section("validation", "Unseen motion", sections.validation, "torques"),
        Section("suspects", "Suspects", sections.suspects),
        Section("parts", "Parts", sections.parts),
        Section("tests", "Residuals", sections.tests),
        Section("stability", "Experiments", sections.stability),
        Section("run", "How it was made", sections.run),
        Section("words", "Words", sections.words),
    ),
    sections.drawn_data,
)
CASE = Page(
    "dynid reproduce",
    (
        Section("case", "", sections.case_answer),
        Section("notes", "Notes", lambda case: case if case["notes"] else None),
        Section("rows", "Published and ours", sections.case_rows),
        Section("figures", "Figures", lambda case: case if case["drawings"] else None),
    ),
)


def render_report(document: Content) -> str:
    """The report of a fit as one HTML page.

    Args:
        document: what ``build_document`` gives, or the same read back from JSON.
    """
    return render_document(REPORT, document, READABLE, "report", "build_document, or fit again")


def render_document(page: Page, document: Content, schemas: Sequence[str], what: str, remedy: str) -> str:
    """A page of a document that may come from a file: what it lacks is said in a sentence.

    Args:
        page: what kind of page.
        document: with a schema and a title.
        schemas: those that can be shown, the newest first.
        what: it is a document of, for the sentence.
        remedy: what makes such a document, likewise.
    """
    if document.get("schema") not in schemas:
        raise DynidError(
            f"The {what} document has schema {document.get('schema')!r}; this version reads {schemas[0]!r}. "
            f"Make the document again with {remedy}."
        )
    from jinja2 import TemplateError

    try:
        return render_page(page, document, document["title"])
    except (
        KeyError,
        IndexError,
        TypeError,
        AttributeError,
        ValueError,
        ArithmeticError,
        TemplateError,
    ) as error:
        lack = (
            f"it lacks {error.args[0]!r}" if isinstance(error, KeyError) else "its content is not as written"
        )
        raise DynidError(f"The {what} document is damaged: {lack}. Make it again with {remedy}.") from error


def render_case(result: Content, figures: Sequence[Figure]) -> str:
    """A reproduced experiment as one HTML page.

    Args:
        result: case, title, rows, notes and ok, as ``dynid reproduce --json`` prints them.
        figures: drawings.
    """
    content = {**result, "drawings": [figure_drawing(figure) for figure in figures]}
    return render_page(CASE, content, result["title"], result["case"])


def render_page(page: Page, content: Content, title: str, about: str = "") -> str:
    """A page without any reference to the outside.

    Args:
        page: what kind of page.
        content: what its sections are about.
        title: heading and title.
        about: what stands beside the page's name.
    """
    environment = _environment()
    filled = [(part, context) for part in page.sections if (context := part.context(content)) is not None]
    bodies = [
        environment.get_template(f"{part.template or part.key}.html.j2").render(context, key=part.key)
        for part, context in filled
    ]
    style, script = asset("page.css"), asset("common.js") + asset(page.script) if page.data else ""
    return environment.get_template("page.html.j2").render(
        name=f"{page.name} {about}".strip(),
        title=title,
        policy=_policy(style, script),
        style=style,
        script=script,
        links=[(part.key, part.label) for part, _ in filled if part.label],
        bodies=bodies,
        data=page.data(content) if page.data else None,
    )


def _policy(style: str, script: str) -> str:
    """Nothing is loaded, and no style or script runs but these: a name that slips through stays text."""

    def source(text: str) -> str:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return f"'sha256-{digest}'" if text else "'none'"

    return (
        f"default-src 'none'; style-src {source(style)}; script-src {source(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'"
    )


@cache
def _environment() -> Environment:
    """Templates that escape everything and refuse names that do not exist."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("dynid.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.policies["json.dumps_kwargs"] = {"allow_nan": False, "separators": (",", ":")}
    made.filters |= {"number": number, "raw": raw, "unit": unit, "chance": chance, "share": share}
    return made


def asset(name: str) -> str:
    """A file of the page that ships with the package."""
    return (resources.files("dynid.report") / "assets" / name).read_text(encoding="utf-8")


# Filters of the templates: values to text. What they return is escaped.


def number(value: Any, digits: int = 3) -> str:
    """A number for reading: so many significant digits, no exponent for everyday sizes, – for none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 6:
        return f"{value:.{max(0, digits - 1 - exponent)}f}".replace("-", "−")
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{int(power)}".replace("-", "−")


def raw(value: Any) -> str:
    """The number itself, for sorting and tests; empty for none."""
    return "" if value is None else repr(value) if isinstance(value, float) else str(value)


def chance(value: float | None) -> str:
    """A probability; how small a very small one is says nothing."""
    return number(value, 2) if value is None or value >= 1e-4 else "< 0.0001"


def unit(name: str) -> str:
    """A unit with raised exponents; nothing for a ratio, whose unit is 1."""
    return "" if name == "1" else str(name).replace("^2", "²").replace("^3", "³")


def share(percent: float | None, full: float = 100.0) -> str:
    """The length of a bar in percent of its box.

    Args:
        percent: its value; none is drawn as nothing.
        full: the value that fills the box.
    """
    width = 0.0 if percent is None or not math.isfinite(percent) else 100.0 * percent / full
    return f"{min(100.0, max(0.0, width)):.1f}"
