"""What a gate was made with, and what can be set."""

import subprocess
import sys

import pytest

import abstain as ab
from abstain._core import files
from abstain.errors import FileError, InputError

SAID = {"gbm": ("spam", 0.93), "rules": None}


def two(**options):
    return ab.Gate(["gbm", "rules"], **{"cost": 0.2, "seed": 0, "thresholds": 4, **options})


@pytest.mark.parametrize("labels", ["answered", "reviewed", "both", (0.05, 1.0), (1.0, 0.0)])
def test_settings_are_those_that_were_passed(labels, tmp_path):
    prices = {("spam", "ham"): 9.0, ("ham", "spam"): 2.0}
    given = two(cost=None, review_price=1.0, mistake_price=prices, classes=["ham", "spam"], labels=labels)
    given.save(tmp_path / "gate.abstain")
    for gate in (given, ab.load(tmp_path / "gate.abstain")):
        assert (gate.labels, gate.mistake_price, gate.review_price, gate.unit) == (labels, prices, 1.0, 9.0)
        assert (gate.models, gate.task, gate.classes, gate.capacity) == (
            ["gbm", "rules"], "classes", ("ham", "spam"), None,
        )  # fmt: skip
        assert (gate.seed, gate.max_stake, gate.max_error) == (0, None, 1.0)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("models", "use add_model and remove_model"),
        ("cost", "set review_price"),
        *((name, f"make another gate with {name}=") for name in ("labels", "task", "classes", "seed")),
        *((name, "cannot be set") for name in ("learner", "round", "pending", "unit", "policy", "decide")),
        *((name, "a gate has no such attribute") for name in ("treshold", "review", "price")),
    ],
)
def test_what_cannot_be_set_says_so(name, why):
    gate = two()
    with pytest.raises(
        AttributeError, match=f"^{name}: cannot be set, got 0.5; .*{why}" if why != "cannot be set" else why
    ):
        setattr(gate, name, 0.5)
    with pytest.raises(InputError):
        setattr(gate, name, 0.5)
    assert name not in vars(gate)


def test_changing_a_list_that_was_returned_changes_nothing():
    gate = two(cost=None, review_price=1.0, mistake_price={("spam", "ham"): 9.0, "other": 2.0})
    gate.models.append("llm")
    gate.mistake_price.clear()
    assert gate.models == ["gbm", "rules"]
    assert gate.mistake_price == {("spam", "ham"): 9.0, "other": 2.0}
    with pytest.raises(ValueError, match="read-only"):
        gate.thresholds[0, 0] = 0.5


@pytest.mark.parametrize("name", ["\ud800", "a\udfff"])
def test_half_of_a_surrogate_pair_is_no_name(name):
    with pytest.raises(InputError, match="UTF-8"):
        ab.Gate(["a", name], cost=0.2)
    gate = two()
    with pytest.raises(InputError, match="UTF-8"):
        gate.add_model(name)


def test_any_text_is_a_name(tmp_path):
    names = ["gbm\0", "a b", "\U0001f600", "'\"\\"]
    gate = ab.Gate(names, cost=0.2, labels="both", thresholds=4, seed=0)
    case = gate.decide(dict.fromkeys(names, ("x", 0.9)))
    gate.save(tmp_path / "gate.abstain")
    twin = ab.load(tmp_path / "gate.abstain")
    twin.learn(case.to_json(), "x")
    assert twin.models == names
    assert set(twin.policy()["model"]) == set(names)


@pytest.mark.parametrize("of_signs", [[1], [], [0.5, 0.5, 0.5], [2.0, 1.0], ["a", "b"], 3, [None, 1.0], [0.25, 1.0]])
def test_losses_of_a_file_that_cannot_be(of_signs, tmp_path):
    gate = two(task="binary")
    gate.save(tmp_path / "a")
    header, arrays = files.read(tmp_path / "a")
    header["loss"]["parameters"]["of_signs"] = of_signs
    files.write(tmp_path / "b", header, arrays)
    with pytest.raises(FileError, match="damaged"):
        ab.load(tmp_path / "b")


def test_counts_of_a_file_are_small_enough_to_go_on_with(tmp_path):
    gate = two()
    gate.decide(SAID)
    gate.save(tmp_path / "a")
    header, arrays = files.read(tmp_path / "a")
    files.write(tmp_path / "b", header, {**arrays, "gate.counts": arrays["gate.counts"] + (2**63 - 2)})
    with pytest.raises(FileError, match="damaged"):
        ab.load(tmp_path / "b")


@pytest.mark.parametrize(
    ("answers", "why"),
    [
        ([1, 2**63], "row 1: a: expected a whole number of at most 64 bits"),
        ([1, -(2**63) - 1], "row 1: a: expected a whole number of at most 64 bits"),
        (["x", "\ud800"], "row 1: a: expected a text that UTF-8 can encode"),
    ],
)
def test_answers_that_no_column_holds_are_refused_before_any_row_is_decided(answers, why):
    gate = ab.Gate(["a"], cost=0.2, thresholds=4, seed=0)
    with pytest.raises(InputError, match=why):
        gate.decide_many({"a": answers, "a_confidence": [0.9, 0.9]})
    assert (gate.round, gate.pending) == (0, ())
    assert gate._tally.counts.sum() == 0
    case = gate.decide({"a": (2**70, 0.9)})  # one by one they are fine
    assert ab.Case.from_json(case.to_json()).answers == {"a": 2**70}


WITHOUT_POLARS = """
import sys, tempfile, pathlib
sys.modules["polars"] = None
import abstain as ab
gate = ab.Gate(["a", "b"], cost=0.2, labels="both", thresholds=4, seed=0)
for _ in range(20):
    gate.learn(gate.decide({"a": ("x", 0.9)}), "x")
path = pathlib.Path(tempfile.mkdtemp()) / "gate.abstain"
gate.save(path)
print(ab.load(path))
for use in (gate.policy, lambda: gate.decide_many({"a": ["x"], "a_confidence": [0.5]})):
    try:
        use()
    except ImportError as error:
        print(error)
print(gate.round)
"""


def test_a_gate_works_without_polars():
    done = subprocess.run([sys.executable, "-c", WITHOUT_POLARS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    sentence, *errors, decided = done.stdout.splitlines()
    assert sentence.startswith("answers with a ")
    assert errors == [f"gate.{name} needs polars: pip install 'abstain[cli]'" for name in ("policy", "decide_many")]
    assert decided == "20"


def test_a_decision_walks_through_few_files():
    gate, seen = two(labels="both"), set()
    gate.learn(gate.decide(SAID), "ham")

    def note(frame, event, argument):
        if event == "call" and "abstain" in frame.f_code.co_filename:
            seen.add(frame.f_code.co_filename)

    sys.setprofile(note)
    try:
        gate.decide(SAID)
    finally:
        sys.setprofile(None)
    assert len({name for name in seen if name.endswith(".py") and "/tests/" not in name}) <= 12, sorted(seen)
