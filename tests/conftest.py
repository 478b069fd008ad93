"""Settings shared by all tests; helpers live in ``tests/support`` and are imported as ``support.…``."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from hypothesis import settings

# Times vary with the machine, so no test may fail for being slow; examples are few and the same on every run.
settings.register_profile("dynid", deadline=None, max_examples=25, derandomize=True, print_blob=True)
settings.load_profile("dynid")

# Every run compiles its kernels anew (workers share them); none is taken from the user's cache.
_run = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
os.environ["DYNID_CACHE"] = str(Path(tempfile.gettempdir()) / f"dynid-tests-{_run}")


def pytest_sessionfinish(session: object) -> None:
    """Throw the run's kernels away, once no worker needs them."""
    if "PYTEST_XDIST_WORKER" not in os.environ:
        for folder in Path(tempfile.gettempdir()).glob(f"dynid-tests-{_uid(session)}"):
            for file in folder.glob("*"):
                file.unlink(missing_ok=True)
            folder.rmdir()


def _uid(session: object) -> str:
    config = getattr(session, "config", None)
    plugin = config.pluginmanager.getplugin("dsession") if config else None
    return str(plugin.nodemanager.testrunuid) if plugin else _run
