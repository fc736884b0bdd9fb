"""What `abstain replay` shows at the end: warnings, the table, the verdict."""

from pathlib import Path
from typing import TYPE_CHECKING

from ..gate.replay.naming import against, money, per_cent
from .replaying import say

if TYPE_CHECKING:
    from rich.console import Console

    from ..gate.replay.result import Policy, Replay

_WIDE = 100
"""Characters; in a narrower terminal the table has no column for differences in money."""
BEYOND = "*"
"""Marks policies that review more than there is capacity for."""


def show(console: "Console", found: "Replay", out: Path) -> None:
    """The table, the verdict, and where the rest is."""
    from rich.table import Table

    for warning in found.warnings:
        console.print(f"Warning: {warning}", markup=False, highlight=False, soft_wrap=True, style="bold red")
    wide = console.width >= _WIDE
    table = Table(title=f"{found.log}: {found.scored_rows:,} of {found.rows:,} rows scored")
    table.add_column("policy", min_width=12)
    for column in ("price a case", "mistakes", "reviews"):
        table.add_column(column, justify="right")
    table.add_column(f"against tuned{', %' * (not wide)}\n(95 % interval of it)", justify="right", no_wrap=True)
    if wide:
        table.add_column("in money", justify="right")
    tuned = next(policy for policy in found.policies if policy.kind == "tuned")
    for policy in found.policies:
        style = "bold" if policy.kind == "gate" else None
        table.add_row(policy.name, *_cells(found, policy, tuned, wide), style=style)
    console.print(table, markup=False)
    if any(policy.beyond(found.share) for policy in found.policies):
        say(console, f"{BEYOND} more reviews than the {per_cent(found.share or 0.0)} there is capacity for")
    say(console, found.verdict, *(f"Note: {note}" for note in found.notes), f"Report: {out / 'report.html'}")


def _cells(found: "Replay", policy: "Policy", tuned: "Policy", wide: bool) -> list[str]:
    reviews = per_cent(policy.reviewed) + BEYOND * policy.beyond(found.share)
    cells = [money(policy.loss, found.price, found.unit), per_cent(policy.mistakes), reviews]
    if policy.difference is None:
        return cells
    share, interval = against(policy, tuned)
    share = share if wide else share.removesuffix(" %")
    cells.append(f"{share} ({interval})" if interval else share)
    amount = money(policy.difference, found.price, found.unit)
    return cells + [amount if amount.startswith("-") else f"+{amount}"] * wide
