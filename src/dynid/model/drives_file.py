"""Drives as data: the ``[drives]`` table, in a robot file or in a file of its own."""

from __future__ import annotations

import math
from pathlib import Path

from dynid.core.errors import ModelError, unknown_name
from dynid.core.files import naming_file, read_toml
from dynid.model.drives import Drives
from dynid.model.table_values import Table, check_keys, numbers_of, table_of

DRIVES_FILE = "Drives file"
"""How errors begin that a drives file causes."""
_KEYS = ("ratio", "offset", "offset_deg", "gain")


def load_drives(path: str | Path) -> Drives:
    """Load drives from a TOML file that holds ``[drives]`` and nothing else, for ``Robot.with_drives``.

    Args:
        path: the file; the keys of ``[drives]`` are described in ``docs/robot-files.md``.
    """
    file = Path(path)
    content = read_toml(file, "drives file")
    with naming_file(file, DRIVES_FILE):
        for key in content:
            if key != "drives":
                hint = "Put ratio, offset and gain under [drives]; what else a robot has is in its own file."
                raise unknown_name("key in the drives file", key, ("drives",), hint)
        return drives_from_table(table_of(content, "drives"))


def drives_from_table(row: Table) -> Drives:
    """Build drives from the parsed ``[drives]`` table."""
    check_keys(row, _KEYS, "[drives]")
    ratio = row.get("ratio")
    if not isinstance(ratio, list) or not ratio:
        raise ModelError("[drives] needs ratio: a list of gear ratios, or a matrix with one row per motor.")
    n = len(ratio)
    if not isinstance(ratio[0], list):
        ratio = [[value if i == j else 0.0 for j in range(n)] for i, value in enumerate(ratio)]
    matrix = tuple(numbers_of(line, "a row of ratio", n) for line in ratio)
    if "offset" in row and "offset_deg" in row:
        raise ModelError("[drives] gives both offset and offset_deg; keep one.")
    offset = numbers_of(row.get("offset", [0.0] * n), "offset of [drives]", n)
    if "offset_deg" in row:
        offset = tuple(math.radians(v) for v in numbers_of(row["offset_deg"], "offset_deg of [drives]", n))
    return Drives(matrix, offset, numbers_of(row.get("gain", [1.0] * n), "gain of [drives]", n))
