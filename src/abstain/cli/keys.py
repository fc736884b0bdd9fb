"""`abstain keys`: add, list and revoke the API keys of a store."""

import time
from typing import Annotated

import typer

from .._core.terminal import say
from ..errors import InputError, shown
from .console import command
from .gates import moment
from .serve import STORE, Store, opened

app = typer.Typer(
    help="Add, list and revoke API keys. A running server notices within a second.\n\nExample: abstain keys list",
    no_args_is_help=True,
)


@app.command()
def add(
    store: Store = STORE,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE",
            help="What the key permits: read, review (read, and label), decide (decide, and label) or admin (all). "
            "Repeatable; decide by default.",
        ),
    ] = None,
    gate: Annotated[str, typer.Option(metavar="NAME", help="The gate that the key is for; * is all of them.")] = "*",
    name: Annotated[str, typer.Option(metavar="TEXT", help="A note on who uses the key.")] = "",
) -> None:
    """Make a key and print it, once: the store keeps only a hash.

    Example: abstain keys add --gate spam --scope decide --name "mail server"
    """
    with command("keys add", "service") as console, opened(store, new=True) as source:
        from ..service.bodies import GATE_NAME
        from ..service.keys import new_key

        if gate != "*" and not GATE_NAME.fullmatch(gate):
            raise InputError(f"--gate: expected the name of a gate, or *, got {shown(gate)}")
        if not name.isprintable() or len(name) > 200:
            raise InputError(f"--name: expected at most 200 printable characters, got {shown(name)}")
        text, record = new_key(scope or ["decide"], gate=gate, name=name)
        source.add_key(record)
        say(console, text)


@app.command("list")
def listing(store: Store = STORE) -> None:
    """List all keys by their ids, revoked ones included. The keys themselves are not stored.

    Example: abstain keys list --store sqlite:///gates.db
    """
    with command("keys list", "service") as console, opened(store) as source:
        from rich.table import Table

        table = Table("id", "gate", "scopes", "name", "created", "revoked")
        found = source.keys()
        for key in found:
            revoked = "" if key.revoked is None else moment(key.revoked)
            table.add_row(key.id, key.gate, " ".join(key.scopes), key.name, moment(key.created), revoked)
        console.print(table, markup=False)
        if not found:
            say(console, "No keys. Without any, the service answers only on the loopback address.")


@app.command()
def revoke(
    key: Annotated[str, typer.Argument(metavar="ID", help="The id of the key, as abstain keys list shows it.")],
    store: Store = STORE,
) -> None:
    """Revoke a key permanently.

    Example: abstain keys revoke 1f0c9a7be2d4
    """
    with command("keys revoke", "service") as console, opened(store) as source:
        if not source.revoke_key(key, time.time()):
            raise InputError(f"ID: expected a key that is not revoked (abstain keys list), got {shown(key)}")
        say(console, f"{key} is revoked.")
