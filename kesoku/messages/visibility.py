"""Who sees what: the columns of seed 004 section 5.3, asked once for every platform (K-190..K-213)."""

from dataclasses import dataclass
from enum import StrEnum

from kesoku.messages.message import Message
from kesoku.messages.source import NoticeSource

_REPLY = NoticeSource(reason="reply")


class Presentation(StrEnum):
    """How an adapter presents a message."""

    SHOWN = "shown"
    """As a message of its own."""
    LIVE = "live"
    """Inside the live status of the running turn."""
    FOLDED = "folded"
    """Inside a card that people can unfold."""
    HIDDEN = "hidden"
    """Not at all; marked delivered silently."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Visibility:
    """One column of the matrix. All six are required: an adapter decides every one of them."""

    user_text: Presentation
    assistant_text: Presentation
    thought: Presentation
    tool_call: Presentation
    tool_result: Presentation
    notice: Presentation

    def of(self, message: Message) -> Presentation:
        """How this platform presents `message`.

        A reply notice is shown everywhere, a status notice follows the matrix (C-28); what the machinery says to the
        model is shown nowhere (K-097, K-100), and an answer that was cut is shown with what follows it.
        """
        match message.kind:
            case "user_prompt":
                return self.user_text
            case "answer":
                return self.assistant_text
            case "thought":
                return Presentation.HIDDEN if getattr(message.source, "cut", False) else self.thought
            case "tool_call":
                return self.tool_call
            case "tool_result":
                return self.tool_result
            case "notice":
                return Presentation.SHOWN if message.source == _REPLY else self.notice
            case _:
                return Presentation.HIDDEN
