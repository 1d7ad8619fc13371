"""The page in a real browser (Debian: apt install chromium); `make test-browser`.

Pictures at three widths, light and dark, go to the folder that SPARSEBAYES_PICTURES names.
"""

import contextlib
import http.server
import io
import os
import shutil
import statistics
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from sparsebayes import persistence
from sparsebayes.explore.server import ExplorerServer
from sparsebayes.explore.start import make_start
from sparsebayes.export import from_json
from tests.explore.chromium import Browser, find_browser

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_browser() is None, reason="needs Chromium"),
]

ANSWERED = "Number(document.body.dataset.answers ?? 0)"
READY = f"document.body && {ANSWERED} > 0"
MEAN = "document.querySelector('#plot .mean').getAttribute('d')"
POINT = """(() => {
    const box = document.querySelectorAll('#plot .point')[INDEX].getBoundingClientRect();
    return [box.left + box.width / 2, box.top + box.height / 2];
})()"""
DELETE, ENTER = 46, 13


@pytest.fixture
def browser(tmp_path):
    found = Browser(find_browser(), tmp_path)
    yield found
    found.close()


@pytest.fixture
def server():
    found = ExplorerServer(make_start())
    thread = threading.Thread(target=found.run)
    thread.start()
    yield found
    found.ending.set()
    thread.join(10)


@pytest.fixture
def page(browser, server):
    browser.resize(1200, 800)
    browser.open(server.url, READY)
    yield browser
    assert browser.errors == []
    own = (server.origin, "blob:", "about:")
    assert [url for url in browser.asked if not url.startswith(own)] == []


def place(page, index):
    return tuple(page.run(POINT.replace("INDEX", str(index))))


def after(page, action):
    """Do something, and wait until it was answered and nothing is under way."""
    before = page.run(ANSWERED)
    action()
    page.until(f"{ANSWERED} > {before} && document.body.dataset.busy === 'false'")


def count(page):
    return page.run("document.querySelectorAll('#plot .point').length")


def choose(page, name, text):
    page.run(f"""(() => {{
        const select = document.getElementById('option-{name}');
        select.value = [...select.options].find((one) => one.text === '{text}').value;
        select.dispatchEvent(new Event('change'));
    }})()""")


def open_view(page, kind):
    after(page, lambda: page.run(f"document.getElementById('tab-{kind}').click()"))


def test_the_curve_follows_a_point(page):
    before, (x, y) = page.run(MEAN), place(page, 20)
    after(page, lambda: page.drag((x, y), (x + 20, y - 120)))
    assert page.run(MEAN) != before
    assert place(page, 20) == pytest.approx((x + 20, y - 120), abs=2)


def test_points_are_added_and_removed(page):
    n = count(page)
    after(page, lambda: page.click(300, 150, count=2))
    assert count(page) == n + 1
    after(page, lambda: page.key("Delete", DELETE))  # the new one has the focus
    assert count(page) == n
    after(page, lambda: page.click(*place(page, 3), button="right"))
    assert count(page) == n - 1
    after(page, lambda: page.run("document.getElementById('add').click()"))
    assert count(page) == n
    after(page, lambda: page.run("document.getElementById('remove').click()"))
    assert count(page) == n - 1


def test_the_keyboard_moves_points(page):
    page.run("document.querySelectorAll('#plot .point')[5].focus()")
    before = place(page, 5)
    after(page, lambda: page.key("ArrowUp", 38))
    assert place(page, 5)[1] < before[1] and place(page, 5)[0] == pytest.approx(before[0])


SEEN = "document.getElementById('plot').innerHTML + document.getElementById('path').innerHTML"


@pytest.mark.parametrize(
    ("name", "text"),
    [("noise", "a number"), ("noise", "student"), ("noise", "varying"), ("prior", "ric"),
     ("prior", "a number"), ("solver", "em"), ("solver", "mackay"), ("solver", "subspace"),
     ("augment", "yes"), ("augment", "fast"), ("calibrate", "3 folds"), ("calibrate", "auto")],
)  # fmt: skip
def test_controls_change_a_regression(page, name, text):
    """With an outlier: without one the model says that the noise is normal, and stays the same."""
    x, y = place(page, 20)
    after(page, lambda: page.drag((x, y), (x, 700)))
    before = page.run(SEEN)
    after(page, lambda: choose(page, name, text))
    assert page.run(SEEN) != before


def test_noise_without_outliers_is_said_to_be_normal(page):
    before = page.run(MEAN)
    after(page, lambda: choose(page, "noise", "student"))
    assert page.run(MEAN) == before
    assert "no outliers" in page.run("document.querySelector('[data-key=noise_found]').textContent")


