"""Reading robot files with suspicion: existence, size and encoding are checked before any parser sees a byte."""

from __future__ import annotations

from pathlib import Path

from dynid.errors import FileError

MAX_BYTES = 20_000_000


def read_text(path: Path, what: str) -> str:
    """The text of a small UTF-8 file.

    Args:
        path: the file.
        what: what it should be, such as "robot file", for the error sentence.
    """
    if path.is_dir():
        raise FileError(f"{path} is a folder; give the {what} itself.", name="path", value=str(path))
    try:
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise FileError(
                f"The {what} {path} has {size / 1e6:.0f} MB; at most {MAX_BYTES / 1e6:.0f} MB are read.",
                name="path",
                value=size,
                allowed=f"<= {MAX_BYTES} bytes",
            )
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise FileError(
            f"The {what} {path} is not UTF-8 text (byte {error.start}).", name="path", value=str(path)
        ) from None
    except FileNotFoundError:
        raise FileError(f"There is no {what} at {path}.", name="path", value=str(path)) from None
    except OSError as error:
        raise FileError(
            f"The {what} {path} cannot be read: {error.strerror or error}.", name="path", value=str(path)
        ) from None
