"""Kill a service at random moments, again and again, and check that nothing acknowledged is lost: a script.

Usage: python -m tests.service.killing FOLDER KILLS SEED. It prints what it checked, as JSON. A process that has
compiled everything forks the services, so that a new one starts within a fraction of a second.
"""

import asyncio
import json
import os
import random
import select
import signal
import sys
import time
from pathlib import Path

from abstain.service.bodies import GateBody
from abstain.service.hosted import make_gate
from abstain.service.service import Service, _compile
from abstain.service.store import SqlStore

from .running import case, gate, label, url_of

CLIENTS = 8


def body_of(name):
    rng = random.Random(name)
    return case(name, a=(rng.choice("xy"), rng.random()), b=(rng.choice("xy"), rng.random()))


def truth_of(name):
    return random.Random(f"truth of {name}").choice("xy")


async def serve(folder, turn, unlabelled, out):
    """Decide and label as fast as possible; write a line to ``out`` for every call that was acknowledged."""
    service = Service(SqlStore(url_of(folder)), snapshot_every=50)
    await service.start()
    await service.put_gate("g", gate(review_price=1.0, mistake_price=5.0, cost=None))
    rng = random.Random(turn)

    def acknowledge(*what):
        os.write(out, (json.dumps(what) + "\n").encode())  # short lines are written in one piece

    async def client(k):
        mine = [name for i, name in enumerate(unlabelled) if i % CLIENTS == k]
        i = 0
        while True:
            name = f"{turn}-{k}-{i}"
            i += 1
            reply = await service.decide("g", body_of(name))
            acknowledge("decided", name, reply.model_dump())
            mine.append(name)
            for _ in range(rng.choice([0, 1, 1, 2])):
                if mine:
                    known = mine.pop(rng.randrange(len(mine)))
                    status = (await service.label("g", known, label(truth_of(known)))).status
                    acknowledge("labelled", known, status)
            if rng.random() < 0.02:
                price = rng.choice([1.0, 2.0])
                reply, _ = await service.put_gate("g", GateBody(review_price=price))
                acknowledge("priced", reply.seq, price)

    await asyncio.gather(*(client(k) for k in range(CLIENTS)))


def kill_once(folder, turn, rng, unlabelled):
    """Start a service, kill it at a random moment, and return what it acknowledged."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(read)
        try:
            asyncio.run(serve(folder, turn, unlabelled, write))
        except BaseException as error:
            os.write(write, (json.dumps(["failed", repr(error), ""]) + "\n").encode())
        os._exit(1)
    os.close(write)
    lines, deadline = b"", time.monotonic() + (rng.random() * 0.6 if turn % 2 else 60.0)
    enough = rng.randrange(80)
    while time.monotonic() < deadline and (turn % 2 or lines.count(b"\n") <= enough):
        ready, _, _ = select.select([read], [], [], max(0.0, min(0.05, deadline - time.monotonic())))
        if ready:
            more = os.read(read, 1 << 16)
            if not more:
                break
            lines += more
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    while more := os.read(read, 1 << 16):
        lines += more
    os.close(read)
    return [json.loads(line) for line in lines.splitlines()]


def check(folder, acknowledged):
    """Compare what was acknowledged with the store, and the gate with one that nobody disturbed."""

    async def look():
        service = Service(SqlStore(url_of(folder)))
        await service.start()
        reply = await service.gate("g")
        assert reply.state == "running", reply.state
        assert reply.mismatches == 0
        events, cases = service.store.events("g", limit=10**6), service.store.decided("g", None, None)
        learnt = service._slots["g"].hosted.gate
        state = learnt.learner.weights.copy(), learnt.round, len(learnt.pending)
        await service.stop()
        return events, {one.case: one for one in cases}, state

    events, cases, (weights, rounds, n_open) = asyncio.run(look())
    assert [one.seq for one in events] == list(range(1, len(events) + 1))
    for kind in ("decided", "learnt"):
        names = [one.case for one in events if one.kind == kind]
        assert len(set(names)) == len(names), f"something was {kind} twice"
    for what, name, value in acknowledged:
        if what == "decided":
            assert {**json.loads(cases[name].reply), "replayed": value["replayed"]} == value, name
        elif what == "labelled":
            assert value in ("learnt", "duplicate"), (name, value)
            assert json.loads(cases[name].label) == truth_of(name)
        elif what == "priced":
            assert any(one.kind == "settings" and one.seq <= name for one in events) or value == 1.0
        else:
            raise AssertionError(name)
    calm, open_ones = make_gate(json.loads(events[0].body)["settings"]), {}
    for event in events[1:]:
        body = json.loads(event.body)
        if event.kind == "decided":
            answers = {name: tuple(one) for name, one in body["answers"].items()}
            made = open_ones[event.case] = calm.decide(answers)
            assert {name: getattr(made, name) for name in body["outcome"]} == body["outcome"], event.seq
        elif event.kind == "learnt":
            calm.learn(open_ones.pop(event.case), body["label"])
        else:
            assert event.kind == "settings", event.kind
            calm.review_price = body["settings"]["review_price"]
    assert (calm.learner.weights == weights).all()
    assert (calm.round, len(calm.pending)) == (rounds, n_open)
    return events


def main(folder, kills, seed):
    """Kill, then check."""
    rng, acknowledged, unlabelled = random.Random(seed), [], {}
    _compile()
    warm = folder / "warm"
    warm.mkdir()
    SqlStore(url_of(warm)).close()
    for turn in range(kills):
        got = kill_once(folder, turn, rng, list(unlabelled))
        acknowledged += got
        unlabelled |= {name: None for what, name, _ in got if what == "decided"}
        for what, name, _ in got:
            if what == "labelled":
                unlabelled.pop(name, None)
    events = check(folder, acknowledged)
    kinds = [one.kind for one in events]
    counts = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
    print(json.dumps({"kills": kills, "acknowledged": len(acknowledged), "events": len(events), **counts}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
