"""A real Dask cluster of two worker processes, one of them killed on the way."""

import os
import signal
import threading

import pytest
from polars.testing import assert_frame_equal

from abstain.errors import InputError
from abstain.experiments import runner
from abstain.experiments.results import MACHINE
from abstain.experiments.runner import run

from .small import small

pytestmark = pytest.mark.long

distributed = pytest.importorskip("distributed")


@pytest.mark.filterwarnings("ignore")  # what distributed itself warns of is not ours
def test_a_killed_worker(tmp_path):
    study = small(rounds=20_000, draws=10)
    killed, ended = [], threading.Event()

    def kill_one(cluster, log):
        while not ended.wait(0.005):
            if log.exists() and log.read_bytes().count(b"\n") > 6:
                victim = next(iter(cluster.workers.values())).pid
                os.kill(victim, signal.SIGKILL)
                killed.append(victim)
                return

    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as cluster:
        killer = threading.Thread(target=kill_one, args=(cluster, tmp_path / "dask" / "jobs.jsonl"))
        killer.start()
        try:
            session = run([study], tmp_path / "dask", dask=cluster.scheduler_address)
        finally:
            ended.set()
            killer.join()
    assert killed
    assert session.failures == []
    assert session.n_run == 2 * 2 * 10 + 4
    alone = run([study], tmp_path / "alone", jobs=1)
    assert_frame_equal(session.curves.drop(MACHINE), alone.curves.drop(MACHINE), check_exact=True)


@pytest.mark.filterwarnings("ignore")
def test_a_cluster_without_workers(tmp_path, monkeypatch):
    monkeypatch.setattr(runner, "CONNECT_SECONDS", 0.5)
    options = {"n_workers": 0, "dashboard_address": None, "silence_logs": 50}
    with (
        distributed.LocalCluster(**options) as cluster,
        pytest.raises(InputError, match="expected workers at .*, got none"),
    ):
        run([small()], tmp_path, dask=cluster.scheduler_address)
