"""``dynid track``: logs, standard input, sockets, kept states, and the rows of a fit."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynid
from dynid.cli.main import run
from dynid.core.errors import FileError
from dynid.tracking import joint_state_text
from dynid.tracking.sources import Replay

SCARA = ["simulate", "scara", "--controller", "scara", "--reference", "scara", "--seed", "3"]
LIVE = ["--cutoff-hz", "20", "--decimation", "2", "--row-decimation", "5", "--held-torque"]
LIVE += ["--mask", "0.05,0.02"]


@pytest.fixture(scope="module")
def scara_log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A simulated log with torque noise."""
    path = tmp_path_factory.mktemp("scara") / "scara.csv"
    assert run([*SCARA, "--torque-noise-relative", "0.02", "--out", str(path)]) == 0
    return path


def records_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def tracked(arguments: list[str], folder: Path) -> list[dict[str, Any]]:
    """Records of a run."""
    out = folder / "records.ndjson"
    assert run(["track", *arguments, "--quiet", "--force", "--out", str(out)]) == 0
    return records_of(out.read_text(encoding="utf-8"))


def largest_error(records: list[dict[str, Any]]) -> float:
    """Of the last values: share of the true value."""
    robot = dynid.load_robot("scara")
    truth = dynid.find_base(robot).regroup(robot.parameters)
    return float(np.max(np.abs(np.array(records[-2]["values"]) / truth - 1.0)))


def test_a_log_becomes_records_and_a_page(scara_log: Path, tmp_path: Path) -> None:
    page = tmp_path / "run.html"
    records = tracked(["scara", str(scara_log), *LIVE, "--page", str(page)], tmp_path)
    kinds = [r["kind"] for r in records]
    assert kinds[0] == "header"
    assert kinds[-1] == "end"
    assert kinds.count("record") > 300
    assert [p["name"] for p in records[0]["parameters"]][:2] == ["ZZ1R", "Fv1"]
    assert largest_error(records) < 0.1
    assert records[-1]["counts"]["received"] == 20_000
    times = [r["t"] for r in records if r["kind"] == "record"]
    assert np.all(np.diff(times) > 0)
    assert "<script" in page.read_text(encoding="utf-8")


@pytest.mark.parametrize("method", [[], ["--method", "riv", "--controller", "scara"]])
def test_rows_of_a_fit_end_at_the_batch(scara_log: Path, tmp_path: Path, method: list[str]) -> None:
    records = tracked(["scara", str(scara_log), "--rows", "batch", *method], tmp_path)
    assert records[-1]["batch_difference"] < 1e-6


def test_the_settings_of_the_paper_can_be_chosen(scara_log: Path, tmp_path: Path) -> None:
    """P4: order 2, zero-phase, decimated, instants dropped where any joint is slow, P0 = 100."""
    plan = tmp_path / "p4.toml"
    plan.write_text("cutoff_hz = 3.5\norder = 2\ndecimation = 4\nspeed_thresholds = [0.01, 0.01]\n")
    common = ["scara", str(scara_log), "--rows", "batch", "--plan", str(plan), "--sigma", "1"]
    per_joint, whole = (
        tracked([*common, "--prior-variance", "100", *slow], tmp_path) for slow in ([], ["--slow", "all"])
    )
    assert whole[-1]["used"] % 2 == 0
    assert whole[-1]["used"] < per_joint[-1]["used"]
    assert "batch_difference" not in whole[-1]
    assert whole[-2]["values"][0] == pytest.approx(3.45, rel=0.02)  # ZZ1R; 3.5 Hz blurs the small ones


def test_standard_input_is_the_log(scara_log: Path, tmp_path: Path) -> None:
    """The same numbers through a pipe; a reader that leaves ends the run in order."""
    program = [
        sys.executable,
        "-c",
        "from dynid.cli.main import main; main()",
        "track",
        "scara",
        "-",
        *LIVE,
        "--learn",
        "40",
        "--out",
        "-",
    ]
    with scara_log.open("rb") as lines:
        piped = subprocess.run(program, stdin=lines, capture_output=True, check=True)
    records = records_of(piped.stdout.decode())
    replayed = tracked(["scara", str(scara_log), *LIVE, "--learn", "40"], tmp_path)
    assert records[-1]["used"] == replayed[-1]["used"]
    assert np.allclose(records[-2]["values"], replayed[-2]["values"], rtol=1e-9)


