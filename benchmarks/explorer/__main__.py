"""``python -m benchmarks.explorer``: how fast the explorer answers, and whether its memory grows.

The server is a process of its own, as `sparsebayes explore` starts it, and is asked over one
connection, as a browser does. Times are those of round trips (clock) and of the server's processor
(which other programs of the machine change less).
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

WIDTH = 2.0


class Explorer:
    """A running explorer, and a connection to it."""

    def __init__(self) -> None:
        argv = [sys.executable, "-m", "sparsebayes", "explore", "--no-browser", "--json"]
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        url = urlsplit(json.loads(self.process.stdout.readline())["url"])
        self.origin, self.path = f"{url.scheme}://{url.netloc}", url.path
        self.connection = HTTPConnection(str(url.hostname), url.port, timeout=60)

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """The answer."""
        headers = {"Content-Type": "application/json", "Origin": self.origin}
        self.connection.request("POST", f"{self.path}explore", json.dumps(request), headers)
        answer = self.connection.getresponse()
        content = json.loads(answer.read())
        if answer.status != 200:
            raise RuntimeError(f"{answer.status}: {content}")
        return content

    def processor(self) -> float:
        """Seconds of the processor so far, of the server alone."""
        text = Path(f"/proc/{self.process.pid}/stat").read_text()
        user, system = text.rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def megabytes(self) -> float:
        """What the server holds in memory."""
        pages = Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]
        return int(pages) * os.sysconf("SC_PAGE_SIZE") / 1e6

    def close(self) -> None:
        """End it."""
        self.connection.close()
        self.process.terminate()
        self.process.wait()


def dragging(n_points: int, *, draft: bool) -> Callable[[int], dict[str, Any]]:
    """Requests of the page while a point moves up and down at a given width."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-10.0, 10.0, n_points))
    y = np.sinc(x / np.pi) + 0.1 * rng.standard_normal(n_points)
    moved = n_points // 2
    base = {"kind": "regression", "x": x.tolist(), "width": WIDTH, "calibrate": None}

    def request(k: int) -> dict[str, Any]:
        now = y.copy()
        now[moved] += 0.5 * np.sin(0.2 * k)
        return {**base, "y": now.tolist(), "grid": 240, "draft": draft}

    return request


def measure(explorer: Explorer, n_points: int, count: int, *, draft: bool) -> str:
    """A line of the table."""
    request = dragging(n_points, draft=draft)
    explorer.ask(request(0))
    took = []
    before = explorer.processor()
    for k in range(1, count + 1):
        begin = time.perf_counter()
        explorer.ask(request(k))
        took.append(1e3 * (time.perf_counter() - begin))
    processor = 1e3 * (explorer.processor() - before) / count
    what = "while dragging" if draft else "when let go"
    return f"| {what} | {statistics.median(took):.0f} | {max(took):.0f} | {processor:.0f} |"


def grown(explorer: Explorer, n_points: int, count: int) -> str:
    """How the memory is after some requests, and after many more."""
    request = dragging(n_points, draft=True)
    first = max(1, count // 10)
    sizes = []
    for k in range(count):
        explorer.ask(request(k))
        if k + 1 in (first, count):
            sizes.append(explorer.megabytes())
    return (
        f"{sizes[0]:.1f} MB after {first} requests, {sizes[-1]:.1f} MB after {count}: "
        f"{sizes[-1] - sizes[0]:+.1f} MB"
    )


def main(arguments: list[str] | None = None) -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.explorer", description=__doc__)
    parser.add_argument("--points", type=int, default=200, help="of the regression")
    parser.add_argument("--requests", type=int, default=50, help="that are timed")
    parser.add_argument("--memory", type=int, default=1000, help="requests; 0 for none")
    args = parser.parse_args(arguments)
    if not Path("/proc/self/stat").exists():
        parser.error("it reads /proc, which this system does not have")
    explorer = Explorer()
    try:
        print(f"{args.points} points, width {WIDTH}, {args.requests} round trips, ms:\n")
        print("| | median | largest | processor, mean |\n| --- | --- | --- | --- |")
        for draft in (True, False):
            print(measure(explorer, args.points, args.requests, draft=draft), flush=True)
        if args.memory:
            print(f"\n{grown(explorer, args.points, args.memory)}")
    finally:
        explorer.close()


if __name__ == "__main__":
    main()
