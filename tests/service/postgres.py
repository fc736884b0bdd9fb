"""A real PostgreSQL for tests, and a proxy before it that can be cut."""

import contextlib
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
import threading
from pathlib import Path

import pytest

USER = "nobody"


def programs():
    """Return the folder of PostgreSQL's programs; None if there is none."""
    found = shutil.which("initdb")
    folders = [Path(found).parent] if found else []
    folders += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return next((one for one in folders if (one / "initdb").exists() and (one / "postgres").exists()), None)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """PostgreSQL on a free port of this machine, in a folder of its own; never as root."""

    def __init__(self, folder):
        self.programs, self.folder, self.port = programs(), folder, free_port()
        self.options = {}
        if os.geteuid() == 0:
            account = pwd.getpwnam("postgres" if _has("postgres") else USER)
            os.chown(folder, account.pw_uid, account.pw_gid)
            self.options = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        self._run("initdb", "-D", str(folder / "data"), "-U", "abstain", "-A", "trust", "-E", "UTF8", "--no-sync")
        self.start()

    def _run(self, name, *arguments):
        command = [str(self.programs / name), *arguments]
        done = subprocess.run(
            command,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            stdin=subprocess.DEVNULL,
            **self.options,
        )
        assert done.returncode == 0, f"{name}: {done.stderr or done.stdout}"

    def start(self):
        settings = f"-p {self.port} -k '' -c listen_addresses=127.0.0.1 -c shared_buffers=16MB -c max_connections=60"
        log = str(self.folder / "log")
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-o", settings, "-l", log, "-w", "start")

    def stop(self):
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "-w", "stop")

    def url(self, database, port=None):
        return f"postgresql://abstain@127.0.0.1:{port or self.port}/{database}"

    def database(self, name):
        """Make an empty database; return its URL."""
        import psycopg

        with psycopg.connect(self.url("postgres"), autocommit=True) as at:
            at.execute(f'drop database if exists "{name}" with (force)')
            at.execute(f'create database "{name}"')
        return self.url(name)


def _has(name):
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True


@contextlib.contextmanager
def server_or_skip():
    """A running server; the test is skipped, with the reason, where there is none."""
    pytest.importorskip("psycopg", reason="needs psycopg: pip install 'abstain[postgres]'")
    if programs() is None:
        pytest.skip("needs PostgreSQL's programs (Debian: apt install postgresql)")
    folder = Path(tempfile.mkdtemp(prefix="abstain-postgres-"))  # pytest's folders are for their owner alone
    server = None
    try:
        server = Server(folder)
        yield server
    finally:
        if server is not None:
            server.stop()
        shutil.rmtree(folder, ignore_errors=True)


class Proxy:
    """Passes connections on to a port. It can be cut before or after what it passes, or stop answering."""

    def __init__(self, port):
        self._target, self._lock = port, threading.Lock()
        self._pairs = []
        self.silent = False
        """Whether nothing is passed on, in either direction; connections stay open."""
        self.cut_at = None
        """A text of the client; when it comes, it is passed on, and then the reply is not: all is cut."""
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                with contextlib.suppress(Exception):
                    client.close()
                if self._listener.fileno() == -1:
                    return
                continue
            with self._lock:
                self._pairs.append((client, server))
            state = {"cut": False}
            for source, to, from_client in ((client, server, True), (server, client, False)):
                threading.Thread(target=self._pass, args=(source, to, from_client, state), daemon=True).start()

    def _pass(self, source, to, from_client, state):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                while self.silent:
                    threading.Event().wait(0.02)
                if from_client and self.cut_at is not None and self.cut_at in data:
                    state["cut"] = True
                elif not from_client and state["cut"]:
                    break  # the reply never arrives
                to.sendall(data)
        for one in (source, to):
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def cut(self):
        """Cut all connections."""
        with self._lock:
            pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for one in pair:
                with contextlib.suppress(OSError):
                    one.shutdown(socket.SHUT_RDWR)

    def close(self):
        self.silent = False
        self._listener.close()
        self.cut()
