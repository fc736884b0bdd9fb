"""Combining models on logs, against what else could be done: `python -m benchmarks.logs [seeds [log ...]]`.

`python -m benchmarks.logs before COMMIT [seeds [log ...]]` compares with the gate of an earlier commit instead.

Every log has distinct rows. Policies see the labels of their own answers alone, at once or 1,500 rows late. The first
tenth is not scored: tuned, re-tuned and the taught stack know its labels, too. Logs of real models need the data sets
(`ABSTAIN_DATA`) and scikit-learn.
"""

import os
import subprocess
import sys
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import abstain as ab
from abstain.alternatives.renewed import Retuning
from abstain.alternatives.thresholds import Rounds, best, follow
from abstain.gate.combining import Combination, Lesson, as_cases
from abstain.gate.frames import Block
from abstain.gate.prices import weighed
from abstain.paper.logs.recipes import Noise, Outage, Population, Recipe, Recorded, Still, Switch, make
from abstain.typing import Floats, Ints

from .before import ROOT, checkout, environment
from .fraud import ALARM, SETTINGS, fraud_log
from .table import at_most, console, show

COST, DELAYS, FIRST_SEED, SEEDS = 0.2, (0, 1_500), 3_000, 2


class Log(NamedTuple):
    """What models said in n cases, and what was true."""

    answers: Ints
    """(n, P) the class that each model answers, from 0 on."""
    confidence: Floats
    """(n, P); NaN: no answer."""
    truth: Ints
    """(n,)"""
    n_classes: int
    settings: Mapping[str, Any] = {"cost": COST}
    """The gate's prices, and its classes, if they have names."""
    mistakes: Floats | None = None
    """(n, 2) with two classes: the price of a mistake, by the class that was said; None: 1."""

    def gate(self, **options: Any) -> ab.Gate:
        """A gate with the log's prices."""
        two: dict[str, Any] = {"task": "binary"} if self.n_classes == 2 else {}
        return ab.Gate([f"model {m}" for m in range(self.answers.shape[1])], **{**two, **self.settings, **options})

    def block(self, unit: float) -> Block:
        """The log as a gate plays it, if a loss of 1 is ``unit``."""
        n, missing = len(self.truth), np.isnan(self.confidence)
        losses = np.where(missing, 0.0, self.answers != self.truth[:, np.newaxis])
        risk = kinds = None
        if self.mistakes is not None:
            risk = np.take_along_axis(self.mistakes, self.answers, axis=1) / unit
            losses, kinds = losses * risk, np.zeros((n, 2, 3))
            kinds[:, 0, 1:], kinds[:, 1, ::2] = (self.mistakes[:, k, np.newaxis] / unit for k in (0, 1))
        said = np.where(self.answers == 1, 1.0, -1.0) if self.n_classes == 2 else None
        numbers = np.where(missing, -1, self.answers)
        return Block(self.confidence, losses, said, risk, answer=numbers, truth=self.truth, kinds=kinds)

    def rounds(self, gate: ab.Gate) -> Rounds:
        """The log as the alternatives take it: confidences, in which stakes count, losses and costs."""
        block = self.block(gate.unit)
        sure = self.confidence if block.risk is None else weighed(self.confidence, block.risk)
        cost = np.full(len(self.truth), gate.review_price / gate.unit)
        return Rounds(np.where(np.isnan(sure), -np.inf, sure), block.losses, cost)


# Logs of real models.


def of_recipe(name: str, source: str, drift: Still, fit: int, rounds: int, blur: float = 0.0) -> Callable[[int], Log]:
    """Three models fitted on a set; see `abstain.paper.logs`."""

    def made(seed: int) -> Log:
        log = make(Recipe(name, source, COST, drift, fit, rounds, blur), rounds, seed, os.environ.get("ABSTAIN_DATA"))
        classes, codes = np.unique([*log.y.tolist(), *log.answers.predictions.ravel().tolist()], return_inverse=True)
        answers = codes[len(log.y) :].reshape(log.answers.predictions.shape)
        return Log(answers, log.answers.confidence, codes[: len(log.y)], len(classes))

    return made


