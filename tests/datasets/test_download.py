"""Downloads from a site on this machine that cuts, changes and refuses."""

import http.client
import socket

import numpy as np
import pytest

from abstain.datasets import download
from abstain.errors import FileError

BODY = np.random.default_rng(0).bytes(300_000)


@pytest.fixture
def get(site, tmp_path):
    site.files["/file"] = BODY

    def get(progress=None):
        download.download(f"{site.url}/file", tmp_path / "file", progress)
        assert [path.name for path in tmp_path.iterdir()] == ["file"]
        return (tmp_path / "file").read_bytes()

    return get


def ranges(site):
    return [headers.get("Range") for _, headers in site.requests]


def test_a_whole_file_with_progress(site, get):
    seen = []
    assert get(lambda *told: seen.append(told)) == BODY
    assert seen[-1] == ("file", len(BODY), len(BODY))
    assert [done for _, done, _ in seen] == sorted({done for _, done, _ in seen})
    assert ranges(site) == [None]


def test_an_interrupted_download_is_resumed(site, get):
    site.plan = ["cut", "cut", 503, "drop"]
    assert get() == BODY
    assert ranges(site) == [None, "bytes=150000-", *["bytes=225000-"] * 3]
    assert all(headers["If-Range"].startswith('"') for _, headers in site.requests[1:])


def test_the_next_call_resumes(site, get, tmp_path):
    site.plan = ["cut", *[500] * (download.TRIES - 1)]
    with pytest.raises(
        FileError, match=r"/file: the server answers 500 .*; what arrived is kept: try again later to resume"
    ):
        get()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file.part", "file.part.json"]
    assert (tmp_path / "file.part").read_bytes() == BODY[:150_000]
    site.requests.clear()
    assert get() == BODY
    assert ranges(site) == ["bytes=150000-"]


def test_a_server_that_ignores_ranges(site, get):
    site.ranges = False
    site.plan = ["cut"]
    assert get() == BODY
    assert ranges(site) == [None, "bytes=150000-"]


def test_a_server_that_ignores_ranges_and_always_cuts(site, get):
    site.ranges = False
    site.plan = ["cut"] * 50
    with pytest.raises(FileError, match="the connection was cut after 150,000 of 300,000 bytes"):
        get()
    assert len(site.requests) == download.TRIES


@pytest.mark.parametrize("tags", [True, False])
@pytest.mark.parametrize("other", [BODY[::-1] + b"more", BODY[:1000], BODY[:150_000], b""])
def test_a_file_that_changed_is_downloaded_again(site, get, tags, other):
    site.tags = tags
    site.plan = ["cut", *[500] * (download.TRIES - 1)]
    with pytest.raises(FileError):
        get()
    site.files["/file"] = other
    assert get() == other


def test_a_changed_file_of_the_same_size_is_noticed(site, get):
    site.plan = ["cut", *[500] * (download.TRIES - 1)]
    with pytest.raises(FileError):
        get()
    site.files["/file"] = BODY[::-1]
    assert get() == BODY[::-1]  # If-Range tells
    assert ranges(site)[-1] == "bytes=150000-"


def test_a_response_that_starts_elsewhere_is_not_used(site, get):
    site.plan = ["cut", "elsewhere"]
    assert get() == BODY
    assert ranges(site) == [None, "bytes=150000-", None]


@pytest.mark.parametrize("note", [None, "", "[]", '{"url": "http://other", "size": 1, "tag": ""}'])
def test_a_partial_file_of_unknown_origin_is_not_used(site, get, tmp_path, note):
    (tmp_path / "file.part").write_bytes(b"something else")
    if note is not None:
        (tmp_path / "file.part.json").write_text(note)
    assert get() == BODY
    assert ranges(site) == [None]


def test_a_complete_partial_file_is_used(site, get, tmp_path):
    site.plan = ["cut", *[500] * (download.TRIES - 1)]
    with pytest.raises(FileError):
        get()
    (tmp_path / "file.part").write_bytes(BODY)
    site.requests.clear()
    assert get() == BODY
    assert site.requests == []


def test_a_server_that_sends_no_length(site, get):
    site.lengths = False
    seen = []
    assert get(lambda *told: seen.append(told)) == BODY
    assert seen[-1] == ("file", len(BODY), None)


@pytest.mark.parametrize("code", [404, 403])
def test_a_refusal_is_not_tried_again(site, get, tmp_path, code):
    site.plan = [code]
    with pytest.raises(FileError, match=f"/file: the server answers {code} "):
        get()
    assert len(site.requests) == 1


def test_a_broken_server_is_given_up(site, get):
    site.plan = [500] * 50
    with pytest.raises(FileError, match="the server answers 500"):
        get()
    assert len(site.requests) == download.TRIES


def test_a_silent_server_is_tried_again(site, get, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT", 0.3)
    site.plan = ["silent"]
    assert get() == BODY


def test_no_server_at_the_address(tmp_path):
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, but not listening
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/file"
        with pytest.raises(FileError, match=rf"^{url}: cannot be reached \(.*refused"):
            download.download(url, tmp_path / "file")


def test_a_server_that_speaks_no_http(tmp_path, monkeypatch):
    def urlopen(*args, **kwargs):
        raise http.client.BadStatusLine("SSH-2.0")

    monkeypatch.setattr("urllib.request.urlopen", urlopen)
    with pytest.raises(FileError, match=r"cannot be reached \(.*SSH"):
        download.download("http://127.0.0.1:9/file", tmp_path / "file")


def test_a_full_disk_keeps_what_arrived(site, get, tmp_path):
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))
    try:
        with pytest.raises(FileError, match=r"file.part: cannot be written \(File too large\)"):
            get()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert get() == BODY
    assert ranges(site) == [None, "bytes=100000-"]


def test_two_downloads_at_once_are_refused(site, get, tmp_path):
    fcntl = pytest.importorskip("fcntl")
    with (tmp_path / "file.part").open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        with pytest.raises(FileError, match="another process"):
            get()
