"""Export: an identified model in the forms that simulators, controllers and papers take."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.export.export import FORMS as FORMS, export_model as export_model, write_export as write_export
    from dynid.export.model import Export as Export, ExportedFile as ExportedFile
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {"export": ("FORMS", "export_model", "write_export"), "model": ("Export", "ExportedFile")}
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
