"""What a command has to say, for people and for programs, and where its files go."""

from __future__ import annotations

import json
import sys
from argparse import Namespace
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparsebayes._support.files import check_output as check_file
from sparsebayes._support.files import write_files
from sparsebayes._support.printed_table import plain
from sparsebayes._support.version import package_version

STANDARD = "-"  # stands for stdin or stdout in place of the name of a file


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
        if not args.quiet:
            for note in self.notes:
                print(f"sparsebayes: {note}", file=sys.stderr)


def check_streams(args: Namespace) -> None:
    """Raise if two things would go to stdout, or if one name stands for stdin twice."""
    if args.json and to_stdout(args):
        raise ValueError("--json and -o - both write to stdout; name a file with -o")


def to_stdout(args: Namespace) -> bool:
    """Whether the result of the command itself goes to stdout."""
    return getattr(args, "output", None) == STANDARD


def check_output(path: str | None, *inputs: str | None) -> None:
    """Raise before the work if a file could not be written, or is an input."""
    if path is not None and path != STANDARD:
        check_file(path, *(source for source in inputs if source != STANDARD))


def write_outputs(files: Mapping[Path, bytes | Iterable[bytes]]) -> list[str]:
    """Write all files whole, or none; the one named "-" goes to stdout. Their names."""
    write_files({path: content for path, content in files.items() if str(path) != STANDARD})
    piped = files.get(Path(STANDARD))
    if piped is not None:
        stream = getattr(sys.stdout, "buffer", None)
        for piece in [piped] if isinstance(piped, bytes) else piped:
            if stream is None:  # a stdout of text alone, as notebooks have
                sys.stdout.write(piece.decode())
            else:
                stream.write(piece)
    return [str(path) for path in files if str(path) != STANDARD]
