"""The page: one file, written in one piece."""

from pathlib import Path

from ....errors import FileError
from ....pages import environment
from ....replacing import replacing
from ..result import Replay
from . import wording, work
from .sections import sections
from .table import meanings, rows


def write(replay: Replay, path: Path) -> None:
    """Write the report; an old one stays until the new one is whole."""
    content = page(replay).encode()
    try:
        with replacing(path) as stream:
            stream.write(content)
    except OSError as error:
        raise FileError(f"{path}: cannot be written ({error.strerror or error})") from error


def page(replay: Replay) -> str:
    """The page as text. Whatever comes from the log is escaped, by Jinja2 in the page and by `drawing` in figures."""
    from plotly.offline import get_plotlyjs

    found = sections(replay)
    return (
        environment(__package__)
        .get_template("report.html")
        .render(
            replay=replay,
            money=wording.money(replay),
            policies=rows(replay),
            meanings=meanings(replay),
            sections=found,
            figures={section.key: section.drawn.figure for section in found},
            prices=work.prices(replay),
            reviews=work.reviews(replay),
            notes=[note for note in replay.notes if note not in replay.beside],
            plotly=get_plotlyjs(),
        )
    )
