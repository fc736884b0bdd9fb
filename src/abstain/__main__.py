"""The command ``abstain``, and ``python -m abstain``."""

import sys

from ._core.extras import missing


def run() -> None:
    """Run the command, or say which extra it needs."""
    text = missing("the command abstain", "cli")
    if text is not None:
        sys.stderr.write(f"error: {text}\n")
        raise SystemExit(2)
    from .cli import run as run_command

    run_command()


if __name__ == "__main__":
    run()
