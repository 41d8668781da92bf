"""The agent: takes queued prompts and works on them until they are answered."""

from kesoku.agent.dispatcher import Dispatcher, DispatchLimits
from kesoku.agent.hook import Hook, StepContext, installed
from kesoku.agent.limits import TurnLimits
from kesoku.agent.loop import TurnLoop
from kesoku.agent.prompt import system_prompt
from kesoku.agent.worker import Worker

__all__ = [
    "DispatchLimits",
    "Dispatcher",
    "Hook",
    "StepContext",
    "TurnLimits",
    "TurnLoop",
    "Worker",
    "installed",
    "system_prompt",
]
