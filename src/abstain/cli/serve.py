"""`abstain serve`."""

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from .._core.terminal import say
from ..errors import InputError, shown
from .console import command

if TYPE_CHECKING:
    from ..service.store import SqlStore

STORE = "sqlite:///gates.db"

_option = partial(
    typer.Option,
    metavar="URL",
    envvar="ABSTAIN_STORE",
    help="Where the gates are kept: sqlite:///FILE, or postgresql://USER@HOST/DATABASE.",
)
Store = Annotated[str, _option()]
"""The option of every command that works on a store."""


@contextmanager
def opened(url: str, *, new: bool = False) -> "Iterator[SqlStore]":
    """Open a store that exists, beside a server that may use it.

    Args:
        url: The store.
        new: Whether it may be made.

    Raises:
        InputError: If there is no such file.
    """
    from ..service.store import open_store

    file = url.removeprefix("sqlite:///")
    if not new and file not in (url, "") and not Path(file).exists():
        raise InputError(f"--store: expected a store that exists, got {shown(url)}")
    store = open_store(url)
    try:
        yield store
    finally:
        store.close()


def serve(
    store: Annotated[str | None, _option(show_default=f"{STORE}; with --demo, a temporary one")] = None,
    host: Annotated[
        str, typer.Option(help="The address to listen on. Any but the loopback needs keys, or --insecure.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="The port to listen on; 0 takes a free one.")] = 8000,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast", help="SQLite only: do not wait for the disk. A power cut can lose the last acknowledged calls."
        ),
    ] = False,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Require no keys, even on an address that others can reach.")
    ] = False,
    demo: Annotated[
        bool, typer.Option("--demo", help="Stream the demo's month through a gate, to see the page in use.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Open the store, replay every gate, report, and end without serving.")
    ] = False,
    snapshot_every: Annotated[
        int, typer.Option(metavar="EVENTS", help="How many events of a gate to journal between two snapshots.")
    ] = 5_000,
    allowed_host: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Another name that requests may be addressed to. Repeatable."),
    ] = None,
    address: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="PostgreSQL only: where other replicas reach this one; by default http://HOST:PORT.",
        ),
    ] = None,
    lease: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="PostgreSQL only: how long a replica may be silent before others take its gates."
        ),
    ] = 10.0,
    log_level: Annotated[
        str, typer.Option(metavar="LEVEL", help="What to log: debug, info, warning or error.")
    ] = "info",
) -> None:
    """Serve gates over HTTP, durably, with a page for reviewers at /ui.

    Example: abstain serve --store sqlite:///gates.db --port 8000
    """
    with command("serve", "service") as console:
        from ..service.server import serve as run

        code = run(
            STORE if store is None and not demo else store, host=host, port=port, fast=fast, insecure=insecure,
            demo=demo, check=check, snapshot_every=snapshot_every, log_level=log_level,
            allowed_hosts=allowed_host or (), address=address, lease=lease, say=partial(say, console),
        )  # fmt: skip
    raise typer.Exit(code)
