"""The disk of the log is full: lines are lost, it is said once, and nothing else happens."""

import logging
from pathlib import Path

import pytest

from kesoku import log
from kesoku.testing.disk import fill


def test_a_full_disk_costs_lines_of_the_log_only(disk: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = disk / "kesoku.log"
    stop = log.start(file=file)
    logger = logging.getLogger("kesoku.test")
    logger.info("before")
    ballast = fill(disk)
    for number in range(50):
        logger.info("line %d of many %s", number, "x" * 1_000)
    ballast.unlink()
    logger.info("after")
    fill(disk)
    logger.info("lost %s", "x" * 10_000)
    stop()
    told = capfd.readouterr().err.splitlines()
    assert [f"kesoku: the log {file} cannot be written: No space left on device"] * 2 == told
    lines = file.read_text(encoding="utf-8")
    assert '"before"' in lines
    assert '"after"' in lines
