"""What the report says of the run itself."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING

from ..claims import Reading
from ..figures import StudyCurves
from ..rows import Rows
from ..tables import Table

if TYPE_CHECKING:
    import polars as pl

PACKAGES = ("numpy", "numba", "scipy", "polars", "matplotlib", "joblib")


def versions() -> dict[str, str]:
    """What the results were made with: this library, Python, the packages, the platform."""
    from ... import __version__

    found = {"abstain": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            found[name] = "not installed"
    return {**found, "platform": platform.platform()}


@dataclass(frozen=True)
class Facts:
    """What is known of a run beside its verdicts and figures; only what is given is shown."""

    command: str = ""
    made: str = ""
    """When, in words."""
    seconds: float | None = None
    """How long the whole run took."""
    summary: "pl.DataFrame | None" = None
    """The results' summary (`results.summary`), for the table of final numbers."""
    tables: Sequence[Table] = ()
    """The tables of final numbers, of which the overviews are shown."""
    curves: Sequence[StudyCurves] = ()
    """The curves of studies that the paper's figures do not show."""
    readings: Sequence[Reading] = ()
    missing: Sequence[str] = ()
    """What could not be run or drawn, a sentence each."""
    parts: str = ""
    """How many parts were run, and how many taken from earlier runs."""
    rows: Sequence[Rows] = ()
    """The data files."""
    versions: Mapping[str, str] = field(default_factory=versions)
