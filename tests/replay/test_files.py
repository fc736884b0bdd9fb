"""What a replay writes."""

import json

import abstain as ab
from abstain.replay.run import FILES, replay

from .logs import NAMES, options, small_log


def test_files(tmp_path):
    small_log(400).write_csv(tmp_path / "log.csv")
    replay(tmp_path / "log.csv", options(review_price=1.0, mistake_price=4.0, cost=None, unit="EUR"), tmp_path / "out")
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == sorted(FILES)
    found = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert list(found) == [
        "rows", "scored_rows", "without_label", "cost", "unit", "price", "baseline", "about", "runs",
        "effective_labels", "verdict", "policies", "rivals", "saved", "stretch",
    ]  # fmt: skip
    assert (found["rows"], found["scored_rows"], found["cost"], found["unit"]) == (400, 360, 0.25, "EUR")
    fields = ["kind", "name", "loss", "reviewed", "mistakes", "difference", "low", "high", "lowest", "highest",
              "share", "share_low", "share_high", "most_mistakes"]  # fmt: skip
    assert all(list(policy) == fields for policy in found["policies"])
    assert all(policy["lowest"] == policy["loss"] == policy["highest"] for policy in found["policies"])
    assert [rival["kind"] for rival in found["rivals"]] == ["retuned-own", "stack"]
    kinds = [policy["kind"] for policy in found["policies"]]
    assert (tmp_path / "out" / "report.html").read_text(encoding="utf-8").startswith("<!")
    assert kinds == ["always", "always", "gate", "tuned", "retuned-own", "stack", "retuned-all", "hindsight", "review"]
    assert ab.load(tmp_path / "out" / "gate.abstain").models == list(NAMES)


def test_a_learner_from_a_module_in_the_current_folder(tmp_path, monkeypatch):
    small_log(300).write_csv(tmp_path / "log.csv")
    (tmp_path / "learners_of_mine.py").write_text("import abstain as ab\n\nclass Mine(ab.Exp3Abs):\n    pass\n")
    monkeypatch.chdir(tmp_path)
    replay("log.csv", options(learner="learners_of_mine:Mine"), "mine")
    replay("log.csv", options(learner="exp3abs"), "theirs")
    learner = ab.load("mine/gate.abstain").learner
    assert (type(learner).__name__, type(learner).__module__) == ("Mine", "learners_of_mine")
    assert (tmp_path / "mine" / "replay.json").read_bytes() == (tmp_path / "theirs" / "replay.json").read_bytes()
    assert "--learner learners_of_mine:Mine" in options(learner="learners_of_mine:Mine").command("log.csv", "mine")
