"""With ``NUMBA_DISABLE_JIT=1`` everything runs in plain Python, to the same choices."""

import json
import os
import subprocess
import sys

import pytest

import abstain as ab

PLAY = """
import json
import sys
import warnings
import abstain as ab

warnings.simplefilter("ignore")
experts = ab.experts.hyperplanes(2, 3, 4, seed=0)
X, y = ab.datasets.load("synthetic", n=30, seed=0)
made = {
    "UCBGT": ab.UCBGT(experts, cost=0.3, seed=1),
    "UCBDSG": ab.UCBDSG(experts, cost=0.3, seed=1, slack=0.001, loss_slack=0.1),
    "FastRates": ab.FastRates(experts, cost=0.3, seed=1),
    "DoublyRobust": ab.DoublyRobust(experts, cost=0.3, seed=1, memory="adaptive", capacity=0.3),
    "UCBAbs": ab.UCBAbs(experts, cost=0.3),
    "ContExp3Abs": ab.ContExp3Abs(2, cost=0.3, epsilon=0.3, seed=1),
}
played = {name: ab.simulate(one, X, y, delay=3).expert.tolist() for name, one in made.items()}
gate = ab.Gate(["a", "b"], cost=0.2, seed=0)
for k in range(10):
    case = gate.decide({"a": ("x", 0.9), "b": ("y", 0.6)})
    if case.action == "answer":
        gate.learn(case, "x")
print(json.dumps({**played, "Gate": gate.round}))
"""


@pytest.mark.long
def test_a_small_game_in_plain_python():
    def play(**settings):
        env = {**os.environ, **settings}
        done = subprocess.run([sys.executable, "-c", PLAY], capture_output=True, text=True, env=env, timeout=600)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    plain = play(NUMBA_DISABLE_JIT="1")
    assert plain == play()
    assert ab.UCBGT.__name__ in plain
