"""The server over loopback: who is answered, who is refused, and when it ends."""

import base64
import http.client
import io
import json
import os
import re
import socket
import threading
import time
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from sparsebayes import persistence
from sparsebayes.explore import server as module
from sparsebayes.explore.server import MOST_BYTES, ExplorerServer
from sparsebayes.explore.start import make_start
from sparsebayes.export import from_json
from tests.explore.data import REGRESSION

START = make_start()


def running(**options):
    """A server, and the thread in which it runs."""
    server = ExplorerServer(START, **options)
    thread = threading.Thread(target=server.run)
    thread.start()
    return server, thread


@pytest.fixture(scope="module")
def server():
    found, thread = running()
    yield found
    found.ending.set()
    thread.join(10)
    assert not thread.is_alive()


def send(server, method, place, body=None, *, token=None, **headers):
    """Status, headers and content of an answer; a header that is None is left out."""
    host = f"127.0.0.1:{server.server_port}"
    given = {"Host": host}
    if method != "POST":
        body = None
    else:
        given |= {"Origin": f"http://{host}", "Content-Type": "application/json"}
        body = json.dumps(body) if not isinstance(body, (bytes, str)) else body
        body = body.encode() if isinstance(body, str) else body
        given["Content-Length"] = str(len(body))
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    try:
        path = f"/{server.token if token is None else token}/{place}"
        connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
        for name, value in given.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        return answer.status, answer.headers, answer.read()
    finally:
        connection.close()


def error_of(answer, status):
    """The words of a refusal, which has the right status and all headers."""
    found, headers, content = answer
    assert found == status
    assert headers["Content-Security-Policy"] == module.POLICY
    assert headers.get_content_type() == "application/json"
    told = json.loads(content)
    assert set(told) == {"error", "field"}
    return told["error"]


SCRIPTS = ("page.js", "parts.js", "views.js", "drawing.js")
FILES = ["", "page.css", *SCRIPTS, "icon.svg", "start.json"]


@pytest.mark.parametrize("place", FILES)
def test_the_page_is_served_with_a_strict_policy(server, place):
    status, headers, content = send(server, "GET", place)
    assert status == 200 and content
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self';")
    assert "unsafe" not in policy and "*" not in policy and "http" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "same-origin"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert "Access-Control-Allow-Origin" not in headers


def test_it_listens_on_this_machine_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert re.fullmatch(rf"http://127\.0\.0\.1:{server.server_port}/[\w-]{{32}}/", server.url)


def test_tokens_differ():
    with ExplorerServer(START) as one, ExplorerServer(START) as other:
        assert one.token != other.token and one.server_port != other.server_port


def test_what_the_page_starts_with(server):
    _, _, content = send(server, "GET", "start.json")
    assert json.loads(content) == START


def test_a_request_is_answered(server):
    status, _, content = send(server, "POST", "explore", REGRESSION)
    answer = json.loads(content)
    assert status == 200 and len(answer["mean"]) == 30


def test_a_download_loads(server):
    _, _, content = send(server, "POST", "explore", {"kind": "save", "of": REGRESSION})
    (file,) = json.loads(content)["files"]
    model = persistence.load(io.BytesIO(base64.b64decode(file["base64"])))
    request = {"kind": "export", "to": "json", "of": REGRESSION}
    _, _, content = send(server, "POST", "explore", request)
    (file,) = json.loads(content)["files"]
    again = from_json(base64.b64decode(file["base64"]))
    X = np.array(REGRESSION["x"])[:, None]
    np.testing.assert_allclose(again.predict(X), model.predict(X), rtol=1e-6)


@pytest.mark.parametrize(("method", "place"), [("GET", ""), ("GET", "x"), ("POST", "explore")])
@pytest.mark.parametrize("token", ["", "wrong", "%20", "%C3%A9"])
def test_a_wrong_token_is_refused(server, method, place, token):
    told = error_of(send(server, method, place, REGRESSION, token=token), 403)
    assert "token" in told and server.token not in told