def boosting_alone(seed: int) -> Log:
    """One model."""
    log = of_recipe("one model", "covtype", Still(), 10_000, 40_000)(seed)
    return log._replace(answers=log.answers[:, 1:2], confidence=log.confidence[:, 1:2])


def five_models(seed: int) -> Log:
    """Five models of different kinds, each fitted on other rows."""
    from sklearn import ensemble, linear_model, naive_bayes, neighbors, pipeline, preprocessing, tree

    rng = np.random.default_rng([seed, 5])
    X, y = ab.datasets.load("ijcnn", scale=None, data=os.environ.get("ABSTAIN_DATA"))
    rows, truth = rng.permutation(len(X)), (y > 0).astype(np.int64)
    kinds: list[Any] = [
        linear_model.LogisticRegression(max_iter=2_000),
        ensemble.HistGradientBoostingClassifier(max_iter=40, random_state=seed),
        naive_bayes.GaussianNB(),
        tree.DecisionTreeClassifier(max_depth=6, random_state=seed),
        neighbors.KNeighborsClassifier(15),
    ]
    stream, chances = rows[10_000:40_000], []
    for k, kind in enumerate(kinds):
        fit = rows[2_000 * k : 2_000 * (k + 1)]
        model = pipeline.make_pipeline(preprocessing.StandardScaler(), kind).fit(X[fit], truth[fit])
        chances.append(model.predict_proba(X[stream])[:, 1])
    second = np.column_stack(chances)
    return Log((second >= 0.5).astype(np.int64), np.maximum(second, 1.0 - second), truth[stream], 2)


# Made logs.


def tickets(seed: int, rows: int = 30_000, missing: float = 0.0, told: float = 0.7) -> Log:
    """Tickets of eight kinds: three models err independently of each other, and say roughly how sure they may be.

    Args:
        seed: The seed.
        rows: The number of tickets.
        missing: The share of answers that are missing.
        told: How much of what makes an answer right is in the confidence.
    """
    rng = np.random.default_rng([seed, 8])
    truth, skill = rng.integers(0, 8, rows), np.array([0.85, 0.8, 0.75])
    ease = rng.normal(0.0, 1.5, (rows, 3))
    right = rng.random((rows, 3)) < 1.0 / (1.0 + np.exp(-(np.log(skill / (1.0 - skill)) + ease)))
    wrong = (truth[:, np.newaxis] + rng.integers(1, 8, (rows, 3))) % 8
    sure = 1.0 / (1.0 + np.exp(-(1.5 * np.log(skill / (1.0 - skill)) + told * ease)))  # too sure of itself
    sure[rng.random((rows, 3)) < missing] = np.nan
    return Log(np.where(right, truth[:, np.newaxis], wrong), sure, truth, 8)


def waves(seed: int) -> Log:
    """Breiman's waveforms, three classes of 21 features each, seen by three models through other features."""
    from sklearn import linear_model, naive_bayes, tree

    rng, at = np.random.default_rng([seed, 21]), np.arange(1, 22)
    n = 33_000
    shapes = np.maximum(6 - np.abs(at - np.array([[7], [15], [11]])), 0)
    truth, mix = rng.integers(0, 3, n), rng.random((n, 1))
    X = mix * shapes[truth] + (1.0 - mix) * shapes[(truth + 1) % 3] + rng.standard_normal((n, 21))
    kinds: list[Any] = [
        linear_model.LogisticRegression(max_iter=2_000),
        naive_bayes.GaussianNB(),
        tree.DecisionTreeClassifier(max_depth=7, random_state=seed),
    ]
    columns, chances = (slice(0, 12), slice(9, 21), slice(0, 21)), []
    for kind, seen in zip(kinds, columns, strict=True):
        chances.append(kind.fit(X[:3_000, seen], truth[:3_000]).predict_proba(X[3_000:, seen]))
    answers = np.column_stack([one.argmax(axis=1) for one in chances])
    return Log(answers, np.column_stack([one.max(axis=1) for one in chances]), truth[3_000:], 3)


