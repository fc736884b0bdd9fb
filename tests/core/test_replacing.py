"""Files written in one piece: modes, links, long names, writers that are killed and writers that meet."""

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from abstain._core.files import replacing

posix = pytest.mark.skipif(sys.platform == "win32", reason="Windows has neither these modes nor these locks")


def put(path, text=b"new"):
    with replacing(path) as stream:
        stream.write(text)


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@posix
def test_a_new_file_has_the_usual_mode(tmp_path):
    before = os.umask(0o027)
    try:
        put(tmp_path / "x")
    finally:
        os.umask(before)
    assert mode(tmp_path / "x") == 0o640


@posix
@pytest.mark.parametrize("kept", [0o600, 0o644, 0o664, 0o444, 0o777])
def test_an_existing_file_keeps_its_mode(tmp_path, kept):
    path = tmp_path / "x"
    path.write_bytes(b"old")
    path.chmod(kept)
    with replacing(path) as stream:
        (temporary,) = (p for p in tmp_path.iterdir() if p != path)
        assert mode(temporary) == 0o600  # nobody reads it before it has the mode it should have
        stream.write(b"new")
    assert path.read_bytes() == b"new"
    assert mode(path) == kept


@posix
@pytest.mark.parametrize("there", [True, False])
def test_links_stay_links(tmp_path, there):
    """One link, a chain of two, one into another folder; what they lead to is there, or is not yet."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    target = folder / "target"
    if there:
        target.write_bytes(b"old")
        target.chmod(0o640)
    (tmp_path / "link").symlink_to(target)
    (tmp_path / "chain").symlink_to("link")
    (tmp_path / "folder").symlink_to(folder)
    for path in (tmp_path / "link", tmp_path / "chain", tmp_path / "folder" / "target"):
        put(path, path.name.encode())
        assert target.read_bytes() == path.name.encode()
        assert not target.is_symlink()
    assert all((tmp_path / name).is_symlink() for name in ("link", "chain", "folder"))
    assert list(folder.iterdir()) == [target]
    if there:
        assert mode(target) == 0o640


@posix
def test_links_that_lead_nowhere_are_refused(tmp_path):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        put(tmp_path / "a")
    (tmp_path / "c").symlink_to("no folder/x")
    with pytest.raises(FileNotFoundError):
        put(tmp_path / "c")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b", "c"]


def test_names_as_long_as_they_may_be(tmp_path):
    path = tmp_path / ("ü" * 127 + "x" if sys.platform == "linux" else "x" * 255)
    put(path, b"old")
    put(path)
    assert path.read_bytes() == b"new"
    with pytest.raises(OSError, match=r".") as caught:
        put(tmp_path / ("x" * 256))
    assert sys.platform == "win32" or caught.value.errno == errno.ENAMETOOLONG
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    """One of the caller's, a full disk found when the file is synced, a rename that fails."""
    path = tmp_path / "x"
    put(path, b"old")

    def full(*args):
        raise OSError(errno.ENOSPC, "No space left on device")

    def caller():
        with replacing(path) as stream:
            stream.write(b"half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        caller()
    for name in ("os.fsync", "pathlib.Path.replace"):
        with monkeypatch.context() as patched:
            patched.setattr(name, full)
            with pytest.raises(OSError, match="No space"):
                put(path)
        assert path.read_bytes() == b"old"
        assert list(tmp_path.iterdir()) == [path]


FULL = """
import resource, sys
from abstain._core.files import replacing
resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))
try:
    with replacing(sys.argv[1]) as stream:
        stream.write(b"x" * 1_000_000)
except OSError as error:
    raise SystemExit(error.errno)
"""


@posix
def test_a_file_that_cannot_be_written_to_its_end(tmp_path):
    """The system refuses what goes beyond 5,000 bytes."""
    path = tmp_path / "x"
    put(path, b"old")
    assert subprocess.run([sys.executable, "-c", FULL, str(path)], timeout=120).returncode == errno.EFBIG
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


READ_ONLY = """
import os, sys
from abstain._core.files import replacing
if os.geteuid() == 0:
    os.setuid(65534)  # root may write anywhere
try:
    with replacing(sys.argv[1]):
        raise SystemExit("it has begun to write")
except PermissionError:
    raise SystemExit(7)
"""


@posix
def test_a_folder_that_may_not_be_written():
    with tempfile.TemporaryDirectory() as name:  # not pytest's, which is closed to others
        path = Path(name) / "x"
        put(path, b"old")
        path.parent.chmod(0o555)
        assert subprocess.run([sys.executable, "-c", READ_ONLY, str(path)], timeout=120).returncode == 7
        path.parent.chmod(0o755)
        assert list(path.parent.iterdir()) == [path]
        assert path.read_bytes() == b"old"


WRITER = """
import sys
from abstain._core.files import replacing
with replacing(sys.argv[1]) as stream:
    stream.write(b"half")
    stream.flush()
    print("writing", flush=True)
    sys.stdin.readline()
"""


def writer(path):
    """A process in the middle of writing the file, until it is told to go on."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "writing\n"
    return process


@pytest.mark.long
@posix
def test_the_next_writer_removes_what_a_killed_one_left(tmp_path):
    path, other = tmp_path / "x", tmp_path / "y"
    path.write_bytes(b"old")
    path.chmod(0o444)
    for _ in range(2):
        with writer(path) as process:
            process.send_signal(signal.SIGKILL)
    assert path.read_bytes() == b"old"
    (left,) = set(tmp_path.iterdir()) - {path}  # the second has removed what the first one left
    put(other)
    assert left.exists()  # another file's is none of its business
    put(path)
    assert set(tmp_path.iterdir()) == {path, other}


@pytest.mark.long
@posix
def test_a_living_writer_is_left_alone(tmp_path):
    path = tmp_path / "x"
    with writer(path) as first, writer(path) as second:
        put(path, b"third")
        assert len(list(tmp_path.iterdir())) == 3
        for process in (first, second):
            process.communicate("\n")
            assert process.returncode == 0
            assert path.read_bytes() == b"half"
            put(path, b"between")
    assert list(tmp_path.iterdir()) == [path]


SAVER = """
import sys
from abstain._core.files import replacing
for i in range(50):
    with replacing(sys.argv[1]) as stream:
        stream.write(sys.argv[2].encode() * 100_000)
"""


@posix
@pytest.mark.long
def test_two_processes_save_the_same_file(tmp_path):
    path = tmp_path / "x"
    processes = [subprocess.Popen([sys.executable, "-c", SAVER, str(path), letter]) for letter in "ab"]
    seen = set()
    while any(process.poll() is None for process in processes):
        if path.exists():
            seen.add(path.read_bytes())
    assert [process.returncode for process in processes] == [0, 0]
    assert seen <= {b"a" * 100_000, b"b" * 100_000}
    assert path.read_bytes() in {b"a" * 100_000, b"b" * 100_000}
    assert list(tmp_path.iterdir()) == [path]


@posix
def test_a_writer_whose_file_is_taken_for_a_leftover_makes_another(tmp_path, monkeypatch):
    """Another one removes it between its creation and its lock, or just holds the lock to do so."""
    import fcntl

    path, flock, tries = tmp_path / "x", fcntl.flock, []

    def late(stream, how):
        tries.append(how)
        if len(tries) == 1:
            next(tmp_path.glob(".abstain-*")).unlink()
        if len(tries) == 2:
            raise BlockingIOError
        flock(stream, how)

    monkeypatch.setattr(fcntl, "flock", late)
    put(path)
    assert len(tries) == 3
    assert path.read_bytes() == b"new"


@posix
def test_a_file_system_without_locks(tmp_path, monkeypatch):
    """Saving works, and nothing is removed, as nobody can tell whether its writer lives."""
    import fcntl

    def none(*args):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    path = tmp_path / "x"
    with replacing(path) as outer:
        put(path, b"inner")
        outer.write(b"outer")
    assert path.read_bytes() == b"outer"
    assert list(tmp_path.iterdir()) == [path]
