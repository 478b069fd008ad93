"""Ctrl-C while the program is still loading: one sentence instead of a traceback.

Imported before anything heavy; once a command runs, ``dynid.cli.main`` sees to interruptions itself.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType

SENTENCE = "Interrupted."
CODE = 1


def _hook(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if not issubclass(kind, KeyboardInterrupt):
        sys.__excepthook__(kind, error, trace)
        return
    if "--json" in sys.argv:
        sys.stdout.write(f'{{"error": "{SENTENCE}", "exit_code": {CODE}}}\n')
        sys.stdout.flush()
    sys.stderr.write(f"dynid: {SENTENCE}\n")
    sys.stderr.flush()
    os._exit(CODE)  # Python would leave with a code of its own


_program = Path(sys.argv[0]) if sys.argv else Path()
if _program.stem == "dynid" or _program.parts[-3:] == ("dynid", "cli", "main.py"):
    # Only where dynid is the program: others who import it keep their own ways.
    sys.excepthook = _hook