def fraud(seed: int, rows: int = 40_000) -> Log:
    """Fraud with amounts at stake; see `benchmarks.fraud`."""
    log = fraud_log(rows, [seed, 13])
    second = np.nan_to_num(log.probability)
    sure = np.where(np.isnan(log.probability), np.nan, np.maximum(log.probability, 1.0 - log.probability))
    mistakes = np.column_stack([log.amount, np.full(rows, ALARM)])
    return Log((second >= 0.5).astype(np.int64), sure, log.fraud.astype(np.int64), 2, SETTINGS, mistakes)


CHOSEN_ON: dict[str, Callable[[int], Log]] = {
    "cod-rna, outage": of_recipe("cod-rna, outage", "cod-rna", Outage(), 10_000, 40_000),
    "cifar, switch": of_recipe("cifar, switch", "cifar", Switch(), 4_000, 8_000),
    "skin, noise": of_recipe("skin, noise", "skin", Noise(0.8), 8_000, 40_000),
    "covtype": of_recipe("covtype", "covtype", Still(), 10_000, 40_000),
    "digits": of_recipe("digits", "digits", Still(), 600, 20_000, 0.7),
    "eye, recorded": of_recipe("eye, recorded", "eye", Recorded(), 3_000, 11_000),
    "guide": of_recipe("guide", "guide", Still(), 1_000, 6_000),
}
"""Logs that constants may be chosen on (digits repeats rows, with fresh noise on each) ..."""
JUDGED: dict[str, Callable[[int], Log]] = {
    "cod-rna": of_recipe("cod-rna", "cod-rna", Still(), 10_000, 40_000),
    "covtype, population": of_recipe("covtype, population", "covtype", Population(0), 10_000, 40_000),
    "eye": of_recipe("eye", "eye", Still(), 3_000, 11_000),
    "higgs": of_recipe("higgs", "higgs", Still(), 10_000, 40_000),
    "higgs, switch": of_recipe("higgs, switch", "higgs", Switch(), 10_000, 40_000),
    "ijcnn": of_recipe("ijcnn", "ijcnn", Still(), 8_000, 40_000),
    "ijcnn, outage": of_recipe("ijcnn, outage", "ijcnn", Outage(), 8_000, 40_000),
    "phishing": of_recipe("phishing", "phishing", Still(), 1_000, 10_000),
    "skin": of_recipe("skin", "skin", Still(), 2_000, 40_000),
    "waves": waves,
    "tickets": tickets,
    "tickets, missing": lambda seed: tickets(seed, missing=0.15),
    "tickets, unsure": lambda seed: tickets(seed, told=0.0),
    "fraud, stakes": fraud,
    "one model": boosting_alone,
    "five models": five_models,
}
"""... and those on which it is judged. To add a log, write a function of a seed that returns it."""
LOGS = {**CHOSEN_ON, **JUDGED}


# Policies: the loss of each case (n,).


def by_gate(log: Log, delay: int, seed: int, **options: Any) -> Floats:
    """What the gate loses, with these options."""
    gate = log.gate(seed=seed, **options)
    with gate._playing(delay) as play:
        return play(log.block(gate.unit)).loss


