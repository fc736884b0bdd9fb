"""What a learner is made of: its arguments, what a kind of learner defines, which labels it expects."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeAlias

import numpy as np

from .. import costs, losses
from ..errors import InputError
from ..experts import Advice, ExpertSet
from ..tables import as_seed, own_stream
from ..typing import Array, Bools
from .changes import Change
from .choice import Choice
from .decision import Decision, sign
from .feedback import Chances, arrivals
from .shared import Shared

Seed: TypeAlias = int | np.random.SeedSequence | None


class Defined(Shared, ABC):
    """A learner before it plays."""

    supervised: bool = False
    """Whether it stands outside the protocol: learns from the labels of abstained rounds, too, and needs them all."""
    options: ClassVar[tuple[str, ...]] = ()
    """The names of the constructor's further arguments, each an attribute of plain values."""
    accept_unsigned: bool = False
    """Whether decisions without a digest, as format 1 wrote them, are learnt."""
    _changes: tuple[Change, ...] = ()
    """Of the experts, as far as open decisions are from before them; and the newest."""

    def __init__(self, experts: ExpertSet, *, cost: costs.CostLike, loss: Any = "zero_one", seed: Seed = None) -> None:
        if not isinstance(experts, ExpertSet):
            raise InputError(f"experts: expected an ExpertSet, got {type(experts).__name__}")
        super().__init__()
        self.experts = experts
        self._cost = costs.get(cost)
        self.loss = losses.get(loss)
        self.seed = as_seed(seed)
        self.round = 0
        """The number of decisions made."""
        self._random = np.random.default_rng(own_stream(self.seed))

    # What a kind of learner defines.

    @abstractmethod
    def _choose(self, advice: Advice, cost: float) -> Choice:
        """Whom to follow in round ``self.round + 1``; may draw from ``self._random``, changes nothing else."""

    @abstractmethod
    def _commit(self, decision: Decision) -> None:
        """Take note of a decision just made (``self.round`` counts it); if it abstained, learn, unless supervised."""

    @abstractmethod
    def _absorb(self, decision: Decision, losses: Array) -> None:
        """Learn from the losses (P,) of the predictors in the round of a decision."""

    @abstractmethod
    def _arrays(self) -> dict[str, Array]:
        """All that was learnt, as new arrays, in a form that depends only on what happened."""

    @abstractmethod
    def _set_arrays(self, arrays: Mapping[str, Array]) -> None:
        """Take over what `_arrays` returned, or raise a `ValueError` if it is nonsense."""

    def _from_format_1(self, arrays: dict[str, Array]) -> dict[str, Array]:
        """The arrays of a file of format 1 as `_set_arrays` takes them."""
        return arrays

    def _drop(self, decision: Decision) -> None:
        """An open decision is forgotten."""

    def _miss(self, decision: Decision) -> None:
        """The label of an open decision, which was not sure to come, did not come."""
        self._drop(decision)

    # Which labels come.

    @property
    def chances(self) -> Chances:
        """The probabilities that a label comes after predicting and after abstaining."""
        return Chances(1.0, 1.0 if self.supervised else 0.0)

    @property
    def expects(self) -> tuple[bool, bool]:
        """Whether a label may come after predicting, and after abstaining."""
        chances = self.chances
        return chances.predicted > 0.0, chances.abstained > 0.0

    def comes(self, first: int, n: int) -> Bools:
        """In simulated games: whether the labels of ``n`` rounds from ``first`` on come, after predicting and after
        abstaining (n, 2).
        """
        return arrivals(self.chances, self.seed, self.id, first, n)

    # Who it is, and what abstaining costs.

    @property
    def id(self) -> str:
        """The learner's own; files and copies have the same."""
        return self._identity.learner

    def sign(self, content: dict[str, Any]) -> str:
        """A digest of plain values by the key that signs decisions, for what somebody keeps beside a decision."""
        return sign(self._identity.key, content)

    @property
    def pending(self) -> tuple[int, ...]:
        """The rounds whose label is still to be learnt."""
        with self.lock:
            return tuple(sorted(t for t, _ in self._identity.open.values()))

    @property
    def cost(self) -> costs.Cost:
        """What abstaining costs. A number may be set to another: it holds from the coming round on."""
        return self._cost

    @cost.setter
    def cost(self, cost: costs.CostLike) -> None:
        fresh = costs.get(cost)
        if type(fresh) is not costs.Constant or type(self._cost) is not costs.Constant:
            raise InputError(
                f"cost: a number can be set to another number, got {fresh!r} for {self._cost!r}; costs that vary are "
                "given when the learner is made"
            )
        with self.lock:
            self._reprice(fresh)

    def _reprice(self, cost: costs.Constant) -> None:
        """The coming rounds have another cost."""
        self._cost = cost

    def _take_experts(self, experts: ExpertSet) -> None:
        self.experts = experts

    # Copies.

    def _options(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.options}

    def _fresh_options(self) -> dict[str, Any]:
        """The options as they were given, for a clone."""
        return self._options()

    def clone(self) -> Self:
        """A new learner with the same arguments that has learnt nothing."""
        return self._make(self.experts, self._cost, self.loss, self.seed, self._fresh_options())

    @classmethod
    def _make(cls, experts: ExpertSet, cost: costs.Cost, loss: losses.Loss, seed: Seed, options: Any) -> Self:
        """A new learner from what a learner, or its file, says of itself."""
        return cls(experts, cost=cost, loss=loss, seed=seed, **options)

    def __repr__(self) -> str:
        cost = self._cost.value if isinstance(self._cost, costs.Constant) else type(self._cost).__name__
        options = "".join(f", {name}={value!r}" for name, value in self._options().items())
        return f"{type(self).__name__}({self.experts!r}, cost={cost}, loss={self.loss!r}, seed={self.seed}{options})"

    def _keep(self) -> Any:
        """A copy of all that was learnt, for `_bring_back`."""
        return self._arrays()

    def _bring_back(self, kept: Any) -> None:
        self._set_arrays(kept)
