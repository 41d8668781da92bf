"""Fakes of what the gateway and the agent meet: other processes, people who approve, and people who watch."""

from kesoku.messages.content import Question
from kesoku.messages.record import Address, Record


class FakePresence:
    """Knows only what it is told: owners in `dead` are dead, those in `alive` live, and all others may live."""

    def __init__(self) -> None:
        self.dead: set[str] = set()
        self.alive: set[str] = set()

    def is_dead(self, owner: str) -> bool:
        """Whether the test declared this owner dead."""
        return owner in self.dead

    def is_alive(self, owner: str) -> bool:
        """Whether the test declared that this owner lives."""
        return owner in self.alive


class ScriptedApprover:
    """Gives the same answer to every question and keeps the questions."""

    def __init__(self, answer: str | None = "yes") -> None:
        self.answer = answer
        self.asked: list[tuple[Question, Record, bool]] = []
        self.waived: list[tuple[str, str, str]] = []

    async def ask(self, question: Question, *, call: Record, admins_only: bool) -> str | None:
        """The answer that was set."""
        self.asked.append((question, call, admins_only))
        return self.answer

    async def waive(self, question: Question, choice: str, *, by: str) -> None:
        """Keep (id of the question, choice, who answered)."""
        self.waived.append((question.id, choice, by))


class RecordingDrafts:
    """Keeps everything that was shown."""

    def __init__(self) -> None:
        self.shown: list[tuple[str, int, str, str]] = []
        self.notes: list[tuple[str, float | None]] = []
        self.cleared: list[str] = []

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
        """Keep one state of a running reply."""
        self.shown.append((turn_id, step, thought, text))
        self.notes += [(note, wait)] if note else []

    def clear(self, turn_id: str) -> None:
        """Keep that a turn is over."""
        self.cleared.append(turn_id)
