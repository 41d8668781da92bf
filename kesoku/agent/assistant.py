"""Who answers a turn: which models, in which role."""

from collections.abc import Callable
from dataclasses import dataclass

from kesoku.messages.profile import Profile
from kesoku.messages.record import Address
from kesoku.messages.turn import TurnRequest
from kesoku.ports import ChatModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Assistant:
    """Models with one system prompt and the same tools."""

    models: tuple[ChatModel, ...]
    """The first one is asked, and each next one where those before it cannot answer."""
    request: TurnRequest
    """What they are sent beside the history."""

    @property
    def model(self) -> ChatModel:
        """The one that is asked first."""
        return self.models[0]


Assistants = Callable[[Address, Profile], Assistant]
"""(where it was asked, what the prompt asks for) to who answers."""
