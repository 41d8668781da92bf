"""What somebody asked for with a slash and cannot have. The texts are replies."""

from kesoku.errors.root import KesokuError


class CommandError(KesokuError):
    """A command that cannot be done as it was given."""


class CommandMisused(CommandError):
    """An argument is missing, or none of those that there are."""

    def __init__(self, *, usage: str, why: str) -> None:
        self.usage, self.why = usage, why
        super().__init__(f"{why} Usage: `{usage}`.")


class NoConversation(CommandError):
    """Nothing was ever said in this channel."""

    def __init__(self) -> None:
        super().__init__("There is no conversation here yet. Write something to begin one.")


class NoSuchMessage(CommandError):
    """No message of this conversation has this number or id."""

    def __init__(self, *, given: str, last: int) -> None:
        self.given, self.last = given, last
        known = f"they are numbered from 1 to {last}; /context lists them" if last else "it is empty"
        super().__init__(f"There is no message {given} in this conversation: {known}.")


class EarlierConversation(CommandError):
    """A message of a conversation that this channel has left."""

    def __init__(self, *, given: str) -> None:
        self.given = given
        super().__init__(
            "This message belongs to an earlier conversation of this channel, which is left as it is: only /redact and "
            "/stop still reach it."
        )


class NotPossible(CommandError):
    """The message is there, and this cannot be done with it."""

    def __init__(self, *, what: str, why: str) -> None:
        self.what, self.why = what, why
        super().__init__(f"I cannot {what}: {why}.")
