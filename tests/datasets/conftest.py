"""A user with an empty cache, and a web site on this machine that can misbehave."""

import hashlib
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from abstain.datasets import download


class Site:
    """Serves ``files``; each request takes the next step of ``plan``, then "ok"."""

    def __init__(self):
        self.files, self.plan, self.requests = {}, [], []
        self.ranges = self.tags = self.lengths = True


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_GET(self):
        site = self.server.site
        site.requests.append((self.path, dict(self.headers)))
        step = site.plan.pop(0) if site.plan else "ok"
        body = site.files.get(self.path)
        self.close_connection = True
        if step == "drop":
            return
        if body is None or isinstance(step, int):
            self.send_error(step if isinstance(step, int) else 404)
            return
        tag = f'"{hashlib.sha256(body).hexdigest()}"'
        start, asked = 0, self.headers.get("Range")
        fresh = self.headers.get("If-Range") in (None, tag)
        if asked and site.ranges and fresh:
            start = int(asked.removeprefix("bytes=").rstrip("-"))
        if start >= len(body) > 0:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        if start:
            where = 0 if step == "elsewhere" else start
            self.send_header("Content-Range", f"bytes {where}-{len(body) - 1}/{len(body)}")
        if site.lengths:
            self.send_header("Content-Length", str(len(body) - start))
        if site.tags:
            self.send_header("ETag", tag)
        self.send_header("Connection", "close")
        self.end_headers()
        rest = body[start:]
        if step == "silent":
            self.wfile.flush()
            self.server.quiet.wait(5)
            return
        self.wfile.write(rest[: len(rest) // 2] if step == "cut" else rest)


@pytest.fixture
def site():
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.site, server.quiet = Site(), threading.Event()
    server.site.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.site
    server.quiet.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(autouse=True)
def user(tmp_path, monkeypatch):
    """The cache is empty, nothing is set, nothing waits."""
    for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "ABSTAIN_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("no_proxy", "*")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cached"))
    monkeypatch.setattr(download, "PAUSE", 0.0)
    return tmp_path / "cached" / "abstain"
