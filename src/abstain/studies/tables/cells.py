"""Numbers as people read them, and what the overview shows."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import polars as pl

Row: TypeAlias = dict[str, Any]


class Strong(str):
    """A cell that is shown in bold, in whatever way its table is."""

    __slots__ = ()


EXPLAINED = (
    "Medians over the settings of average regret, of its ratio to that of FS, and of the time a round, in times of "
    "UCB-GT (or of the fastest learner) on the same draw; the mean rank among those that compete; the settings within "
    "2 FS + 0.002 (FS counts as 0 where its regret is negative), and by how much that is exceeded at worst; the "
    "settings with negative mean regret."
)
MOVING = (
    "Tracking regret is that against the best sequence of experts, one for each regime of a stream. Slopes are those "
    "of log regret against log T, the steepest of all settings; regret that is not positive at some T has none."
)


def number(value: float | None) -> str:
    """A regret."""
    return "" if value is None else f"{round(value, 4) + 0.0:.4f}"  # no -0.0000


def factor(value: float | None) -> str:
    """A ratio, a rank, a slope."""
    return "" if value is None else f"{value:.2f}"


def shown(overview: "pl.DataFrame") -> tuple[list[str], list[list[str]]]:
    """The heads and rows of an overview; columns that say nothing are left out."""
    moves = bool((overview["tracking"] != overview["regret"]).any())
    grows = overview["slope"].count() + overview["tracking_slope"].count() > 0
    limited = bool((overview["limits"] > 0).any())
    columns: list[tuple[str, bool, Callable[[Row], str]]] = [
        ("learner", True, lambda row: str(row["learner"])),
        ("R_T / T", True, lambda row: number(row["regret"])),
        ("tracking", moves, lambda row: number(row["tracking"])),
        ("to FS", limited, lambda row: factor(row["ratio"])),
        ("rank", True, lambda row: factor(row["rank"])),
        ("within", limited, lambda row: f"{row['within']} of {row['limits']}" if row["limits"] else ""),
        ("excess", limited, lambda row: number(row["excess"])),
        ("negative", True, lambda row: f"{row['negative']} of {row['settings']}"),
        ("slope", grows, lambda row: factor(row["slope"])),
        ("tracking slope", grows and moves, lambda row: factor(row["tracking_slope"])),
        ("time", True, lambda row: factor(row["time"])),
    ]
    used = [(head, show) for head, here, show in columns if here]
    return [head for head, _ in used], [[show(row) for _, show in used] for row in overview.iter_rows(named=True)]
