"""`abstain backup`."""

from pathlib import Path
from typing import Annotated

import typer

from .._core.terminal import say
from .console import command
from .serve import STORE, Store, opened


def backup(
    out: Annotated[Path, typer.Option(metavar="FILE", help="The file to write, which must not exist.")],
    store: Store = STORE,
) -> None:
    """Copy an SQLite store to a file, even while the server runs. For PostgreSQL use pg_dump.

    The file is a store, too. Keep it as secret as the store: it has the keys that sign cases.

    Example: abstain backup --store sqlite:///gates.db --out gates-monday.db
    """
    with command("backup", "service") as console, opened(store) as source:
        source.backup(out)
        say(console, f"{out}: {out.stat().st_size:,} bytes; to serve it: abstain serve --store sqlite:///{out}")
