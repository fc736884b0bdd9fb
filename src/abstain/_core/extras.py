"""Which optional packages are installed: the library needs NumPy, Numba and SciPy, all else is in extras."""

import importlib
from importlib.util import find_spec
from typing import Any

from ..errors import MissingExtraError

PACKAGES = {
    "cli": ("typer", "rich", "polars", "jinja2", "plotly"),
    "studies": ("typer", "rich", "polars", "jinja2", "plotly", "matplotlib", "joblib", "pydantic"),
    "sklearn": ("sklearn",),
    "river": ("river",),
    "dask": ("dask", "distributed"),
    "service": (
        "typer",
        "rich",
        "polars",
        "jinja2",
        "plotly",
        "fastapi",
        "uvicorn",
        "sqlalchemy",
        "alembic",
        "prometheus_client",
        "httpx",
        "pydantic",
    ),
    "postgres": ("psycopg",),
}
"""The modules of each extra of ``pyproject.toml``."""


def missing(who: str, *extras: str) -> str | None:
    """Say in one line what ``who``, a command, say, needs to have installed for these extras; None if all is there.

    >>> missing("abstain replay", "cli")
    """
    needed = {extra: [name for name in PACKAGES[extra] if not is_there(name)] for extra in extras}
    gone = dict.fromkeys(name for names in needed.values() for name in names)
    if not gone:
        return None
    wanted = ",".join(extra for extra, names in needed.items() if names)
    return f"{who} needs {', '.join(gone)}: pip install 'abstain[{wanted}]'"


def need(module: str, who: str, extra: str) -> Any:
    """Import a module that comes with an extra; a `MissingExtraError` says that ``who`` needs it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0].replace("sklearn", "scikit-learn")
        raise MissingExtraError(f"{who} needs {package}: pip install 'abstain[{extra}]'") from None


def is_there(name: str) -> bool:
    """Say whether a package is installed, without importing it."""
    try:
        return find_spec(name) is not None
    except (ImportError, ValueError):  # blocked, or only half installed
        return False
