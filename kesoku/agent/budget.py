"""What a turn may use. Before each step: it is kept short, or not begun at all, where a budget could not pay for it.

Counted is what the provider said a finished step used. An attempt that failed or was cancelled may have cost something
too, but nobody says how much: it is not counted. Steps that run at the same moment do not see each other, so a day's
budget may be overdrawn by what those cost.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

from kesoku.agent.signal import LimitReached
from kesoku.agent.turn import Turn
from kesoku.messages.freeze import EMPTY
from kesoku.messages.price import Price, in_words
from kesoku.messages.turn import CompiledRequest, Usage
from kesoku.ports import ChatModel

MINIMAL = 256
"""Tokens for which a step is worth its while."""
_AMPLE = 65_536
"""Tokens that no single reply reaches: so much room needs no bound."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowance:
    """How many tokens the next step may write, and whose bound that is."""

    tokens: int
    limit: str
    """The budget, in words."""
    state: str
    """What is used of it, and what the next step would need."""

    @property
    def bound(self) -> str:
        """Why the step is kept short, for people."""
        return f"the limit of {self.limit} left room for {self.tokens:,} tokens"


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """Bounds of use; None: no bound. Money is in nanodollars, and only models with a price are bound by it."""

    prices: Mapping[str, Price] = EMPTY
    """By the configured name of the model."""
    tokens: int | None = None
    """Everything that the model reads and writes in one turn."""
    turn: int | None = None
    """The cost of one turn."""
    day: int | None = None
    """The cost of all turns of the database since midnight."""
    zone: tzinfo = UTC
    """Whose midnight."""

    def cost(self, model: str, usage: Usage) -> int | None:
        """What a step cost; None without a price."""
        price = self.prices.get(model)
        return None if price is None else price.cost(usage)

    def midnight(self, now: int) -> int:
        """When the day of `now` began, both in microseconds."""
        begun = datetime.fromtimestamp(now / 1_000_000, self.zone).replace(hour=0, minute=0, second=0, microsecond=0)
        return round(begun.replace(fold=0).timestamp()) * 1_000_000

    def allow(self, turn: Turn, model: ChatModel, request: CompiledRequest) -> Allowance | None:
        """What the next step may write after it has read `request`; None: as much as the model likes.

        Raises LimitReached when that would be too little.
        """
        if not self._binds(model.name):
            return None
        prompt = model.count(request)
        if turn.steps:  # the last step was counted by the provider, and this one reads at least as much
            prompt = max(prompt, turn.steps[-1].usage.context)
        bounds = (*self._tokens(turn, prompt), *self._money(turn, model.name, prompt))
        tightest = min(bounds, key=lambda bound: bound.tokens, default=None)
        if tightest is None or tightest.tokens >= _AMPLE:
            return None
        if tightest.tokens < MINIMAL:
            raise LimitReached(limit=f"{tightest.limit} ({tightest.state})", done=turn.done())
        return tightest

    def _binds(self, model: str) -> bool:
        money = self.turn is not None or self.day is not None
        return self.tokens is not None or (money and model in self.prices)

    def _tokens(self, turn: Turn, prompt: int) -> Iterator[Allowance]:
        if self.tokens is not None:
            used = turn.usage.total
            state = f"{used:,} used; the next step would need at least {prompt + MINIMAL:,}"
            yield Allowance(tokens=self.tokens - used - prompt, limit=f"{self.tokens:,} tokens", state=state)

    def _money(self, turn: Turn, model: str, prompt: int) -> Iterator[Allowance]:
        price = self.prices.get(model)
        if price is None:
            return
        least = in_words(price.cost(Usage(prompt=prompt, answer=MINIMAL)))
        bounds = (
            (self.turn, turn.cost or 0, "a turn", ""),
            (self.day, turn.spent_today, "a day for all conversations", " since midnight"),
        )
        for bound, spent, per, since in bounds:
            tokens = None if bound is None else price.affordable(bound - spent, prompt=prompt)
            if bound is not None and tokens is not None:
                state = f"{in_words(spent)} spent{since}; the next step would cost at least {least}"
                yield Allowance(tokens=tokens, limit=f"{in_words(bound)} {per}", state=state)
