"""The disk cache: found again by another process, safe against damage and against other users."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dynid.compile import store
from dynid.compile.batch import compile_batch
from dynid.compile.trace import describe
from dynid.model.load import load_robot

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
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


def entry_of(cache: Path) -> Path:
    (entry,) = cache.glob("*.bin")
    return entry


def as_link(entry: Path) -> None:
    entry.rename(entry.with_suffix(".elsewhere"))
    entry.symlink_to(entry.with_suffix(".elsewhere"))


def as_pipe(entry: Path) -> None:
    entry.unlink()
    os.mkfifo(entry)


def as_folder(entry: Path) -> None:
    entry.unlink()
    entry.mkdir()


def as_another_kernel(entry: Path) -> None:
    """Machine code of ours, but of another function."""
    content = entry.read_bytes()
    entry.unlink()
    compile_batch(describe(load_robot("scara"), "gravity"))
    other = entry_of(entry.parent)
    other.rename(entry)
    assert entry.read_bytes() != content


def owned_by_another(path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can give files away")
    os.chown(path, 12345, -1)


def linked_folder(cache: Path) -> None:
    cache.rename(cache.with_name("real"))
    cache.symlink_to(cache.with_name("real"))


POISONED_FILES = {
    "link": as_link,
    "pipe": as_pipe,
    "folder": as_folder,
    "another kernel": as_another_kernel,
    "of another user": owned_by_another,
    "writable for all": lambda entry: entry.chmod(0o666),
    "readable for all": lambda entry: entry.chmod(0o644),
}
POISONED_FOLDERS = {
    "link": linked_folder,
    "of another user": owned_by_another,
    "writable for all": lambda cache: cache.chmod(0o777),
    "writable for all, sticky": lambda cache: cache.chmod(0o1777),
    "writable for the group": lambda cache: cache.chmod(0o770),
}


@posix_only
@pytest.mark.parametrize("poison", POISONED_FILES.values(), ids=POISONED_FILES)
def test_a_file_that_may_be_another_s_is_not_run(cache: Path, poison: Callable[[Path], object]) -> None:
    """Its content has the right checksum: only where it lies, and whose it is, speaks against it."""
    kernel = describe(load_robot("scara"), "regressor")
    good = compile_batch(kernel)(*np.ones((3, 4, 2)))
    assert compile_batch(kernel).from_disk
    poison(entry_of(cache))
    again = compile_batch(kernel)
    assert not again.from_disk
    assert np.array_equal(again(*np.ones((3, 4, 2))), good)


@posix_only
@pytest.mark.parametrize("poison", POISONED_FOLDERS.values(), ids=POISONED_FOLDERS)
def test_a_folder_that_others_can_write_to_is_not_used(cache: Path, poison: Callable[[Path], object]) -> None:
    kernel = describe(load_robot("scara"), "regressor")
    compile_batch(kernel)
    poison(cache)
    before = {path.name: path.read_bytes() for path in cache.iterdir()}
    assert not compile_batch(kernel).from_disk
    compile_batch(describe(load_robot("scara"), "gravity"))
    assert {path.name: path.read_bytes() for path in cache.iterdir()} == before


@posix_only
def test_the_folder_is_private_whatever_the_umask_says(
    cache: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DYNID_CACHE", str(tmp_path / "a" / "b"))
    before = os.umask(0)
    try:
        compile_batch(describe(load_robot("scara"), "gravity"))
    finally:
        os.umask(before)
    made = [tmp_path / "a", tmp_path / "a" / "b"]
    assert [stat.S_IMODE(path.stat().st_mode) for path in made] == [0o700, 0o700]
    assert stat.S_IMODE(entry_of(made[1]).stat().st_mode) == 0o600


@posix_only
def test_the_default_folder_of_an_earlier_version_is_closed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("DYNID_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "dynid" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o775)
    kernel = describe(load_robot("scara"), "gravity")
    compile_batch(kernel)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert compile_batch(kernel).from_disk


def test_without_a_home_kernels_are_compiled_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("DYNID_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)

    def homeless() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(Path, "home", homeless)
    assert store.folder() is None
    assert not compile_batch(describe(load_robot("scara"), "gravity")).from_disk


def test_a_killed_writer_leaves_one_file_at_most(cache: Path) -> None:
    kernel = describe(load_robot("scara"), "gravity")
    compile_batch(kernel)
    left = entry_of(cache).with_suffix(".part")
    entry_of(cache).rename(left)
    assert not compile_batch(kernel).from_disk
    assert compile_batch(kernel).from_disk
    assert not left.exists()