@pytest.mark.parametrize("host", ["evil.example", "evil.example:{port}", "127.0.0.1", "", None])
@pytest.mark.parametrize(("method", "place"), [("GET", ""), ("POST", "explore")])
def test_a_wrong_host_is_refused(server, host, method, place):
    host = host and host.format(port=server.server_port)
    told = error_of(send(server, method, place, REGRESSION, Host=host), 421)
    assert "Host must be 127.0.0.1" in told


def test_localhost_is_this_host(server):
    assert send(server, "GET", "", Host=f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_a_foreign_origin_is_refused(server, origin):
    told = error_of(send(server, "POST", "explore", REGRESSION, Origin=origin), 403)
    assert "Origin must be http://127.0.0.1" in told
    if origin is not None:
        error_of(send(server, "GET", "start.json", Origin=origin), 403)


def test_a_request_across_sites_is_refused(server):
    answer = send(server, "POST", "explore", REGRESSION, Sec_Fetch_Site="cross-site")
    assert "got http://127.0.0.1" in error_of(answer, 403)


def test_an_oversized_body_is_refused(server):
    told = error_of(send(server, "POST", "explore", b" " * (MOST_BYTES + 1)), 413)
    assert str(MOST_BYTES) in told and "fewer points" in told
    huge = send(server, "POST", "explore", b"", Content_Length="9" * 40)
    assert "Content-Length" in error_of(huge, 411)


@pytest.mark.parametrize(
    "body",
    [b"", b"{", b"\xff\xfe", b"{'kind': 1}", b'{"x": NaN}', b'{"x": Infinity}', b"[" * 100_000],
    ids=["empty", "open", "bytes", "quotes", "nan", "infinity", "deep"],
)
def test_malformed_json_is_refused(server, body):
    assert "The body is no JSON" in error_of(send(server, "POST", "explore", body), 400)


@pytest.mark.parametrize("body", [b"3", b'"a"', b"[]", b"null"])
def test_json_that_is_no_object_is_refused(server, body):
    assert "must be a JSON object" in error_of(send(server, "POST", "explore", body), 400)


def test_a_bad_request_names_the_field(server):
    status, _, content = send(server, "POST", "explore", {**REGRESSION, "width": -1})
    told = json.loads(content)
    assert status == 400 and told["field"] == "width" and "got -1" in told["error"]


def test_a_fit_that_fails_is_told(server, monkeypatch, capsys):
    def fail(request):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr(module, "explore", fail)
    told = error_of(send(server, "POST", "explore", {}), 500)
    assert "ZeroDivisionError: by zero" in told and "move a point" in told
    assert capsys.readouterr().err == ""


def test_other_paths_methods_and_types_are_refused(server):
    for place in ("server.py", "../server.py", "page.html", "explore/"):
        assert "There is no" in error_of(send(server, "GET", place), 404)
    assert "use POST" in error_of(send(server, "GET", "explore"), 405)
    assert "use GET" in error_of(send(server, "POST", "page.js", {}), 405)
    assert error_of(send(server, "PUT", "explore"), 501)
    plain = send(server, "POST", "explore", REGRESSION, Content_Type="text/plain")
    assert "Content-Type must be application/json" in error_of(plain, 415)
    chunked = send(server, "POST", "explore", b"", Content_Length=None)
    assert "Content-Length" in error_of(chunked, 411)


def test_several_requests_on_one_connection(server):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=30)
    for _ in range(3):
        connection.request("GET", f"/{server.token}/icon.svg")
        assert connection.getresponse().read().startswith(b"<svg")
    connection.close()


def test_a_browser_that_hangs_up_is_no_error(server, capfd):
    with socket.create_connection(("127.0.0.1", server.server_port)) as one:
        one.sendall(b"GET / HT")
    with socket.create_connection(("127.0.0.1", server.server_port)) as one:
        one.sendall(b"nonsense\r\n\r\n")
        assert b"400" in one.recv(1000)
    assert send(server, "GET", "icon.svg")[0] == 200
    assert capfd.readouterr().err == ""


def test_it_ends_when_asked():
    server, thread = running()
    assert send(server, "POST", "end", {})[0] == 204
    thread.join(10)
    assert not thread.is_alive()
    with pytest.raises(ConnectionError):
        send(server, "GET", "")


