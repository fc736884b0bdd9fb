"""Writes the fixtures of the file format's current version; run once a version, and keep what older ones wrote."""

import json
from pathlib import Path

import abstain as ab
from abstain.files import VERSION

FOLDER = Path(__file__).parent
HYPERPLANES = ab.experts.hyperplanes(2, 4, 5, seed=3)
SINGLES = ab.experts.thresholds(2, [-1.0, 0.1, 0.2, 0.3, 0.5])  # every expert has a rule of its own
LEARNERS = {
    "ucb": (ab.UCB, HYPERPLANES),
    "ucb_nt": (ab.UCBNT, HYPERPLANES),
    "ucb_gt": (ab.UCBGT, HYPERPLANES),
    "fs": (ab.FullSupervision, HYPERPLANES),
    "exp3_abs": (ab.Exp3Abs, HYPERPLANES),
    "exp3_abs_singles": (ab.Exp3Abs, SINGLES),
}


def main():
    for name, (kind, experts) in LEARNERS.items():
        X, y = ab.datasets.load("synthetic", n=400, seed=1)
        options = {} if kind is ab.Exp3Abs else {"ties": "random"}
        learner = kind(experts, cost=0.3, seed=2, **options)
        ab.simulate(learner, X[:190], y[:190])
        decisions = [learner.decide(x) for x in X[190:200]]
        learner.save(FOLDER / f"{name}-v{VERSION}.abstain")
        state = {"round": learner.round, "pending": learner.pending}
        decision = next(d for d in decisions if d.round in learner.pending)
        learner.learn(decision, 1)
        trace = ab.simulate(learner, X[200:], y[200:])
        learnt = learner.weights if kind is ab.Exp3Abs else learner.means
        after = {"expert": trace.expert.tolist(), "learnt": learnt.tolist()}
        text = json.dumps({**state, "decision": json.loads(decision.to_json()), **after})
        (FOLDER / f"{name}-v{VERSION}.json").write_text(text + "\n")


if __name__ == "__main__":
    main()
