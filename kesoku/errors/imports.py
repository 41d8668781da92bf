"""What cannot be imported. Nothing of it is stored then."""

from kesoku.errors.counted import counted
from kesoku.errors.root import KesokuError


class ImportFailed(KesokuError):
    """An import that cannot be done."""


class FileRefused(ImportFailed):
    """A file that is not what can be imported; `row` counts from 1, None is the file as a whole."""

    def __init__(self, *, path: object, why: str, row: int | None = None) -> None:
        self.path, self.why, self.row = path, why, row
        where = f"{path}" if row is None else f"{path}, row {row}"
        super().__init__(f"{where}: {why}. Nothing was imported.")


class MessageTaken(ImportFailed):
    """A message that is stored already, and says or belongs to something else there."""

    def __init__(self, *, path: object, row: int, message_id: str, why: str) -> None:
        self.path, self.row, self.message_id, self.why = path, row, message_id, why
        super().__init__(f"{path}, row {row}: the message {message_id} is stored already {why}. Nothing was imported.")


class SessionTaken(ImportFailed):
    """A conversation of this id is here already, with messages that the file does not have."""

    def __init__(self, *, session_id: str, own: int) -> None:
        self.session_id, self.own = session_id, own
        super().__init__(
            f"the conversation {session_id} is here already, with {counted(own, 'message')} that the file does not "
            f"have. Nothing was imported. `--session {session_id}` adds to it, another id makes a conversation of its "
            "own."
        )


class SeveralSessions(ImportFailed):
    """One place is named for what belongs to several conversations."""

    def __init__(self, *, sessions: int, option: str) -> None:
        self.sessions, self.option = sessions, option
        super().__init__(
            f"the files hold {sessions} conversations, and {option} names the place of one. Nothing was imported; give "
            "each conversation in a file of its own."
        )
