"""How results are printed."""

import math

from rich.console import Console
from rich.table import Table

console = Console()

MET, MISSED = "[green]met[/]", "[bold red]MISSED[/]"


def show(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table: the first column to the left, numbers to the right."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print()
    console.print(table)


def number(value: float) -> str:
    """Three digits or more: 0.123, 1.23, 12.3, 123, 12,345."""
    if value >= 100.0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10.0 else f"{value:.2f}" if value >= 1.0 else f"{value:.3f}"


def at_most(value: float, target: float, goal: float = -math.inf) -> str:
    """Whether a target that is an upper limit was met; ``goal`` is a harder one."""
    return MISSED if value > target else "[green]goal met[/]" if value <= goal else MET


def at_least(value: float, target: float) -> str:
    """Whether a target that is a lower limit was met."""
    return MET if value >= target else MISSED
