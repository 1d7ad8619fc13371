"""``sparsebayes explore``: models that follow the data, on a local page."""

from __future__ import annotations

import sys
import webbrowser
from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from sparsebayes.cli.csv_table import chosen_columns, open_rows, reading_notes
from sparsebayes.cli.reports.answer import Answer
from sparsebayes.explore.server import ExplorerServer
from sparsebayes.explore.start import make_start


@dataclass(frozen=True)
class _ServedAnswer(Answer):
    """Says where the page is, and serves it until it ends."""

    server: ExplorerServer | None = None
    opens: bool = True

    def tell(self, args: Namespace) -> None:
        """Print the address, open the page, and serve it."""
        assert self.server is not None
        try:
            super().tell(args)
            sys.stdout.flush()
            if self.opens:
                webbrowser.open(self.server.url)
            self.server.run()
        except KeyboardInterrupt:  # the usual end
            if not args.quiet:
                print("sparsebayes: explorer ended", file=sys.stderr)
        finally:
            self.server.server_close()


def run(args: Namespace) -> Answer:
    """The address of the page; it is served when this is told."""
    start, notes = _start(args)
    try:
        server = ExplorerServer(
            start, port=args.port, end_with_tab=args.end_with_tab, idle=args.idle
        )
    except OSError as error:
        raise ValueError(
            f"--port {args.port}: {error.strerror}; name another, or leave it out for a free one"
        ) from error
    end = "End it with Ctrl-C, or with the button of the page"
    if args.end_with_tab:
        end += "; closing the tab ends it, too"
    view = start["view"]
    data = {
        "url": server.url,
        "port": server.server_port,
        "view": view,
        "source": start["source"],
        "rows": len(next(iter(start["data"][view].values()))),
        "notes": notes,
    }
    text = f"The explorer is at {server.url}\n{end}."
    return _ServedAnswer(text, data, notes, server, not args.no_browser)


def _start(args: Namespace) -> tuple[dict[str, Any], list[str]]:
    """What the page shows first, and notes of how the table was read."""
    if args.csv is None:
        for option in ("columns", "exclude"):
            if (named := getattr(args, option)) is not None:
                raise ValueError(f"--{option} {named} names columns of a table; name the CSV, too")
        return make_start(), []
    file = open_rows(args.csv, args)
    names = chosen_columns(file.header, "--columns", args.columns, args.exclude)
    (table,) = file.tables(names or file.header.columns, None)
    start = make_start(table, names)
    return start, [*reading_notes(file), *start["notes"]]
