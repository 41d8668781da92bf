"""Loading the configuration for a command, with its warnings said on standard error; its log."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from kesoku import log, plugins
from kesoku.cli.say import complain
from kesoku.config import Loaded, load


def settings(path: Path | None) -> Loaded:
    """The valid configuration. Raises ConfigError."""
    loaded = load(path)
    for warning in loaded.warnings:
        complain(f"warning: {warning}")
    return loaded


@contextmanager
def logged(loaded: Loaded, *, default: Path | None) -> Iterator[None]:
    """Write the log while the body runs: to `log.file`, else to `default`; None is standard error."""
    table = loaded.config.log
    stop = log.start(
        level=table.level,
        file=table.file or default,
        form=table.format,
        secrets=loaded.secrets,
        packages=plugins.packages(),
    )
    try:
        yield
    finally:
        stop()
