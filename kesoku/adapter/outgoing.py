"""What the outbox hands to an adapter, and what comes back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kesoku.messages.content import Question
from kesoku.messages.record import Record


@dataclass(frozen=True, slots=True, kw_only=True)
class OutgoingFile:
    """A file to send. `path` is one of `RenderContext.files`; a file from anywhere else is not sent, but named."""

    path: Path
    name: str
    description: str = ""
    voice: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """Something to press. A choice of a question comes back as `Pressed(token, value)`."""

    label: str
    token: str
    """The id of the question."""
    value: str
    """The choice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outgoing:
    """One part: exactly one message on the platform."""

    text: str = ""
    """In the platform's dialect and within its limit."""
    files: tuple[OutgoingFile, ...] = ()
    """The core sends each one as a part of its own."""
    buttons: tuple[Button, ...] = ()
    reply_to: str | None = None
    """The platform's id of the message that this one answers."""
    silent: bool = False
    """Without a notification, where the platform knows that."""
    payload: dict[str, Any] | None = None
    """What the adapter shows beside or instead of the text, such as a card: a JSON object that the core only stores."""

    @property
    def says(self) -> bool:
        """Whether it has anything to show but files."""
        return bool(self.text or self.buttons or self.payload)


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """The platform took it. Without an id nothing is delivered."""

    platform_ids: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RenderContext:
    """What rendering may know besides the record; all of it is stored, so rendering is repeatable.

    `prompt` is the record that is answered, and `reply_to` its first platform id; `files` maps each path that the
    reply names, attachments included, to the confined path, or to None where it may not be sent (the text then says
    so).
    """

    reply_to: str | None = None
    files: Mapping[str, Path | None]
    question: Question | None = None
    prompt: Record | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A running reply, whole text so far; in this process only and lossy (N-19)."""

    turn_id: str
    step: int
    """The step in which it began; the next one may go on with it, when it was cut."""
    thought: str
    text: str
    note: str = ""
    """Why the model has not begun yet: one line for those who wait."""
    wait: float | None = None
    """Seconds until it is asked again, where that takes long enough to be told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """Time passed; a live drawing may show seconds. `now` in Unix seconds."""

    now: float


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnd:
    """A turn is over: `outcome` is processed, interrupted or error; `answer` the record that was posted, if any."""

    turn_id: str
    outcome: str
    answer: Record | None = None