def by_stack(log: Log, delay: int, first: int) -> Floats:
    """What a strong engineer would build: a stack with Chow's rule, which learns from the labels of its own answers.

    It knows the labels of the ``first`` cases, too.
    """
    n, models = log.answers.shape
    gate, two = log.gate(), log.n_classes == 2
    cost = gate.review_price / gate.unit
    one, cases = Combination(models, two), as_cases(log.block(gate.unit), two, gate._prices)
    loss = np.full(n, cost)
    waiting: deque[tuple[int, Lesson]] = deque()
    for i in range(n):
        while waiting and waiting[0][0] + delay < i:
            one.learn(waiting.popleft()[1])
        code, sure_of = cases.code[i].tolist(), np.nan_to_num(cases.confidence[i]).tolist()
        answer, sure, said = one.answer(code, sure_of, cases.kinds[i if len(cases.kinds) > 1 else 0])
        answers = answer >= 0 and (1.0 - sure) * cases.risk[i, answer] < cost
        if answers:
            loss[i] = cases.full[i, answer]
        if answer >= 0 and (i < first or answers):
            waiting.append((i, Lesson(code, sure_of, int(cases.truth[i]), 1.0, said)))
    return loss


GATE, COMBINED, TUNED, RETUNED, HINDSIGHT, STACK = "gate", "combined", "tuned", "re-tuned", "hindsight", "stack"
TAUGHT, STARTED = "stack, taught", "combined, started"


def losses_of(log: Log, delay: int, seed: int) -> dict[str, float]:
    """The mean loss of each policy after the first tenth."""
    n = len(log.truth)
    first, rounds = n // 10, log.rounds(log.gate())
    scored = slice(first, None)
    own, (model, threshold, _) = Retuning(rounds.cut(slice(first))), best(rounds.cut(scored))
    played = {
        GATE: by_gate(log, delay, seed)[scored],
        COMBINED: by_gate(log, delay, seed, combine=True)[scored],
        TUNED: follow(rounds, own.model, own.threshold).loss[scored],
        RETUNED: own.play(rounds, np.arange(n) + delay + 1).loss[scored],
        HINDSIGHT: follow(rounds, model, threshold).loss[scored],
        STACK: by_stack(log, delay, 0)[scored],
        TAUGHT: by_stack(log, delay, first)[scored],
    }
    return {name: float(loss.mean()) for name, loss in played.items()}


MADE = ("tickets", "fraud")
"""Logs made for the purpose: a mean that they carry says little about others."""
OTHERS = (COMBINED, TUNED, RETUNED, HINDSIGHT, STACK, TAUGHT)


def judge(found: dict[tuple[str, int], dict[str, float]], names: Iterable[str]) -> None:
    """Print what was to be reached on these logs, and what was."""
    cells = [values for (name, _), values in found.items() if name in names]
    if not cells:
        return
    percent = [[100.0 * (values[kind] / values[GATE] - 1.0) for kind in (COMBINED, STACK, TAUGHT)] for values in cells]
    change, *stacks = np.array(percent).T
    above = sum(values[COMBINED] >= values[HINDSIGHT] for values in cells) / len(cells)
    others = np.array([not name.startswith(MADE) for name, _ in found if name in names])
    rows = [
        ["% above the gate without combining, mean", "-6", f"{change.mean():+.1f}", at_most(change.mean(), -6.0)],
        ["worst of all", "+1", f"{change.max():+.1f}", at_most(float(change.max()), 1.0)],
        ["share of logs not below hindsight", "0.5", f"{above:.2f}", at_most(above, 0.5)],
    ]
    for kind, stack in zip((STACK, TAUGHT), stacks, strict=True):
        for what, of in (("mean", np.mean), ("worst", np.max)):
            more = float(of(change) - of(stack))
            rows.append([f"{what}, points above that of the {kind}", "0", f"{more:+.1f}", at_most(more, 0.0)])
    if others.any():
        real = float(change[others].mean())
        rows.insert(1, ["the same, without made logs", "-6", f"{real:+.1f}", at_most(real, -6.0)])
    show(f"What was to be reached on {len(cells)} logs", ["", "at most", "reached", ""], rows)


