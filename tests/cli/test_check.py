"""``dynid check``: what it prints, writes and returns."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.logs.read import read_log
from support.logs import csv_text, pendulum_log, with_channel, with_rows

LOG = pendulum_log(seconds=4.0)


@pytest.fixture
def good(tmp_path: Path) -> str:
    path = tmp_path / "good.csv"
    path.write_text(csv_text(LOG))
    return str(path)


@pytest.fixture
def mendable(tmp_path: Path) -> str:
    tau = LOG.channels["torque"].copy()
    tau[100, 0] = 1e300
    path = tmp_path / "mendable.csv"
    path.write_text(csv_text(with_channel(LOG, torque=tau)))
    return str(path)


@pytest.fixture
def lost(tmp_path: Path) -> str:
    path = tmp_path / "lost.csv"
    path.write_text(csv_text(with_channel(LOG, torque=np.zeros_like(LOG.channels["torque"]))))
    return str(path)


def test_a_good_log(capsys: pytest.CaptureFixture[str], good: str) -> None:
    said = dynid(capsys, "check", good, "--robot", "double_pendulum")
    assert (said.code, said.err) == (0, "")
    assert "good: good (1000 samples, 2 axes, joint side, 250 Hz" in said.out
    assert "Without a mapping: position from q1, q2; torque from tau1, tau2; stamps from t [s]." in said.out
    assert "Nothing was found that would harm a fit." in said.out
    assert "12 base parameters, condition number" in said.out


def test_repairable_defects_exit_0(capsys: pytest.CaptureFixture[str], mendable: str) -> None:
    said = dynid(capsys, "check", mendable)
    assert said.code == 0
    assert "usable with repairs" in said.out
    assert "garbage values" in said.out


def test_a_log_that_is_not_usable_exits_2(capsys: pytest.CaptureFixture[str], good: str, lost: str) -> None:
    said = dynid(capsys, "check", good, lost)
    assert said.code == 2
    assert "lost: not usable" in said.out
    assert "good: good" in said.out


def test_json(capsys: pytest.CaptureFixture[str], good: str, mendable: str, lost: str) -> None:
    said = dynid(capsys, "check", good, mendable, lost, "--json")
    assert (said.code, said.err) == (2, "")
    assert said.document["verdict"] == "not usable"
    assert [log["verdict"] for log in said.document["logs"]] == ["good", "usable with repairs", "not usable"]
    first = said.document["logs"][0]
    assert first["facts"]["samples"] == 1000
    assert first["history"][0]["name"] == "guessed mapping"
    assert len(first["sources"][0]["sha256"]) == 64


def test_parts_are_written_between_long_gaps(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    log = pendulum_log()
    rows = np.delete(np.arange(log.samples), range(900, 1500))
    (tmp_path / "gap.csv").write_text(csv_text(with_rows(log, rows)))
    source, out = str(tmp_path / "gap.csv"), str(tmp_path / "out.npz")
    assert "--repair OUT.npz --parts" in " ".join(dynid(capsys, "check", source).out.split())
    said = dynid(capsys, "check", source, "--repair", out, "--parts")
    assert said.code == 0
    assert [read_log(tmp_path / f"out-{k}.npz").samples for k in (1, 2)] == [900, 1000]
    assert not Path(out).exists()
    refused = assert_one_sentence(dynid(capsys, "check", source, "--repair", out, "--parts"))
    assert "out-1.npz" in refused
    assert "--parts belongs to --repair" in assert_one_sentence(dynid(capsys, "check", source, "--parts"))


def test_repair_writes_a_log_that_is_good(
    capsys: pytest.CaptureFixture[str], mendable: str, tmp_path: Path
) -> None:
    out = tmp_path / "out.npz"
    said = dynid(capsys, "check", mendable, "--repair", str(out))
    assert said.code == 0
    assert f"Repaired: garbage values. The log was written to {out}." in said.out
    log = read_log(out)
    assert [step.name for step in log.history] == ["guessed mapping", "repair: garbage values"]
    assert np.max(np.abs(log.channels["torque"])) < 100
    again = dynid(capsys, "check", str(out), "--json")
    assert again.document["verdict"] == "good"
    refused = assert_one_sentence(dynid(capsys, "check", mendable, "--repair", str(out)))
    assert refused == f"{out} exists already; add --force to overwrite it."
    assert dynid(capsys, "check", mendable, "--repair", str(out), "--force").code == 0


def test_the_robot_is_varied_as_for_a_fit(capsys: pytest.CaptureFixture[str], good: str) -> None:
    plain, turned, fewer = (
        dynid(capsys, "check", good, "--robot", "double_pendulum", *more, "--json").document["logs"][0]
        for more in ((), ("--gravity", "0,0,-9.81"), ("--terms", ""))
    )
    # Without gravity in the plane of the links, their weight is a torque that nothing explains.
    assert max(turned["facts"]["unexplained_per_axis"]) > 2 * max(plain["facts"]["unexplained_per_axis"])
    assert fewer["facts"]["parameters"] < plain["facts"]["parameters"]
    for option, value in (("--gravity", "0,0,1"), ("--terms", "Fv")):
        told = assert_one_sentence(dynid(capsys, "check", good, option, value))
        assert told == f"{option} belongs to a robot; add --robot."


def test_findings_are_printed_in_the_order_of_the_document(
    capsys: pytest.CaptureFixture[str], mendable: str, lost: str
) -> None:
    for log in (mendable, lost):
        findings = dynid(capsys, "check", log, "--json").document["logs"][0]["findings"]
        shown = [line for line in dynid(capsys, "check", log).out.splitlines() if "): " in line]
        assert len(shown) == len(findings) > 0
        for line, finding in zip(shown, findings, strict=True):
            assert line.startswith(f"  {finding['level']} ({finding['name']}")
            assert finding["sentence"] in line


def test_a_mapping_is_used(capsys: pytest.CaptureFixture[str], good: str, tmp_path: Path) -> None:
    mapping = tmp_path / "map.toml"
    mapping.write_text(
        '[time]\ncolumn = 1\n[position]\ncolumns = "2-3"\nunit = "deg"\n[torque]\ncolumns = [4, 5]\n'
    )
    said = dynid(capsys, "check", good, "--map", str(mapping), "--json")
    factors = [
        step["options"]["factor"] for step in said.document["logs"][0]["history"] if step["name"] == "units"
    ]
    assert np.allclose(factors, np.pi / 180)


def test_bad_input_is_one_sentence(capsys: pytest.CaptureFixture[str], good: str, tmp_path: Path) -> None:
    (tmp_path / "empty.csv").touch()
    cases = {
        ("check", str(tmp_path / "none.csv")): "There is no log at",
        ("check", str(tmp_path / "empty.csv")): "empty.csv is empty.",
        ("check", good, "--robot", "tx40"): "has 2 axes, but robot 'tx40' has 6 coordinates",
        ("check", good, "--robot", "tx4O"): "Unknown robot 'tx4O'. Did you mean 'tx40'",
        ("check", good, "--map", str(tmp_path / "none.toml")): "There is no mapping at",
        ("check", good, "--repair", "x.csv"): "must end in .npz",
        ("check", good, good, "--repair", "x.npz"): "--repair writes one log, and 2 were given",
        ("check",): "Missing argument 'LOG…'",
    }
    for arguments, sentence in cases.items():
        assert sentence in assert_one_sentence(dynid(capsys, *arguments))


def test_a_long_log_is_checked_as_a_short_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, mendable: str, good: str
) -> None:
    whole = dynid(capsys, "check", good, mendable, "--json").document
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    said = dynid(capsys, "check", good, mendable, "--json")
    assert (said.code, said.err) == (0, "")
    assert said.document == whole
    assert "good: good (1000 samples, 2 axes" in dynid(capsys, "check", good).out
