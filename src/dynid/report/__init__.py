"""One self-contained page for people, and the same as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.report.design_document import design_document as design_document
    from dynid.report.design_page import render_design as render_design
    from dynid.report.document import build_document as build_document
    from dynid.report.page import (
        Page as Page,
        Section as Section,
        render_page as render_page,
        render_report as render_report,
    )
    from dynid.report.stick_figure import stick_figure as stick_figure
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "design_document": ("design_document",),
        "design_page": ("render_design",),
        "document": ("build_document",),
        "page": ("Page", "Section", "render_page", "render_report"),
        "stick_figure": ("stick_figure",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES, ("sections",))
