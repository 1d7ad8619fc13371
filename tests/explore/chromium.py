"""A real browser without a screen, driven through its debugging pipe by the standard library."""

from __future__ import annotations

import base64
import itertools
import json
import os
import queue
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--disable-dev-shm-usage", "--remote-debugging-pipe",
)  # fmt: skip
# The browser reads commands from descriptor 3 and answers on 4.
LAUNCH = """
import fcntl, os, sys
read, write = (fcntl.fcntl(int(one), fcntl.F_DUPFD_CLOEXEC, 10) for one in sys.argv[1:3])
os.dup2(read, 3)
os.dup2(write, 4)
os.execvp(sys.argv[3], sys.argv[3:])
"""
SECONDS = 30.0


def find_browser() -> str | None:
    """The program, if there is one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One tab of a new browser.

    Parameters
    ----------
    program : str
    folder : Path
        For its profile and for downloads.

    Attributes
    ----------
    errors : list of str
        What was written to the console as an error, and exceptions.
    asked : list of str
        The addresses of all requests.
    """

    def __init__(self, program: str, folder: Path) -> None:
        self.errors: list[str] = []
        self.asked: list[str] = []
        self.downloads = folder / "downloads"
        self.downloads.mkdir()
        commands_read, self._commands = os.pipe()
        self._answers, answers_write = os.pipe()
        launch = [sys.executable, "-c", LAUNCH, str(commands_read), str(answers_write)]
        argv = [*launch, program, *FLAGS, f"--user-data-dir={folder / 'profile'}", "about:blank"]
        self.process = subprocess.Popen(
            argv,
            pass_fds=(commands_read, answers_write),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(commands_read)
        os.close(answers_write)
        self._numbers = itertools.count(1)
        self._found: dict[int, queue.Queue[Any]] = {}
        self._session: str | None = None
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        attached = self.call("Target.attachToTarget", targetId=target, flatten=True)
        self._session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")
        self.target = target

    def _read(self) -> None:
        left = b""
        while piece := os.read(self._answers, 1 << 16):
            *whole, left = (left + piece).split(b"\0")
            for text in whole:
                self._take(json.loads(text))

    def _take(self, message: dict[str, Any]) -> None:
        if "id" in message:
            waiting = self._found.pop(message["id"], None)
            if waiting is not None:
                waiting.put(message)
            return
        given = message.get("params", {})
        kind = message.get("method")
        if kind == "Runtime.exceptionThrown":
            self.errors.append(str(given["exceptionDetails"]))
        elif kind == "Runtime.consoleAPICalled" and given["type"] in ("error", "assert"):
            self.errors.append(str(given["args"]))
        elif kind == "Log.entryAdded" and given["entry"]["level"] == "error":
            self.errors.append(f"{given['entry']['text']} {given['entry'].get('url')}")
        elif kind == "Network.requestWillBeSent":
            self.asked.append(given["request"]["url"])

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """What the browser answers to a command."""
        number = next(self._numbers)
        waiting = self._found[number] = queue.Queue()
        message = {"id": number, "method": method, "params": params}
        if self._session is not None and not method.startswith(("Target.", "Browser.")):
            message["sessionId"] = self._session
        os.write(self._commands, json.dumps(message).encode() + b"\0")
        answer = waiting.get(timeout=SECONDS)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def run(self, script: str) -> Any:
        """The value of an expression in the page; of a promise, what it gives."""
        found = self.call(
            "Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in found:
            raise RuntimeError(f"{script}: {found['exceptionDetails']}")
        return found["result"].get("value")

    def until(self, script: str, seconds: float = SECONDS) -> Any:
        """The value of an expression, once it is true."""
        end = time.monotonic() + seconds
        while not (value := self.run(script)):
            if time.monotonic() > end:
                raise TimeoutError(f"{script} is still {value!r}; errors: {self.errors}")
            time.sleep(0.05)
        return value

    def open(self, url: str, ready: str) -> None:
        """Go to a page, and wait until it is ready."""
        self.call("Page.navigate", url=url)
        self.until(ready)

    def mouse(self, kind: str, x: float, y: float, **more: Any) -> None:
        """Press, move or release the mouse."""
        self.call("Input.dispatchMouseEvent", type=f"mouse{kind}", x=x, y=y, **more)

    def drag(self, begin: tuple[float, float], end: tuple[float, float], steps: int = 5) -> None:
        """Drag from one place to another."""
        held = {"button": "left", "buttons": 1, "clickCount": 1}
        self.mouse("Moved", *begin)
        self.mouse("Pressed", *begin, **held)
        for k in range(1, steps + 1):
            share = k / steps
            place = [a + share * (b - a) for a, b in zip(begin, end, strict=True)]
            self.mouse("Moved", *place, **held)
        self.mouse("Released", *end, button="left", clickCount=1)

    def click(self, x: float, y: float, count: int = 1, button: str = "left") -> None:
        """Click once or more."""
        for k in range(1, count + 1):
            for kind in ("Pressed", "Released"):
                self.mouse(kind, x, y, button=button, clickCount=k)

    def key(self, name: str, code: int) -> None:
        """Press a key, by its name and its number on Windows."""
        for kind in ("rawKeyDown", "keyUp"):
            self.call(
                "Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code
            )

    def give_file(self, selector: str, path: Path) -> None:
        """Choose a file in a field for files."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", files=[str(path)], nodeId=node)

    def resize(self, width: int, height: int, *, dark: bool = False) -> None:
        """Another size of the window, light or dark."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width, height=height, deviceScaleFactor=1, mobile=width < 600,
        )  # fmt: skip
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """Store what is seen."""
        found = self.call("Page.captureScreenshot", format="png")
        path.write_bytes(base64.b64decode(found["data"]))

    def allow_downloads(self) -> None:
        """Into the folder of the downloads."""
        self.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(self.downloads))

    def downloaded(self, name: str, seconds: float = SECONDS) -> bytes:
        """The content of a file, once it is there."""
        path, end = self.downloads / name, time.monotonic() + seconds
        while not path.exists() or any(self.downloads.glob("*.crdownload")):
            if time.monotonic() > end:
                raise TimeoutError(f"{name} was not downloaded: {os.listdir(self.downloads)}")
            time.sleep(0.05)
        return path.read_bytes()

    def close_tab(self) -> None:
        """Close the page, as the user does; the browser stays."""
        self.call("Target.closeTarget", targetId=self.target)
        self._session = None

    def close(self) -> None:
        """End the browser."""
        try:
            self._session = None
            self.call("Browser.close")
            self.process.wait(10)
        except (OSError, queue.Empty, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self._commands)
        self._reader.join(5)
        os.close(self._answers)
