"""A pairing code that lets nobody in, or a person whom no code has let in."""

from collections.abc import Sequence

from kesoku.errors.root import KesokuError


class PairingError(KesokuError):
    """Nobody was let in, or put out."""


class CodeUnknown(PairingError):
    """No bot has given this code to anybody, or it was confirmed before."""

    def __init__(self, *, code: str) -> None:
        self.code = code
        super().__init__(f"nobody waits with the code {code!r}; `kesoku pair --list` shows the open ones")


class CodeExpired(PairingError):
    """A code was confirmed too late."""

    def __init__(self, *, code: str, name: str) -> None:
        self.code, self.name = code, name
        super().__init__(f"the code {code} of {name} has expired; whoever writes to the bot again gets a new one")


class SeveralBots(PairingError):
    """What was named belongs to more than one bot."""

    def __init__(self, *, what: str, bots: Sequence[str]) -> None:
        self.what, self.bots = what, tuple(bots)
        super().__init__(f"{what} is known to {' and '.join(bots)}; say which one with --bot NAME")


class NotPaired(PairingError):
    """No code has let this person in."""

    def __init__(self, *, entry: str) -> None:
        self.entry = entry
        super().__init__(
            f"{entry} was let in by no code, so there is nothing to remove; `kesoku pair --list` shows who was, and "
            "`allow` of the config is another list"
        )


class NoDatabase(PairingError):
    """Nothing was ever served here."""

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"there is no database {path} yet; start the bots first, with `kesoku run`")
