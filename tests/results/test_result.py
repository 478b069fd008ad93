"""Result folders: whole or not at all, never over a user's files, read back with suspicion."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import FileError
from dynid.estimators.estimate import Estimate
from dynid.estimators.identify import identify
from dynid.estimators.least_squares import WLS
from dynid.estimators.separable import Separable
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.results.result import ARRAYS, PARAMETERS, REPORT, RESULT, check_free, load_result, save_result
from dynid.results.trail import Trail
from dynid.validation.model import as_model
from dynid.validation.predict import predictions
from support.workflow_logs import experiment

PLAN = Preparation(decimation=1, speed_thresholds=(0.01, 0.02))


@pytest.fixture(scope="module")
def estimate() -> Estimate:
    robot = load_robot("scara")
    return identify(build_problem(robot, [experiment(robot, 1)], PLAN), WLS())


def save(folder: Path, estimate: Estimate, *, force: bool = False) -> Path:
    return save_result(folder, estimate, {"title": "Prüfung"}, "<html></html>", force=force)


def test_a_result_comes_back_as_it_was(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "deep" / "result", estimate)
    again = load_result(folder)
    assert again.robot == estimate.problem.robot
    assert again.base == estimate.problem.base
    assert again.plan == PLAN
    assert again.document == {"title": "Prüfung"}
    assert np.array_equal(again.values, estimate.values)
    assert np.array_equal(again.covariance, estimate.covariance)
    assert np.array_equal(again.kept, estimate.kept)
    assert sorted(p.name for p in folder.iterdir()) == sorted([RESULT, ARRAYS, REPORT, PARAMETERS])
    lines = (folder / PARAMETERS).read_text().splitlines()
    assert len(lines) == 1 + len(estimate.values)
    assert lines[1].startswith("ZZ1R,")
    assert [p.name for p in folder.parent.iterdir()] == ["result"]


def test_the_fit_s_motion_is_kept_and_may_be_missing(tmp_path: Path, estimate: Estimate) -> None:
    """Folders of earlier versions have no trails; damaged ones are told."""
    trails = (Trail(10.0, np.arange(8.0).reshape(4, 2)), Trail(5.0, np.ones((2, 2))))
    folder = save_result(tmp_path / "result", estimate, {}, "", trails=trails)
    again = load_result(folder).trails
    assert [trail.rate_hz for trail in again] == [10.0, 5.0]
    assert all(np.array_equal(a.q, b.q) for a, b in zip(again, trails, strict=True))
    assert load_result(save(tmp_path / "earlier", estimate)).trails == ()
    with np.load(folder / ARRAYS) as stored:
        arrays = dict(stored)
    np.savez(folder / ARRAYS, **arrays | {"trail_samples": np.array([4, 3])})
    with pytest.raises(FileError, match=r"is damaged \(the fit's motion has arrays that do not belong"):
        load_result(folder)


def test_nothing_is_overwritten_without_force(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate)
    with pytest.raises(FileError, match=r"exists already; choose another --out or add --force"):
        save(folder, estimate)
    save(folder, estimate, force=True)
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter.txt").write_text("years of work")
    with pytest.raises(FileError, match="is not a dynid result folder, so --force does not replace it"):
        check_free(precious, force=True)
    assert (precious / "chapter.txt").exists()


def test_a_failed_write_leaves_the_old_result(
    tmp_path: Path, estimate: Estimate, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = save(tmp_path / "result", estimate)

    def full(*args: object, **kwargs: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(FileError, match="No space left on device"):
        save(folder, estimate, force=True)
    assert load_result(folder).values.shape == estimate.values.shape
    assert [p.name for p in tmp_path.iterdir()] == ["result"]


def test_damaged_results_are_told(tmp_path: Path, estimate: Estimate) -> None:
    with pytest.raises(FileError, match=r"is not a dynid result folder: it has no result\.json"):
        load_result(tmp_path)
    folder = save(tmp_path / "result", estimate)
    content = json.loads((folder / RESULT).read_text())
    for change, text in (
        ({"schema": 99}, "has schema 99; this version reads schema 1"),
        ({"robot_file": {"name": "x"}}, "is damaged"),
        ({"base": {"method": "closed-form", "names": ["ZZ9"]}}, "names other base parameters"),
        ({"plan": {"colour": 1}}, "is damaged"),
    ):
        (folder / RESULT).write_text(json.dumps(content | change))
        with pytest.raises(FileError, match=text):
            load_result(folder)
    (folder / RESULT).write_text("{")
    with pytest.raises(FileError, match="is damaged"):
        load_result(folder)
    (folder / RESULT).write_text(json.dumps({key: content[key] for key in content if key != "document"}))
    with pytest.raises(FileError, match=r"is damaged \(result\.json lacks 'document'\); fit again"):
        load_result(folder)


def test_damaged_arrays_are_told_without_advice_to_unpickle(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate)
    whole = (folder / ARRAYS).read_bytes()
    for content in (b"", b"no numbers", whole[:40], whole[: len(whole) // 2]):
        (folder / ARRAYS).write_bytes(content)
        with pytest.raises(FileError, match=r"is damaged \(arrays\.npz cannot be read\); fit again\.$"):
            load_result(folder)
    np.savez(folder / ARRAYS, values=estimate.values)
    with pytest.raises(FileError, match="lacks 'covariance'"):
        load_result(folder)


def test_nonlinear_friction_is_saved_and_predicts(tmp_path: Path) -> None:
    """A result of separable least squares is the same model after it was saved."""
    robot = load_robot("scara")
    clean = experiment(robot, 1, noise=0.0)
    sticking = 2.0 * np.sign(clean.qd) * np.exp(-((clean.qd / 0.3) ** 2))
    noise = 0.01 * np.random.default_rng(0).normal(size=clean.tau.shape)
    motion = replace(clean, tau=clean.tau + sticking + noise)
    estimate = identify(build_problem(robot, [motion], Preparation()), Separable())
    assert estimate.further is not None
    folder = save(tmp_path / "result", estimate)
    again = load_result(folder)
    assert again.further is not None
    assert again.further.names == estimate.further.names
    assert again.further.units == estimate.further.units
    assert again.further.terms == estimate.further.terms
    assert np.array_equal(again.further.values, estimate.further.values)
    assert np.array_equal(again.further.covariance, estimate.further.covariance)
    before, after = predictions(as_model(estimate), motion)[0], predictions(again.model, motion)[0]
    assert np.array_equal(before, after)
    left = np.linalg.norm(motion.tau - after) / np.linalg.norm(motion.tau)
    forgotten = predictions(replace(again.model, further=None), motion)[0]
    assert left < 0.1 * np.linalg.norm(motion.tau - forgotten) / np.linalg.norm(motion.tau)
    rows = (folder / PARAMETERS).read_text().splitlines()
    assert [row.split(",")[0] for row in rows[-4:]] == ["Fs1", "Fs2", "vs1", "vs2"]
    content = json.loads((folder / RESULT).read_text())
    content["further"]["terms"][0]["expression"] = "__import__('os')"
    (folder / RESULT).write_text(json.dumps(content))
    with pytest.raises(FileError, match="is damaged"):
        load_result(folder)
