"""What the agent needs from outside: a chat model, people who approve, those who watch, and time."""

from collections.abc import AsyncGenerator
from typing import Protocol

from kesoku.messages.content import Question
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import CompiledRequest, StreamItem


class Clock(Protocol):
    """Time, so that tests can turn it."""

    def now(self) -> int:
        """Wall clock, microseconds since 1970."""
        ...

    def monotonic(self) -> float:
        """Seconds that never go back."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        ...


class ChatModel(Protocol):
    """A chat model. `provider` names who may read the signatures that it gave."""

    name: str
    provider: str

    def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """One step: any number of Deltas, then exactly one Reply. Raises ModelError leaves only.

        A Retry between them voids the Deltas before it. A stream that breaks once answer text was shown goes on from
        where the provider can take it up, or it ends in a Reply that is BROKEN, with what there is.

        Cancelling the task that iterates, or closing the generator, stops the work at once.
        """
        ...

    def count(self, request: CompiledRequest) -> int:
        """An estimate of the request's tokens, without a network."""
        ...

    async def aclose(self) -> None:
        """Let go of connections."""
        ...


class Approver(Protocol):
    """Asks people whether a tool may run."""

    async def ask(self, question: Question, *, call: Record, admins_only: bool) -> str | None:
        """The choice that an allowed person made, or None when the deadline passed."""
        ...


class Drafts(Protocol):
    """Running replies for those who watch: in this process only, lossy, the latest wins (N-19)."""

    def publish(
        self,
        turn_id: str,
        address: Address,
        *,
        step: int,
        thought: str,
        text: str,
        note: str = "",
        wait: float | None = None,
    ) -> None:
        """Show the whole text so far of the running step, why it waits, and for how many seconds. Never blocks."""
        ...

    def clear(self, turn_id: str) -> None:
        """The turn is over or was interrupted."""
        ...
