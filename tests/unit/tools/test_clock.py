"""The clock is the context's."""

import pytest

from kesoku.tools import ToolContext, run
from kesoku.tools.builtin import current_time


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "2026-05-27 12:50:00+00:00 (Wednesday, UTC)"),
        ({"zone": "Asia/Singapore"}, "2026-05-27 20:50:00+08:00 (Wednesday, Asia/Singapore)"),
        ({"zone": "Pacific/Kiritimati"}, "2026-05-28 02:50:00+14:00 (Thursday, Pacific/Kiritimati)"),
    ],
)
async def test_the_time_is_told_in_a_zone(context: ToolContext, arguments: dict[str, str], said: str) -> None:
    assert (await run(current_time, arguments, context)).output == said


@pytest.mark.parametrize(
    ("zone", "said"),
    [
        ("Asia/Tokio", "near are Asia/Tokyo"),
        ("", "give a name such as Europe/Berlin"),
        ("../../etc/passwd", "there is no such time zone"),
        ("America", "there is no such time zone"),
        ("/etc/localtime", "there is no such time zone"),
        ("a\0b", "there is no such time zone"),
        ("é" * 300, "there is no such time zone"),
    ],
)
async def test_an_unknown_zone_is_answered_with_near_ones(context: ToolContext, zone: str, said: str) -> None:
    error = (await run(current_time, {"zone": zone}, context)).error or ""
    assert said in error
    assert "Traceback" not in error
