"""One assistant for every channel: what most tests need."""

from kesoku.agent.assistant import Assistant, Assistants
from kesoku.messages.turn import TurnRequest
from kesoku.ports import ChatModel


def always(*models: ChatModel, request: TurnRequest) -> Assistants:
    """The same one everywhere."""
    only = Assistant(models=models, request=request)
    return lambda _, __: only
