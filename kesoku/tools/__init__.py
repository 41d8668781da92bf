"""Tools: functions that the model may call, their limits, and the ones that are built in."""

from kesoku.tools.context import ToolContext
from kesoku.tools.registry import Policy, Toolbox, default_policy, installed
from kesoku.tools.runner import Outcome, call, run
from kesoku.tools.tool import Effect, Output, Tool, tool

__all__ = [
    "Effect",
    "Outcome",
    "Output",
    "Policy",
    "Tool",
    "ToolContext",
    "Toolbox",
    "call",
    "default_policy",
    "installed",
    "run",
    "tool",
]
