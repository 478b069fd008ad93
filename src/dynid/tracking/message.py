"""One message of a stream to one sample: JSON objects, such as joint states of ROS.

The first messages tell what their keys mean, by the grammar of log files; the others are then only looked up.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from dynid.core.errors import DynidError
from dynid.logs.log import Step
from dynid.logs.mapping import LogMapping
from dynid.logs.readers.table import Column, Table
from dynid.model.robot import Robot
from dynid.tracking.refusals import Refusal, Refusals, RefusedMessageError
from dynid.tracking.row_meaning import SANE, RowMeaning, row_meaning
from dynid.tracking.sample import Sample

Message = TypeVar("Message")
KeyPath = tuple[str, ...]
NAME_KEYS = ("name", "names", "joint_names", "joints")
"""Keys whose list of texts names the joints."""
STAMP_KEYS = (("sec", "nanosec"), ("secs", "nsecs"))
"""Keys of a stamp in two integers, as ROS 2 and ROS 1 write it."""
NUMBERS = frozenset({int, float})
"""Types of numbers in JSON; bool is none of them."""


class SampleReader(ABC, Generic[Message]):
    """Messages of a stream to samples; whatever cannot be understood is refused and counted.

    Args:
        robot: which the samples are for.
        mapping: what the user says of keys or columns, as for a log; None to go by common names.
        name: of the stream, for sentences.
        patience: messages of which one at least must be understood.
        looked_at: messages that are understood together. Five show the unit of stamps by their rate (one in
            five may be garbage) and delay a stream at 1 kHz by 5 ms once.
    """

    def __init__(
        self,
        robot: Robot,
        mapping: LogMapping | None = None,
        *,
        name: str = "the stream",
        patience: int = 100,
        looked_at: int = 5,
    ) -> None:
        """Begin without any meaning."""
        self.robot, self.mapping, self.name, self.looked_at = robot, mapping, name, looked_at
        self.refusals = Refusals(name, patience)
        self.meaning: RowMeaning | None = None
        self._first: list[Message] = []

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was understood, as in the history of a log; () before that."""
        return () if self.meaning is None else self.meaning.steps

    def read(self, data: bytes, *, cut: bool = False) -> Sequence[Sample]:
        """Samples that a message adds: one, none, or the first ones once they are understood.

        Args:
            data: the message.
            cut: whether it may be cut off, as the last line of a pipe.
        """
        try:
            message = self._message_of(data)
            if message is None:
                return ()
            if self.meaning is not None:
                sample = self._sample(message, self.meaning)
                self.refusals.accepted += 1
                return (sample,)
        except RefusedMessageError as error:
            self.refusals.add(Refusal.CUT_OFF if cut else error.reason, error.detail)
            return ()
        self._first.append(message)
        return () if len(self._first) < self.looked_at else self._understood()

    def finish(self) -> Sequence[Sample]:
        """Samples still held back at the end of the stream.

        Raises:
            NotTrustworthyError: when there were messages and none was understood.
        """
        samples = self._understood() if self._first and self.meaning is None else ()
        if self.refusals.total and not self.refusals.accepted:
            raise self.refusals.hopeless()
        return samples

    def _understood(self) -> list[Sample]:
        """Samples of the first messages."""
        first, self._first = self._first, []
        try:
            self.meaning = self._meaning_of(first)
        except DynidError as error:
            self.refusals.add(Refusal.NOT_UNDERSTOOD, str(error), len(first))
            return []
        samples = []
        for message in first:
            try:
                samples.append(self._sample(message, self.meaning))
                self.refusals.accepted += 1
            except RefusedMessageError as error:
                self.refusals.add(error.reason, error.detail)
        return samples

    @abstractmethod
    def _message_of(self, data: bytes) -> Message | None:
        """A message's parts; None when it holds nothing. Raises RefusedMessageError."""

    @abstractmethod
    def _meaning_of(self, first: Sequence[Message]) -> RowMeaning:
        """What the first messages say about all. Raises DynidError."""

    @abstractmethod
    def _sample(self, message: Message, meaning: RowMeaning) -> Sample:
        """The sample of a message. Raises RefusedMessageError."""


