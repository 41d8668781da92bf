"""The log: for people on a terminal, JSON lines elsewhere, secrets masked by value."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kesoku import log
from kesoku.errors import LogUnwritable
from kesoku.render.mask import Mask

SECRET = "sk-very-secret-value"


class Screen(io.StringIO):
    def isatty(self) -> bool:
        return True


@contextmanager
def logging_to(stream: io.StringIO | None = None, **options: object) -> Iterator[logging.Logger]:
    stop = log.start(stream=stream, secrets=[SECRET], **options)  # type: ignore[arg-type]
    try:
        yield logging.getLogger("kesoku.test")
    finally:
        stop()


def test_a_pipe_gets_json_with_ids_and_without_secrets() -> None:
    stream = io.StringIO()
    with logging_to(stream) as logger:
        logger.info("key is %s", SECRET, extra={"message_id": "m1", "turn_id": "t1"})
    line = json.loads(stream.getvalue())
    assert line["text"] == "key is [secret]"
    assert (line["level"], line["message_id"], line["turn_id"]) == ("info", "m1", "t1")


def test_a_terminal_gets_a_line_with_colour_for_warnings_only() -> None:
    stream = Screen()
    with logging_to(stream) as logger:
        logger.info("calm", extra={"session_id": "s"})
        logger.warning("hot")
    calm, hot = stream.getvalue().splitlines()
    assert calm.endswith("info test: calm (session_id=s)")
    assert hot.startswith("\x1b[33m")


def test_a_traceback_is_kept_and_masked() -> None:
    stream = io.StringIO()
    with logging_to(stream) as logger:
        try:
            raise ValueError(SECRET)
        except ValueError:
            logger.exception("failed")
    line = json.loads(stream.getvalue())
    assert "ValueError: [secret]" in line["traceback"]
    assert SECRET not in stream.getvalue()


def test_a_repeated_warning_is_written_once() -> None:  # complaint 139
    stream = io.StringIO()
    with logging_to(stream) as logger:
        for _ in range(1000):
            logger.warning("one bad key")
        logger.warning("another")
    assert [json.loads(line)["text"] for line in stream.getvalue().splitlines()] == ["one bad key", "another"]


def test_a_warning_that_comes_again_after_a_minute_says_how_often_it_was_left_out() -> None:  # complaint 139
    now = 0.0
    repeats = log.Repeats(lambda: now)

    def written() -> str | None:
        record = logging.LogRecord("kesoku", logging.WARNING, __file__, 1, "one %s key", ("bad",), None)
        return record.getMessage() if repeats.filter(record) else None

    assert [written() for _ in range(3)] == ["one bad key", None, None]
    now = 60.0
    assert [written(), written()] == ["one bad key (and 2 more)", None]
    now = 120.0
    assert written() == "one bad key (and 1 more)"
    now = 600.0
    assert written() == "one bad key"


def test_information_is_not_swallowed_and_levels_hold() -> None:
    stream = io.StringIO()
    with logging_to(stream, level="warning") as logger:
        logger.info("quiet")
        logger.error("loud")
    assert "quiet" not in stream.getvalue()
    assert "loud" in stream.getvalue()


def test_what_extensions_say_is_written_as_what_the_core_says() -> None:
    """Else nobody would read that a bot is connected; libraries still only warn."""
    stream = io.StringIO()
    with logging_to(stream, packages=["some_extension"]):
        logging.getLogger("some_extension.wire").info("connected")
        logging.getLogger("some_library").info("chatter")
    assert [json.loads(line)["text"] for line in stream.getvalue().splitlines()] == ["connected"]
    assert logging.getLogger("some_extension").level == logging.NOTSET


def test_a_file_is_made_with_its_folder(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "kesoku.log"
    with logging_to(file=path) as logger:
        logger.info("né")
    assert json.loads(path.read_text(encoding="utf-8"))["text"] == "né"
    assert path.stat().st_mode & 0o077 == 0


def test_any_text_can_be_written() -> None:
    record = logging.LogRecord("kesoku", logging.INFO, __file__, 1, "half \ud800 a pair", (), None)
    line = log.JsonFormatter(Mask(())).format(record)
    assert json.loads(line)["text"] == "half \ud800 a pair"
    assert line.isascii()


def test_a_file_that_cannot_be_written_says_what_to_do() -> None:
    with pytest.raises(LogUnwritable, match=r"set log\.file"):
        log.start(file=Path("/proc/nowhere/kesoku.log"))


@pytest.mark.parametrize("form", ["human", "json"])
def test_the_form_can_be_forced(form: str) -> None:
    stream = io.StringIO()
    with logging_to(stream, form=form) as logger:
        logger.info("x")
    assert stream.getvalue().startswith("{") is (form == "json")
