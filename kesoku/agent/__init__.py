"""The agent: takes queued prompts and works on them until they are answered.

==========================  ==================================================================
To see                      Open
==========================  ==================================================================
who works on which prompt   dispatcher.py; worker.py: one prompt, and what is said if it fails
a turn from start to end    loop.py
what a turn knows of itself turn.py: derived from the log; journal.py: read and written
what is asked of a model    think.py; prompt.py: the system prompt; hook.py: what others add
what a reply leads to       judge.py, in the signals of signal.py; seam.py: a cut answer and
                            its rest as one text
tools                       act.py
bounds                      limits.py; budget.py: tokens and money; metrics.py: the figures
==========================  ==================================================================
"""

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
