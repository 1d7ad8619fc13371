"""The line on a terminal that says what is going on."""

import io
import re
import time

import pytest

from sparsebayes.cli.reports.progress_line import ProgressLine


class Terminal:
    """A stream that says it is a terminal."""

    def __init__(self, terminal=True):
        self.terminal = terminal
        self.text = ""

    def isatty(self):
        return self.terminal

    def write(self, text):
        self.text += text

    def flush(self):
        pass


def test_text_and_seconds_are_shown_and_wiped():
    stream = Terminal()
    with ProgressLine(stream, delay=0.01, period=0.01) as line:
        for text in ("first", "second"):
            line.text = text
            deadline = time.monotonic() + 5.0
            while text not in stream.text and time.monotonic() < deadline:
                time.sleep(0.005)
    assert re.match(r"\rfirst \(0 s\)\x1b\[K", stream.text)
    assert "\rsecond (0 s)\x1b[K" in stream.text
    assert stream.text.endswith("\r\x1b[K")  # wiped


@pytest.mark.parametrize(
    ("terminal", "options"),
    [(True, {"delay": 60.0}), (False, {"delay": 0.0}), (True, {"delay": 0.0, "quiet": True})],
)
def test_nothing_is_shown(terminal, options):
    stream = Terminal(terminal)
    with pytest.raises(ZeroDivisionError), ProgressLine(stream, **options):
        time.sleep(0.05)
        1 / 0  # noqa: B018
    assert stream.text == ""


def test_the_last_line_that_is_printed_is_shown(capsys):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    with ProgressLine(Terminal(), delay=0.01, period=0.01) as line:
        line.text = "denoising"
        with line.following():
            print("[denoise] piece 1 of 9")
            assert line.text == "denoising: piece 1 of 9"
    with ProgressLine(io.StringIO()) as line, line.following():
        print("seen")
    assert capsys.readouterr().out == "seen\n"
