"""What someone wrote into the configuration or on the command line."""

from collections.abc import Sequence

from kesoku.errors.root import KesokuError


class ConfigError(KesokuError):
    """Something in the configuration is wrong; the text names file, key, value and what is valid."""


class ConfigMissing(ConfigError):
    """A config file that was named is not there."""

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"there is no config file {path}; copy config.example.toml, or leave the option out")


class ConfigInvalid(ConfigError):
    """Values that cannot be used; `problems` has one entry each, with file, key and what is valid."""

    def __init__(self, *, problems: tuple[object, ...]) -> None:
        self.problems = problems
        super().__init__("\n".join(str(each) for each in problems))


class LogUnwritable(ConfigError):
    """The log cannot be written where it is to be kept."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"the log {path} cannot be written: {reason}; set log.file, or store.path for all files")


class NothingToServe(ConfigError):
    """`kesoku run` has no adapter to start."""

    def __init__(self, *, wanted: Sequence[str], configured: Sequence[str]) -> None:
        self.wanted, self.configured = tuple(wanted), tuple(configured)
        missing = f"no enabled adapter is named {', '.join(wanted)}" if wanted else "no adapter is configured"
        there = f"; the config has {', '.join(configured)}" if configured else ""
        super().__init__(f"{missing}{there}; add a table such as [adapters.discord], or use: kesoku chat")


class NoSuchBot(ConfigError):
    """A place of the command line whose bot is neither in the config nor known to the database."""

    def __init__(self, *, place: str, bots: tuple[str, ...]) -> None:
        self.place, self.bots = place, bots
        super().__init__(
            f"there is no bot for {place}; the config has {', '.join(bots) or 'none'}, and nothing was ever said there"
        )


class NoSuchSession(ConfigError):
    """A session id of the command line that the database does not have."""

    def __init__(self, *, session_id: str) -> None:
        self.session_id = session_id
        super().__init__(
            f"there is no session {session_id!r}; use --resume for the last one, or bot:channel for a place"
        )
