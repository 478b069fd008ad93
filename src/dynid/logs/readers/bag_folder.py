"""The files of a ROS 2 bag's folder."""

from __future__ import annotations

import re
from pathlib import Path

from dynid.core.errors import FileError

ENDINGS = (".db3", ".mcap")


def bag_files(folder: Path) -> tuple[Path, ...]:
    """Files of a bag's folder, in the order in which they were recorded; none when it is no bag."""
    files = [file for file in folder.iterdir() if file.suffix.lower() in ENDINGS]
    if not (folder / "metadata.yaml").is_file() and len(files) != 1:
        return ()
    if len({file.suffix.lower() for file in files}) > 1:
        raise FileError(f"{folder} holds sqlite and MCAP files; give one of them.")

    def number(file: Path) -> tuple[int, str]:
        digits = re.search(r"(\d+)$", file.stem)  # bag_10 comes after bag_9
        return (int(digits[1]) if digits else -1, file.name)

    return tuple(sorted(files, key=number))
