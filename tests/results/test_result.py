"""What a result folder holds: written, read back, and refused where it was damaged or tampered with."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import os
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.base import find_base
from dynid.core.errors import FileError
from dynid.estimators import WLS, Estimate, Separable, identify
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.motion import Trail
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from dynid.results.folder import ARRAYS, NAMES, PARAMETERS, RESULT
from dynid.results.load import load_result
from dynid.results.save import parameters_csv, save_result
from dynid.results.view import summary_lines
from dynid.validation.model import as_model, predictions
from support.study import document
from support.workflow_logs import experiment


def save(folder: Path, estimate: Estimate) -> Path:
    return save_result(folder, estimate, {"title": "Prüfung"}, "<html></html>")


def content_of(folder: Path) -> dict[str, Any]:
    return json.loads((folder / RESULT).read_text(encoding="utf-8"))


def rewrite(folder: Path, content: dict[str, Any], arrays: bytes | None = None) -> None:
    """Somebody else's work on a result, with the right checksum where arrays are replaced."""
    if arrays is not None:
        (folder / ARRAYS).write_bytes(arrays)
        facts = {"size": len(arrays), "sha256": hashlib.sha256(arrays).hexdigest()}
        content = content | {"files": {ARRAYS: facts}}
    (folder / RESULT).write_text(json.dumps(content), encoding="utf-8")


