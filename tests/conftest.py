"""Settings shared by all tests; helpers live in ``tests/support`` and are imported as ``support.…``."""

from __future__ import annotations

from hypothesis import settings

# Times vary with the machine, so no test may fail for being slow; examples are few and the same on every run.
settings.register_profile("dynid", deadline=None, max_examples=25, derandomize=True, print_blob=True)
settings.load_profile("dynid")
