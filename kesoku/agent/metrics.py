"""The figures of a finished turn (trajectory 6.1), from records and steps alone, so that they survive a crash."""

from typing import Any

from kesoku.agent.turn import Turn
from kesoku.messages.price import dollars


def turn_metrics(turn: Turn, *, now: int) -> dict[str, Any]:
    """`turn_metrics` of K-236. `now` in microseconds.

    context_tokens is what the last step read, turn_tokens what the model wrote in all steps, turn_time seconds since
    the prompt was first claimed. Where the price of the model is known, turn_cost is in US dollars.
    """
    cost = {} if turn.cost is None else {"turn_cost": dollars(turn.cost)}
    return {
        "session_turns": turn.session_turns + 1,
        "context_tokens": turn.steps[-1].usage.context if turn.steps else 0,
        "turn_tool_calls": len(turn.calls),
        "turn_tokens": turn.usage.thoughts + turn.usage.answer,
        "turn_time": round(max(now - turn.started_at, 0) / 1_000_000, 1),
        **cost,
    }