def packed(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def arrays_of(folder: Path) -> dict[str, Any]:
    with np.load(folder / ARRAYS) as stored:
        return dict(stored)


def test_a_result_comes_back_as_it_was(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "deep" / "result", estimate)
    again = load_result(folder)
    assert again.robot == estimate.problem.robot
    assert again.base == estimate.problem.base
    assert again.plan == estimate.problem.plan
    assert again.document == {"title": "Prüfung"}
    assert np.array_equal(again.values, estimate.values)
    assert np.array_equal(again.covariance, estimate.covariance)
    assert np.array_equal(again.kept, estimate.kept)
    assert sorted(p.name for p in folder.iterdir()) == sorted(NAMES)
    lines = (folder / PARAMETERS).read_text().splitlines()
    assert len(lines) == 1 + len(estimate.values)
    assert lines[1].startswith("ZZ1R,")
    assert [p.name for p in folder.parent.iterdir()] == ["result"]
    assert repr(again) == f"SavedResult({str(folder)!r}, robot 'scara', 8 of 8 base parameters)"


def test_result_json_names_the_files_that_belong_to_it(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate)
    files = content_of(folder)["files"]
    assert {*files, RESULT} == set(NAMES)
    for name, facts in files.items():
        data = (folder / name).read_bytes()
        assert facts == {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}


def test_a_folder_of_version_0_1_0_is_read(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate)
    content = content_of(folder)
    del content["save"], content["files"]
    rewrite(folder, content | {"schema": 1})
    assert np.array_equal(load_result(folder).values, estimate.values)
    for damage in (b"", b"no numbers", b"PK\x03\x04"):
        (folder / ARRAYS).write_bytes(damage)
        with pytest.raises(FileError, match=r"is damaged \(arrays\.npz cannot be read\); fit again\.$"):
            load_result(folder)
    (folder / ARRAYS).unlink()
    with pytest.raises(FileError, match=r"it has no arrays\.npz"):
        load_result(folder)


def test_the_fit_s_motion_is_kept_and_may_be_missing(tmp_path: Path, estimate: Estimate) -> None:
    """Folders of earlier versions have no trails; damaged ones are told."""
    trails = (Trail(10.0, np.arange(8.0).reshape(4, 2)), Trail(5.0, np.ones((2, 2))))
    folder = save_result(tmp_path / "result", estimate, {}, "", trails=trails)
    again = load_result(folder).trails
    assert [trail.rate_hz for trail in again] == [10.0, 5.0]
    assert all(np.array_equal(a.q, b.q) for a, b in zip(again, trails, strict=True))
    assert load_result(save(tmp_path / "earlier", estimate)).trails == ()
    rewrite(folder, content_of(folder), packed(**arrays_of(folder) | {"trail_samples": np.array([4, 3])}))
    with pytest.raises(FileError, match=r"is damaged \(the fit's motion has arrays that do not belong"):
        load_result(folder)


def test_damaged_results_are_told(tmp_path: Path, estimate: Estimate) -> None:
    with pytest.raises(FileError, match=r"is not a dynid result folder: it has no result\.json"):
        load_result(tmp_path)
    folder = save(tmp_path / "result", estimate)
    content = content_of(folder)
    for change, text in (
        ({"schema": 99}, "has schema 99; this version reads schemas 1 and 2"),
        ({"robot_file": {"name": "x"}}, "is damaged"),
        ({"robot_file": []}, "is damaged"),
        ({"base": {"method": "closed-form", "names": ["ZZ9"]}}, "names other base parameters"),
        ({"base": "closed-form"}, "is damaged"),
        ({"plan": {"colour": 1}}, "is damaged"),
        ({"plan": {"cutoff_hz": "<b>"}}, "is damaged"),
        ({"files": []}, r"is damaged \(result\.json does not name its files\)"),
        ({"save": "../../etc/passwd"}, None),
        ({"document": "<script>"}, r"the document in result\.json is no table"),
        ({"document": {"verdict": ["<script>"]}}, r"verdict of the document in result\.json is no table"),
        ({"document": {"estimate": 7}}, r"estimate of the document in result\.json is no table"),
    ):
        rewrite(folder, content | change)
        if text is not None:
            with pytest.raises(FileError, match=text):
                load_result(folder)
        else:
            load_result(folder)  # a strange name is no way out of the folder
    (folder / RESULT).write_text("{")
    with pytest.raises(FileError, match="is damaged"):
        load_result(folder)
    rewrite(folder, {key: content[key] for key in content if key != "document"})
    with pytest.raises(FileError, match=r"is damaged \(result\.json lacks 'document'\); fit again"):
        load_result(folder)


def bomb() -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as members:
        members.writestr("values.npy", bytes(3_000_000))
    return file.getvalue()


def huge_header() -> bytes:
    """An array that says it has 10¹⁵ numbers, and has none."""
    file = io.BytesIO()
    header = np.lib.format
    header.write_array_header_1_0(file, {"descr": "<f8", "fortran_order": False, "shape": (10**15,)})
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as members:
        members.writestr("values.npy", file.getvalue())
    return whole.getvalue()


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda arrays: packed(values=arrays["values"]), "lacks 'covariance'"),
        (
            lambda arrays: packed(**arrays | {"values": np.array(["a"] * 8)}),
            "values .* not hold numbers",
        ),
        (lambda arrays: packed(**arrays | {"values": arrays["values"] * 1j}), "does not hold numbers"),
        (lambda arrays: packed(**arrays | {"values": arrays["values"][1:]}), "names other base parameters"),
        (lambda arrays: packed(**arrays | {"joint_sigma": np.ones(3)}), r"shape \(3,\) instead of \(2,\)"),
        (lambda arrays: packed(**arrays | {"kept": np.ones((8, 2))}), r"shape \(8, 2\) instead of \(8,\)"),
        (lambda arrays: b"no numbers", r"arrays\.npz cannot be read"),
        (lambda arrays: packed(**arrays)[:200], r"arrays\.npz cannot be read"),
        (lambda arrays: huge_header(), r"arrays\.npz cannot be read"),
        (lambda arrays: bomb(), r"unpacks to 3000000 bytes"),
    ],
)
def test_tampered_arrays_are_told_without_advice_to_unpickle(
    tmp_path: Path,
    estimate: Estimate,
    make: Callable[[dict[str, Any]], bytes],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Also with the right checksum, which anybody can compute."""
    folder = save(tmp_path / "result", estimate)
    monkeypatch.setattr("dynid.results.load.LARGEST", 1_000_000)
    rewrite(folder, content_of(folder), make(arrays_of(folder)))
    with pytest.raises(FileError, match=text) as caught:
        load_result(folder)
    assert "pickle" not in str(caught.value)


def test_arrays_that_were_changed_are_told(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate)
    whole = (folder / ARRAYS).read_bytes()
    for content in (b"", whole[:-1], whole[:100] + bytes([whole[100] ^ 1]) + whole[101:], None):
        (folder / ARRAYS).unlink()
        if content is not None:
            (folder / ARRAYS).write_bytes(content)
        with pytest.raises(FileError, match=r"\(arrays\.npz was changed or removed since it was saved\)"):
            load_result(folder)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names")
@pytest.mark.parametrize("name", [RESULT, ARRAYS])
def test_a_pipe_is_not_waited_for(tmp_path: Path, estimate: Estimate, name: str) -> None:
    folder = save(tmp_path / "result", estimate)
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(FileError, match="is damaged"):
        load_result(folder)


def labelled(robot: Robot, label: str) -> Robot:
    joints = (replace(robot.joints[0], label=label), *robot.joints[1:])
    return replace(robot, joints=joints, parameters={})


def test_a_label_with_line_ends_commas_and_quotes_keeps_the_table_whole() -> None:
    robot = labelled(load_robot("scara"), '1\n,"\r\n=2')
    estimate = identify(build_problem(robot, [experiment(robot, 1)], Preparation()), WLS())
    rows = list(csv.reader(io.StringIO(parameters_csv(estimate), newline="")))
    assert {len(row) for row in rows} == {7}
    assert [row[0] for row in rows[1:]] == list(find_base(robot).names)
    assert any("\n" in row[0] for row in rows)


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
    content = content_of(folder)
    content["further"]["terms"][0]["expression"] = "__import__('os')"
    rewrite(folder, content)
    with pytest.raises(FileError, match="is damaged"):
        load_result(folder)


def test_a_document_that_lacks_something_is_told_in_a_sentence(tmp_path: Path, estimate: Estimate) -> None:
    loaded = load_result(save(tmp_path / "result", estimate))
    shows = (loaded.summary, loaded.to_frame, loaded.plot, loaded._repr_html_)
    for show, lacking in zip(shows, ("verdict", "parameters", "curves", "verdict"), strict=True):
        with pytest.raises(FileError, match=rf"cannot be shown \(it lacks '{lacking}'\); fit again"):
            show()
    changed = replace(loaded, document={"verdict": {"words": "", "sentence": "", "findings": 3}})
    with pytest.raises(FileError, match=r"cannot be shown \('int' object is not iterable\)"):
        changed.summary()


def test_the_summary_has_a_line_about_the_possible_robot() -> None:
    content = document()
    found = content["possibility"] | {"active": [{"name": "a", "given": False, "link": None}]}
    found |= {"possible_percent": 5.5912, "plain_percent": 5.7249}
    line = "possible robot: 1 bound active"
    errors = ", misses 5.59 % of parts not used (the fit alone 5.72 %)"
    assert line + errors in summary_lines(content | {"possibility": found})
    short = found | {"possible_percent": None, "plain_percent": None}
    assert line in summary_lines(content | {"possibility": short})
    assert "possible robot: the fit is one as it is" in summary_lines(
        content | {"possibility": found | {"as_it_is": True}}
    )
    del content["possibility"]
    assert not any(text.startswith("possible robot") for text in summary_lines(content))
