"""The adapter contract: protocols, nothing to inherit.

An adapter translates twice: platform events into `Event` values for the inbox, and records into `Outgoing` parts for
its platform. It never sees the store, a status or the agent. The core's outbox subscribes, asks the visibility column,
plans, sends part by part, keeps the ledger, retries and moves the status.
"""

from collections.abc import AsyncIterable, AsyncIterator, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime
from typing import Any, Protocol, runtime_checkable

from kesoku.adapter.command import Choice, CommandSpec
from kesoku.adapter.event import Command, Event, Pressed, Principal
from kesoku.adapter.outgoing import Draft, Outgoing, Receipt, RenderContext, Tick, TurnEnd
from kesoku.messages.content import Attachment, Question
from kesoku.messages.record import Address, Record


class State(Protocol):
    """Small durable values of one adapter: cursors, tokens of people's contexts. Keys in `kesoku:` are the core's."""

    async def get(self, key: str) -> Any:
        """The JSON value, or None."""
        ...

    async def set(self, key: str, value: Any) -> None:
        """Store a JSON value; None deletes."""
        ...


class Inbox(Protocol):
    """What the core gives to a running adapter."""

    state: State

    async def accept(
        self, events: Sequence[Event], *, cursor: tuple[str, Any] | None = None, catch_up: bool = False
    ) -> list[Record]:
        """Hand in what happened. Atomic and idempotent; returns after the commit; applies the access gate.

        `cursor` = (state key, value), stored in the same commit. `catch_up` events are old: they queue in order and
        interrupt nothing.
        """
        ...

    async def stage(
        self, address: Address, name: str, stream: AsyncIterable[bytes], *, mime_type: str, limit: int | None = None
    ) -> Attachment:
        """Save a file before its message is accepted (K-134); for people who are `allowed` only.

        Beyond `limits.file_bytes` of the config, or `limit` if that is less, the attachment says `skipped`.
        """
        ...

    def header(self, principal: Principal, at: datetime, *, mention: bool = False) -> str:
        """The line that says who wrote a prompt and when, newline included, to stand before its text (K-115). Pure.

        `at` is an aware datetime, shown in the `timezone` of the config. `mention` adds the person's id, as `<@id>`.
        """
        ...

    async def allowed(self, principal: Principal, address: Address, action: str = "talk") -> bool:
        """Whether this person may `talk`, or is an admin (`approve`)."""
        ...

    async def knows(self, key: str) -> bool:
        """Whether a message with this key was taken in: `accept` would change nothing. Ask it before what costs
        something, such as a thread or a download."""
        ...

    async def waiting(self) -> list[Record]:
        """Prompts to this bot that nobody has begun to answer, those of each channel in order. Ask for them when the
        platform may not have told of edits and deletions."""
        ...

    async def interrupt(self, address: Address, *, by: str, queued: bool = False) -> bool:
        """Stop the running turn of a channel, and with `queued` what waits behind it; False if there was nothing."""
        ...

    def follow(
        self, address: Address, *, after: int | None = None
    ) -> AbstractAsyncContextManager[AsyncIterator[Record]]:
        """Records of a channel as they are stored or change, from the moment on that the context is entered."""
        ...

    def commands(self) -> Sequence[CommandSpec]:
        """What people can ask for, for platforms that list commands; tell the platform when the list changed."""
        ...

    async def complete(self, event: Command, argument: str) -> Sequence[Choice]:
        """What fits behind what was typed so far in one argument of a command, at most 25; nothing is stored.

        Whoever may not give the command is offered nothing.
        """
        ...

    def report(self, healthy: bool, text: str = "") -> None:
        """Say how the connection stands; the log tells each change.

        Say True whenever it works again: what was held because of a lost login is sent then.
        """
        ...


class Adapter(Protocol):
    """What every adapter has. `send` may be called before `run` has connected: wait for it, or raise RetryLater."""

    async def run(self, inbox: Inbox) -> None:
        """Connect and feed the inbox until cancelled. Resumable: called again after it raised.

        Returning ends this adapter on purpose (a terminal was closed).
        """
        ...

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        """Turn a record into parts. Pure: no clock, no network, no state; a long text is rendered in a thread."""
        ...

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """Send one part. `key` is the same for every attempt at this part.

        Raises DeliveryError with the kind that says what the core should do. Any other exception counts as ambiguous.
        """
        ...


