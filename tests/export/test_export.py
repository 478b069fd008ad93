"""The verb: tables that are read back, files written all or none, and a sentence for what cannot be."""

from __future__ import annotations

import csv
import io
import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynid
from dynid.core.errors import DynidError, FileError
from dynid.export.export import FORMS, export_model, write_export
from dynid.export.model import Export, ExportedFile
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import robot_from_table
from support.exported import STRIBECK, result_of, sly_robot

RESULT = result_of(load_robot("scara"), STRIBECK)
CODE = [form for form, facts in FORMS.items() if not facts.body]
TWO = Export("c", (ExportedFile("a.h", b"one"), ExportedFile("a.c", b"two")))


def rows(made: Export, k: int) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(made.files[k].content.decode(), newline="")))


def test_the_verb_is_public() -> None:
    assert dynid.export_model is export_model


@pytest.mark.parametrize("form", CODE)
def test_every_form_is_made_of_hostile_names(form: str, tmp_path: Path) -> None:
    """Files stay in the folder, under names that are plain."""
    result = result_of(replace(sly_robot(), name="../../etc/passwd"), STRIBECK)
    made = export_model(result, form, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(file.name for file in made.files)
    assert all(file.name.startswith("etc_passwd") for file in made.files)


def test_csv_tables_keep_every_digit() -> None:
    made = export_model(RESULT, "csv")
    assert [file.name for file in made.files] == ["scara_standard.csv", "scara_base.csv"]
    standard, base = rows(made, 0), rows(made, 1)
    assert [float(row["value"]) for row in standard] == RESULT.standard.tolist()
    assert [row["name"] for row in base] == [*RESULT.base.names, *RESULT.further.names]
    assert [float(row["value"]) for row in base] == [*RESULT.values, *RESULT.further.values]
    assert base[0]["formula"] == "ZZ1R = ZZ1 + L^2*M2"
    assert base[-1]["formula"] == "Fs2 * (sign(qd)*exp(-(qd/vs)^2))"


def test_standard_values_say_where_they_come_from() -> None:
    sources = {"possibility": {"names": ["ZZ1", "M2", "ZZ2"], "fixed_by": ["prior", "bound", "data"]}}
    told = replace(RESULT, document=sources)
    assert {row["name"]: row["source"] for row in rows(export_model(told, "csv"), 0)}["M2"] == "bound"
    document = json.loads(export_model(told, "json").files[0].content)
    assert {row["name"]: row["source"] for row in document["standard"]}["ZZ1"] == "prior"
    assert rows(export_model(RESULT, "csv"), 0)[0]["source"] == ""


def test_the_json_document_holds_the_whole_model() -> None:
    document = json.loads(export_model(RESULT, "json").files[0].content)
    assert document["schema"] == "dynid.export/1"
    assert robot_from_table(document["robot"]) == RESULT.robot
    base = document["base"]
    assert [row["formula"] for row in base["parameters"]] == list(RESULT.base.formulas)
    assert np.array_equal(base["covariance"], RESULT.covariance)
    assert [row["value"] for row in document["standard"]] == RESULT.standard.tolist()
    assert document["further"]["terms"][0] == {
        "joint": 0,
        "expression": "sign(qd)*exp(-(qd/vs)^2)",
        "coefficient": RESULT.further.values[0],
        "constants": {"vs": RESULT.further.values[2]},
    }
    assert document["torque_error_percent"] == 1.234


def test_what_is_infinite_is_null_in_json_and_empty_in_csv() -> None:
    lost = replace(RESULT, document={"estimate": {"facts": {"undetermined": ["ZZ2"]}}})
    parameters = json.loads(export_model(lost, "json").files[0].content)["base"]["parameters"]
    assert {row["name"]: row["sigma"] for row in parameters}["ZZ2"] is None
    assert {row["name"]: row["sigma"] for row in rows(export_model(lost, "csv"), 1)}["ZZ2"] == ""


@pytest.mark.parametrize(
    ("form", "files"),
    [
        ("csv", ["scara_base.csv"]),
        ("json", ["scara.json"]),
        ("latex", ["scara.tex"]),
        ("python", ["scara.py"]),
    ],
)
def test_results_of_earlier_versions_have_no_standard_values(form: str, files: list[str]) -> None:
    made = export_model(replace(RESULT, standard=None), form)
    assert [file.name for file in made.files] == files
    assert any(sentence.startswith("Standard parameters") for sentence in made.lost)


@pytest.mark.parametrize("form", [form for form in FORMS if form not in CODE])
def test_forms_of_bodies_refuse_such_results(form: str) -> None:
    with pytest.raises(DynidError, match=r"has no standard parameters of a possible robot: .* fit again"):
        export_model(replace(RESULT, standard=None), form)


BAD: dict[str, tuple[dict[str, Any], str]] = {
    "form": (
        {"form": "sdf"},
        r"Unknown form 'sdf'\. .*Known: c, csv, json, latex, matlab, mjcf, python, urdf\.",
    ),
    "name": (
        {"form": "c", "name": "1 arm"},
        "The name '1 arm' cannot begin the names of functions and files",
    ),
    "long name": ({"form": "c", "name": "a" * 41}, "give up to 40 letters, digits and underscores"),
    "robot file": (
        {"form": "csv", "urdf": "a.urdf"},
        "is for the forms urdf and mjcf, not for csv; leave it",
    ),
    "missing file": ({"form": "urdf", "urdf": "no.urdf"}, r"There is no robot file at no\.urdf\."),
    "kind": ({"form": 3}, "export_model takes text for form, not int 3"),
}


@pytest.mark.parametrize(("options", "sentence"), BAD.values(), ids=BAD)
def test_bad_input_gets_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DynidError, match=sentence):
        export_model(RESULT, **options)


