"""Interactions: what somebody pressed, chose or typed as a command, and what the bot made of it."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from kesoku.testing.discord.world.entity import Channel, Json, Message, User

COMMAND, COMPONENT, AUTOCOMPLETE = 2, 3, 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """One thing that the bot did about an interaction."""

    kind: Literal["message", "defer", "edit", "update", "choices", "followup", "delete", "modal"]
    """A first message; a promise of one; an edit of it; the message of the button changed (or only acknowledged, with
    kind defer); choices; one more message; the first message deleted; a form."""
    text: str = ""
    ephemeral: bool = False
    components: tuple[Json, ...] = ()
    choices: tuple[Json, ...] = ()
    """Of an autocomplete."""
    message: Message | None = None


@dataclass(eq=False, slots=True, kw_only=True)
class Interaction:
    """Somebody did something that the bot is to answer."""

    id: int
    token: str
    type: int
    channel: Channel
    by: User
    data: Json
    message: Message | None = None
    """The one with the control."""
    begun: float = 0.0
    """When, in seconds of the server's clock."""
    answers: list[Answer] = field(default_factory=list)
    """What the bot did, in order."""
    original: Message | None = None
    """The first answer, once it is a message."""
    replied: int | None = None
    """The type of the first answer."""
    hidden: bool = False
    """Whether a promised message is for one person only."""
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    def answer(self, answer: Answer) -> None:
        """Note what the bot did."""
        self.answers.append(answer)
        self._changed.set()

    @property
    def text(self) -> str:
        """What the newest answer with a text says."""
        return next((each.text for each in reversed(self.answers) if each.text), "")

    async def answered(self, n: int = 1, *, seconds: float = 5.0) -> Sequence[Answer]:
        """The first `n` answers, once they are there. Raises AssertionError if they are not within `seconds`."""
        try:
            async with asyncio.timeout(seconds):
                while len(self.answers) < n:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            raise AssertionError(f"not within {seconds:g} s: {n} answers, there are {self.answers}") from None
        return self.answers[:n]