def test_drafts_are_followed_by_the_whole_fit(page):
    x, y = place(page, 20)
    held = {"button": "left", "buttons": 1, "clickCount": 1}
    page.mouse("Moved", x, y)
    page.mouse("Pressed", x, y, **held)
    after(page, lambda: page.mouse("Moved", x, y - 60, **held))
    status = "document.getElementById('status').textContent"
    assert page.run(status).startswith("quick fit")
    after(page, lambda: page.mouse("Released", x, y - 60, button="left", clickCount=1))
    assert page.run(status).startswith("fitted")
    page.run("document.querySelectorAll('#plot .point')[5].focus()")
    after(page, lambda: page.key("ArrowUp", 38))
    assert page.run(status).startswith("fitted")


def test_the_width_changes_a_regression(page):
    before = page.run(MEAN)
    after(
        page,
        lambda: page.run("""(() => {
        const slider = document.getElementById('option-width');
        slider.value = 0.2;
        slider.dispatchEvent(new Event('input'));
    })()"""),
    )
    assert page.run(MEAN) != before
    after(page, lambda: page.run("document.getElementById('option-learn').click()"))
    assert float(page.run("document.querySelector('[data-key=width]').textContent")) > 0


def test_classes_have_contours(page):
    open_view(page, "classification")
    half = "document.querySelector('#plot .contour.half').getAttribute('d')"
    before = page.run(half)
    assert before
    x, y = place(page, 3)
    after(page, lambda: page.drag((x, y), (x + 150, y + 150)))
    assert page.run(half) != before
    page.run("document.querySelectorAll('#plot .point')[0].focus()")
    after(page, lambda: page.key("Enter", ENTER))
    controls = (("link", "probit"), ("prior", "ric"), ("augment", "yes"), ("calibrate", "3 folds"))
    for name, text in controls:
        before = page.run(SEEN)
        after(page, lambda name=name, text=text: choose(page, name, text))
        assert page.run(SEEN) != before, name


def test_a_signal_is_drawn(page):
    open_view(page, "denoise")
    before = page.run(MEAN)
    after(page, lambda: page.drag((200, 200), (400, 500), steps=20))
    assert page.run(MEAN) != before
    for name, text in (("dictionary", "dct"), ("method", "sparse"), ("noise", "a number")):
        before = page.run(SEEN)
        after(page, lambda name=name, text=text: choose(page, name, text))
        assert page.run(SEEN) != before, name


def test_a_signal_is_loaded_and_saved(page, tmp_path):
    open_view(page, "denoise")
    file = tmp_path / "trace.csv"
    file.write_text("time,v\n" + "".join(f"{i},{i % 16 // 8}\n" for i in range(64)))
    after(page, lambda: page.give_file("#load", file))
    assert page.run("document.querySelector('[data-key=samples]').textContent") == "64"
    page.allow_downloads()
    page.run("document.getElementById('save').click()")
    table = np.genfromtxt(io.BytesIO(page.downloaded("signal.csv")), delimiter=",", names=True)
    assert table.dtype.names == ("signal", "lower", "upper") and len(table) == 64


def test_models_are_downloaded_and_load(page):
    page.allow_downloads()
    page.run("document.getElementById('save').click()")
    model = persistence.load(io.BytesIO(page.downloaded("model.skops")))
    page.run("document.getElementById('export-json').click()")
    again = from_json(page.downloaded("model.json"))
    X = np.linspace(-5, 5, 7)[:, None]
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)


def test_an_error_is_told(page):
    page.run("""(() => {
        const number = document.querySelector('#option-noise ~ input');
        const choose = document.getElementById('option-noise');
        choose.value = 'a number';
        number.value = '-1';
        choose.dispatchEvent(new Event('change'));
    })()""")
    page.until("document.querySelector('#status.wrong') !== null")
    assert "got -1" in page.run("document.getElementById('status').textContent")
    page.errors.clear()  # the browser notes a status of 400


@contextlib.contextmanager
def serving(folder):
    """A plain server of files; its origin."""

    class Quiet(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args):
            super().__init__(*args, directory=str(folder))

        def log_message(self, *args):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Quiet) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{found.server_port}"
        found.shutdown()
        thread.join()


def test_a_page_of_another_origin_gets_nothing(browser, server, tmp_path):
    (tmp_path / "evil.html").write_text("<title>evil</title>")
    with serving(tmp_path) as evil:
        browser.open(f"{evil}/evil.html", "document.title === 'evil'")
        for options in ("{}", "{method: 'POST', body: '{}'}", "{mode: 'no-cors'}"):
            told = browser.run(
                f"fetch('{server.url}start.json', {options})"
                ".then((found) => found.text()).then((text) => text.length, () => -1)"
            )
            assert told in (-1, 0)


def test_closing_the_tab_ends_the_server(browser):
    server = ExplorerServer(make_start(), end_with_tab=True)
    thread = threading.Thread(target=server.run)
    thread.start()
    browser.open(server.url, READY)
    time.sleep(3.0)
    assert thread.is_alive()
    browser.run("location.reload()")
    time.sleep(3.0)
    assert thread.is_alive()
    browser.close_tab()
    thread.join(20)
    assert not thread.is_alive()


