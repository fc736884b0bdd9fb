"""Replays as a log would give them, made up, for the tests of what shows them."""

import math
import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from abstain.replay.policies import Curve, Policy, Replay, Timeline

KINDS = ("gate", "tuned", "retuned-own", "retuned-all", "hindsight")
START = datetime(2024, 1, 8, 6, 30, tzinfo=UTC)
NASTY = "<script>alert('x')</script> & \"quotes\" <b>%{y}</b>"


def a_replay(
    seed=0, rows=20_000, pieces=200, models=("gbm", "logreg", "rules"), classes=("ham", "spam"), saving=0.02,
    times=True, outage=True, share=None, price=5.0, unit="EUR",
):  # fmt: skip
    """A log of 200 days with a drift in the middle, after which the gate is ``saving`` below the tuned threshold."""
    rng = random.Random(seed)
    row = [k * rows // pieces for k in range(pieces)]
    time = [(START + k * timedelta(days=200) / pieces).isoformat() for k in range(pieces)]
    drift = [1 / (1 + math.exp(-(k - pieces / 2) / 6)) for k in range(pieces)]
    base = {"gate": 0.13, "tuned": 0.128, "retuned-own": 0.132, "retuned-all": 0.127, "hindsight": 0.126}
    slope = {"gate": 0.02, "tuned": 0.02 + 2.2 * saving, "retuned-own": 0.03, "retuned-all": 0.018, "hindsight": 0.02}
    common = [rng.gauss(0.0, 0.012) for _ in row]

    def noisy(values, spread):
        return [min(max(v + rng.gauss(0.0, spread), 0.0), 1.0) for v in values]

    def loss(kind):
        return noisy([base[kind] + slope[kind] * d + c for d, c in zip(drift, common, strict=True)], 0.012)

    level = 0.3 if share is None else share * 0.97
    reviewed = {kind: noisy([0.3 - 0.05 * d for d in drift], 0.03) for kind in KINDS} | {
        "gate": noisy([level] * pieces, 0.03 if share is None else 0.01)
    }
    raw = [
        [math.exp(3.0 * (d if m == 1 else 1 - d if m == 0 else -0.5 - m / 6)) for m in range(len(models))]
        for d in drift
    ]
    followed = {name: [r[m] / sum(r) for r in raw] for m, name in enumerate(models)}
    out = [0.0 if outage and 0.7 < k / pieces < 0.76 else 1.0 for k in range(pieces)]
    means = {kind: sum(loss(kind)) / pieces for kind in KINDS}
    gate, tuned = means["gate"], means["tuned"]
    policies = [
        Policy("always", f"always {name}", 0.2 + 0.01 * m, 0.0, 0.2 + 0.01 * m, 0.2 + 0.01 * m - tuned, 0.03, 0.09)
        for m, name in enumerate(models)
    ]
    names = {
        "gate": "gate", "tuned": f"tuned: {models[0]} above 0.85", "retuned-own": "retuned-own",
        "retuned-all": "retuned-all", "hindsight": f"hindsight: {models[-1]} above 0.78",
    }  # fmt: skip
    for kind in KINDS:
        apart = None if kind == "tuned" else means[kind] - tuned
        ends = (None, None) if apart is None else (apart - 0.006, apart + 0.006)
        policies.append(Policy(kind, names[kind], means[kind], sum(reviewed[kind]) / pieces, 0.071, apart, *ends))
    policies.append(
        Policy("review", "everything to review", 0.2, 1.0, 0.0, 0.2 - tuned, 0.2 - tuned - 0.004, 0.2 - tuned + 0.004)
    )
    policies = [
        one if one.difference is None else replace(one, share=one.difference / tuned, share_low=one.low / tuned,
                                                   share_high=one.high / tuned)
        for one in policies
    ]  # fmt: skip
    at = [k / 50 for k in range(1, 51)]
    first, each = rows // 10, 0.9 * rows / len(classes)
    reason = "the log drifts" if gate < tuned else "nothing drifts on this log, and trying things out costs"
    return Replay(
        log="orders-2024.csv",
        command="abstain replay orders-2024.csv --label truth "
        + " ".join(f"--model {name}={name}:{name}_confidence" for name in models)
        + " --review-price 1 --mistake-price 5 --delay 2000 --seed 0 --out out/replay",
        rows=rows, scored_rows=rows - first, first=first, task="binary" if len(classes) == 2 else "classes",
        labels="answered", delay="2,000 rows late", models=list(models), cost=0.2, unit=unit, price=price,
        capacity=None if share is None else f"{share:.0%} of cases, bursts of 200", share=share,
        policies=policies,
        timeline=Timeline(
            row=row, time=time if times else None, loss={kind: loss(kind) for kind in KINDS}, reviewed=reviewed,
            model=followed, threshold=noisy([0.86 - 0.1 * d for d in drift], 0.01),
            answered={name: out if m == 0 else [1.0] * pieces for m, name in enumerate(models)},
        ),
        curves=[Curve(name, at, [(0.04 + 0.01 * m) + 0.18 * c**2.5 for c in at]) for m, name in enumerate(models)],
        operating=(1 - level, 0.09),
        mistakes=[
            (name, *(round(each * part * (0.6 + 0.04 * k)) for part in (1.0, 0.08, 0.095 - 0.001 * k)))
            for k, name in enumerate(classes)
        ],
        verdict=f"The gate would have cost {(gate - tuned) / tuned:+.1%} against the threshold tuned once: {reason}.",
        notes=["gbm had no answer in 6.0 % of the cases.", "3 labels occur that no model gives: fraud, other, test."],
        unknown=[
            "In 28.4 % of the cases no label ever came, for they were reviewed.",
            "The labels that came were 2,000 rows late.",
            "In 1.2 % of the cases the gate answered only to learn.",
        ],
        days=180.0 if times else None,
    )  # fmt: skip


def replays():
    """By name: what a report has to look good for."""
    twelve = [f"model-{k}" for k in range(11)] + ["a-very-long-name-of-a-model-trained-in-2024-with-all-features"]
    return {
        "wins": a_replay(),
        "loses": a_replay(saving=-0.01, times=False, outage=False, unit="", price=1.0),
        "unsure": a_replay(saving=0.004, rows=2_000, pieces=50, unit="", times=False),
        "capacity": a_replay(share=0.08, price=120.0),
        "one": a_replay(models=["gbm"], outage=False, rows=1_000_000, unit="minutes"),
        "many": a_replay(
            models=twelve, classes=[*(f"class {k}" for k in range(18)), "a class with a long name", "other"]
        ),
        "nasty": replace(
            a_replay(models=[NASTY, "b&amp;b"], classes=[NASTY, "<i>x"], unit="<b>EUR"),
            log=NASTY,
            command=NASTY,
            verdict=NASTY,
            notes=[NASTY],
            unknown=[NASTY],
            delay=NASTY,
            task=NASTY,
            labels=NASTY,
            capacity=NASTY,
            share=0.3,
        ),
        "number": replace(
            a_replay(times=False), task="number", mistakes=[], notes=[], unknown=[], max_error=20.0, left_out=12
        ),
        "doubtful": replace(
            a_replay(rows=4_000, share=0.1),
            warnings=["gbm is never right."],
            beside=["Re-tuned is cheaper."],
            notes=["Re-tuned is cheaper.", "Another."],
            stakes=True,
            curves=[Curve("gbm", [0.4, 0.9], [0.1, 0.05]), Curve("rules", [k / 9 for k in range(1, 10)], [0.1] * 9)],
        ),
        "tiny": a_replay(rows=40, pieces=7, times=False),
    }