def tuned_start(log: Log) -> tuple[str, float]:
    """The model and the threshold tuned on the first tenth, as a gate starts with them."""
    own = Retuning(log.rounds(log.gate()).cut(slice(len(log.truth) // 10)))
    return f"model {own.model}", float(np.clip(own.threshold, 0.0, 1.0))


def by_gate_before(log: Log, delay: int, seed: int, tree: Path, folder: Path) -> float:
    """The mean loss, after the first tenth, of the gate of another tree; ``folder`` has room for files."""
    path = folder / "log.npz"
    np.savez(path, answers=log.answers, confidence=log.confidence, truth=log.truth, two=log.n_classes == 2)
    words = [sys.executable, "-m", "benchmarks.single", str(path), str(delay), str(seed), str(COST)]
    run = subprocess.run(words, cwd=ROOT, env=environment(tree, folder / "cache"), capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(f"the gate of the earlier commit failed: {run.stderr}")
    return float(run.stdout)


def play_before(commit: str, seeds: int, names: list[str]) -> None:
    """Print what the gate costs, per cent of what that of an earlier commit costs on the same logs."""
    found: dict[str, list[float]] = {}
    names = [name for name in names if not name.startswith("fraud")]  # whose prices gates could not have
    with checkout(commit) as tree, tempfile.TemporaryDirectory() as folder:
        for name in names:
            logs = [LOGS[name](seed) for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
            found[name] = []
            for delay in DELAYS:
                lost = np.zeros(4)
                for seed, log in enumerate(logs):
                    gates: list[dict[str, Any]] = [{}, {"combine": True}, {"combine": True, "start": tuned_start(log)}]
                    own = [by_gate(log, delay, seed, **options)[len(log.truth) // 10 :].mean() for options in gates]
                    lost += [*own, by_gate_before(log, delay, seed, tree, Path(folder))]
                found[name] += (100.0 * (lost[:3] / lost[3] - 1.0)).tolist()
            console.print(name, highlight=False)
    rows = [[name, *(f"{one:+.1f}" for one in values)] for name, values in found.items()]
    judged = [name for name in found if name in JUDGED]
    others = [name for name in judged if not name.startswith(MADE)]
    for what, of, some in (
        ("mean", np.mean, judged),
        ("worst", np.max, judged),
        ("mean without made logs", np.mean, others),
    ):
        if some:
            both = [of([values for name in some for values in found[name][kind::3]]) for kind in (0, 1, 2)]
            rows.append([f"{what}, at once and late, on the judged logs", *(f"{one:+.1f}" for one in both), "", "", ""])
    title = f"Loss of the gate, per cent above that of {commit}; labels {' or '.join(map(str, DELAYS))} rows late"
    heads = [GATE, COMBINED, STARTED]
    show(title, ["log", *heads, *(f"{head}, late" for head in heads)], rows)


def main(words: list[str]) -> None:
    if words[:1] == ["before"]:
        if len(words) < 2:
            sys.exit("expected a commit: python -m benchmarks.logs before COMMIT [seeds [log ...]]")
        return play_before(words[1], int(words[2]) if len(words) > 2 else SEEDS, words[3:] or list(LOGS))
    seeds = int(words[0]) if words else SEEDS
    names = words[1:] or list(LOGS)
    found: dict[tuple[str, int], dict[str, float]] = {}
    for name in names:
        logs = [LOGS[name](seed) for seed in range(FIRST_SEED, FIRST_SEED + seeds)]
        for delay in DELAYS:
            each = [losses_of(log, delay, seed) for seed, log in enumerate(logs)]
            found[name, delay] = {kind: float(np.mean([one[kind] for one in each])) for kind in each[0]}
        console.print(name, highlight=False)
    for delay in DELAYS:
        rows = []
        for name in names:
            values = found[name, delay]
            above = [f"{100.0 * (values[kind] / values[GATE] - 1.0):+.1f}" for kind in OTHERS]
            rows.append([name, f"{values[GATE]:.4f}", *above])
        title = f"Loss of the gate without combining, and per cent of it; labels {delay:,} rows late"
        show(title, ["log", GATE, *OTHERS], rows)
    judge(found, JUDGED)


if __name__ == "__main__":
    main(sys.argv[1:])
