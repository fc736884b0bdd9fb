"""When a learner that plays live learns its rounds without a label, written out."""

from collections.abc import Callable


class Backlog:
    """The rounds of a game that are not learnt yet.

    A round without a label is learnt once a later one was learnt after its label had come. Or it is learnt if it is as
    old as the newest one was whose label came, and none before it is open, except such as are older than that one.
    """

    def __init__(self) -> None:
        self.open: set[int] = set()
        self.unlabelled: list[tuple[int, Callable[[], None]]] = []
        self.newest = self.lag = self.now = 0

    def decided(self, t: int, learn: Callable[[], None] | None) -> None:
        """Round t was decided; ``learn`` learns it if it has no label, and is None if one may come."""
        self.now = t
        if learn is None:
            self.open.add(t)
        else:
            self.unlabelled.append((t, learn))
        self.release()

    def learnt(self, t: int) -> None:
        """Round t was learnt: its label had come, or had turned out not to come."""
        self.open.remove(t)
        if t > self.newest:
            self.newest, self.lag = t, self.now - t
        self.release()

    def release(self) -> None:
        while self.unlabelled:
            t, learn = self.unlabelled[0]
            overtaken = t < self.newest
            in_turn = not any(self.newest < s < t for s in self.open) and self.now - t >= self.lag
            if not overtaken and not in_turn:
                return
            self.unlabelled.pop(0)
            learn()
