"""What one sitting still waits for: prompts that run, answers on their way. Pure bookkeeping."""

from kesoku import MessageStatus, Record

_FINAL = {MessageStatus.PROCESSED, MessageStatus.INTERRUPTED, MessageStatus.ERROR}
_OUT = {MessageStatus.DELIVERED, MessageStatus.ERROR}
DONE, FAILED, INTERRUPTED, NOBODY_READS = 0, 1, 130, 141


class Sitting:
    """Follows the records of one channel. `posted_is_out`: somebody else delivers, so a stored answer is enough."""

    def __init__(self, *, posted_is_out: bool) -> None:
        self._posted_is_out = posted_is_out
        self._open: set[str] = set()
        self._running: set[str] = set()
        self._unanswered: dict[str, tuple[str, str]] = {}
        self._answered: set[str] = set()
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

    def asked(self, record: Record, *, refused: bool = False) -> None:
        """Wait for this: a prompt that was taken in, or the notice that was said in its place."""
        self._open.add(record.id)
        if refused:
            self.exit_code = FAILED
        self.saw(self._rests.get(record.id, record))

    def saw(self, record: Record) -> str | None:
        """Take in a record as it stands now. Returns `started`, or the outcome once a turn is over and answered."""
        if record.kind == "user_prompt":
            return self._prompt(record)
        if record.kind == "answer" and (self._posted_is_out or record.status in _OUT):
            return self._answer(record)
        if record.status in _OUT:
            self._open.discard(record.id)
        return None

    def _prompt(self, record: Record) -> str | None:
        if record.status is MessageStatus.PROCESSING and record.id not in self._running:
            self._running.add(record.id)
            return "started"
        if record.status not in _FINAL:
            return None
        if record.id not in self._open | self._running:
            # It came to rest before `asked` was told of it.
            self._rests[record.id] = record
            return None
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
        return None

    def _answer(self, record: Record) -> str | None:
        turn = record.turn_id or ""
        self._answered.add(turn)
        if record.message.source.kind == "error" or record.status is MessageStatus.ERROR:
            self.exit_code = FAILED
        ended = self._unanswered.pop(turn, None)
        return self._end(*ended) if ended else None

    def _end(self, prompt_id: str, outcome: str) -> str | None:
        """The outcome, if the turn was seen to start."""
        if prompt_id not in self._running:
            return None
        self._running.discard(prompt_id)
        return outcome