def test_it_ends_with_the_last_tab(monkeypatch):
    monkeypatch.setattr(module, "_AGAIN", 0.3)
    server, thread = running(end_with_tab=True)
    time.sleep(0.5)
    assert thread.is_alive()  # no tab was there yet
    for tab in ("one", "two"):
        assert send(server, "POST", "beat", {"tab": tab})[0] == 204
    assert send(server, "POST", "leave", {"tab": "one"})[0] == 204
    time.sleep(0.5)
    assert thread.is_alive()  # the other one is open
    assert "tab must be" in error_of(send(server, "POST", "beat", {"tab": 3}), 400)
    send(server, "POST", "leave", {"tab": "two"})
    thread.join(10)
    assert not thread.is_alive()


def test_a_tab_that_is_loaded_again_keeps_it(monkeypatch):
    monkeypatch.setattr(module, "_AGAIN", 0.3)
    server, thread = running(end_with_tab=True)
    send(server, "POST", "beat", {"tab": "one"})
    send(server, "POST", "leave", {"tab": "one"})
    send(server, "POST", "beat", {"tab": "two"})
    time.sleep(0.5)
    assert thread.is_alive()
    monkeypatch.setattr(module, "_SILENT", 0.0)  # a browser that was killed says nothing
    thread.join(10)
    assert not thread.is_alive()


def test_without_the_option_it_outlives_its_tabs(monkeypatch):
    monkeypatch.setattr(module, "_AGAIN", 0.0)
    server, thread = running()
    send(server, "POST", "beat", {"tab": "one"})
    send(server, "POST", "leave", {"tab": "one"})
    time.sleep(0.3)
    assert thread.is_alive()
    server.ending.set()
    thread.join(10)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
def test_a_thousand_requests_leave_memory_flat(server):
    def megabytes():
        return (
            int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6
        )

    for _ in range(100):
        send(server, "POST", "explore", REGRESSION)
    before = megabytes()
    for _ in range(1000):
        assert send(server, "POST", "explore", REGRESSION)[0] == 200
    grown = megabytes() - before
    print(f"{grown:.1f} MB more after 1000 requests")
    assert grown < 20
    assert threading.active_count() < 10


# The page itself.


def text_of(name):
    return (resources.files("sparsebayes.explore") / name).read_text(encoding="utf-8")


def test_the_page_has_no_inline_code_and_nothing_from_elsewhere():
    page = text_of("page.html")
    assert not re.search(r"<script(?![^>]* src=)|<style|\sstyle=|\son\w+=", page)
    for name in ("page.html", "page.css", *SCRIPTS, "icon.svg"):
        found = re.findall(r"https?://[^\s\"')]+", text_of(name))
        assert set(found) <= {"http://www.w3.org/2000/svg"}, name
        assert not re.search(r"\beval\(|innerHTML|new Function", text_of(name))


def test_every_file_of_the_page_is_served():
    served = {name for name, _ in module._FILES.values()}
    for name in ("page.html", *SCRIPTS):
        asked = re.findall(r"(?:src|href)=\"([^\"]+)\"|from \"\./([^\"]+)\"", text_of(name))
        assert {one or other for one, other in asked} <= served


def test_controls_are_fields_of_requests():
    from sparsebayes.explore.models import VIEWS

    script = text_of("page.js")
    defaults = re.search(r"const DEFAULTS = \{(.*?)\n\};", script, re.DOTALL)[1]
    for kind, view in VIEWS.items():
        (line,) = re.findall(rf"{kind}: \{{(.*?)\}}", defaults)
        names = re.findall(r"(\w+):", line)
        assert len(names) >= 5 and set(names) <= set(view.known)
        for name in names:
            assert re.search(rf"add\w+\(\"{name}\"", script) or name == "coverage"


def test_ids_of_the_script_are_in_the_page():
    page = text_of("page.html")
    for name in re.findall(r"find\(\"([\w-]+)\"\)", text_of("page.js")):
        assert f'id="{name}"' in page, name
