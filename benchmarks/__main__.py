"""Run all sections, or those named on the command line; `before COMMIT [section ...]` compares with a commit."""

import sys
import time
from collections.abc import Callable, Iterable

from . import (
    balls,
    before,
    floor,
    gate,
    online,
    own,
    peers,
    player,
    reproduce,
    rings,
    robust,
    scaling,
    startup,
    thresholds,
    weights,
)
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
    "robust": robust.run,
    "own": own.run,
    "balls": balls.run,
    "reproduce": reproduce.run,
    "gate": gate.run,
}


def check(names: list[str], known: Iterable[str]) -> None:
    unknown = [name for name in names if name not in known]
    if unknown:
        sys.exit(f"unknown section {', '.join(unknown)}; expected some of {', '.join(known)}")


def main(words: list[str]) -> None:
    start = time.perf_counter()
    if "--help" in words or "-h" in words:
        print(f"python -m benchmarks [section ...]\nsections: {', '.join(SECTIONS)}")
        print(f"python -m benchmarks before COMMIT [section ...]\nsections: {', '.join(player.SECTIONS)}")
        return
    if words[:1] == ["before"]:
        if len(words) < 2:
            sys.exit("expected a commit: python -m benchmarks before COMMIT [section ...]")
        check(words[2:], player.SECTIONS)
        before.main(words[1], words[2:] or list(player.SECTIONS))
    else:
        check(words, SECTIONS)
        for name in words or SECTIONS:
            SECTIONS[name]()
    console.print(f"\n{time.perf_counter() - start:.0f} seconds in all")


if __name__ == "__main__":
    main(sys.argv[1:])
