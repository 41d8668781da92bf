"""What tokens cost. Money is integer nanodollars (a billion is one US dollar); floats appear only where people read."""

from dataclasses import dataclass
from typing import Self

from kesoku.messages.turn import Usage
from kesoku.render import money

_NANO = 1_000_000_000
_MILLION = 1_000_000


def nano(dollars: float) -> int:
    """US dollars as nanodollars."""
    return round(dollars * _NANO)


def dollars(cost: int) -> float:
    """Nanodollars as US dollars, exact to six places, for metrics."""
    return round(cost / _NANO, 6)


def in_words(cost: int) -> str:
    """Nanodollars for people."""
    return money(cost / _NANO)


@dataclass(frozen=True, slots=True, kw_only=True)
class Price:
    """Nanodollars for a million tokens."""

    prompt: int
    """What the model reads."""
    answer: int
    """What it writes, thoughts included."""
    cached: int | None = None
    """What it reads from the provider's cache; None: the same as other input."""
    long_from: int = 0
    """A prompt of more tokens is charged by `long`, from its first token on."""
    long: Self | None = None
    """The price of long prompts; None: there is none."""

    def cost(self, usage: Usage) -> int:
        """Nanodollars for one step, rounded up."""
        price = self._of(usage.context)
        cached = 0 if price.cached is None else min(usage.cached, usage.prompt)
        read = (usage.prompt - cached) * price.prompt + cached * (price.cached or 0)
        written = (usage.thoughts + usage.answer) * price.answer
        return -(-(read + written) // _MILLION)

    def affordable(self, room: int, *, prompt: int) -> int | None:
        """How many tokens a model may write after `prompt` uncached tokens without costing more than `room`.

        Negative or 0 when there is not even room for the prompt; None when writing costs nothing.
        """
        price = self._of(prompt)
        left = room * _MILLION - prompt * price.prompt
        if price.answer == 0:
            return None if left >= 0 else 0
        return left // price.answer

    def _of(self, prompt: int) -> "Price":
        return self.long if self.long is not None and prompt > self.long_from else self
