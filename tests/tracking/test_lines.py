"""Samples from lines: JSON and CSV as a log's columns mean, and lines that are refused one by one."""

from __future__ import annotations

import io
import json
import os
import threading

import numpy as np
import pytest

from dynid.core.errors import DynidError, FileError, NotTrustworthyError
from dynid.core.finding import Level, Name
from dynid.logs.convert import to_joint_side
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.tracking import Sample
from dynid.tracking.sources import Lines, Replay
from support.logs import robot_log
from support.streams import assert_same, csv_lines, flat_line, joint_names, json_lines, made_samples

ROBOT = load_robot("double_pendulum")
SAMPLES = made_samples(50)


def read(lines: list[bytes], **options: object) -> tuple[Lines, list[Sample]]:
    source = Lines(io.BytesIO(b"".join(lines)), ROBOT, **options)  # type: ignore[arg-type]
    return source, list(source)


@pytest.mark.parametrize(
    "lines",
    [
        json_lines(SAMPLES),
        json_lines(SAMPLES, joint_names(ROBOT)),
        [flat_line(sample, mode="run") for sample in SAMPLES],
        csv_lines(SAMPLES),
        [line.replace(b"\n", b"\r\n") for line in csv_lines(SAMPLES)],
        [b"\xef\xbb\xbf", *csv_lines(SAMPLES)],
        [b"\xef\xbb\xbf", *json_lines(SAMPLES)],
        [b"\n", b"# made\n", *csv_lines(SAMPLES), b"\n", b"\n"],
        [line.replace(b",", b";") for line in csv_lines(SAMPLES)],
        [line.replace(b",", b"  ") for line in csv_lines(SAMPLES)],
        [line.replace(b"\n", b",\n") for line in csv_lines(SAMPLES)],
        [b"# " + line if k == 0 else line for k, line in enumerate(csv_lines(SAMPLES))],
        [b"controller X\n", csv_lines(SAMPLES)[0], b"s,rad,rad,Nm,Nm\n", *csv_lines(SAMPLES)[1:]],
        [*csv_lines(SAMPLES)[:-1], csv_lines(SAMPLES)[-1].rstrip()],
        csv_lines(SAMPLES[:1]),
    ],
)
def test_all_ways_to_write_samples_give_them_exactly(lines: list[bytes]) -> None:
    source, samples = read(lines)
    assert_same(samples, SAMPLES[: len(samples)])
    assert len(samples) in (1, 50)
    assert source.counts["refused"] == 0
    assert source.findings() == ()
    assert "position" in source.steps[0].note or source.steps[0].name == "joint order"


def test_joints_come_in_the_robots_order_whatever_the_message_says() -> None:
    names = joint_names(ROBOT)
    lines = []
    for k, sample in enumerate(SAMPLES):
        order = [1, 0] if k % 3 else [0, 1]
        parts = {"header": {"stamp": {"sec": 5, "nanosec": k * 1_000_000}, "frame_id": ""}}
        parts |= {"name": ["gripper", *(names[i] for i in order)]}  # type: ignore[dict-item]
        parts |= {"position": [0.1, *(sample.q[i] for i in order)]}  # type: ignore[dict-item]
        parts |= {"velocity": []}  # type: ignore[dict-item]
        parts |= {"effort": [float("nan"), *(sample.tau[i] for i in order)]}  # type: ignore[dict-item]
        lines.append(json.dumps(parts).encode() + b"\n")
    source, samples = read(lines)
    assert source.refused_by_reason == {}
    np.testing.assert_array_equal([s.q for s in samples], [s.q for s in SAMPLES])
    np.testing.assert_array_equal([s.tau for s in samples], [s.tau for s in SAMPLES])
    assert samples[0].qd is None
    assert samples[7].time == pytest.approx(5.007)


def test_nanoseconds_of_the_calendar_keep_their_digits() -> None:
    start = 1_700_000_000_123_456_789
    lines = [flat_line(sample).replace(b'"t": %r' % sample.time, b'"t": 0') for sample in SAMPLES]
    lines = [line.replace(b'"t": 0', b'"t": %d' % (start + 1_000_000 * k)) for k, line in enumerate(lines)]
    for stream in (
        lines,
        [b"stamp,q1,q2,tau1,tau2\n", *(b"%d,1,2,3,4\n" % (start + 1_000_000 * k) for k in range(50))],
    ):
        _, samples = read(stream)
        assert [sample.time for sample in samples] == pytest.approx([k / 1000 for k in range(50)], abs=1e-12)


