"""JointState messages as ROS 2 puts them on the wire (CDR, OMG DDS-XTypes plain encoding)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from dynid.core.errors import FileError

TYPES = ("sensor_msgs/msg/JointState", "sensor_msgs/JointState")
_MAX_JOINTS = 1000
_MAX_TEXT = 10_000
_ORDERS = {b"\x00\x00": ">", b"\x00\x01": "<"}


@dataclass(frozen=True, slots=True)
class JointState:
    """One message; positions, speeds or efforts may be absent.

    Args:
        stamp: time of the measurement [ns].
        names: joints.
        position: [rad or m].
        velocity: [rad/s or m/s].
        effort: [N m or N].
    """

    stamp: int
    names: tuple[str, ...]
    position: tuple[float, ...]
    velocity: tuple[float, ...]
    effort: tuple[float, ...]


class JointStateDecoder:
    """Decodes messages one after the other; names that do not change are decoded once."""

    def __init__(self) -> None:
        """Begin with nothing known."""
        self._prefix = b""
        self._order = "<"
        self._names: tuple[str, ...] = ()
        self._end = 0

    def decode(self, data: bytes) -> JointState:
        """One message.

        Args:
            data: the serialized message with its four-byte header.

        Raises:
            FileError: when the bytes are no JointState.
        """
        try:
            return self._decode(data)
        except (struct.error, UnicodeDecodeError, IndexError) as error:
            raise FileError(f"a message of {len(data)} bytes is no JointState ({error})") from None

    def _decode(self, data: bytes) -> JointState:
        order = _ORDERS.get(data[:2])
        if order is None:
            raise FileError(
                f"a message is in the encoding {data[:2].hex() or 'of no bytes'}, not in plain CDR; it may "
                "be compressed"
            )
        if not self._prefix or order != self._order or data[12 : self._end] != self._prefix:
            self._names, self._end = _names(data, order)
            self._prefix, self._order = data[12 : self._end], order
        seconds, nanoseconds = struct.unpack_from(f"{order}iI", data, 4)
        place = self._end
        arrays = []
        for what in ("position", "velocity", "effort"):
            values, place = _doubles(data, place, order, what, len(self._names))
            arrays.append(values)
        return JointState(seconds * 1_000_000_000 + nanoseconds, self._names, *arrays)


def _names(data: bytes, order: str) -> tuple[tuple[str, ...], int]:
    """Joint names, and where the arrays begin."""
    _, place = _text(data, 12, order)
    place = _aligned(place, 4)
    (count,) = struct.unpack_from(f"{order}I", data, place)
    if count > _MAX_JOINTS:
        raise FileError(f"a message claims {count} joints; at most {_MAX_JOINTS} are read")
    place += 4
    names = []
    for _ in range(count):
        name, place = _text(data, place, order)
        names.append(name)
    return tuple(names), place


def _text(data: bytes, place: int, order: str) -> tuple[str, int]:
    place = _aligned(place, 4)
    (length,) = struct.unpack_from(f"{order}I", data, place)
    end = place + 4 + length
    if length > _MAX_TEXT or end > len(data):
        raise FileError(f"a message claims a text of {length} bytes in {len(data)}")
    return data[place + 4 : end].rstrip(b"\0").decode("utf-8"), end


def _doubles(data: bytes, place: int, order: str, what: str, joints: int) -> tuple[tuple[float, ...], int]:
    place = _aligned(place, 4)
    (count,) = struct.unpack_from(f"{order}I", data, place)
    if count not in (0, joints):
        raise FileError(f"a message holds {count} values of {what} for {joints} joints")
    if count == 0:
        return (), place + 4
    place = _aligned(place + 4, 8)
    return struct.unpack_from(f"{order}{count}d", data, place), place + 8 * count


def _aligned(place: int, size: int) -> int:
    """Alignment counts from behind the four-byte header."""
    return place + (-(place - 4)) % size
