"""Full disks and directories that cannot be written: an error that names the file, no change."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from tests.faults.children import in_child
from tests.faults.trial import Trial, Trials
from tests.faults.writers import CommandError, Writer, writers

_NEWNS, _NEWUSER = 0x00020000, 0x10000000
_READ_ONLY, _REMOUNT, _REC, _PRIVATE = 1, 32, 1 << 14, 1 << 18
SIZE = 4 << 20


class NotAllowedError(Exception):
    """This system does not let us mount."""


def small_disk(folder: Path) -> None:
    """Mount a small disk in memory, which this process alone sees, and which ends with it."""
    libc = ctypes.CDLL(None, use_errno=True)
    uid, gid = os.getuid(), os.getgid()
    if libc.unshare(_NEWNS):
        _check(libc.unshare(_NEWNS | _NEWUSER))
        Path("/proc/self/setgroups").write_text("deny")
        Path("/proc/self/uid_map").write_text(f"0 {uid} 1")
        Path("/proc/self/gid_map").write_text(f"0 {gid} 1")
    _check(libc.mount(None, b"/", None, _REC | _PRIVATE, None))
    options = f"size={SIZE}".encode()
    _check(libc.mount(b"none", os.fsencode(folder), b"tmpfs", 0, options))


def _check(result: int) -> None:
    if result:
        raise NotAllowedError(os.strerror(ctypes.get_errno()))


def _read_only(folder: Path) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    _check(libc.mount(None, os.fsencode(folder), None, _REMOUNT | _READ_ONLY, None))


def _fill(folder: Path, free: int) -> None:
    """Leave so many bytes, in whole pages."""
    found = os.statvfs(folder)
    with open(folder / "full", "wb") as stream:
        stream.write(bytes(max(found.f_bavail * found.f_frsize - free, 0)))


def mounting() -> str | None:
    """None, or why no small disk can be mounted here."""
    with TemporaryDirectory() as folder:
        return in_child(lambda: _tried(lambda: small_disk(Path(folder)))).answer


def _tried(action: Callable[[], None]) -> str | None:
    try:
        action()
    except (NotAllowedError, OSError) as error:
        return str(error)
    return None


def _refused(writer: Writer, folder: Path) -> list[str]:
    """What is wrong with how a writer fails; None of it, and there must be an error."""
    names = [Path(name).name for name in writer.contents[0]]
    place = [*names, *{Path(name).parts[0] for name in writer.contents[0]}]
    try:
        writer.write(folder, 1)
    except CommandError as error:
        text = error.text
        if error.code != 2 or text.count("\n") != 1:
            return [f"exit status {error.code}: {text}"]
    except OSError as error:
        text = str(error)
    else:
        return ["no error"]
    return [] if any(name in text for name in place) else [f"names no file: {text}"]


def on_full_disk(writer: Writer, share: float, folder: Path) -> list[str]:
    """Write to a disk with room for a share of what is new; in a process of its own."""
    small_disk(folder)
    writer.put(folder, 0)
    page = os.statvfs(folder).f_frsize
    pages = sum(-(-len(content) // page) for content in writer.contents[1].values())
    _fill(folder, int(share * pages) * page)
    faults = _refused(writer, folder)
    os.unlink(folder / "full")
    return faults + writer.faults(folder, (0,))


def with_small_files(writer: Writer, share: float, folder: Path) -> list[str]:
    """Write where no file may grow beyond a share of the largest; in a process of its own."""
    writer.put(folder, 0)
    largest = max(map(len, writer.contents[1].values()))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = int(share * largest)
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    faults = _refused(writer, folder)
    return faults + writer.faults(folder, (0,))


def read_only(writer: Writer, folder: Path) -> list[str]:
    """Write to a directory that cannot be written, not even by root; in a process of its own."""
    small_disk(folder)
    writer.put(folder, 0)
    _read_only(folder)
    return _refused(writer, folder) + writer.faults(folder, (0,))


def _trial(label: str, work: Callable[[Path], list[str]]) -> Trial:
    with TemporaryDirectory() as folder:
        ended = in_child(lambda: work(Path(folder)))
    if not isinstance(ended.answer, list):
        return Trial(label, (f"no answer: {ended}",))
    return Trial(label, tuple(ended.answer))


def disk_full(rng: np.random.Generator) -> Trials:
    """All writers in turn, without an end."""
    why = mounting()
    if why:
        print(f"no small disk can be mounted ({why}); files are limited in size instead")
    attempt = with_small_files if why else on_full_disk
    while True:
        for writer in writers().values():
            share = float(rng.uniform())
            yield _trial(
                f"{writer.name}, {share:.0%} of the room",
                lambda folder, writer=writer, share=share: attempt(writer, share, folder),
            )


def read_only_directories(rng: np.random.Generator) -> Trials:
    """All writers, once."""
    why = mounting()
    if why:
        print(f"read-only directories are skipped: nothing can be mounted ({why})")
        return
    for writer in writers().values():
        yield _trial(
            writer.name,
            lambda folder, writer=writer: read_only(writer, folder),
        )
