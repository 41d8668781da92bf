"""An event hook did not take an event; it is kept and tried again."""

from kesoku.errors.root import KesokuError


class HookError(KesokuError):
    """An event hook did not take an event.

    `retry_after` is how many seconds the receiver wants to be left alone; `is_final` says that another attempt is no
    use.
    """

    retry_after: float | None = None
    is_final = False


class HookUnreachable(HookError):
    """The receiver of a hook gave no answer."""

    def __init__(self, *, where: str, reason: str) -> None:
        self.where, self.reason = where, reason
        super().__init__(f"{where} gave no answer: {reason}")


class HookRefused(HookError):
    """The receiver of a hook answered, and not with success."""

    def __init__(
        self, *, where: str, status: int, phrase: str, retry_after: float | None = None, is_final: bool = False
    ) -> None:
        self.where, self.status, self.phrase = where, status, phrase
        self.retry_after, self.is_final = retry_after, is_final
        super().__init__(f"{where} answered {status} {phrase}".rstrip())


class HookCommandFailed(HookError):
    """The command of a hook ended with an exit code other than 0."""

    def __init__(self, *, command: str, code: int, said: str = "") -> None:
        self.command, self.code, self.said = command, code, said
        super().__init__(f"{command} ended with exit code {code}" + (f": {said}" if said else ""))


class HookLate(HookError, TimeoutError):
    """A hook had no outcome in its time."""

    def __init__(self, *, seconds: float) -> None:
        self.seconds = seconds
        super().__init__(f"no outcome within {seconds:g} s; it was stopped")