@pytest.mark.parametrize(("name", "factor"), [("t_ms", 1.0), ("t", 1.0), ("time [us]", 1e3)])
def test_units_of_stamps_are_told_by_name_or_rate(name: str, factor: float) -> None:
    rows = [f"{k * factor},1,2,3,4\n".encode() for k in range(30)]
    _, samples = read([f"{name},q1,q2,tau1,tau2\n".encode(), *rows])
    assert [sample.time for sample in samples] == pytest.approx([k / 1000 for k in range(30)])


@pytest.mark.parametrize("robot_name", ["tx40_log", "double_pendulum"])
def test_a_stream_means_what_the_log_means_under_the_same_mapping(robot_name: str, tmp_path: object) -> None:
    """Motor side, degrees, signs, offsets, gains of a log file: its lines give the same samples."""
    robot = load_robot(robot_name)
    n = robot.n_coordinates
    log = robot_log(robot, seconds=1.0)
    rng = np.random.default_rng(2)
    table = {
        "side": "motor" if robot.drives is not None else "joint",
        "position": {"columns": "p{axis}", "unit": "deg", "sign": rng.choice([1, -1], n).tolist(),
                     "offset": rng.normal(size=n).tolist()},
        "torque": {"columns": "c{axis}", "unit": "mA", "gain": rng.uniform(0.1, 2, n).tolist()},
        "reference": {"columns": "r{axis}", "scale": 1e-5},
        "time": {"column": "k", "unit": "ms"},
    }  # fmt: skip
    axes = range(1, n + 1)
    names = ["k", *(f"{c}{axis}" for c in "pcr" for axis in axes)]
    values = np.hstack(
        [
            1000 * log.time[:, None],
            57 * log.array("position"),
            1e3 * log.array("torque"),
            1e5 * log.array("position"),
        ]
    )
    text = "".join([",".join(names) + "\n", *(",".join(map(repr, row)) + "\n" for row in values.tolist())])
    file = tmp_path / "motor.csv"  # type: ignore[operator]
    file.write_text(text)
    mapping = mapping_from_table(table)
    wanted = to_joint_side(read_log(file, mapping), robot)
    samples = list(Lines(io.BytesIO(text.encode()), robot, mapping))
    assert len(samples) == len(wanted.time)
    np.testing.assert_allclose([s.time for s in samples], wanted.time, rtol=1e-15)
    for channel, name in (("position", "q"), ("torque", "tau"), ("reference", "reference")):
        got = np.array([getattr(s, name) for s in samples])
        np.testing.assert_allclose(got, wanted.array(channel), rtol=1e-12, atol=1e-12)
    assert {step.name for step in wanted.history} >= {"units"}


def test_a_stream_without_stamps_is_counted_at_the_rate_of_the_mapping() -> None:
    lines = [b"q1,q2,tau1,tau2\n", *(b"1,2,3,4\n" for _ in range(30))]
    _, samples = read(lines, mapping=mapping_from_table({"rate_hz": 500.0}))
    assert [sample.time for sample in samples] == pytest.approx([k / 500 for k in range(30)])
    with pytest.raises(NotTrustworthyError, match="no column of stamps was found; give rate_hz"):
        read(lines)


DAMAGE = [
    (b"1,2,3\n", "wrong number of values"),
    (b"1,2,3,4,5,6,7\n", "wrong number of values"),
    (b"0.02,one,2,3,4\n", "no number"),
    (b"0.02,1_0,2,3,4\n", "no number"),
    (b"0.02,nan,2,3,4\n", "not finite or huge"),
    (b"0.02,,2,3,4\n", "not finite or huge"),
    (b"0.02,1,inf,3,4\n", "not finite or huge"),
    (b"0.02,1,1e300,3,4\n", "not finite or huge"),
    (b"1e300,1,2,3,4\n", "impossible stamp"),
    (b"nan,1,2,3,4\n", "impossible stamp"),
    (b"noon,1,2,3,4\n", "impossible stamp"),
    (csv_lines(SAMPLES)[0], "header repeated"),
    (b"\x00\x01\x02\n", "no UTF-8 text"),
    (b"0.02,\xff\xfe,2,3,4\n", "no UTF-8 text"),
    (b"9" * 200_000 + b"\n", "too long"),
    (b"{}\n", "wrong number of values"),
]


