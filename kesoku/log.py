"""Logging: lines for people on a terminal, JSON lines elsewhere, every configured secret masked by value.

What a log line is about goes into `extra`, as in `log.info("delivered", extra={"message_id": ...})`, and is printed by
both forms. An error that repeats is written once a minute with a count, so that one bad key cannot fill a disk.
"""

import json
import logging
import logging.handlers
import os
import sys
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import UTC, datetime
from io import TextIOWrapper
from pathlib import Path
from typing import TextIO

from kesoku.errors import LogUnwritable
from kesoku.render.mask import Mask

FIELDS = ("message_id", "session_id", "turn_id", "chatbot_id", "channel_id")
"""What `extra` may carry."""

_BYTES, _FILES = 10_000_000, 3
_QUIET_SECONDS = 60.0
_COLOUR = {logging.WARNING: "\x1b[33m", logging.ERROR: "\x1b[31m", logging.CRITICAL: "\x1b[31m"}


def start(
    *,
    level: str = "info",
    file: Path | None = None,
    form: str = "auto",
    secrets: Iterable[str] = (),
    stream: TextIO | None = None,
    packages: Iterable[str] = (),
) -> Callable[[], None]:
    """Send Kesoku's log to `file`, or to `stream` (default: standard error). Returns the undo.

    `level` holds for Kesoku and for these `packages`; of everything else warnings and worse are written.

    Raises:
        LogUnwritable: the file cannot be written.
    """
    handler: logging.Handler
    if file is not None:
        handler = _file_handler(file)
        terminal = False
    else:
        stream = sys.stderr if stream is None else stream
        handler = logging.StreamHandler(stream)
        terminal = stream.isatty()
    human = form == "human" or (form == "auto" and terminal)
    mask = Mask(secrets)
    handler.setFormatter(HumanFormatter(mask, colour=terminal) if human else JsonFormatter(mask))
    handler.addFilter(Repeats())
    root, ours = logging.getLogger(), [logging.getLogger(name) for name in {"kesoku", *packages}]
    before = [(logger, logger.level) for logger in (root, *ours)]
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    for logger in ours:
        logger.setLevel(level.upper())
    logging.captureWarnings(capture=True)

    def stop() -> None:
        root.removeHandler(handler)
        for logger, was in before:
            logger.setLevel(was)
        logging.captureWarnings(capture=False)
        handler.close()

    return stop


class PrivateFileHandler(logging.handlers.RotatingFileHandler):
    """Rotating files that only their owner may read: they tell what people talk about.

    A full disk costs lines of the log and nothing else; it is said once on standard error, until there is room again.
    """

    _lost = 0

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line, or lose it."""
        lost = self._lost
        super().emit(record)
        if self._lost == lost:
            self._lost = 0

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802  the name is the library's
        """Called by `emit` in place of what it would raise."""
        error = sys.exc_info()[1]
        if not isinstance(error, OSError):
            super().handleError(record)
        elif not self._lost:
            sys.stderr.write(f"kesoku: the log {self.baseFilename} cannot be written: {error.strerror}\n")
        self._lost += 1

    def close(self) -> None:
        """Close, also where the last lines find no room."""
        with suppress(OSError):
            super().close()

    def _open(self) -> TextIOWrapper:
        descriptor = os.open(self.baseFilename, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        return open(descriptor, "a", encoding=self.encoding)  # noqa: PTH123  a descriptor has no path


def _file_handler(file: Path) -> logging.Handler:
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        return PrivateFileHandler(file, maxBytes=_BYTES, backupCount=_FILES, encoding="utf-8")
    except OSError as error:
        raise LogUnwritable(path=file, reason=error.strerror or str(error)) from error


class JsonFormatter(logging.Formatter):
    """One JSON object a line: time, level, logger, text, ids, and the traceback of an exception."""

    def __init__(self, mask: Mask) -> None:
        super().__init__()
        self._mask = mask

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "text": record.getMessage(),
            **{name: getattr(record, name) for name in FIELDS if hasattr(record, name)},
        }
        if record.exc_info:
            line["traceback"] = "".join(traceback.format_exception(*record.exc_info))
        return json.dumps(self._mask.value(line), default=str)


class HumanFormatter(logging.Formatter):
    """`12:00:00 warning adapter.outbox: text (message_id=…)`, with colour on a terminal."""

    def __init__(self, mask: Mask, *, colour: bool) -> None:
        super().__init__()
        self._mask, self._colour = mask, colour

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        moment = datetime.fromtimestamp(record.created).astimezone().strftime("%H:%M:%S")
        ids = ", ".join(f"{name}={getattr(record, name)}" for name in FIELDS if hasattr(record, name))
        source = record.name.removeprefix("kesoku.")
        text = f"{moment} {record.levelname.lower()} {source}: {record.getMessage()}" + (f" ({ids})" if ids else "")
        if record.exc_info:
            text += "\n" + "".join(traceback.format_exception(*record.exc_info)).rstrip()
        text = self._mask.text(text)
        start = _COLOUR.get(record.levelno, "") if self._colour else ""
        return f"{start}{text}\x1b[0m" if start else text


class Repeats(logging.Filter):
    """Lets the same warning through once a minute; the next one says how many were left out."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._now = now
        self._seen: dict[tuple[str, str], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this record is written."""
        if record.levelno < logging.WARNING:
            return True
        key, now = (record.name, record.getMessage()), self._now()
        since, count = self._seen.get(key, (now - _QUIET_SECONDS, 0))
        if now - since < _QUIET_SECONDS:
            self._seen[key] = (since, count + 1)
            return False
        if count:
            record.msg, record.args = f"{record.getMessage()} (and {count} more)", ()
        self._seen = {each: value for each, value in self._seen.items() if now - value[0] < _QUIET_SECONDS}
        self._seen[key] = (now, 0)
        return True
