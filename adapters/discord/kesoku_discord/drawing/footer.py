"""The figures of a turn as one line of small print. Pure."""

from collections.abc import Mapping
from typing import Any

from kesoku.adapter import Record
from kesoku.render import duration, money

_MINUTES = 120
"""Seconds from which on a turn is told in minutes."""


def footer(record: Record) -> str:
    """Such as `-# 2.1 s · 1 tool · 1,042 tokens · context 8,421 · turn 3`; empty for a record without figures.

    What an answer does not say is left out.
    """
    metrics = record.facts.get("turn_metrics")
    told = list(filter(None, _figures(metrics))) if isinstance(metrics, Mapping) else []
    return f"-# {' · '.join(told)}" if told else ""


def _figures(metrics: Mapping[str, Any]) -> list[str]:
    seconds, cost = _number(metrics, "turn_time"), _number(metrics, "turn_cost")
    tools, tokens = _count(metrics, "turn_tool_calls"), _count(metrics, "turn_tokens")
    context, turn = _count(metrics, "context_tokens"), _count(metrics, "session_turns")
    return [
        "" if seconds is None else f"{seconds:.1f} s" if seconds < _MINUTES else duration(seconds),
        f"{tools:,} tool{'s' if tools > 1 else ''}" if tools else "",
        f"{tokens:,} token{'' if tokens == 1 else 's'}" if tokens is not None else "",
        f"context {context:,}" if context else "",
        f"turn {turn:,}" if turn else "",
        "" if cost is None else money(cost),
    ]


def _number(metrics: Mapping[str, Any], name: str) -> float | None:
    value = metrics.get(name)
    return value if isinstance(value, int | float) and 0 <= value < 1e9 else None


def _count(metrics: Mapping[str, Any], name: str) -> int | None:
    value = _number(metrics, name)
    return None if value is None else int(value)
