"""``dynid simulate``: what it prints, writes, returns and refuses; and its logs are fitted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.logs.read import read_log
from dynid.model.load import load_robot

SHORT = ("simulate", "scara", "--controller", "scara", "--reference", "scara", "--duration", "3")
Capsys = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_the_summary(capsys: Capsys) -> None:
    said = dynid(capsys, *SHORT, "--out", "log.csv")
    assert (said.code, said.err) == (0, "")
    assert "scara under scara: fine" in said.out
    assert "600 samples, 2.995 s at 200 Hz" in said.out
    assert "tracking rms" in said.out
    assert "joint2" in said.out
    assert "log: log.csv" in said.out


def test_json_and_what_the_figures_mean(capsys: Capsys) -> None:
    document = dynid(capsys, *SHORT, "--out", "log.npz", "--json").document
    assert document["trustworthy"] is True
    (run,) = document["simulations"]
    log = read_log("log.npz")
    error = log.channels["position"] - log.channels["reference"]
    assert run["samples"] == log.samples == 600
    assert (run["rate_hz"], run["seed"], run["file"]) == (pytest.approx(200.0), None, "log.npz")
    assert run["error"] < 5e-6
    for j, joint in enumerate(run["joints"]):
        assert joint["tracking_rms"] == pytest.approx(np.sqrt(np.mean(error[:, j] ** 2)))
        assert joint["torque_max"] == pytest.approx(np.abs(log.channels["torque"][:, j]).max())
    assert [step.name for step in log.history][-1] == "sensors"
    assert log.history[0].options["controller"]["law"] == "Bandwidth"


@pytest.mark.parametrize("name", ["log.csv", "log.npz", "log.parquet"])
def test_logs_are_read_without_a_mapping(capsys: Capsys, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow.")
    assert dynid(capsys, *SHORT, "--out", name).code == 0
    assert set(read_log(name).channels) == {"position", "torque", "reference"}
    assert dynid(capsys, "check", name).code == 0
    # A simulated log is a reference again.
    again = dynid(capsys, *SHORT[:4], "--reference", name, "--json")
    assert again.document["simulations"][0]["samples"] == 600


def test_a_fit_finds_the_parameters_that_were_simulated(capsys: Capsys) -> None:
    noise = ("--seed", "1", "--position-noise", "4e-5", "--torque-noise-relative", "0.05")
    arguments = (*SHORT[:6], *noise, "--disturbance-relative", "0.025", "--out", "log.csv")
    assert dynid(capsys, *arguments).code == 0
    fitted = dynid(capsys, "fit", "scara", "log.csv", "--out", "result", "--json").document
    found = {row["name"]: row["value"] for row in fitted["parameters"]}
    true = load_robot("scara").parameters
    for name, percent in {"ZZ1R": 1, "ZZ2": 1, "MX2": 1, "Fc1": 2, "Fc2": 2, "MY2": 5}.items():
        assert found[name] == pytest.approx(true[name.removesuffix("R")], rel=percent / 100), name
    # The result moves the robot again, and nearly as before.
    first = dynid(capsys, *SHORT, "--json").document["simulations"][0]["joints"]
    second = dynid(capsys, *SHORT, "--parameters", "result", "--json").document["simulations"][0]["joints"]
    for one, other in zip(first, second, strict=True):
        assert one["torque_rms"] != other["torque_rms"]
        assert one["torque_rms"] == pytest.approx(other["torque_rms"], rel=0.02)
    sentence = assert_one_sentence(dynid(capsys, *SHORT, "--parameters", "result", "--terms", "Fv"))
    assert "The result in result is of robot 'scara' with terms Fv, Fc; robot 'scara' differs in" in sentence


def test_parameter_files_move_the_robot(capsys: Capsys) -> None:
    values = dict(load_robot("scara").parameters)
    lines = "\n".join(f"{name} = {2 * value}" for name, value in values.items())
    Path("heavy.toml").write_text(lines)
    stiff = (*SHORT[:2], "--controller", "stiff.toml", *SHORT[4:])
    Path("stiff.toml").write_text('kind = "pd"\nrate_hz = 1000\nkp = [4000, 400]\nkd = [400, 8]\n')
    plain, heavy = (
        dynid(capsys, *stiff, *more, "--json").document["simulations"][0]["joints"]
        for more in ((), ("--parameters", "heavy.toml"))
    )
    for one, other in zip(plain, heavy, strict=True):  # the same motion takes twice the torque
        assert other["torque_rms"] == pytest.approx(2 * one["torque_rms"], rel=0.02)


def test_seeds_and_counts(capsys: Capsys) -> None:
    noisy = (*SHORT, "--position-noise", "1e-4,0")
    assert dynid(capsys, *noisy, "--seed", "5", "--count", "2", "--out", "many.npz").code == 0
    assert dynid(capsys, *noisy, "--seed", "6", "--out", "one.npz").code == 0
    first, second, one = (
        read_log(f"{name}.npz").channels["position"] for name in ("many-1", "many-2", "one")
    )
    assert np.array_equal(second, one)
    assert not np.array_equal(first, second)


def test_slow_logs_leave_samples_out(capsys: Capsys) -> None:
    assert dynid(capsys, *SHORT, "--out", "fast.npz").code == 0
    assert dynid(capsys, *SHORT, "--rate-hz", "50", "--out", "slow.npz").code == 0
    fast, slow = read_log("fast.npz"), read_log("slow.npz")
    assert np.array_equal(slow.channels["torque"], fast.channels["torque"][::4])
    assert slow.rate_hz == pytest.approx(50)


def test_sensors_reach_the_log(capsys: Capsys) -> None:
    rounded = ("--resolution", "0.01", "--torque-resolution", "0.5", "--torque-delay", "2")
    assert dynid(capsys, *SHORT, *rounded, "--out", "log.npz").code == 0
    log = read_log("log.npz")
    for channel, step in (("position", 0.01), ("torque", 0.5)):
        counts = log.channels[channel] / step
        assert np.allclose(counts, np.round(counts), atol=1e-9)
    assert np.array_equal(log.channels["torque"][0], log.channels["torque"][2])


def test_ripple_and_stick(capsys: Capsys) -> None:
    plain, other = (
        dynid(capsys, *SHORT, *more, "--json").document["simulations"][0]["joints"][0]["tracking_rms"]
        for more in ((), ("--ripple", "3", "--ripple-order", "20", "--friction", "stick", "--substeps", "8"))
    )
    assert plain != pytest.approx(other, rel=1e-4)


def test_a_loop_that_diverges_exits_2_and_writes_nothing(capsys: Capsys) -> None:
    Path("wild.toml").write_text('kind = "pd"\nrate_hz = 200\nkp = 1e5\nkd = -1e3\n')
    wild = (*SHORT[:2], "--controller", "wild.toml", *SHORT[4:], "--out", "log.csv")
    said = dynid(capsys, *wild)
    assert (said.code, said.err) == (2, "")
    assert "scara under wild: diverged" in said.out
    assert "its gains do not stabilise the robot" in said.out
    assert "No log was written." in said.out
    assert not Path("log.csv").exists()
    document = dynid(capsys, *wild, "--json").document
    assert document["trustworthy"] is False
    assert document["simulations"][0]["outcome"] == "diverged"
    assert document["simulations"][0]["file"] is None


def test_a_python_law_on_the_command_line(capsys: Capsys) -> None:
    Path("law.py").write_text(
        "def pull(s, memory, gains, ops):\n"
        "    return [gains[0] * (r - q) - gains[1] * v"
        " for r, q, v in zip(s.reference, s.position, s.speed)], []\n"
    )
    Path("mine.toml").write_text(
        'kind = "python"\nrate_hz = 500\nfile = "law.py"\nfunction = "pull"\ngains = [100, 10]\n'
    )
    said = dynid(capsys, *SHORT[:2], "--controller", "mine.toml", *SHORT[4:])
    assert said.code == 0
    assert "scara under mine: fine" in said.out


REFUSED = {
    ("--position-noise", "1e-4"): "--position-noise draws random numbers; give a --seed",
    ("--count", "3"): "--count is 3, but nothing differs between the simulations; give noise and a --seed.",
    ("--ripple", "a"): "--ripple is 'a'; give one number of at least 0, or 2 separated by commas.",
    ("--ripple", "2"): "give its periods per turn or metre as ripple_order (--ripple-order).",
    ("--torque-delay", "1000000000000"): "torque_delay is 1000000000000 samples, and the log has only",
    ("--duration", "1e9"): "it must be positive and below 1e+09 s.",
    ("--resolution", "1,2,3"): "--resolution is '1,2,3'; give one number of at least 0",
    ("--torque-noise", "-1", "--seed", "1"): "--torque-noise is '-1'; give one number of at least 0",
    ("--disturbance", "nan", "--seed", "1"): "--disturbance is 'nan'; give one number of at least 0",
    ("--side", "left"): "Unknown encoder side 'left'.",
    ("--friction", "none"): "Unknown friction model 'none'.",
    ("--width", "0"): "width is 0.0 and tolerance 5e-06; both must be positive.",
    ("--substeps", "1000"): "substeps is 1000; allowed are 1 to 256.",
    ("--rate-hz", "60"): "--rate-hz is 60, and the controller runs at 200 Hz; give that rate or a whole part",
    ("--rate-hz", "-5"): "--rate-hz is -5; it must be positive.",
    ("--out", "log.mat"): "log.mat must end in .npz, .csv or .parquet.",
    ("--out", "nowhere/log.csv"): "There is no folder nowhere to write to.",
    ("--parameters", "none.toml"): "There is no parameter file at none.toml.",
    ("--map", "none.toml"): "A mapping belongs to a log, and this is a sines reference.",
    ("--count", "0"): "see dynid simulate --help.",
}  # fmt: skip


@pytest.mark.parametrize(("more", "sentence"), REFUSED.items())
def test_what_is_refused(capsys: Capsys, more: tuple[str, ...], sentence: str) -> None:
    assert sentence in assert_one_sentence(dynid(capsys, *SHORT, *more))


def test_names_files_and_sizes_that_do_not_fit(capsys: Capsys) -> None:
    def sentence(robot: str, controller: str, reference: str) -> str:
        said = dynid(capsys, "simulate", robot, "--controller", controller, "--reference", reference)
        return assert_one_sentence(said)

    assert "Unknown controller 'scra'. Did you mean 'scara'" in sentence("scara", "scra", "scara")
    assert "Unknown reference 'scra'. Did you mean 'scara'" in sentence("scara", "scara", "scra")
    assert "saturation has 6 values for 2 axes" in sentence("scara", "tx40", "scara")
    assert "amplitudes has 2 values for 1 axis" in sentence("emps", "emps", "scara")
    Path("wide.toml").write_text(
        'kind = "sines"\namplitudes = [4, 1, 1, 1, 1, 1]\nfrequencies_hz = [1, 1, 1, 1, 1, 1]\nduration = 1\n'
    )
    assert "outside its limits" in sentence("tx40", "tx40", "wide.toml")
    Path("pd.toml").write_text('kind = "pd"\nrate_hz = 100\nkp = 1\nkd = 1\n')
    Path("slow.toml").write_text(
        'kind = "sines"\namplitudes = [1, 1, 1, 1, 1, 1]\nfrequencies_hz = [1, 1, 1, 1, 1, 1]\nduration = 1\n'
    )
    Path("bare.toml").write_text("[[joint]]\n" * 6)
    assert "Robot 'bare' has no parameters of its own; give some with --parameters." in sentence(
        "bare.toml", "pd.toml", "slow.toml"
    )
    assert "'tx90' cannot be simulated with its own values: table 4 of P3" in sentence(
        "tx90", "pd.toml", "slow.toml"
    )


def test_logs_are_never_overwritten_unasked(capsys: Capsys) -> None:
    Path("log.csv").write_text("mine")
    sentence = assert_one_sentence(dynid(capsys, *SHORT, "--out", "log.csv"))
    assert "log.csv exists already; add --force (force=True) to overwrite it." in sentence
    assert Path("log.csv").read_text() == "mine"
    assert dynid(capsys, *SHORT, "--out", "log.csv", "--force").code == 0
    assert Path("log.csv").read_text().startswith("t,q1,q2,tau1,tau2,q_ref1,q_ref2\n0,")
    assert [file.name for file in Path().iterdir()] == ["log.csv"]