@pytest.mark.parametrize(("line", "reason"), DAMAGE)
def test_a_damaged_row_is_refused_and_the_stream_goes_on(line: bytes, reason: str) -> None:
    lines = csv_lines(SAMPLES)
    source, samples = read([*lines[:20], line, *lines[20:]])
    assert_same(samples, SAMPLES)
    assert source.refused_by_reason == {reason: 1}
    assert source.counts["received"] - 1 == len(SAMPLES) + source.counts["refused"]  # and the names
    finding = source.findings()[0]
    assert (finding.name, finding.level) == (Name.DAMAGED_LINES, Level.CARE)
    assert reason in finding.sentence


@pytest.mark.parametrize("head", [b"[INFO] node started\n", b"\x00\x99rubbish\n"])
def test_talk_above_json_lines_is_passed_over(head: bytes) -> None:
    source, samples = read([head, *json_lines(SAMPLES)])
    assert_same(samples, SAMPLES)
    assert source.counts["refused"] == 1


def test_a_last_line_that_is_cut_off_is_left_out() -> None:
    for lines in (csv_lines(SAMPLES), json_lines(SAMPLES)):
        source, samples = read([*lines[:-1], lines[-1][:25]])
        assert_same(samples, SAMPLES[:-1])
        assert source.refused_by_reason == {"cut off": 1}


def test_nothing_but_rubbish_ends_with_one_sentence() -> None:
    with pytest.raises(NotTrustworthyError, match=r"None of the first 100 messages .* 100 no JSON object"):
        read([b"{rubbish\n"] * 10_000)
    with pytest.raises(NotTrustworthyError, match="No position and no torque was recognised"):
        read([b'{"t": 0, "a": 1}\n'] * 200)
    with pytest.raises(NotTrustworthyError, match=r"first 3 messages"):
        read([b"{rubbish\n"] * 3)
    with pytest.raises(FileError, match="first 50 lines of standard input hold no rows of numbers"):
        read([b"hello world\n"] * 200)
    with pytest.raises(NotTrustworthyError, match="has 1 axes, but robot"):
        read([b'{"t": 0, "q": [1], "tau": [1]}\n'] * 200)
    with pytest.raises(NotTrustworthyError, match="None of the first 100 messages of standard input"):
        read([b"t,q1,q2,tau1,tau2\n", *[b"1,2,3,4,nan\n"] * 500])


def test_lines_without_end_are_given_up() -> None:
    with pytest.raises(FileError, match="has no end within 1 MB"):
        read([b"9" * 2_000_000], limit=1000)


def test_a_decimal_comma_is_asked_about_and_read_when_said() -> None:
    lines = [line.replace(b",", b";").replace(b".", b",") for line in csv_lines(SAMPLES)]
    with pytest.raises(FileError, match="decimal comma"):
        read(lines)
    _, samples = read(lines, mapping=mapping_from_table({"csv": {"decimal": ","}}))
    assert_same(samples, SAMPLES)


@pytest.mark.parametrize(
    ("channel", "words"),
    [
        ({"columns": "q{axis}", "delay_s": 0.01}, "moves position in time"),
        ({"columns": "q{axis}", "file": "a.csv"}, "names the file"),
    ],
)
def test_mappings_that_need_a_whole_log_are_refused(channel: dict[str, object], words: str) -> None:
    with pytest.raises(DynidError, match=words):
        read(csv_lines(SAMPLES), mapping=mapping_from_table({"position": channel}))


def test_samples_come_while_the_pipe_is_open() -> None:
    """Each sample is there before the next is written: nothing waits for a full buffer."""
    ends = os.pipe()
    answered = threading.Semaphore(0)

    def write() -> None:
        with os.fdopen(ends[1], "wb", buffering=0) as pipe:
            for k, line in enumerate(csv_lines(SAMPLES)):
                pipe.write(line)
                if k >= 5:  # the first five are understood together
                    answered.acquire()

    writer = threading.Thread(target=write)
    writer.start()
    count = 0
    with os.fdopen(ends[0], "rb") as pipe:
        for _ in Lines(pipe, ROBOT):
            count += 1
            if count >= 5:
                answered.release()
    writer.join()
    assert count == len(SAMPLES)


def test_lost_messages_are_counted_by_their_numbers() -> None:
    lines = json_lines(SAMPLES)
    source, _ = read([*lines[:10], *lines[13:20], lines[21], lines[20], *lines[22:]])
    assert source.counts["lost"] == 3


def test_a_replayed_log_and_its_lines_are_the_same() -> None:
    log = robot_log(ROBOT, seconds=0.5)
    replayed = list(Replay(log, ROBOT))
    assert_same(list(Lines(io.BytesIO(b"".join(csv_lines(replayed))), ROBOT)), replayed)
