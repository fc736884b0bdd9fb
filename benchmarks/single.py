"""Play a log case by case with the gate of any commit: `python -m benchmarks.single LOG DELAY SEED COST`: its loss.

It uses only what all versions of the library have.
"""

import sys

import numpy as np

import abstain as ab


def play(path: str, delay: int, seed: int, cost: float) -> float:
    """Return the mean loss after the first tenth; labels of answered cases come so many cases late."""
    log = np.load(path)
    answers, sure, truth, two = (
        log["answers"].tolist(),
        log["confidence"].tolist(),
        log["truth"].tolist(),
        bool(log["two"]),
    )
    names = [f"model {m}" for m in range(len(answers[0]))]
    gate = ab.Gate(names, cost=cost, seed=seed, task="binary" if two else "classes")
    cases: list[ab.Case] = []
    loss: list[float] = []
    for i, (said, confidence) in enumerate(zip(answers, sure, strict=True)):
        if i > delay:
            before = i - delay - 1
            if cases[before].action == "answer":
                gate.learn(cases[before], truth[before])
        if two:
            given = [c if k == 1 else 1.0 - c for k, c in zip(said, confidence, strict=True)]
        else:
            given = [None if c != c else (k, c) for k, c in zip(said, confidence, strict=True)]
        cases.append(gate.decide(dict(zip(names, given, strict=True))))
        loss.append(cost if cases[-1].action == "review" else float(cases[-1].answer != truth[i]))
    return float(np.mean(loss[len(loss) // 10 :]))


if __name__ == "__main__":
    print(play(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
