"""How results are printed."""

from rich.console import Console
from rich.table import Table

console = Console()


def show(title: str, columns: list[str], rows: list[list[str]]) -> None:
    """Print a table: the first column to the left, numbers to the right."""
    table = Table(title=title, title_justify="left", title_style="bold")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console.print()
    console.print(table)


def number(value: float) -> str:
    """Three digits or more: 0.123, 1.23, 12.3, 123, 12,345."""
    if value >= 100.0:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 10.0 else f"{value:.2f}" if value >= 1.0 else f"{value:.3f}"


def at_most(value: float, target: float, goal: float | None = None) -> str:
    """Whether a target that is an upper limit was met; ``goal`` is a harder one."""
    text = f"<= {target:g}"
    if value > target:
        return f"{text}: [bold red]MISSED[/]"
    return (
        f"{text}: [green]met, goal {goal:g} too[/]" if goal is not None and value <= goal else f"{text}: [green]met[/]"
    )


def at_least(value: float, target: float) -> str:
    """Whether a target that is a lower limit was met."""
    return f">= {target:,g}: " + ("[green]met[/]" if value >= target else "[bold red]MISSED[/]")
