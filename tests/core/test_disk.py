"""Files are written whole or not at all, and read only where that cannot surprise."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dynid.core.disk import create_file, read_regular, replaced_file

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


def write_whole(path: Path, content: bytes) -> None:
    with replaced_file(path) as file:
        file.write(content)


def test_a_file_is_replaced_whole_and_a_link_keeps_leading_to_it(tmp_path: Path) -> None:
    file, link = tmp_path / "page.html", tmp_path / "latest.html"
    write_whole(file, b"old")
    link.symlink_to(file)
    write_whole(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"
    assert sorted(os.listdir(tmp_path)) == ["latest.html", "page.html"]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "page.html"
    write_whole(file, b"old")

    def full(*given: object) -> int:
        raise OSError(28, "No space left on device")

    for call in ("fsync", "replace"):
        with monkeypatch.context() as patch:
            patch.setattr(os, call, full)
            with pytest.raises(OSError, match="No space left"):
                write_whole(file, b"new")
        assert file.read_bytes() == b"old"
        assert os.listdir(tmp_path) == ["page.html"]
    with pytest.raises(TypeError), replaced_file(file) as begun:
        begun.writelines([b"half of it", None])  # type: ignore[list-item]
    assert file.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["page.html"]


@posix_only
def test_files_have_the_rights_that_the_user_s_umask_leaves(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "page.html", b"")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "page.html").stat().st_mode) == 0o640


@posix_only
def test_what_exists_is_never_written_through(tmp_path: Path) -> None:
    (tmp_path / "mine").write_bytes(b"mine")
    (tmp_path / "trap").symlink_to(tmp_path / "mine")
    for name in ("mine", "trap"):
        with pytest.raises(FileExistsError):
            create_file(tmp_path / name, b"other")
    assert (tmp_path / "mine").read_bytes() == b"mine"


@posix_only
def test_only_regular_files_of_some_size_are_read(tmp_path: Path) -> None:
    file = tmp_path / "file"
    create_file(file, b"12345", mode=0o600)
    assert read_regular(file, 5, private=True) == b"12345"
    with pytest.raises(OSError, match="has 5 bytes, more than the 4 allowed"):
        read_regular(file, 4)
    os.mkfifo(tmp_path / "pipe")
    for name in ("pipe", "."):
        with pytest.raises(OSError, match="is not a regular file"):
            read_regular(tmp_path / name, 5)
    link = tmp_path / "link"
    link.symlink_to(file)
    assert read_regular(link, 5) == b"12345"
    with pytest.raises(OSError, match="symbolic links"):
        read_regular(link, 5, private=True)
    file.chmod(0o640)
    with pytest.raises(OSError, match="is not private to this user"):
        read_regular(file, 5, private=True)