def test_the_page_tells_the_round_trip_while_dragging(browser):
    """200 points at a given width; the times are printed, to look at."""
    rng = np.random.default_rng(0)
    x = np.sort(rng.uniform(-10, 10, 200))
    start = make_start()
    noisy = np.sinc(x / np.pi) + 0.1 * rng.standard_normal(200)
    start["data"]["regression"] = {"x": x.tolist(), "y": noisy.tolist()}
    server = ExplorerServer(start)
    thread = threading.Thread(target=server.run)
    thread.start()
    browser.resize(1200, 800)
    browser.open(server.url, READY)
    x0, y0 = place(browser, 100)
    browser.run("performance.clearResourceTimings()")
    before = time.process_time()
    after(browser, lambda: browser.drag((x0, y0), (x0 + 30, y0 - 60), steps=200))
    processor = 1e3 * (time.process_time() - before)
    took = browser.run("""performance.getEntriesByType('resource')
        .filter((one) => one.name.endsWith('/explore')).map((one) => one.duration)""")
    server.ending.set()
    thread.join(10)
    print(
        f"{len(took)} fits, median {statistics.median(took):.0f} ms, largest {max(took):.0f} ms; "
        f"processor {processor / len(took):.0f} ms each"
    )
    assert len(took) > 3
    assert browser.errors == []


@pytest.mark.parametrize("kind", ["regression", "classification", "denoise"])
def test_pictures(page, kind, tmp_path):
    folder = Path(os.environ.get("SPARSEBAYES_PICTURES", tmp_path))
    if kind != "regression":
        open_view(page, kind)
    for width, height in ((1400, 900), (800, 1000), (390, 844)):
        for dark in (False, True):
            page.resize(width, height, dark=dark)
            time.sleep(0.5)
            wide = page.run("document.documentElement.scrollWidth")
            assert wide <= width  # nothing beyond the edge
            page.picture(folder / f"{kind}-{width}-{'dark' if dark else 'light'}.png")


# The page of the documentation, which has no server.

STORED = Path(__file__).parents[2] / "docs" / "_static" / "explorer"
DRAWN = "document.querySelector('#plot .mean') !== null"


def slide(page, name, value):
    page.run(f"""(() => {{
        const slider = document.getElementById('option-{name}');
        slider.value = {value};
        slider.dispatchEvent(new Event('input'));
    }})()""")


def test_stored_fits_from_a_file(browser, tmp_path):
    folder = Path(os.environ.get("SPARSEBAYES_PICTURES", tmp_path))
    browser.resize(800, 900)
    browser.open((STORED / "index.html").as_uri(), DRAWN)
    names = {
        "regression": ("width", "points", "noise", "band"),
        "classification": ("width",),
        "denoise": ("snr", "band"),
    }
    for kind, sliders in names.items():
        browser.run(f"document.getElementById('tab-{kind}').click()")
        for name in sliders:
            before = browser.run(SEEN)
            slide(browser, name, 0)
            assert browser.run(SEEN) != before, name
            slide(browser, name, 2)
        for name in ("model", "signal", "dictionary", "method"):
            if browser.run(f"document.getElementById('option-{name}') !== null"):
                before = browser.run(SEEN)
                browser.run(f"""(() => {{
                    const select = document.getElementById('option-{name}');
                    select.value = 1;
                    select.dispatchEvent(new Event('change'));
                }})()""")
                assert browser.run(SEEN) != before, name
        for width in (1100, 760, 360):
            for dark in (False, True):
                browser.resize(width, 900, dark=dark)
                time.sleep(0.3)
                assert browser.run("document.documentElement.scrollWidth") <= width
                mode = "dark" if dark else "light"
                browser.picture(folder / f"stored-{kind}-{width}-{mode}.png")
    assert browser.errors == []
    assert [url for url in browser.asked if not url.startswith(("file:", "about:", "data:"))] == []


def test_stored_fits_follow_the_theme_around_them(browser, tmp_path):
    shutil.copytree(STORED, tmp_path / "site" / "explorer")
    (tmp_path / "site" / "index.html").write_text(
        "<!DOCTYPE html><html data-theme='dark'><link rel='icon' href='data:,'>"
        "<iframe src='explorer/index.html'></iframe></html>"
    )
    inner = "document.querySelector('iframe').contentDocument"
    with serving(tmp_path / "site") as origin:
        ready = f"document.querySelector('iframe') && {inner}.querySelector('#plot .mean') !== null"
        browser.open(f"{origin}/index.html", ready)
        colour = f"getComputedStyle({inner}.body).backgroundColor"
        dark = browser.run(colour)
        browser.run("document.documentElement.dataset.theme = 'light'")
        browser.until(f"{colour} !== '{dark}'")
    assert browser.errors == []
    assert [url for url in browser.asked if not url.startswith((origin, "about:", "data:"))] == []