@pytest.mark.parametrize("form", CODE)
def test_values_that_are_no_numbers_are_refused(form: str) -> None:
    for name in ("values", "standard"):
        damaged = np.array(getattr(RESULT, name))
        damaged[1] = np.nan
        with pytest.raises(
            DynidError, match="The result in nowhere holds values that are not finite; fit again"
        ):
            export_model(replace(RESULT, **{name: damaged}), form)


def test_a_result_is_asked_for_by_its_kind() -> None:
    with pytest.raises(
        DynidError, match="export_model takes a result for result, not str 'out'; use load_result"
    ):
        export_model("out", "c")


def test_one_file_goes_to_a_file_or_into_a_folder(tmp_path: Path) -> None:
    export_model(RESULT, "json", tmp_path / "model.json")
    export_model(RESULT, "json", str(tmp_path / "new" / "folder"), name="arm")
    assert (tmp_path / "model.json").read_bytes() == (tmp_path / "new" / "folder" / "arm.json").read_bytes()


def test_nothing_is_replaced_unless_asked(tmp_path: Path) -> None:
    (tmp_path / "a.c").write_text("mine")
    with pytest.raises(FileError, match=r"a\.c exists already; add --force \(force=True\) to overwrite it\."):
        write_export(TWO, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.c"]
    assert write_export(TWO, tmp_path, force=True) == (tmp_path / "a.h", tmp_path / "a.c")
    assert (tmp_path / "a.c").read_bytes() == b"two"


def test_a_folder_in_the_way_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.c").mkdir()
    with pytest.raises(FileError, match=r"a\.c is a folder; give another place, or another name\."):
        write_export(TWO, tmp_path, force=True)


def test_a_set_is_written_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.h").write_text("old")
    create = os.open

    def full(path: Any, *rest: Any) -> int:
        if str(path).endswith("a.c"):
            raise OSError(28, "No space left on device")
        return create(path, *rest)

    monkeypatch.setattr(os, "open", full)
    with pytest.raises(FileError, match="cannot be written: No space left on device"):
        write_export(TWO, tmp_path, force=True)
    assert [path.name for path in tmp_path.iterdir()] == ["a.h"]
    assert (tmp_path / "a.h").read_text() == "old"


def test_a_place_that_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"cannot be written: (Not a directory|File exists)"):
        write_export(TWO, tmp_path / "file" / "deeper")
