"""Which tables a run has, and their files."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InputError
from .. import outputs
from ..logs.study import LogStudy
from ..spec import AnyStudy
from ..study import Study
from .finals import finals
from .latex import latex
from .markdown import markdown
from .overview import overview, slopes

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, eq=False)
class Table:
    """The final numbers of a study, or of several that share a table."""

    name: str
    title: str
    finals: "pl.DataFrame"
    overview: "pl.DataFrame"
    slopes: "pl.DataFrame"

    @property
    def moves(self) -> bool:
        """Whether the best sequence of experts is another than the best expert."""
        return bool((self.finals["tracking"] != self.finals["regret"]).any())


def check_names(studies: Sequence[AnyStudy]) -> None:
    """Raise an error if two tables have the same files. Studies may share a table, but not with one of logs."""
    shared = [study.table or study.name for study in studies if isinstance(study, Study)]
    of_logs = [study.name for study in studies if isinstance(study, LogStudy)]
    for name in of_logs:
        if name in shared:
            raise InputError(f"table: expected another name than that of a study of logs, got {name!r}")
    outputs.check_apart([*shared, *of_logs], "tables")


def tables(curves: "pl.DataFrame", studies: Sequence[AnyStudy]) -> list[Table]:
    """The tables of these studies, as far as there are results."""
    import polars as pl

    shared: dict[str, list[Study]] = {}
    for study in studies:
        if isinstance(study, Study):
            shared.setdefault(study.table or study.name, []).append(study)
    found = []
    for name, some in shared.items():
        parts = [_finals(curves.filter(pl.col("study") == study.name), study) for study in some]
        rows = pl.concat(parts)
        if len(rows):
            titles = "; ".join(dict.fromkeys(study.title or study.name for study in some))
            found.append(Table(name, titles, rows, overview(rows), slopes(rows)))
    return found


def _finals(curves: "pl.DataFrame", study: Study) -> "pl.DataFrame":
    labels = [learner.label for learner in study.learners]
    return finals(curves, learners=labels, reference=study.reference or None, apart=study.apart)


def write(table: Table, folder: Path) -> tuple[Path, ...]:
    """Write NAME.md, for people, NAME.csv, a row a setting and learner, and NAME.tex, for papers."""
    name = outputs.file_name(table.name)
    folder = outputs.make_folder(folder)
    text = markdown(table.name, table.title, table.finals, table.overview, table.slopes)
    return (
        outputs.write(folder / f"{name}.md", text.encode()),
        outputs.write(folder / f"{name}.csv", table.finals.write_csv().encode()),
        outputs.write(folder / f"{name}.tex", latex(table.name, table.title, table.finals, table.moves).encode()),
    )
