"""A tool for Kesoku: roll dice."""

import secrets
from typing import Annotated

from pydantic import Field

from kesoku.errors import ToolRefused
from kesoku.tools import Effect, Output, tool


@tool(effect=Effect.READ, timeout=5)
def roll(
    count: Annotated[int, Field(ge=1, le=100)] = 1,
    sides: Annotated[int, Field(ge=2, le=1000)] = 6,
    at_least: int | None = None,
) -> Output:
    """Roll dice and tell every one of them.

    Args:
        count: how many dice
        sides: how many sides each die has
        at_least: count only those that show this or more
    """
    if at_least is not None and at_least > sides:
        raise ToolRefused(what="at_least", reason=f"no die with {sides} sides shows {at_least}", advice="ask for less")
    dice = [1 + secrets.randbelow(sides) for _ in range(count)]
    counted = [die for die in dice if at_least is None or die >= at_least]
    return Output(output={"dice": dice, "counted": len(counted), "sum": sum(counted)}, summary=f"rolled {dice}")
