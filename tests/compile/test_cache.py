"""The disk cache: found again by another process, safe against damage, honest about what it depends on."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dynid.compile import store
from dynid.compile.batch import compile_batch
from dynid.compile.trace import describe
from dynid.model.load import load_robot

SECOND_PROCESS = """
import json, sys
import numpy as np
from dynid.compile.kernels import kernels
from dynid.model.load import load_robot
K = kernels(load_robot("tx40"))
W = K.regressor(*np.ones((3, 5, 6)))
from_disk = K.kernel("regressor").from_disk
print(json.dumps({"from_disk": from_disk, "casadi": "casadi" in sys.modules, "sum": float(W.sum())}))
"""


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "kernels"
    monkeypatch.setenv("DYNID_CACHE", str(folder))
    return folder


def run_process() -> dict[str, object]:
    done = subprocess.run([sys.executable, "-c", SECOND_PROCESS], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def test_a_second_process_finds_the_machine_code_and_needs_no_tracing(cache: Path) -> None:
    first, second = run_process(), run_process()
    assert (first["from_disk"], second["from_disk"]) == (False, True)
    assert first["sum"] == second["sum"]
    assert first["casadi"]
    assert not second["casadi"]
    assert len(list(cache.glob("*.bin"))) == 1
    assert not list(cache.glob("*.part"))


def test_damaged_entries_are_compiled_anew(cache: Path) -> None:
    kernel = describe(load_robot("scara"), "regressor")
    compile_batch(kernel)
    (entry,) = cache.glob("*.bin")
    good = entry.read_bytes()
    for bad in (
        b"",
        good[:100],
        good[:-1],
        good[:200] + bytes([good[200] ^ 1]) + good[201:],
        b"x" * len(good),
    ):
        entry.write_bytes(bad)
        again = compile_batch(kernel)
        assert not again.from_disk
        assert again(*np.ones((3, 4, 2))).any()
        assert entry.read_bytes() == good


def test_the_cache_can_be_switched_off_or_unwritable(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = describe(load_robot("scara"), "gravity")
    monkeypatch.setenv("DYNID_CACHE", "off")
    assert not compile_batch(kernel).from_disk
    assert not cache.exists()
    blocked = cache.parent / "file"
    blocked.write_text("not a folder")
    monkeypatch.setenv("DYNID_CACHE", str(blocked / "below"))
    assert not compile_batch(kernel).from_disk


def test_the_key_depends_on_robot_kernel_columns_and_machine(cache: Path) -> None:
    robot = load_robot("scara")
    keys = {
        describe(robot, "regressor").key,
        describe(robot, "regressor", [0, 1]).key,
        describe(robot, "inverse").key,
        describe(robot.with_gravity(0, -9.81, 0), "regressor").key,
        describe(robot.with_terms("Fv"), "regressor").key,
    }
    assert len(keys) == 5
    assert store.full_key("a", "cpu 1") != store.full_key("a", "cpu 2")


def test_the_default_folder_follows_the_users_settings(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DYNID_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert store.folder() == tmp_path / "dynid" / "kernels"


@pytest.mark.parametrize("folder", ["model", "dynamics", "compile"])
def test_a_changed_source_file_makes_old_kernels_unfindable(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = Path(store.__file__).parent.parent
    copy = tmp_path / "dynid"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(store, "__file__", str(copy / "compile" / "store.py"))
    before = store.source_digest.__wrapped__()
    with next((copy / folder).glob("*.py")).open("a") as file:
        file.write("# changed\n")
    assert store.source_digest.__wrapped__() != before
