"""`--yes`: the consent of the person who started this process, to what is asked for here and nowhere else."""

from kesoku.messages.content import Question
from kesoku.messages.record import Record
from kesoku.ports import Approver

YES = "yes"


class Consent:
    """Says yes for the local terminal. Where strangers may talk, people are asked as ever: nobody here consented for
    them, not even while this process works for a channel that nobody else serves."""

    def __init__(self, people: Approver) -> None:
        self._people = people

    async def ask(self, question: Question, *, call: Record, admins_only: bool) -> str | None:
        """Yes at once, or what people say if the channel is remote (only admins may answer there, N-17)."""
        return await self._people.ask(question, call=call, admins_only=True) if admins_only else YES