class JsonReader(SampleReader[dict[str, Any]]):
    """JSON objects, one per message: lists for all joints, or one key for each joint and channel.

    ``{"t": 0.1, "q1": 0.2, "tau1": 3.0, …}`` or, as ROS has it, ``{"header": {"stamp": {"sec": 1, "nanosec":
    0}}, "name": […], "position": […], "effort": […]}``. Joints that are named are put in the robot's order.
    """

    def __init__(self, robot: Robot, mapping: LogMapping | None = None, **options: Any) -> None:
        """Begin without any meaning; options are those of ``SampleReader``."""
        super().__init__(robot, mapping, **options)
        self.lost = 0
        self._sequence: int | None = None
        self._parts: list[tuple[KeyPath, int | None, bool]] = []
        self._stamp: KeyPath | None = None
        self._names: KeyPath | None = None
        self._wanted: tuple[str, ...] = ()
        self._orders: dict[tuple[str, ...], list[int]] = {}

    def _message_of(self, data: bytes) -> dict[str, Any] | None:
        return decode_json(data)

    def _meaning_of(self, first: Sequence[dict[str, Any]]) -> RowMeaning:
        flat = [flat_message(message) for message in first]
        shape = Counter(_shape(parts) for parts in flat).most_common(1)[0][0]
        alike = [i for i, parts in enumerate(flat) if _shape(parts) == shape]
        self._names = next((path for path in first_paths(first[alike[0]]) if path[-1] in NAME_KEYS), None)
        self._orders, self._wanted = {}, ()
        named = () if self._names is None else self._names_of(first[alike[0]])
        if named:
            self._wanted = wanted_joints(named, self.robot, self.mapping)
        order = self._order(named) if named else None
        columns, arrays, parts = [], [], []
        for path, width in shape:
            rows = [flat[i][path] for i in alike]
            by_joint = order is not None and width == len(named)
            if order is not None and by_joint:
                rows = [[row[k] for k in order] for row in rows]
            whole = width is None and all(type(x) is int for x in rows)
            array = np.array(rows, dtype=np.int64 if whole else float)
            if not np.isfinite(array).any():  # a driver that has no speeds may send NaN for them
                continue
            unit = "ns" if type(_value_at(first[alike[0]], path)) is dict else None
            columns.append(Column("/".join(path), array.shape, unit))
            arrays.append(array)
            parts.append((path, width, by_joint))
        steps = (Step("joint order", {"joints": list(self._wanted)}, "Joints as the messages name them."),)
        table = Table(
            Path(self.name), "csv", tuple(columns), arrays.__getitem__, steps if self._wanted else ()
        )
        meaning = row_meaning(table, self.robot, self.mapping)
        self._parts = [parts[i] for i in meaning.used]
        self._stamp = None if meaning.stamp is None else parts[meaning.stamp][0]
        return meaning

    def _sample(self, message: dict[str, Any], meaning: RowMeaning) -> Sample:
        names = () if self._names is None else self._names_of(message)
        order = self._order(names)
        numbers: list[float] = []
        for path, width, by_joint in self._parts:
            value = _value_at(message, path)
            if width is None:
                numbers.append(value)
            elif type(value) is not list or len(value) != (len(names) if by_joint else width):
                raise RefusedMessageError(Refusal.WIDTH, path[-1][:100])
            else:
                numbers += [value[i] for i in order] if by_joint else value
        if not NUMBERS.issuperset(map(type, numbers)):
            raise RefusedMessageError(Refusal.NOT_A_NUMBER)
        time = self.refusals.accepted / (meaning.rate_hz or 1.0)
        if self._stamp is not None:
            time = meaning.time(_stamp_of(_value_at(message, self._stamp)))
        sample = meaning.sample(time, numbers)
        self._count_lost(message)
        return sample

    def _names_of(self, message: dict[str, Any]) -> tuple[str, ...]:
        names = _value_at(message, self._names or ())
        if type(names) is not list or not all(type(name) is str for name in names):
            raise RefusedMessageError(Refusal.JOINTS)
        return tuple(names)

    def _order(self, names: tuple[str, ...]) -> list[int]:
        """Where the joints that are wanted stand among those of a message."""
        order = self._orders.get(names)
        if order is None:
            if len(set(names)) < len(names) or not set(self._wanted) <= set(names):
                raise RefusedMessageError(Refusal.JOINTS, ", ".join(names)[:100])
            order = [names.index(name) for name in self._wanted]
            if len(self._orders) < 100:  # a stranger may send any number of orders
                self._orders[names] = order
        return order

    def _count_lost(self, message: Mapping[str, Any]) -> None:
        """Messages that a number in each says to be lost; those that come late after all count back."""
        number = message.get("seq")
        if number is None and type(message.get("header")) is dict:
            number = message["header"].get("seq")
        if type(number) is not int:
            return
        step = 1 if self._sequence is None else number - self._sequence
        farthest = 1_000_000  # beyond, the sender began to count anew
        if -farthest < step <= 0:
            self.lost -= 1 if step < 0 < self.lost else 0
            return
        self.lost += step - 1 if 0 < step < farthest else 0
        self._sequence = number


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    content = dict(pairs)
    if len(content) < len(pairs):
        raise RefusedMessageError(Refusal.TWICE)
    return content


DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)


def decode_json(data: bytes) -> dict[str, Any] | None:
    """The object of a message; None for an empty one.

    Args:
        data: UTF-8 text; a mark of byte order before it is passed over.
    """
    if not data.strip():
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise RefusedMessageError(Refusal.NOT_TEXT) from None
    try:
        value = DECODER.decode(text)
    except RecursionError:
        raise RefusedMessageError(Refusal.NESTED) from None
    except ValueError as error:  # also of integers with thousands of digits
        raise RefusedMessageError(Refusal.NOT_JSON, str(error)[:100]) from None
    if type(value) is not dict:
        raise RefusedMessageError(Refusal.NOT_JSON, type(value).__name__)
    return value


def flat_message(message: Mapping[str, Any], above: KeyPath = ()) -> dict[KeyPath, Any]:
    """Numbers, lists of numbers and stamps of a message by the path of their keys, two levels deep."""
    parts: dict[KeyPath, Any] = {}
    for key, value in message.items():
        path = (*above, key)
        if type(value) in NUMBERS:
            parts[path] = value if type(value) is float or abs(value) < SANE.longest_ns else float("nan")
        elif type(value) is list and value and NUMBERS.issuperset(map(type, value)):
            parts[path] = [x if type(x) is float or abs(x) < SANE.longest_ns else float("nan") for x in value]
        elif type(value) is dict:
            if any(keys[0] in value and keys[1] in value for keys in STAMP_KEYS):
                try:
                    parts[path] = _stamp_of(value)
                except RefusedMessageError:
                    continue
            elif len(above) < 1:
                parts |= flat_message(value, path)
    return parts


def first_paths(message: Mapping[str, Any], above: KeyPath = ()) -> list[KeyPath]:
    """Paths to all keys of a message, two levels deep at most."""
    paths = [(*above, key) for key in message]
    inner = [(key, value) for key, value in message.items() if type(value) is dict and not above]
    return paths + [path for key, value in inner for path in first_paths(value, (key,))]


def wanted_joints(names: Sequence[str], robot: Robot, mapping: LogMapping | None) -> tuple[str, ...]:
    """Joints of a message that count: those a mapping names, else the robot's, else all as they come.

    Args:
        names: joints of the message.
        robot: whose joints are looked for.
        mapping: its ``[bag]`` may name joints in an order.
    """
    said = () if mapping is None else mapping.bag.joints
    own = tuple(robot.joints[i].name for i in robot.coordinates)
    return said or (own if set(own) <= set(names) else tuple(names))


def joint_state_text(sample: Sample, names: Sequence[str] = (), seq: int | None = None) -> bytes:
    """A sample as a line of JSON that ``JsonReader`` reads: what a sender writes.

    Args:
        sample: in SI, on the joint side.
        names: of the joints, in the order of the sample.
        seq: number of the message, by which lost ones are counted.
    """
    parts: dict[str, Any] = {} if seq is None else {"seq": seq}
    parts["t"] = sample.time
    parts |= {"name": list(names)} if names else {}
    parts["position"], parts["effort"] = sample.q.tolist(), sample.tau.tolist()
    for key, values in (("velocity", sample.qd), ("reference", sample.reference)):
        if values is not None:
            parts[key] = values.tolist()
    return json.dumps(parts).encode() + b"\n"


def _shape(parts: Mapping[KeyPath, Any]) -> tuple[tuple[KeyPath, int | None], ...]:
    """Paths of a flat message with the lengths of their lists; None for a single number."""
    return tuple((path, len(value) if type(value) is list else None) for path, value in parts.items())


def _value_at(message: Any, path: KeyPath) -> Any:
    try:
        for key in path:
            message = message[key]
    except (KeyError, TypeError):
        raise RefusedMessageError(Refusal.LACKING, ".".join(path)[:100]) from None
    return message


def _stamp_of(value: Any) -> float | int:
    """A stamp as a number; whole nanoseconds where it comes in two integers."""
    if type(value) is float or type(value) is int:
        return value
    if type(value) is dict:
        for seconds, nanoseconds in STAMP_KEYS:
            whole, rest = value.get(seconds), value.get(nanoseconds)
            if type(whole) is int and type(rest) is int and abs(whole) < SANE.latest and 0 <= rest < 10**9:
                return whole * 10**9 + rest
    raise RefusedMessageError(Refusal.STAMP)
