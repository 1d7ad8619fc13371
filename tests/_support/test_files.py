"""`write_files`: whole or not at all, links, rights, and what is no plain file."""

import os
import stat
import threading

import pytest

from sparsebayes._support.files import check_output, write_files

posix = pytest.mark.skipif(os.name != "posix", reason="needs links and FIFOs")


@posix
def test_a_link_stays_a_link(tmp_path):
    real, link = tmp_path / "elsewhere" / "real", tmp_path / "link"
    real.parent.mkdir()
    real.write_bytes(b"old")
    link.symlink_to(real)
    write_files({link: b"new"})
    assert link.is_symlink() and real.read_bytes() == b"new"
    assert os.listdir(real.parent) == ["real"]
    check_output(str(link))


@posix
def test_a_link_that_leads_nowhere_makes_the_file(tmp_path):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "not_yet")
    write_files({link: b"new"})
    assert link.is_symlink() and (tmp_path / "not_yet").read_bytes() == b"new"
    link.unlink()
    link.symlink_to(tmp_path / "none" / "file")
    with pytest.raises(FileNotFoundError, match="no directory"):
        check_output(str(link))


@posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o755])
def test_the_mode_is_kept(tmp_path, mode):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    path.chmod(mode)
    write_files({path: b"new"})
    assert stat.S_IMODE(path.stat().st_mode) == mode and path.read_bytes() == b"new"


@posix
@pytest.mark.skipif(os.name == "posix" and os.geteuid() != 0, reason="only root gives files away")
def test_the_owner_is_kept(tmp_path):
    path = tmp_path / "file"
    path.write_bytes(b"old")
    os.chown(path, 12345, 12346)
    write_files({path: b"new"})
    assert (path.stat().st_uid, path.stat().st_gid) == (12345, 12346)


@posix
def test_a_fifo_is_written_to(tmp_path):
    fifo, plain = tmp_path / "fifo", tmp_path / "plain"
    os.mkfifo(fifo)
    read = []
    thread = threading.Thread(target=lambda: read.append(fifo.read_bytes()))
    thread.start()
    write_files({fifo: iter([b"one ", b"two"]), plain: b"1"})
    thread.join()
    assert read == [b"one two"] and stat.S_ISFIFO(fifo.stat().st_mode)
    assert sorted(os.listdir(tmp_path)) == ["fifo", "plain"]


@posix
def test_a_device_stays_one(tmp_path):
    write_files({tmp_path / "a": b"1"})
    link = tmp_path / "null"
    link.symlink_to(os.devnull)
    write_files({link: b"gone"})
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode) and link.is_symlink()
    check_output(os.devnull, os.devnull)


def test_an_error_while_pieces_are_made_leaves_nothing(tmp_path):
    def pieces():
        yield b"half"
        raise ValueError("no more")

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(ValueError, match="no more"):
        write_files({tmp_path / "b": b"1", tmp_path / "a": pieces()})
    assert os.listdir(tmp_path) == ["a"] and (tmp_path / "a").read_bytes() == b"old"


def test_all_is_on_the_disk_before_anything_is_renamed(tmp_path, monkeypatch):
    done, fsync, replace = [], os.fsync, os.replace

    def noted_fsync(descriptor):
        fsync(descriptor)
        done.append(("on the disk", os.fstat(descriptor).st_size))

    def noted_replace(old, new):
        done.append(("renamed", os.stat(old).st_size))
        replace(old, new)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_replace)
    write_files({tmp_path / "a": b"123", tmp_path / "b": iter([b"4", b"5"])})
    assert done == [("on the disk", 3), ("on the disk", 2), ("renamed", 3), ("renamed", 2)]
