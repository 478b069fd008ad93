"""The result folder as a place: always a whole result, one writer, and nobody else's files touched."""

from __future__ import annotations

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.core import disk as disk_files
from dynid.core.errors import FileError
from dynid.estimators import Estimate
from dynid.results import folder as place
from dynid.results.folder import ARRAYS, NAMES, PARAMETERS, REPORT, RESULT, reserved_folder
from dynid.results.load import load_result
from dynid.results.save import save_result

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")
CALLS = ("mkdir", "open", "write", "fsync", "replace", "unlink", "rmdir", "scandir")
"""What a save asks of the file system."""


class Death(BaseException):
    """The process ends here: not even its cleaning up happens."""


class FaultyDisk:
    """Counts the calls of one kind and lets one of them fail; where it dies, all later calls fail too."""

    def __init__(self, kind: str, at: int, dies: bool) -> None:
        self.kind, self.at, self.dies, self.calls, self.dead = kind, at, dies, 0, False

    def around(self, kind: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any, **options: Any) -> Any:
            if self.dead:
                raise Death
            if kind == self.kind:
                self.calls += 1
                if self.calls == self.at:
                    if kind == "write":  # half of it reaches the disk
                        real(given[0], bytes(given[1])[: len(given[1]) // 2])
                    if self.dies:
                        self.dead = True
                        raise Death
                    raise OSError(errno.ENOSPC, "No space left on device")
            return real(*given, **options)

        return call


@contextmanager
def faulty_disk(kind: str, at: int, dies: bool) -> Iterator[FaultyDisk]:
    disk = FaultyDisk(kind, at, dies)
    with pytest.MonkeyPatch.context() as patch:
        for name in CALLS:
            patch.setattr(os, name, disk.around(name, getattr(os, name)))
        yield disk
    for handle in list(disk_files._held):  # the system closes what a dead process had open
        os.close(handle)
    disk_files._held.clear()


def save(folder: Path, estimate: Estimate, title: str, *, force: bool = True) -> Path:
    """A result whose numbers, document and page all tell which one it is."""
    told = replace(estimate, values=estimate.values * len(title))
    return save_result(folder, told, {"title": title}, f"<p>{title}</p>", force=force)


def title_of(folder: Path, estimate: Estimate) -> str:
    """Which result lies there; its parts must belong together."""
    found = load_result(folder)
    title = str(found.document["title"])
    assert np.array_equal(found.values, estimate.values * len(title))
    return title


def leave_uncommitted(folder: Path, estimate: Estimate) -> None:
    """As a process leaves it that was killed before ``result.json`` was replaced."""
    with faulty_disk("replace", 1, dies=True), pytest.raises(Death):
        save(folder, estimate, "lost!!")


def leave_committed(folder: Path, estimate: Estimate, title: str) -> None:
    """As a process leaves it that was killed right after ``result.json`` was replaced."""
    with faulty_disk("replace", 2, dies=True), pytest.raises(Death):
        save(folder, estimate, title)


def names_in(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("dies", [False, True], ids=["fails", "dies"])
@pytest.mark.parametrize("before", ["nothing", "result", "leftovers", "unfinished"])
@pytest.mark.parametrize("kind", CALLS)
def test_a_fault_at_every_step_of_saving_leaves_the_old_or_the_new_result(
    kind: str, before: str, dies: bool, tmp_path: Path, estimate: Estimate
) -> None:
    """The k-th call of one kind fails, for every k that a save has."""
    at, fault = 0, True
    while fault:
        at += 1
        folder = tmp_path / f"{at}" / "result"
        if before != "nothing":
            save(folder, estimate, "old")
            (folder / "notes.txt").write_text("mine")
        if before == "leftovers":
            leave_uncommitted(folder, estimate)
        if before == "unfinished":
            leave_committed(folder, estimate, "old")
        error: BaseException | None = None
        with faulty_disk(kind, at, dies) as disk:
            try:
                save(folder, estimate, "newer")
            except (FileError, Death) as caught:
                error = caught
        fault = disk.calls >= at
        if not folder.exists() or (before == "nothing" and not (folder / RESULT).exists()):
            assert before == "nothing"
            assert error is not None
        else:
            title = title_of(folder, estimate)
            assert title in ("old", "newer")
            if error is None:
                assert title == "newer"
            elif isinstance(error, FileError):
                assert ("is saved in" in str(error)) == (title == "newer")
        if before != "nothing":
            assert (folder / "notes.txt").read_text() == "mine"
        save(folder, estimate, "newest")
        assert title_of(folder, estimate) == "newest"
        assert (folder / REPORT).read_text() == "<p>newest</p>"
        extra = [] if before == "nothing" else ["notes.txt"]
        assert names_in(folder) == sorted([*NAMES, *extra])
    assert at > 1 or kind in ("mkdir", "unlink", "rmdir")


def test_a_save_that_was_cut_short_is_read_and_finished(tmp_path: Path, estimate: Estimate) -> None:
    """Between the two steps the new arrays still have their own name, and the page is the old one."""
    folder = save(tmp_path / "result", estimate, "old")
    leave_committed(folder, estimate, "newer")
    assert title_of(folder, estimate) == "newer"
    assert (folder / REPORT).read_text() == "<p>old</p>"
    with reserved_folder(folder, force=True):
        pass
    assert (folder / REPORT).read_text() == "<p>newer</p>"
    assert title_of(folder, estimate) == "newer"
    assert names_in(folder) == sorted(NAMES)


def test_a_folder_that_holds_only_leftovers_is_free(tmp_path: Path, estimate: Estimate) -> None:
    folder = tmp_path / "result"
    leave_uncommitted(folder, estimate)
    assert any(name.startswith(".dynid-") for name in names_in(folder))
    with pytest.raises(FileError, match=r"is not a dynid result folder: it has no result\.json"):
        load_result(folder)
    save(folder, estimate, "first", force=False)
    assert names_in(folder) == sorted(NAMES)


def test_only_files_with_our_own_names_are_swept(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate, "old")
    foreign = [".dynid-notes", ".dynid-0123456789abcdef-log.csv", ".dynid-xyz-arrays.npz", "arrays.npz.bak"]
    for name in foreign:
        (folder / name).write_text("mine")
    (folder / ".dynid-0123456789abcdef-arrays.npz").write_text("left by a killed process")
    (folder / ".dynid-0123456789abcdef-report.html").mkdir()
    save(folder, estimate, "newer")
    assert names_in(folder) == sorted([*NAMES, *foreign, ".dynid-0123456789abcdef-report.html"])
    assert all((folder / name).read_text() == "mine" for name in foreign)


def test_readers_never_see_a_mixture(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate, "old")
    seen, failed, done = set[str](), list[BaseException](), threading.Event()

    def read() -> None:
        try:
            while not done.is_set():
                seen.add(title_of(folder, estimate))
        except BaseException as error:
            failed.append(error)

    reader = threading.Thread(target=read)
    reader.start()
    for k in range(60):
        save(folder, estimate, ("old", "newer")[k % 2])
    done.set()
    reader.join()
    assert not failed
    assert seen <= {"old", "newer"}


def test_nothing_is_overwritten_without_force(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate, "old")
    with pytest.raises(
        FileError, match=r"exists already; choose another folder \(--out\), or add --force \(force=True\)"
    ):
        save(folder, estimate, "newer", force=False)
    assert title_of(folder, estimate) == "old"
    empty = tmp_path / "empty"
    empty.mkdir()
    save(empty, estimate, "first", force=False)


@pytest.mark.parametrize("content", ["{}", '{"schema": 1, "score": 7}', "[]", "no JSON", ""])
def test_force_keeps_another_program_s_result_json(tmp_path: Path, estimate: Estimate, content: str) -> None:
    precious = tmp_path / "thesis"
    precious.mkdir()
    (precious / "chapter.txt").write_text("years of work")
    with pytest.raises(
        FileError, match=r"is not a dynid result folder, so --force \(force=True\) does not replace it"
    ):
        save(precious, estimate, "newer")
    (precious / RESULT).write_text(content)
    with pytest.raises(
        FileError, match=r"is damaged or not written by dynid, so --force \(force=True\) does not"
    ):
        save(precious, estimate, "newer")
    assert names_in(precious) == ["chapter.txt", RESULT]
    assert (precious / RESULT).read_text() == content


def test_force_replaces_a_damaged_result_of_ours(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate, "old")
    whole = (folder / RESULT).read_bytes()
    (folder / RESULT).write_bytes(whole[: len(whole) // 2])
    save(folder, estimate, "newer")
    assert title_of(folder, estimate) == "newer"


def test_inputs_are_never_replaced(tmp_path: Path, estimate: Estimate) -> None:
    """A log beside the result is kept; one that has a name of ours is refused, however it is reached."""
    folder = save(tmp_path / "result", estimate, "old")
    log = folder / "log.csv"
    log.write_text("t,q1\n")
    with reserved_folder(folder, force=True, inputs=[log]):
        save_inside(folder, estimate)
    assert log.read_text() == "t,q1\n"
    before = (folder / ARRAYS).read_bytes()
    links = [tmp_path / "soft.npz", tmp_path / "hard.npz"]
    os.symlink(folder / ARRAYS, links[0])
    os.link(folder / ARRAYS, links[1])
    for given in (folder / ARRAYS, tmp_path / "result" / ".." / "result" / ARRAYS, folder, *links):
        with (
            pytest.raises(FileError, match=r"is read here and would be replaced by the result in"),
            reserved_folder(folder, force=True, inputs=[given]),
        ):
            pytest.fail("reserved")
    assert (folder / ARRAYS).read_bytes() == before


def save_inside(folder: Path, estimate: Estimate) -> None:
    place.replace_result(folder, {"robot_file": {}, "document": {}}, {PARAMETERS: b"name\n"})
    assert json.loads((folder / RESULT).read_text())["files"].keys() == {PARAMETERS}


@posix_only
def test_links_are_followed_or_refused_but_never_replaced(tmp_path: Path, estimate: Estimate) -> None:
    real = tmp_path / "real"
    real.mkdir()
    link = tmp_path / "link"
    link.symlink_to(real)
    save(link, estimate, "old", force=False)
    save(link, estimate, "newer")
    assert link.is_symlink()
    assert title_of(real, estimate) == "newer"
    broken = tmp_path / "broken"
    broken.symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileError, match=r"broken is a link that leads nowhere; remove it or choose another"):
        save(broken, estimate, "newer")
    assert broken.is_symlink()
    page = tmp_path / "page.html"
    shutil.move(real / REPORT, page)
    (real / REPORT).symlink_to(page)
    with pytest.raises(
        FileError, match=r"report\.html is not a regular file, so --force \(force=True\) does not"
    ):
        save(real, estimate, "newest")
    assert (real / REPORT).is_symlink()
    assert page.read_text() == "<p>newer</p>"


def test_what_fails_inside_leaves_no_trace(tmp_path: Path, estimate: Estimate) -> None:
    with pytest.raises(ValueError, match="bad log"), reserved_folder(tmp_path / "a" / "b" / "c"):
        raise ValueError("bad log")
    assert list(tmp_path.iterdir()) == []
    folder = save(tmp_path / "result", estimate, "old")
    with pytest.raises(OSError, match="a log that cannot be read"), reserved_folder(folder, force=True):
        raise OSError("a log that cannot be read")
    assert names_in(folder) == sorted(NAMES)


def test_places_that_cannot_be_written_are_told(tmp_path: Path, estimate: Estimate) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FileError, match=r"The result cannot be written to .*below: Not a directory"):
        save(tmp_path / "file" / "below", estimate, "newer")
    with pytest.raises(FileError, match="exists already; choose another folder"):
        save(tmp_path / "file", estimate, "newer", force=False)
    with pytest.raises(
        FileError, match=r"is not a dynid result folder, so --force \(force=True\) does not replace it"
    ):
        save(tmp_path / "file", estimate, "newer")


def test_one_writer_at_a_time(tmp_path: Path, estimate: Estimate) -> None:
    folder = save(tmp_path / "result", estimate, "old")
    told = (
        r"Another dynid process is writing to .*result; wait for its end or choose another folder \(--out\)\."
    )
    with reserved_folder(folder, force=True):
        with pytest.raises(FileError, match=told):
            save(folder, estimate, "newer")
        assert title_of(folder, estimate) == "old"  # readers do not wait
    save(folder, estimate, "newer")


HOLDER = """
import os, sys, time
from pathlib import Path
from dynid.results.folder import reserved_folder
with reserved_folder(Path(sys.argv[1]), force=True):
    reading, writing = os.pipe()
    child = os.fork() if sys.argv[2] == "fork" else None
    if child == 0:
        os.write(writing, b".")  # it runs, so it has let go of the lock that it has inherited
        time.sleep(60)
    if child:
        os.read(reading, 1)
    print(child or 0, flush=True)
    time.sleep(60)
"""


@posix_only
@pytest.mark.parametrize("worker", ["alone", "fork"])
def test_the_lock_ends_with_its_process(tmp_path: Path, estimate: Estimate, worker: str) -> None:
    """Also when a worker that it has started lives on."""
    folder = save(tmp_path / "result", estimate, "old")
    command = [sys.executable, "-c", HOLDER, str(folder), worker]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        try:
            with pytest.raises(FileError, match="Another dynid process is writing"):
                save(folder, estimate, "newer")
            holder.send_signal(signal.SIGKILL)
            holder.wait()
            save(folder, estimate, "newer")
        finally:
            holder.kill()
            if child:
                os.kill(child, signal.SIGKILL)
    assert title_of(folder, estimate) == "newer"
    assert names_in(folder) == sorted(NAMES)


def test_a_file_system_without_locks_is_written_all_the_same(
    tmp_path: Path, estimate: Estimate, monkeypatch: pytest.MonkeyPatch
) -> None:
    fcntl = pytest.importorskip("fcntl")

    def none(*given: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    assert title_of(save(tmp_path / "result", estimate, "old"), estimate) == "old"


WINDOWS = """
import os, sys, types
import dynid.results.load, dynid.compile.kernels
for name in [name for name in sys.modules if name in ("fcntl", "dynid.core.disk") or "results" in name]:
    del sys.modules[name]
del os.geteuid, os.getuid, os.register_at_fork, os.O_NOFOLLOW, os.O_NONBLOCK
locked = []
sys.modules["msvcrt"] = types.SimpleNamespace(LK_NBLCK=2, locking=lambda *given: locked.append(given))
sys.modules["fcntl"] = None
sys.platform = "win32"
from pathlib import Path
from dynid.compile import store
from dynid.results.folder import replace_result, reserved_folder
folder = Path(sys.argv[1])
with reserved_folder(folder / "result"):
    replace_result(folder / "result", {"robot_file": {}, "document": {}}, {"parameters.csv": b"name"})
assert locked and sorted(os.listdir(folder / "result")) == ["parameters.csv", "result.json"]
os.environ["DYNID_CACHE"] = str(folder)
store.write("name", {}, b"code")
(folder / "name.bin").chmod(0o666)  # the mode that Windows gives to every file
assert store.read("name") == ({}, b"code")
"""


def test_nothing_is_missed_that_windows_lacks(tmp_path: Path) -> None:
    command = [sys.executable, "-c", WINDOWS, str(tmp_path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
