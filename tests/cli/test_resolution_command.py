"""``dynid resolution``: from a log to a page; resumed, on a cluster, on measured logs; bad input."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.casestudies.case import packaged_mapping
from dynid.logs.save import save_log
from dynid.simulation.controller_file import controller_to_toml
from support.coarse_arms import law, scara_log
from support.datasets import dataset
from support.html_tree import parsed

QUICK = ("--cutoff-hz", "30", "--decimation", "10", "--torque-sweep", "0.01", "--runs", "3")


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("logs") / "sines.npz"
    save_log(scara_log(), path)
    return path


def study(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "resolution.json").read_text())
    return found


def test_a_log_becomes_a_page(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "resolution", "scara", str(log), *QUICK, "--digits", "--out", str(tmp_path / "a"))
    assert said.code == 0, said.err
    assert "counts per joint turn" in said.out
    assert "significant digits" in said.out
    page = parsed((tmp_path / "a" / "report.html").read_text())
    assert page is not None
    document = study(tmp_path / "a")
    assert document["schema"] == "dynid.resolution/1"
    assert len(document["outcomes"]) == 9
    assert [t["percent"] for t in document["thresholds"]] == [1.0, 5.0]
    again = dynid(capsys, "resolution", "scara", str(log), *QUICK, "--out", str(tmp_path / "a"))
    assert "--force" in assert_one_sentence(again)


def test_counts_and_modes_and_methods(log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    controller = tmp_path / "law.toml"
    controller.write_text(controller_to_toml(law()))
    options = (
        "--sweep",
        "5000",
        "--modes",
        "binary,gaussian",
        "--methods",
        "IV",
        "--controller",
        str(controller),
    )
    said = dynid(
        capsys, "resolution", "scara", str(log), *QUICK, *options, "--json", "--out", str(tmp_path / "b")
    )
    assert said.code == 0, said.err
    kinds = [(o["method"], o["mode"], o["counts"]) for o in said.document["outcomes"] if o["counts"]]
    assert [kind[:2] for kind in kinds] == [
        ("LS", "binary"), ("LS", "gaussian"), ("IV", "binary"), ("IV", "gaussian"),
    ]  # fmt: skip
    assert {round(kind[2]) for kind in kinds} == {5000}


@pytest.mark.skipif(os.name != "posix", reason="kills by signals of POSIX")
def test_a_killed_study_goes_on_where_it_stopped(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["resolution", "scara", str(log), *QUICK[:-1], "40", "--out"]
    own = subprocess.Popen(
        [sys.executable, "-m", "dynid.cli.main", *command, str(tmp_path / "killed"), "--workers", "1"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    kept = tmp_path / "killed" / "runs.jsonl"
    for _ in range(600):
        time.sleep(0.05)
        if kept.exists() and kept.read_bytes().count(b"\n") > 40:
            break
    own.send_signal(signal.SIGKILL)
    own.wait()
    before = kept.read_bytes().count(b"\n")
    assert 40 < before < 360
    assert not (tmp_path / "killed" / "resolution.json").exists()
    assert dynid(capsys, *command, str(tmp_path / "killed")).code == 0
    assert dynid(capsys, *command, str(tmp_path / "whole")).code == 0
    finished, whole = study(tmp_path / "killed"), study(tmp_path / "whole")
    assert finished["outcomes"] == whole["outcomes"]
    assert finished["thresholds"] == whole["thresholds"]
    lines = [json.loads(line) for line in kept.read_text().splitlines()[1:]]
    assert len(lines) == len({line["task"] for line in lines})  # nothing was run twice


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed", reason="the extra dynid[dask] is not installed")
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as made:
        yield made


@pytest.mark.skipif(os.name != "posix", reason="kills by signals of POSIX")
def test_a_cluster_gives_the_same_numbers_also_when_a_worker_is_killed(
    cluster: Any, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["resolution", "scara", str(log), *QUICK[:-1], "20", "--out"]
    assert dynid(capsys, *command, str(tmp_path / "here")).code == 0
    victim = next(iter(cluster.workers.values())).pid
    kept = tmp_path / "there" / "runs.jsonl"

    def kill() -> None:
        while not (kept.exists() and kept.read_bytes().count(b"\n") > 15):
            time.sleep(0.02)
        os.kill(victim, signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    said = dynid(capsys, *command, str(tmp_path / "there"), "--scheduler", cluster.scheduler_address)
    assert said.code == 0, said.err
    killer.join(10)
    assert not killer.is_alive()
    here, there = study(tmp_path / "here"), study(tmp_path / "there")
    assert here["outcomes"] == there["outcomes"]
    assert here["thresholds"] == there["thresholds"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--sweep", "0"), "above 0"),
        (("--sweep", "-5"), "above 0"),
        (("--sweep", "many"), "numbers separated by commas"),
        (("--steps", "0"), "above 0"),
        (("--steps", "7"), "larger than the motion of axis"),
        (("--sweep", "100", "--steps", "1e-3"), "not both"),
        (("--torque-sweep", "0"), "above 0"),
        (("--ratios", "1,2,3"), "2 numbers"),
        (("--modes", "binry"), "binary"),
        (("--side", "motor"), "no drives"),
        (("--runs", "1"), "at least 2"),
        (("--methods", "IV"), "--controller"),
        (("--essential", "best"), "sigma"),
        (("--scheduler", "tcp://127.0.0.1:9"), "127.0.0.1:9"),
        (("--scheduler", "somewhere"), "tcp://"),
        (("--scheduler", "tcp://127.0.0.1:9", "--workers", "2"), "leave one of the two"),
    ],
)
def test_bad_input_is_one_sentence(
    options: tuple[str, ...], words: str, log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    if options[0] == "--scheduler":
        pytest.importorskip("distributed", reason="the extra dynid[dask] is not installed")
    command = ("resolution", "scara", str(log), "--cutoff-hz", "30", "--decimation", "10")
    said = dynid(capsys, *command, *options, "--out", str(tmp_path / "out"))
    assert words in assert_one_sentence(said, said.code)
    assert said.code in (1, 2)
    assert not (tmp_path / "out" / "resolution.json").exists()


def test_a_folder_that_cannot_be_written_is_told(
    log: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("taken")
    said = dynid(capsys, "resolution", "scara", str(log), *QUICK, "--out", str(tmp_path / "file" / "out"))
    assert "file" in assert_one_sentence(said)


def test_counts_of_a_sliding_joint_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = dataset("emps", "DATA_EMPS.mat")
    with packaged_mapping("emps") as mapping:
        said = dynid(
            capsys,
            "resolution",
            "emps",
            str(log),
            "--map",
            str(mapping),
            "--sweep",
            "100",
            "--out",
            str(tmp_path),
        )
    assert "slides" in assert_one_sentence(said)


def test_the_threshold_of_the_emps_is_that_of_its_law(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = dataset("emps", "DATA_EMPS.mat")
    with packaged_mapping("emps") as mapping:
        command = ("resolution", "emps", str(log), "--map", str(mapping), "--json")
        said = dynid(capsys, *command, "--runs", "10", "--out", str(tmp_path / "emps"))
    assert said.code == 0, said.err
    for own in said.document["thresholds"]:
        assert own["step"] == pytest.approx(own["law_step"], rel=0.06)
    assert "counts per metre" in said.document["count_unit"]


def test_the_measured_tx40_follows_the_law(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = dataset("tx40")
    with packaged_mapping("tx40") as mapping:
        command = ("resolution", "tx40_log", str(folder), "--map", str(mapping), "--side", "motor", "--json")
        said = dynid(capsys, *command, "--torque-sweep", "none", "--out", str(tmp_path / "tx40"))
    assert said.code == 0, said.err
    main = [p["judged"] for p in said.document["parameters"]]
    assert sum(main) > 15
    for own in said.document["thresholds"]:
        assert own["step"] == pytest.approx(own["law_step"], rel=0.25)
    for outcome in said.document["outcomes"][:5]:  # up to the 5 % that the law expects
        pairs = zip(outcome["ratios"], outcome["law_ratios"], outcome["percent_sigma"], main, strict=True)
        assert all(abs(r - law_ratio) < 0.02 + 0.02 * s for r, law_ratio, s, judged in pairs if judged)
