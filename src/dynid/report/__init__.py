"""One self-contained page for people, and the same as JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.report.document import build_document as build_document
    from dynid.report.page import (
        Page as Page,
        Section as Section,
        render_page as render_page,
        render_report as render_report,
    )
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "document": ("build_document",),
        "page": ("Page", "Section", "render_page", "render_report"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES, ("sections",))
