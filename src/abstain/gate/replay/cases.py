"""``cases.parquet``: what the gate did, a row a case."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ...typing import Ints
from ..playing import PlayedCases

if TYPE_CHECKING:
    import polars as pl


class Cases:
    """Written slice by slice, and put together at the end: no more than a slice is in memory."""

    def __init__(self, folder: Path, models: list[str], n_levels: int) -> None:
        folder.mkdir()
        self._folder, self._models, self._last = folder, models, n_levels - 1
        self._n = 0

    def add(self, row: Ints, played: PlayedCases) -> None:
        """The next cases; ``row`` is their number in the log, from 1."""
        import polars as pl

        frame = pl.DataFrame(
            {
                "row": row,
                "action": _named(played.reviewed.astype(np.int64), ["answer", "review"]),
                "model": _named(played.model, self._models),
                # "Always review" has no threshold.
                "threshold": pl.Series(np.where(played.level == self._last, np.nan, played.threshold)).fill_nan(None),
                "loss": played.loss,
                "forced": played.forced,
            }
        )
        frame.write_parquet(self._folder / f"{self._n:09}.parquet", compression="lz4")
        self._n += 1

    def write(self, path: Path) -> None:
        """All cases in one file."""
        import polars as pl

        pl.scan_parquet(self._folder / "*.parquet").sink_parquet(path)


def _named(codes: Ints, names: list[str]) -> "pl.Series":
    import polars as pl

    return pl.Series(names, dtype=pl.Enum(names)).gather(codes)
