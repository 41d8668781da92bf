"""The figures of a turn on one line."""

from typing import Any

import pytest

from kesoku_discord.drawing.footer import footer

from .records import METRICS, answer


@pytest.mark.parametrize(
    ("metrics", "line"),
    [
        (METRICS, "-# 2.1 s · 1 tool · 1,042 tokens · context 8,421 · turn 3"),
        ({**METRICS, "turn_cost": 0.0042, "turn_tool_calls": 12, "turn_time": 312.4},
         "-# 6 min · 12 tools · 1,042 tokens · context 8,421 · turn 3 · $0.0042"),
        ({"turn_tokens": 1, "turn_tool_calls": 0}, "-# 1 token"),
        ({"turn_time": "soon", "turn_tokens": None, "session_turns": -1, "turn_cost": float("nan")}, ""),
        ({}, ""),
        (None, ""),
    ],
)  # fmt: skip
def test_what_is_known_is_told(metrics: dict[str, Any] | None, line: str) -> None:
    assert footer(answer("text", metrics=metrics)) == line
