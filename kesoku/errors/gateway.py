"""Steps in the lifecycle of a message that are not allowed."""

from kesoku.errors.root import KesokuError


class GatewayError(KesokuError):
    """A step in a message's lifecycle that is not allowed."""


class RunDirectoryUnusable(GatewayError):
    """The directory where processes tell each other that they live cannot be used."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the run directory {path} cannot be used ({reason}); make it writable for this user")


class ServedElsewhere(GatewayError):
    """Another process serves this key; two would answer everything twice (store rule 6)."""

    def __init__(self, *, key: str, pid: int | None) -> None:
        self.key, self.pid = key, pid
        who = "another process" if pid is None else f"process {pid}"
        super().__init__(f"{key} is served by {who}; stop that one first")


class DuplicateMessage(GatewayError):
    """The same id was posted with another value (C-45)."""

    def __init__(self, *, message_id: str) -> None:
        self.message_id = message_id
        super().__init__(f"message {message_id} is stored with another value; to change it, update and rewrite it")


class VersionConflict(GatewayError):
    """A rewrite that is not based on the stored version."""

    def __init__(self, *, message_id: str, stored: int, given: int) -> None:
        self.message_id, self.stored, self.given = message_id, stored, given
        super().__init__(
            f"message {message_id} is stored in version {stored}, so version {given} cannot follow; read it again"
        )


class UnknownMessage(GatewayError, KeyError):
    """No message has this id."""

    def __init__(self, *, message_id: str) -> None:
        self.message_id = message_id
        super().__init__(f"no message has the id {message_id}")

    def __str__(self) -> str:
        return str(self.args[0])


class TransitionRefused(GatewayError):
    """A status change that the diagram does not have (K-132)."""

    def __init__(self, *, message_id: str, current: str, to: str) -> None:
        self.message_id, self.current, self.to = message_id, current, to
        super().__init__(f"message {message_id} is {current} and cannot become {to}; read it again before you move it")


class Deposed(GatewayError):
    """A write for a turn that this process no longer owns (N-06). Abort the turn and write nothing."""

    def __init__(self, *, session_id: str, generation: int) -> None:
        self.session_id, self.generation = session_id, generation
        super().__init__(
            f"session {session_id} is no longer leased with generation {generation}: its turn was ended; "
            f"write nothing more for it"
        )
