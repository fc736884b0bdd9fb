"""Run all sections, or those named on the command line."""

import sys
import time
from collections.abc import Callable

from . import balls, floor, online, peers, reproduce, rings, scaling, startup, thresholds, weights
from .table import console

SECTIONS: dict[str, Callable[[], None]] = {
    "floor": floor.run,
    "rings": rings.run,
    "thresholds": thresholds.run,
    "scaling": scaling.run,
    "peers": peers.run,
    "online": online.run,
    "startup": startup.run,
    "weights": weights.run,
    "balls": balls.run,
    "reproduce": reproduce.run,
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown section {', '.join(unknown)}; expected some of {', '.join(SECTIONS)}")
    start = time.perf_counter()
    for name in names or SECTIONS:
        SECTIONS[name]()
    console.print(f"\n{time.perf_counter() - start:.0f} seconds in all")


if __name__ == "__main__":
    main(sys.argv[1:])