@runtime_checkable
class Edits(Protocol):
    """For capability `edits`."""

    async def edit(self, address: Address, platform_id: str, outgoing: Outgoing) -> None:
        """Replace a message that was sent."""
        ...


@runtime_checkable
class Deletes(Protocol):
    """For capability `deletes`."""

    async def delete(self, address: Address, platform_id: str) -> None:
        """Remove a message that was sent; one that is gone already is fine."""
        ...


@runtime_checkable
class Typing(Protocol):
    """For capability `typing`."""

    async def typing(self, address: Address, on: bool) -> None:
        """Show that the bot works, or stop showing it.

        The core calls it again every few seconds while a turn runs, and stops before the answer is sent.
        """
        ...


@runtime_checkable
class ClosesQuestions(Protocol):
    """For platforms that draw questions with buttons; with capability `edits`."""

    def closed(self, shown: Outgoing, question: Question, answer: str | None, by: str) -> Outgoing | None:
        """What a message with a question shows once nobody can answer it any more; None leaves it as it is. Pure.

        `shown` is the part with the buttons. `answer` is the choice, None if there was none; `by` is who answered, as
        `user:ID`, or `deadline`, or empty because the turn is over.
        """
        ...


@runtime_checkable
class Finds(Protocol):
    """For capability `find`."""

    async def find(self, address: Address, outgoing: Outgoing, key: str, since: float) -> Sequence[Receipt]:
        """Our messages on the platform since then (Unix seconds) that could be this part, the oldest first.

        Where the platform stores the key there is one or none; elsewhere those that look like it. The core takes the
        first that is nothing else of ours.
        """
        ...


@runtime_checkable
class Plans(Protocol):
    """For platforms that bound how much may be sent."""

    def plan(self, address: Address, parts: tuple[Outgoing, ...], state: Any) -> tuple[Outgoing, ...] | None:
        """Fit the parts to what is left of a quota; None holds the message until the person's next one.

        Pure. `state` is what the adapter stored as `plan:<channel_id>` in its durable state.
        """
        ...


@runtime_checkable
class Answers(Protocol):
    """For platforms that want an answer to a press or a command within their time."""

    async def answer(self, event: Pressed | Command, text: str) -> None:
        """Answer the interaction itself, so that only this person sees it; `text` is Markdown of any length.

        If this raises, the core posts the text as a notice in the channel.
        """
        ...


@runtime_checkable
class ShowsDrafts(Protocol):
    """For capability `drafts`."""

    async def draft(self, address: Address, draft: Draft) -> None:
        """Show the running reply. Lossy: the latest wins, one call at a time and turn; none after the turn's answer."""
        ...


@runtime_checkable
class Live(Protocol):
    """For capability `live`: one status message a turn, drawn by pure functions (N-18)."""

    def fold(self, state: Any, item: Record | Draft | Tick) -> Any:
        """The next state of the drawing; state None is the empty drawing."""
        ...

    def draw(self, state: Any, now: float) -> Outgoing:
        """The drawing at `now` (Unix seconds)."""
        ...

    def close(self, state: Any, end: TurnEnd) -> Outgoing | None:
        """What stays when the turn is over; None removes the live message."""
        ...


@runtime_checkable
class HearsDelivered(Protocol):
    """For adapters that do something once a message is out (K-154)."""

    async def delivered(self, record: Record, receipts: Sequence[Receipt]) -> None:
        """Runs once after the status was moved, in the process whose move won.

        No receipts: the record was folded into the live status, or is hidden here.
        """
        ...


@runtime_checkable
class HearsInterrupted(Protocol):
    """For adapters that remove indicators of their own (K-246)."""

    async def interrupted(self, turn_id: str, address: Address) -> None:
        """A turn was interrupted."""
        ...


__all__ = [
    "Adapter",
    "Answers",
    "ClosesQuestions",
    "Deletes",
    "Edits",
    "Finds",
    "HearsDelivered",
    "HearsInterrupted",
    "Inbox",
    "Live",
    "Plans",
    "ShowsDrafts",
    "State",
    "Typing",
]
