"""Files that are written whole, with care for what is there."""

import os
import stat
from pathlib import Path

import pytest

from fakekube.util import files


def test_a_link_stays_and_leads_to_what_was_written(tmp_path: Path) -> None:
    """Given links to a file, and to none, when they are written to, then they are links still, what
    they lead to has the contents, its mode is kept, and that of a new file is its owner's alone."""
    (tmp_path / "deep").mkdir()
    target = tmp_path / "deep" / "target"
    target.write_text("old")
    target.chmod(0o664)
    for name, leads in (("link", target), ("dangling", tmp_path / "deep" / "new")):
        link = tmp_path / name
        link.symlink_to(leads)
        files.write(link, b"contents")
        assert link.is_symlink()
        assert leads.read_bytes() == b"contents"
    assert stat.S_IMODE(target.stat().st_mode) == 0o664
    assert stat.S_IMODE((tmp_path / "deep" / "new").stat().st_mode) == 0o600
    assert sorted(each.name for each in (tmp_path / "deep").iterdir()) == ["new", "target"]
    files.remove(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert not target.exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path: Path) -> None:
    """Given a file of another user, when root writes it, then it is that user's still."""
    path = tmp_path / "file"
    path.touch()
    os.chown(path, 1234, 4321)
    files.write(path, b"contents")
    assert (path.stat().st_uid, path.stat().st_gid) == (1234, 4321)


def test_what_is_no_regular_file_is_refused(tmp_path: Path) -> None:
    """Given a pipe, a device or a directory, when it is read or written, then one sentence refuses;
    it stays what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (pipe, Path("/dev/null"), tmp_path):
        with pytest.raises(files.NotReplaced, match="no regular file"):
            files.write(path, b"contents")
        with pytest.raises(files.NotReplaced, match="no regular file"):
            files.read(path, 10)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_failure_leaves_what_was_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a file that cannot be replaced, when it is written, then it is as before and nothing
    lies beside it."""
    path = tmp_path / "file"
    path.write_text("old")

    def refuse(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(Path, "replace", refuse)
    with pytest.raises(OSError, match="no"):
        files.write(path, b"new")
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["file"]


def test_more_than_anything_of_ours_is_not_read(tmp_path: Path) -> None:
    """Given a file that is too large, or none, when it is read, then it is refused, or nothing."""
    (tmp_path / "large").write_bytes(b"12345")
    assert files.read(tmp_path / "large", 5) == b"12345"
    assert files.read(tmp_path / "none", 5) is None
    with pytest.raises(files.NotReplaced, match="has 5 bytes"):
        files.read(tmp_path / "large", 4)


def test_a_lock_is_client_gos_and_one_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a file that is locked, when somebody else would lock it, then one sentence says what is
    in the way; afterwards it can be locked again."""
    monkeypatch.setattr(files, "LOCK_SECONDS", 0.0)
    path = tmp_path / "config"
    with files.locked(path):
        assert (tmp_path / "config.lock").exists()
        text = r"config\.lock is there: somebody writes .*; remove it if nobody does"
        with pytest.raises(OSError, match=text), files.locked(path):
            pass
        assert (tmp_path / "config.lock").exists()
    with files.locked(path):
        pass
    assert not (tmp_path / "config.lock").exists()


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    """given a file in a folder that is not there, when it is written, then the error names it"""
    with pytest.raises(FileNotFoundError) as failed:
        files.write(tmp_path / "nowhere" / "file", b"x")
    assert failed.value.filename == str(tmp_path / "nowhere" / "file")
