"""What one sitting still waits for: prompts that run, answers on their way. Pure bookkeeping."""

from typing import TypeVar

from kesoku import MessageStatus, Record

T = TypeVar("T")

_FINAL = {MessageStatus.PROCESSED, MessageStatus.INTERRUPTED, MessageStatus.ERROR}
_OUT = {MessageStatus.DELIVERED, MessageStatus.ERROR}
DONE, FAILED, INTERRUPTED, NOBODY_READS = 0, 1, 130, 141
_REMEMBERED = 1000
"""Turns whose end is remembered, for what is told of it later."""


class Sitting:
    """Follows the records of one channel. `posted_is_out`: somebody else delivers, so what is stored is enough."""

    def __init__(self, *, posted_is_out: bool) -> None:
        self._posted_is_out = posted_is_out
        self._open: set[str] = set()
        self._running: set[str] = set()
        self._unanswered: dict[str, tuple[str, str]] = {}
        self._answered: dict[str, None] = {}
        self._rests: dict[str, Record] = {}
        self.exit_code = DONE

    @property
    def is_waiting(self) -> bool:
        """Whether something that was asked here has not come to rest."""
        return bool(self._open or self._unanswered)

    @property
    def is_running(self) -> bool:
        """Whether a turn runs in the channel."""
        return bool(self._running)

    def asked(self, record: Record, *, refused: bool = False) -> tuple[str, ...]:
        """Wait for this: a prompt that was taken in, or the notice that was said in its place. Returns what `saw` does:
        it may have come to rest already."""
        self._open.add(record.id)
        if refused:
            self.exit_code = FAILED
        return self.saw(self._rests.pop(record.id, record))

    def saw(self, record: Record) -> tuple[str, ...]:
        """Take in a record as it stands now. Returns what happened: `started`, and the outcome once a turn is over and
        answered. A quick turn does both at once."""
        if record.kind == "user_prompt":
            return self._prompt(record)
        is_out = self._posted_is_out or record.status in _OUT
        if record.kind == "answer" and is_out:
            return self._answer(record)
        if is_out:
            self._open.discard(record.id)
        return ()

    def _prompt(self, record: Record) -> tuple[str, ...]:
        if record.status is MessageStatus.PROCESSING and record.id not in self._running:
            self._running.add(record.id)
            return ("started",)
        if record.status not in _FINAL:
            return ()
        if record.id not in self._open | self._running:
            # It may have come to rest before `asked` was told of it.
            _note(self._rests, record.id, record)
            return ()
        return self._began(record) + self._rested(record)

    def _began(self, record: Record) -> tuple[str, ...]:
        """The start of a turn that was over before anybody saw it run; what was interrupted may never have begun."""
        if record.id in self._running or record.status is MessageStatus.INTERRUPTED:
            return ()
        self._running.add(record.id)
        return ("started",)

    def _rested(self, record: Record) -> tuple[str, ...]:
        turn, mine = record.turn_id or record.id, record.id in self._open
        self._open.discard(record.id)
        if record.status is MessageStatus.INTERRUPTED:
            self.exit_code = INTERRUPTED if mine else self.exit_code
            return self._end(record.id, str(record.status))
        if record.status is MessageStatus.ERROR and mine:
            self.exit_code = FAILED
        if turn in self._answered:
            return self._end(record.id, str(record.status))
        self._unanswered[turn] = (record.id, str(record.status))
        return ()

    def _answer(self, record: Record) -> tuple[str, ...]:
        turn = record.turn_id or ""
        _note(self._answered, turn, None)
        if record.message.source.kind == "error" or record.status is MessageStatus.ERROR:
            self.exit_code = FAILED
        ended = self._unanswered.pop(turn, None)
        return self._end(*ended) if ended else ()

    def _end(self, prompt_id: str, outcome: str) -> tuple[str, ...]:
        """The outcome, if the turn was seen to start."""
        if prompt_id not in self._running:
            return ()
        self._running.discard(prompt_id)
        return (outcome,)


def _note(notes: dict[str, T], key: str, value: T) -> None:
    """Remember it, and forget the oldest when there are too many."""
    notes[key] = value
    if len(notes) > _REMEMBERED:
        notes.pop(next(iter(notes)))
