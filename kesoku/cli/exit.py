"""What the exit codes mean; the same list is in the help text and the reference."""

from enum import IntEnum

from kesoku.errors import (
    ConfigError,
    GatewayError,
    ImportFailed,
    KesokuError,
    ModelError,
    ModelKeyMissing,
    ModelProjectMissing,
    ModelUnknown,
    PluginError,
    StoreError,
)


class Exit(IntEnum):
    """Exit codes, after sysexits where one fits."""

    OK = 0
    FAILED = 1
    USAGE = 2
    BAD_DATA = 65
    UNAVAILABLE = 69
    CANNOT_STORE = 74
    BUSY = 75
    CONFIG = 78
    INTERRUPTED = 130
    BROKEN_PIPE = 141
    TERMINATED = 143


EXIT: dict[Exit, str] = {
    Exit.OK: "done; also when a conversation was left",
    Exit.FAILED: "a question was not answered, doctor found an error, an import refused rows, or nobody has a code",
    Exit.USAGE: "wrong command line",
    Exit.BAD_DATA: "a file is not what can be imported, or does not go together with what is stored",
    Exit.UNAVAILABLE: "a model or a platform cannot be used (key, login, network)",
    Exit.CANNOT_STORE: "the database or the output cannot be opened or written",
    Exit.BUSY: "another process serves this already",
    Exit.CONFIG: "the configuration is wrong",
    Exit.INTERRUPTED: "Ctrl-C stopped the question, or `kesoku run`",
    Exit.BROKEN_PIPE: "the reader of the output went away",
    Exit.TERMINATED: "SIGTERM or SIGHUP, after everything was finished or put back",
}

_CODES: tuple[tuple[type[KesokuError], Exit], ...] = (
    (ConfigError, Exit.CONFIG),
    (PluginError, Exit.CONFIG),
    (ImportFailed, Exit.BAD_DATA),
    (ModelKeyMissing, Exit.CONFIG),
    (ModelProjectMissing, Exit.CONFIG),
    (ModelUnknown, Exit.CONFIG),
    (StoreError, Exit.CANNOT_STORE),
    (ModelError, Exit.UNAVAILABLE),
    (GatewayError, Exit.BUSY),
)


def code_of(error: KesokuError) -> Exit:
    """The exit code for an error that ended a command."""
    return next((code for kind, code in _CODES if isinstance(error, kind)), Exit.FAILED)