def test_riv_follows_the_commanded_positions(scara_log: Path, tmp_path: Path) -> None:
    records = tracked(["scara", str(scara_log), "--method", "riv", *LIVE], tmp_path)
    assert largest_error(records) < 0.1


def test_datagrams_of_a_robot(scara_log: Path, tmp_path: Path) -> None:
    """UDP on loopback, with rubbish between the samples: refused, counted, and the values as from the log."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    robot = dynid.load_robot("scara")
    samples = list(Replay(dynid.read_log(scara_log), robot))[:8000]

    def send() -> None:
        time.sleep(0.5)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as out:
            for k, sample in enumerate(samples):
                out.sendto(joint_state_text(sample, seq=k), ("127.0.0.1", port))
                if k % 1000 == 500:
                    out.sendto(b'{"t": NaN}', ("127.0.0.1", port))
                    out.sendto(b"\xff" * 3000, ("127.0.0.1", port))
                if k % 20 == 0:
                    time.sleep(0.001)

    sender = threading.Thread(target=send)
    sender.start()
    options = ["--queue", "10000", "--timeout-s", "3", "--rate-hz", "200", "--learn", "40"]
    records = tracked(["scara", f"udp:{port}", *LIVE, *options, "--listen-s", "5"], tmp_path)
    sender.join()
    counts = records[-1]["counts"]
    assert counts["refused"] == 16
    assert counts["received"] + counts.get("lost", 0) + counts.get("dropped", 0) >= 8016
    assert counts["received"] > 7000
    assert largest_error(records) < 0.1


def test_killed_and_started_again_it_goes_on(scara_log: Path, tmp_path: Path) -> None:
    """SIGKILL in the middle; the second run takes what is left and ends where an uninterrupted one does."""
    state, out = tmp_path / "state.npz", tmp_path / "first.ndjson"
    arguments = ["track", "scara", str(scara_log), *LIVE, "--learn", "40", "--no-watch", "--quiet"]
    program = [
        sys.executable,
        "-c",
        "from dynid.cli.main import main; main()",
        *arguments,
        "--speed",
        "8",
        "--out",
        str(out),
        "--keep-s",
        "0.2",
    ]
    with subprocess.Popen([*program, "--state", str(state)]) as running:
        deadline = time.monotonic() + 60
        while not (state.exists() and out.exists() and out.read_bytes().count(b"\n") > 60):
            assert time.monotonic() < deadline
            assert running.poll() is None, "the run ended before it was killed"
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
    records = tracked([*arguments[1:-1], "--state", str(state)], tmp_path)
    whole = tracked(arguments[1:-1], tmp_path)
    first_after = next(r for r in records if r["kind"] == "record")
    assert first_after["used"] > 40
    assert first_after["t"] > 3.0
    # The filters swing in once more: some rows fewer, at other instants; the same estimate within its doubt.
    assert 0.9 * whole[-1]["used"] < records[-1]["used"] <= whole[-1]["used"]
    assert np.allclose(records[-2]["values"], whole[-2]["values"], rtol=0.03)


def test_rows_of_a_fit_go_on_from_a_kept_state(scara_log: Path, tmp_path: Path) -> None:
    state = tmp_path / "state.npz"
    options = ["scara", str(scara_log), "--rows", "batch", "--state", str(state)]
    first = tracked(options, tmp_path)
    second = tracked(options, tmp_path)
    assert second[-1]["used"] == first[-1]["used"]
    assert second[-1]["batch_difference"] < 1e-6


def test_a_stream_goes_on_from_its_state_with_the_filters_of_then(
    scara_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two halves of one stream through standard input, filters suggested from the first one only."""
    head, *lines = scara_log.read_bytes().splitlines(keepends=True)
    program = [sys.executable, "-c", "from dynid.cli.main import main; main()", "track", "scara", "-"]
    program += ["--out", "-", "--learn", "40", "--state", str(tmp_path / "state.npz")]
    ends = []
    for half in (lines[:10_000], lines[10_000:]):
        given = head + b"".join(half)
        done = subprocess.run(program, input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        ends.append(records_of(done.stdout.decode()))
    first, second = ends
    assert first[0]["plan"] == second[0]["plan"]
    assert second[1]["used"] >= first[-1]["used"]
    assert second[-1]["used"] > 1.8 * first[-1]["used"]


def test_a_stopped_service_ends_in_order(scara_log: Path, tmp_path: Path) -> None:
    """SIGTERM: the last state and an end record are there."""
    state, out = tmp_path / "state.npz", tmp_path / "records.ndjson"
    program = [
        sys.executable,
        "-c",
        "from dynid.cli.main import main; main()",
        "track",
        "scara",
        str(scara_log),
    ]
    program += [*LIVE, "--learn", "40", "--speed", "4", "--quiet", "--out", str(out), "--state", str(state)]
    with subprocess.Popen(program, stdout=subprocess.DEVNULL) as running:
        deadline = time.monotonic() + 60
        while not (out.exists() and out.read_bytes().count(b"\n") > 30):
            assert time.monotonic() < deadline
            assert running.poll() is None
            time.sleep(0.05)
        running.send_signal(signal.SIGTERM)
        assert running.wait(timeout=60) == 0
    last = records_of(out.read_text(encoding="utf-8"))[-1]
    assert last["outcome"].startswith("Interrupted.")
    assert state.stat().st_size > 1000


def test_a_clock_that_is_set_back_does_not_silence_the_records(scara_log: Path, tmp_path: Path) -> None:
    head, *lines = scara_log.read_text(encoding="utf-8").splitlines(keepends=True)
    moved = [head, *lines[:6000]]
    for line in lines[6000:12_000]:
        stamp, rest = line.split(",", 1)
        moved.append(f"{float(stamp) - 3600.0!r},{rest}")
    log = tmp_path / "moved.csv"
    log.write_text("".join(moved), encoding="utf-8")
    program = [sys.executable, "-c", "from dynid.cli.main import main; main()", "track", "scara", "-"]
    with log.open("rb") as stream:
        done = subprocess.run(
            [*program, *LIVE, "--learn", "40", "--out", "-"], stdin=stream, capture_output=True, check=True
        )
    records = records_of(done.stdout.decode())
    assert records[-1]["counts"]["clock_set"] == 1
    assert sum(r["kind"] == "record" and r["t"] < -3000 for r in records) > 200


def test_rest_is_waited_through_and_a_glitch_is_left_out(scara_log: Path, tmp_path: Path) -> None:
    """Half a minute at rest, then motion with one impossible torque and one impossible position."""
    head, *lines = scara_log.read_text(encoding="utf-8").splitlines()
    names = head.split(",")
    rows = [dict(zip(names, line.split(","), strict=True)) for line in lines]
    rng, made = np.random.default_rng(0), [head]
    for k in range(6000):
        rest = {**rows[0], "t": repr(k * 0.005)}
        rest |= {n: repr(float(rows[0][n]) + 1e-5 * rng.normal()) for n in ("q1", "q2")}
        rest |= {n: repr(1e-3 * rng.normal()) for n in ("tau1", "tau2")}
        made.append(",".join(rest[n] for n in names))
    for k, row in enumerate(rows):
        moved = {**row, "t": repr(30.0 + k * 0.005)}
        moved |= {"tau1": "1e9"} if k == 9000 else {"q2": "40.0"} if k == 12_000 else {}
        made.append(",".join(moved[n] for n in names))
    program = [sys.executable, "-c", "from dynid.cli.main import main; main()", "track", "scara", "-"]
    done = subprocess.run(
        [*program, "--held-torque", "--learn", "40", "--out", "-"],
        input="\n".join(made).encode() + b"\n",
        capture_output=True,
        check=True,
    )
    assert b"has not moved" in done.stderr
    records = records_of(done.stdout.decode())
    assert largest_error(records) < 0.2


@pytest.mark.parametrize("more", [[], ["--payload-long-excess", "4", "--collision-excess", "7"]])
def test_a_known_noise_and_the_view_without_a_terminal(
    scara_log: Path, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["track", "scara", str(scara_log), *LIVE, "--sigma", "0.05", *more]) == 0
    said = capsys.readouterr().out
    assert "8 of 8 parameters, those known best" in said
    assert said.count("The source ended") == 1


def test_a_fit_is_a_start(scara_log: Path, tmp_path: Path) -> None:
    """From a result folder the values are there from the first record on."""
    assert run(["fit", "scara", str(scara_log), "--out", str(tmp_path / "fit")]) == 0
    records = tracked(["scara", str(scara_log), *LIVE, "--prior", str(tmp_path / "fit")], tmp_path)
    saved = dynid.load_result(tmp_path / "fit")
    first = next(r for r in records if r["kind"] == "record")
    assert first["used"] <= 4
    assert np.all(np.abs(np.array(first["values"]) - saved.values) < 10 * np.sqrt(np.diag(saved.covariance)))


def test_bad_calls_are_sentences(scara_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(scara_log)
    calls = {
        ("scara", "nothing.csv"): "There is no log at nothing.csv",
        ("scara", "udp:0"): "names no port from 1 to 65535",
        ("scara", "http://127.0.0.1"): "Streams of the kind 'http' are not read",
        ("scara", log, "--method", "rsl"): "Unknown method 'rsl'. Did you mean 'rls'?",
        ("scara", log, "--forgetting", "variable"): "--forgetting variable needs --memory-s",
        ("scara", log, "--memory-s", "0.0001"): "give a memory of many updates",
        ("scara", log, "--sigma", "0"): "--sigma is '0'; give one positive number, or 2",
        ("scara", log, "--rows", "both"): "Unknown kind of rows 'both'",
        ("scara", "udp:5005", "--rows", "batch"): "--rows batch is for logs",
        ("scara", log, "--rows", "batch", "--method", "riv"): "needs --controller",
        ("scara", log, "--controller", "scara"): "--controller is for --rows batch --method riv",
        ("scara", log, "--prior-variance", "-1"): "--prior-variance is -1; give a positive number",
        ("scara", log, "--prior", "out", "--prior-variance", "1"): "one start is enough",
        ("scara", log, "--variances", "1,1,1"): "--variances is for the start from --commands",
        ("scara", log, "--commands", log, "--variances", "1,1"): "give three positive numbers",
        ("scara", log, "--cutoff-hz", "1000"): "The cut-off is 1000 Hz",
        ("scara", log, "--out", log): "exists already; add --force",
        ("cartpole", log, "--speed", "0"): "give a factor above 0",
        ("scara", log, "--state", "/nonexistent/state.npz"): "cannot be written",
    }
    for call, sentence in calls.items():
        assert run(["track", *call, "--quiet"]) == 1, call
        assert sentence in capsys.readouterr().err, call


def test_a_state_of_something_else_is_refused(
    scara_log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    state = tmp_path / "state.npz"
    tracked(["scara", str(scara_log), *LIVE, "--state", str(state)], tmp_path)
    assert run(["track", "scara", str(scara_log), "--cutoff-hz", "9", "--quiet", "--state", str(state)]) == 1
    assert "learnt with other filters than this command line asks for" in capsys.readouterr().err
    damaged = state.read_bytes()
    for content in (b"", b"rubbish", damaged[: len(damaged) // 2]):
        state.write_bytes(content)
        assert run(["track", "scara", str(scara_log), *LIVE, "--quiet", "--state", str(state)]) == 1
        assert "state.npz" in capsys.readouterr().err
    np.savez(state, factor=np.zeros(3))
    assert run(["track", "scara", str(scara_log), *LIVE, "--quiet", "--state", str(state)]) == 1
    assert "no state of a run" in capsys.readouterr().err


def test_a_state_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    from dynid.tracking.kept_state import KeptState

    with pytest.raises(FileError, match="cannot be written"):
        KeptState(tmp_path / "no" / "folder.npz", {}).save({"a": 1.0})


def test_the_reader_of_a_pipe_may_leave(scara_log: Path) -> None:
    program = [
        sys.executable,
        "-c",
        "from dynid.cli.main import main; main()",
        "track",
        "scara",
        str(scara_log),
        *LIVE,
        "--out",
        "-",
    ]
    with subprocess.Popen(program, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.readline()
        running.stdout.close()
        told = running.stderr.read().decode()
        running.wait(timeout=60)
    assert "Traceback" not in told
    assert os.name == "posix"
