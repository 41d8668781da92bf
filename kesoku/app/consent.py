"""`--yes`: the consent of the person who started this process, to what is asked for here and nowhere else."""

from typing import Protocol

from kesoku.messages.content import Question
from kesoku.messages.lifecycle import YES
from kesoku.messages.record import Record
from kesoku.ports import Approver

BY = "--yes"
"""Who answered."""


class Waive(Protocol):
    """Answers a question that was put before a restart, and of which nobody waits for an answer any more."""

    async def __call__(self, question: Question, choice: str, *, by: str) -> None:
        """Nothing happens to a question that was never put, or has an answer."""
        ...


class Consent:
    """Says yes for the local terminal. Where strangers may talk, people are asked as ever: nobody here consented for
    them, not even while this process works for a channel that nobody else serves."""

    def __init__(self, people: Approver, waive: Waive) -> None:
        self._people, self._waive = people, waive

    async def ask(self, question: Question, *, call: Record, admins_only: bool) -> str | None:
        """Yes at once, or what people say if the channel is remote (only admins may answer there, N-17)."""
        if admins_only:
            return await self._people.ask(question, call=call, admins_only=True)
        await self._waive(question, YES, by=BY)
        return YES
