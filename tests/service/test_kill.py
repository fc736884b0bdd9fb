"""kill -9 at random moments: every acknowledged decision and label is there, none twice, and the gate is as calm."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork, to start services quickly")
@pytest.mark.parametrize("kills", [5, pytest.param(200, marks=pytest.mark.long)])
def test_nothing_acknowledged_is_lost_or_done_twice(tmp_path, kills):
    command = [sys.executable, "-W", "error", "-m", "tests.service.killing", str(tmp_path), str(kills), "7"]
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["kills"] == kills
    assert found["acknowledged"] > 3 * kills
    assert found["events"] >= found["acknowledged"] * 0.5
