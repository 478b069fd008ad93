"""Reference files: sines, waypoints and logs, and what is refused in which words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import DynidError, FileError, UnknownNameError
from dynid.logs.log import Log
from dynid.logs.save import save_log
from dynid.model.load import load_robot
from dynid.simulation.reference_file import load_reference, reference_names
from support.datasets import dataset

SCARA, EMPS = load_robot("scara"), load_robot("emps")
SINES = """
kind = "sines"
amplitudes = [[0.5, 0.2], 0.3]
frequencies_hz = [[0.5, 1.0], 2.0]
phases = [[0.1, 0.2], 0.3]
offsets = [0.0, 1.0]
duration = 2.0
"""
POINTS = """
kind = "waypoints"
time = [0.0, 1.0, 2.0, 4.0]
position = [[0.0, 0.0], [0.5, 0.1], [0.2, -0.3], [0.0, 0.0]]
"""


def file_of(tmp_path: Path, text: str, name: str = "mine.toml") -> Path:
    (tmp_path / name).write_text(text)
    return tmp_path / name


def test_shipped_references_fit_their_robots() -> None:
    shipped = ("cartpole", "elastic_drive", "emps", "iiwa14", "pendubot", "scara", "tx40")
    assert reference_names() == shipped
    for name in reference_names():
        robot = load_robot(name)
        reference = load_reference(name, robot, 1e-2)
        reference.check_robot(robot)
        for i, j in enumerate(robot.coordinates):
            assert np.abs(reference.qd[:, i]).max() < robot.joints[j].limits.velocity  # type: ignore[index]


def test_sines_are_the_sum_that_is_written(tmp_path: Path) -> None:
    reference = load_reference(file_of(tmp_path, SINES), SCARA, 1e-3)
    t = np.arange(2000) * 1e-3
    w = np.pi
    first = 0.5 * np.sin(w * t + 0.1) + 0.2 * np.sin(2 * w * t + 0.2)
    second = 1 + 0.3 * np.sin(4 * w * t + 0.3)
    assert np.allclose(reference.q, np.column_stack([first, second]), atol=1e-14)
    assert np.allclose(reference.qd[:, 1], 1.2 * w * np.cos(4 * w * t + 0.3))  # type: ignore[index]


def test_seeded_phases_are_drawn_once_and_for_all(tmp_path: Path) -> None:
    drawn = [
        load_reference(
            file_of(tmp_path, SINES.replace("phases = [[0.1, 0.2], 0.3]", f"seed = {seed}")), SCARA, 0.01
        )
        for seed in (4, 4, 5)
    ]
    assert np.array_equal(drawn[0].q, drawn[1].q)
    assert not np.allclose(drawn[0].q, drawn[2].q)


def test_waypoints_are_passed(tmp_path: Path) -> None:
    reference = load_reference(file_of(tmp_path, POINTS), SCARA, 0.01)
    assert np.allclose(reference.q[[0, 100, 200, 400]], [[0, 0], [0.5, 0.1], [0.2, -0.3], [0, 0]])
    assert np.allclose(np.gradient(reference.q, 0.01, axis=0)[5:-5], reference.qd[5:-5], atol=1e-3)  # type: ignore[index]
    one = 'kind = "waypoints"\nrate_hz = 100\ntime = [0, 1]\nposition = [0, 0.1]'
    assert load_reference(file_of(tmp_path, one), EMPS).samples == 101


def test_a_slow_planner_holds_or_interpolates(tmp_path: Path) -> None:
    """At 4 ms of its own, for a controller at 1 ms."""
    slow = "rate_hz = 250\n" + SINES.strip()
    held, linear, cubic = (
        load_reference(file_of(tmp_path, f'interpolation = "{way}"\n{slow}'), SCARA, 1e-3).q
        for way in ("hold", "linear", "cubic")
    )
    assert np.array_equal(cubic, load_reference(file_of(tmp_path, slow), SCARA, 1e-3).q)
    exact = load_reference(file_of(tmp_path, SINES), SCARA, 1e-3).q[: len(cubic)]
    assert np.abs(cubic - exact).max() < 1e-3 * np.abs(linear - exact).max()
    assert np.array_equal(held[4], held[7])
    assert np.allclose(linear[5], 0.75 * linear[4] + 0.25 * linear[8])
    own = load_reference(file_of(tmp_path, slow), SCARA)
    assert (own.sample_time, own.samples) == (4e-3, 500)
    assert np.array_equal(own.q, held[::4])


def test_durations_cut_or_extend(tmp_path: Path) -> None:
    assert load_reference(file_of(tmp_path, SINES), SCARA, 1e-3, duration=5.0).samples == 5000
    assert load_reference(file_of(tmp_path, POINTS), SCARA, 1e-2, duration=1.0).samples == 100
    with pytest.raises(FileError, match=r"A duration of 9 s was asked for, and the reference lasts 4.01 s"):
        load_reference(file_of(tmp_path, POINTS), SCARA, 1e-2, duration=9.0)


def log_of(*channels: str) -> Log:
    t = np.arange(300) * 0.01
    q = np.column_stack([np.sin(t), np.cos(t)])
    values = {"reference": q, "position": q + 0.001, "torque": 3 * q}
    return Log("made", t, {name: values[name] for name in channels})


@pytest.mark.parametrize("name", ["log.csv", "log.npz", "log.parquet"])
def test_logs_give_their_reference_else_their_positions(tmp_path: Path, name: str) -> None:
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow", reason="Parquet needs pyarrow.")
    log = log_of("reference", "position", "torque")
    save_log(log, tmp_path / name)
    found = load_reference(tmp_path / name, SCARA)
    assert found.sample_time == pytest.approx(0.01)
    assert np.allclose(found.q, log.channels["reference"], atol=1e-12)
    fast = load_reference(tmp_path / name, SCARA, 2.5e-3)
    assert fast.samples == 4 * 299 + 1
    assert np.allclose(fast.q[::4], found.q)
    save_log(log_of("position"), tmp_path / f"only-{name}")
    assert np.allclose(
        load_reference(tmp_path / f"only-{name}", SCARA).q, log.channels["position"], atol=1e-12
    )


def test_a_file_may_say_how_a_log_is_read(tmp_path: Path) -> None:
    save_log(log_of("reference", "position"), tmp_path / "log.npz")
    text = 'kind = "log"\nfile = "log.npz"\nchannel = "position"\ninterpolation = "hold"\n'
    held = load_reference(file_of(tmp_path, text), SCARA, 5e-3)
    assert np.array_equal(held.q[0], held.q[1])
    assert held.q[0] == pytest.approx([0.001, 1.001])
    rows = "".join(f"{k},{10 * k},{20 * k}\n" for k in range(5))
    (tmp_path / "odd.csv").write_text("n,left,right\n" + rows)
    (tmp_path / "map.toml").write_text(
        'rate_hz = 10\n[reference]\ncolumns = ["left", "right"]\nunit = "deg"\n'
    )
    mapped = load_reference(file_of(tmp_path, 'kind = "log"\nfile = "odd.csv"\nmap = "map.toml"'), SCARA)
    assert np.allclose(mapped.q[2], np.radians([20, 40]))
    given = load_reference(tmp_path / "odd.csv", SCARA, None, tmp_path / "map.toml")
    assert np.array_equal(given.q, mapped.q)


def test_irregular_stamps_are_put_on_a_clock(tmp_path: Path) -> None:
    t = np.sort(np.random.default_rng(0).uniform(0, 3, 400))
    save_log(Log("made", t, {"position": np.column_stack([t, 2 * t])}), tmp_path / "log.npz")
    found = load_reference(tmp_path / "log.npz", SCARA)
    assert np.allclose(found.q[:, 0], found.time)
    assert np.allclose(np.diff(found.time), found.sample_time)


def test_the_emps_reference(tmp_path: Path) -> None:
    """Motor side and volts in the file; the reference comes out in metres of the joint."""
    file = dataset("emps", "DATA_EMPS.mat")
    mapping = Path(__file__).parents[2] / "src" / "dynid" / "casestudies" / "maps" / "emps.toml"
    found = load_reference(file, EMPS, 1e-3, mapping)
    assert (found.samples, found.sample_time) == (24841, pytest.approx(1e-3))
    assert 0.2 < np.ptp(found.q) < 0.4


REFUSED = {
    "duration = 3": "kind is missing; give sines, fourier, modified-fourier, quintic, point-to-point, ",
    'kind = "sine"': "Unknown kind 'sine'. Did you mean 'sines'?",
    SINES + "amplitude = 3": "sines reference: Unknown key 'amplitude'. Did you mean 'amplitudes'",
    SINES + "seed = 1": "phases and seed are both given; keep one.",
    SINES + "rate_hz = 5\nsample_time = 0.2": "sample_time and rate_hz are both given; keep one",
    SINES.replace("duration = 2.0", ""): "sines reference: duration is missing; give a number above 0 s.",
    SINES.replace("duration = 2.0", "duration = nan"): "duration is nan; it must be a finite number.",
    SINES.replace("duration = 2.0", "duration = 1e12"): "at most 20,000,000 values are made",
    SINES.replace("[0.0, 1.0]", "[0, 1, 2]"): "offsets has 3 values for 2 axes",
    SINES.replace("[[0.5, 0.2], 0.3]", "[[0.5, 0.2], 0.3, 1]"): "amplitudes has 3 values for 2 axes",
    SINES.replace("[[0.5, 0.2], 0.3]", "0.5"): "amplitudes is 0.5; it must be a list of numbers per axis",
    SINES.replace("[[0.5, 0.2], 0.3]", "[[0.5], 0.3]"): "The sines have lists of lengths",
    SINES.replace("[[0.5, 0.2], 0.3]", '["a", 0.3]'): "entry 1 of amplitudes is 'a'; it must be a number.",
    SINES.replace("[[0.5, 0.2], 0.3]", f"[{[0.1] * 1001}, 1]"): "has 1001 entries; at most 1000 are taken.",
    'interpolation = "cubist"\n' + SINES: "Unknown interpolation 'cubist'. Did you mean 'cubic'",
    POINTS.replace("[0.0, 1.0, 2.0, 4.0]", "[0.0, 1.0, 1.0, 4.0]"): "at least two stamps that increase",
    POINTS.replace("[0.0, 1.0, 2.0, 4.0]", "[0.0, 1.0]"): "position has 4 points for 2 stamps.",
    POINTS.replace("[0.5, 0.1]", "[0.5]"): "point 2 of position has 1 numbers; allowed are 2, one per axis.",
    'kind = "waypoints"\ntime = [0, 1]': "waypoints reference: position is missing; give a list of",
    'kind = "log"': "log reference: file is missing; give text.",
    'kind = "log"\nfile = "nowhere.csv"': "There is no log at",
    'kind = "log"\nfile = "x.csv"\nchannel = "torque"': "Unknown channel 'torque'.",
}  # fmt: skip


@pytest.mark.parametrize(("text", "sentence"), REFUSED.items())
def test_what_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(DynidError) as caught:
        load_reference(file_of(tmp_path, text), SCARA, 1e-2)
    said = str(caught.value)
    assert said.startswith("Reference mine.toml: ")
    assert sentence in said
    assert len(said) < 600


def test_more_refusals(tmp_path: Path) -> None:
    with pytest.raises(UnknownNameError, match=r"Unknown reference 'scaar'\. Did you mean 'scara'"):
        load_reference("scaar", SCARA)
    with pytest.raises(FileError, match="says neither sample_time nor rate_hz; add one of them"):
        load_reference(file_of(tmp_path, SINES), SCARA)
    with pytest.raises(FileError, match=r"sample_time is -1 s; it must be positive and below 1e\+09 s"):
        load_reference("scara", SCARA, -1)
    with pytest.raises(FileError, match=r"duration is 1000000000\.0 s; .*positive and below 1e\+09 s"):
        load_reference("scara", SCARA, 1e-2, duration=1e9)
    with pytest.raises(FileError, match=r"ask for a rate \(--rate-hz on the command line, sample_time in"):
        load_reference("scara", SCARA)
    with pytest.raises(FileError, match="A mapping belongs to a log, and this is a sines reference"):
        load_reference("scara", SCARA, 1e-2, tmp_path / "map.toml")
    save_log(log_of("torque"), tmp_path / "torques.csv")
    with pytest.raises(FileError, match=r"no reference and no position columns \(it has torque\)"):
        load_reference(tmp_path / "torques.csv", SCARA)
    (tmp_path / "words.csv").write_text("t,apples\n0,1\n1,2\n")
    with pytest.raises(FileError, match="it has none that are understood"):
        load_reference(tmp_path / "words.csv", SCARA)
    save_log(log_of("position"), tmp_path / "two.csv")
    with pytest.raises(FileError, match=r"Reference two\.csv: .*has 2 axes, but robot 'emps' has 1"):
        load_reference(tmp_path / "two.csv", EMPS)
    log = log_of("position")
    save_log(Log("back", log.time[::-1], log.channels), tmp_path / "back.npz")
    with pytest.raises(FileError, match="do not increase from each to the next"):
        load_reference(tmp_path / "back.npz", SCARA)
    values = log.channels["position"].copy()
    values[5, 0] = np.nan
    save_log(Log("hole", log.time, {"position": values}), tmp_path / "hole.npz")
    with pytest.raises(FileError, match="values that are not finite"):
        load_reference(tmp_path / "hole.npz", SCARA)


def test_a_mapping_that_says_only_the_rate_is_enough(tmp_path: Path) -> None:
    t = np.arange(500) / 250
    q = np.column_stack([np.sin(t), np.cos(t)])
    np.savetxt(tmp_path / "ref.csv", q, delimiter=",", header="q1,q2", comments="")
    (tmp_path / "map.toml").write_text("rate_hz = 250\n")
    robot = load_robot("double_pendulum")
    made = load_reference(tmp_path / "ref.csv", robot, mapping=tmp_path / "map.toml")
    assert made.sample_time == pytest.approx(1 / 250)
    assert np.allclose(made.q, q)
    np.savetxt(tmp_path / "bare.csv", q, delimiter=",")
    with pytest.raises(
        FileError, match=r"No channel was recognised among the columns '1', '2'; say in a map"
    ):
        load_reference(tmp_path / "bare.csv", robot, mapping=tmp_path / "map.toml")
