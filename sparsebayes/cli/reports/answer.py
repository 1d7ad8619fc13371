"""What a command has to say, for people and for programs, and where its files go."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparsebayes._support.files import check_output as check_file
from sparsebayes._support.files import write_files
from sparsebayes._support.printed_table import plain
from sparsebayes._support.streams import STDOUT, naming
from sparsebayes._support.version import package_version

STANDARD = "-"  # stands for stdin or stdout in place of the name of a file
_FILES = {  # arguments that are the name of one file or directory
    "csv": "CSV",
    "input": "IN",
    "model": "MODEL",
    "data": "--data",
    "check": "--check",
    "output": "-o",
    "std": "--std",
    "figure": "--figure",
    "figures": "--figures",
}


@dataclass(frozen=True)
class Answer:
    """What a command has to say after its work.

    Attributes
    ----------
    text : str
        For people; left out with --quiet.
    data : dict
        The same for programs, printed with --json: numbers, texts, lists and dicts of these, also
        of numpy. NaN and infinity become null.
    notes : list of str
        What the text does not say and a person should know, for stderr.
    """

    text: str
    data: dict[str, Any]
    notes: list[str] = field(default_factory=list)

    def tell(self, args: Namespace) -> None:
        """Print it as the options ask for."""
        if args.json:
            head = {"sparsebayes": package_version(), "command": args.command}
            told = {**head, "notes": [], "written": [], **self.data}
            print(json.dumps(plain(told), allow_nan=False, ensure_ascii=False))
        elif self.text and not args.quiet:
            print(self.text, file=sys.stderr if to_stdout(args) else sys.stdout)
        if not (args.quiet or args.json):  # the object has them
            for note in self.notes:
                print(f"sparsebayes: {note}", file=sys.stderr)


def check_streams(args: Namespace) -> None:
    """Raise if the name of a file is empty, or if two things go to stdout or come from stdin."""
    given = [(option, getattr(args, option, None)) for option in _FILES]
    for option, name in given:
        if name == "":
            raise ValueError(f"{_FILES[option]} is an empty name; name a file, or leave it out")
    if args.json and to_stdout(args):
        raise ValueError(f"--json and -o {args.output} both write to stdout; name a file with -o")
    read = [_FILES[option] for option, name in given if name == STANDARD and option != "output"]
    read += ["MODEL" for name in getattr(args, "models", ()) if name == STANDARD]
    if len(read) > 1:
        raise ValueError(f"{' and '.join(read)} cannot both be stdin; name a file for one of them")


def to_stdout(args: Namespace) -> bool:
    """Whether the result of the command itself goes to stdout."""
    return is_stdout(getattr(args, "output", None))


def is_stdout(path: str | Path | None) -> bool:
    """Whether a name is "-", or leads to stdout as /dev/stdout does."""
    if path is None or str(path) == STANDARD:
        return path is not None
    try:
        return os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):  # there is no such file, or stdout is none
        return False


def check_output(path: str | None, *inputs: str | None) -> None:
    """Raise before the work if a file could not be written, or is an input."""
    if path is not None and not is_stdout(path):
        check_file(path, *(source for source in inputs if source != STANDARD))


def write_outputs(
    files: Mapping[Path, bytes | Iterable[bytes]], directory: str | None = None
) -> list[str]:
    """Write all files whole, or none, and what is for stdout at last. The names of the files.

    The directory is made if there is none yet, and gone again where the files cannot be written.
    """
    piped = [path for path in files if is_stdout(path)]
    with _made(directory) if directory else nullcontext():
        write_files({path: content for path, content in files.items() if path not in piped})
    for path in piped:
        content = files[path]
        stream = getattr(sys.stdout, "buffer", None)
        with naming(STDOUT):
            for piece in [content] if isinstance(content, bytes) else content:
                if stream is None:  # a stdout of text alone, as notebooks have
                    sys.stdout.write(piece.decode())
                else:
                    stream.write(piece)
    return [str(path) for path in files if path not in piped]


@contextmanager
def _made(directory: str) -> Iterator[None]:
    path = Path(directory)
    new = [folder for folder in (path, *path.parents) if not folder.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        yield
    except BaseException:
        for folder in new:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()
        raise
