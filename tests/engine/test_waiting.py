"""When labels come in a simulated game."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from abstain.engine.play import Waiting


@given(st.lists(st.integers(0, 8), min_size=1, max_size=60), st.booleans(), st.integers(0, 5), st.integers(1, 20))
def test_every_round_is_learnt_once_when_it_is_due_and_no_place_is_taken_twice(lates, later, delay, size):
    n = len(lates)
    due = np.arange(n) + 1 + (np.array(lates) if later else delay)
    waiting, at_place, learnt = Waiting(delay), {}, []
    for first in range(0, n, size):
        rows = range(first, min(n, first + size))
        arrivals = waiting.arrange(len(rows), due[rows.start : rows.stop] if later else None)
        for i, t in enumerate(rows):
            place = int(arrivals.place[i])
            assert place < waiting.n_places
            assert place not in at_place
            at_place[place] = t
            for gone in arrivals.come[arrivals.first[i] : arrivals.first[i + 1]]:
                learnt.append((at_place.pop(int(gone)), t + 1))
    learnt += [(at_place.pop(int(place)), None) for place in waiting.left()]
    assert not at_place
    expected = [(t, int(due[t]) if due[t] <= n else None) for t in sorted(range(n), key=lambda t: (due[t], t))]
    assert learnt == expected
