"""A platform did not take a message. The kind tells the core what to do."""

from kesoku.errors.root import KesokuError


class DeliveryError(KesokuError):
    """A platform did not take a message. Raised by adapters; the kind tells the core what to do."""


class RetryLater(DeliveryError):
    """Nothing was sent; the same may work in `after` seconds (None: the core's own back-off)."""

    def __init__(self, *, reason: str, after: float | None = None) -> None:
        self.reason, self.after = reason, after
        super().__init__(f"not sent, will be tried again: {reason}")


class Refused(DeliveryError):
    """The platform does not take this, for good (N-01)."""

    def __init__(self, *, reason: str) -> None:
        self.reason = reason
        super().__init__(f"refused by the platform: {reason}")


class Ambiguous(DeliveryError):
    """The request left and its outcome is not known (N-02)."""

    def __init__(self, *, reason: str) -> None:
        self.reason = reason
        super().__init__(f"it is not known whether the platform took it: {reason}")


class Hold(DeliveryError):
    """It cannot be sent now: wait for the person's next message, or until `until` (Unix seconds)."""

    def __init__(self, *, reason: str, until: float | None = None) -> None:
        self.reason, self.until = reason, until
        super().__init__(f"held: {reason}")


class DeliveryConflict(DeliveryError):
    """A part of a message is not in the state in which it was read; another outbox moved it."""

    def __init__(self, *, message_id: str, part: int, state: str, to: str) -> None:
        self.message_id, self.part, self.state, self.to = message_id, part, state, to
        super().__init__(
            f"part {part} of message {message_id} is no longer {state} and cannot become {to}; it is read again"
        )


class LoginNeeded(DeliveryError):
    """The adapter has no valid credentials (any more); someone must log in."""

    def __init__(self, *, adapter: str, reason: str) -> None:
        self.adapter, self.reason = adapter, reason
        super().__init__(f"{adapter} is not logged in: {reason}")
