"""The gateway: the lifecycle of messages, and the event log as a subscription."""

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from kesoku.messages.branch import Branch
from kesoku.messages.enums import MessageStatus
from kesoku.messages.kinds import ToolResult
from kesoku.messages.lifecycle import (
    Change,
    Claim,
    Fence,
    Interruption,
    Selected,
    Serving,
    Step,
)
from kesoku.messages.message import Message
from kesoku.messages.record import Post, Record
from kesoku.ports.store import Transaction

Choose = Callable[[Transaction, Branch, int], Branch]
"""(transaction, the branch that is left, the last place of the session) -> the one to go on with. May run twice."""


class Subscription(Protocol):
    """A reader of the event log: a wake-up, then a read by cursor. Slow readers lose nothing and block nobody."""

    cursor: int

    def __aiter__(self) -> AsyncIterator[Change]: ...

    async def __anext__(self) -> Change: ...


class Gateway(Protocol):
    """The lifecycle of messages. Every method is one transaction; with a fence it refuses a deposed owner."""

    async def accept(
        self,
        posts: Sequence[Post],
        *,
        catch_up: bool = False,
        cursor: tuple[str, str, Any] | None = None,
    ) -> list[Record]:
        """Take in prompts from a platform: keys, binding, message, interruption and adapter cursor in one commit.

        `cursor` = (scope, key, value) for the state store. A known key returns the stored record. A prompt beyond the
        flood bounds is not stored; a Notice that says so is posted and returned in its place.
        """
        ...

    async def post(self, post: Post, *, fence: Fence | None = None) -> Record:
        """Store one message. Raises Deposed, DuplicateMessage."""
        ...

    async def step(self, fence: Fence, step: Step, posts: Sequence[Post]) -> list[Record]:
        """Store one reply of the model: its thoughts and calls, and the step itself."""
        ...

    async def respond(self, fence: Fence, call: Record, result: ToolResult, next_call: Message) -> Record:
        """Store a tool's result and the call's next version (R-5). Returns the result's record."""
        ...

    async def finish(
        self,
        fence: Fence,
        answer: Post,
        *,
        status: MessageStatus,
        metrics: dict[str, Any],
        step: Step | None = None,
        said: Sequence[Post] = (),
        choose: Choose | None = None,
    ) -> Record:
        """End a turn: the answer as pending, its prompts to `status`, metrics, the lease released (N-05).

        `step` and `said` are the reply of the model that holds the answer, if it is not stored yet: as in `step`.
        `choose` says what the session goes on with.
        """
        ...

    async def move(
        self, message_id: str, to: MessageStatus, *, actor: str, reason: str = "", fence: Fence | None = None
    ) -> Record:
        """Move a status along TRANSITIONS. The same status again is a no-op (K-133).

        Raises TransitionRefused, UnknownMessage, Deposed.
        """
        ...

    async def withdraw(self, message_id: str, *, by: str) -> bool:
        """Interrupt a prompt that has not started; False if it does not wait (N-11)."""
        ...

    async def claim(self, owner: str, serving: Serving) -> Claim | None:
        """The next prompt that this process may run, now in processing; None if there is none.

        Prompts of ended sessions go to error on the way (K-146), poison prompts too, and the person is told.
        """
        ...

    async def claims(self, owner: str, serving: Serving, *, most: int) -> list[Claim]:
        """What `claim` gives, up to so many times, in one transaction."""
        ...

    async def join(self, fence: Fence, turn_id: str, *, round: int) -> list[Record]:  # noqa: A002
        """Prompts in mode steer or inject that wait for the next step of the running turn, now part of it (C-42).

        They are stamped with `turn_id` and with `round`, the step that reads them first.
        """
        ...

    async def renew(self, owner: str) -> frozenset[Fence]:
        """Extend the leases of this process; what is missing in the result is lost."""
        ...

    async def release(self, fence: Fence, *, requeue: bool) -> None:
        """Give a session back at shutdown; `requeue` puts its prompt back to pending_agent."""
        ...

    async def interrupt(
        self,
        session_id: str,
        *,
        by: str,
        reason: str,
        post: Post | None = None,
        queued: bool = False,
        only: str | None = None,
    ) -> Interruption:
        """End the running turn: prompts and open calls interrupted, generation + 1, synthetic results (C-30).

        With `queued` what waits behind it is interrupted in the same moment. `only` is the prompt whose turn is meant:
        if another one runs, nothing happens to that; if this one still waits, it is withdrawn. Idempotent: with nothing
        running only `post` is stored.
        """
        ...

    async def select(
        self, session_id: str, choose: Choose, *, by: str, reason: str, posts: Sequence[Post] = ()
    ) -> Selected:
        """Choose what the model reads of a session from now on, and go on from there with `posts`, if there are any.

        What runs and what waits there is interrupted first, in the same commit: it belongs to what is left behind.
        """
        ...

    async def repair(self, fence: Fence) -> list[Record]:
        """Give every open call of the session a synthetic result (N-04, K-167, K-168)."""
        ...

    async def recover(self) -> int:
        """Take back what dead or stalled workers left; returns the number of prompts put back (C-32)."""
        ...

    def listen(
        self, accepts: Callable[[Change], bool], *, cursor: int | None = None
    ) -> AbstractAsyncContextManager[Subscription]:
        """Follow the event log from `cursor`, by default from now. Each matching change comes exactly once."""
        ...
