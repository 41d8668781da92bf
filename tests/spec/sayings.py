"""Messages of every kind in a word, for the tests of a history."""

from dataclasses import dataclass

from kesoku.history.history import History
from kesoku.messages import make
from kesoku.messages.kinds import Answer, SystemPrompt, ToolCall, UserPrompt
from kesoku.messages.source import UserSource


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Whisper(UserPrompt):
    """A class of somebody's own."""


def prompt(text: str = "hello") -> UserPrompt:
    """What Ada asks."""
    return make.user_prompt(text, author="Ada")


def whisper() -> Whisper:
    """A prompt of a class of somebody's own."""
    return Whisper.create(source=UserSource(), content={"text": "psst"})


def answer(text: str = "hi") -> Answer:
    """What a model answers."""
    return make.answer(text, provider="p", model="m")


def call(tool: str = "look") -> ToolCall:
    """A call of a tool."""
    return make.tool_call(tool, {"at": "sea"}, provider="p", model="m")


def system(text: str = "be brief") -> SystemPrompt:
    """A system prompt."""
    return make.system_prompt(text)


def texts(history: History) -> list[str]:
    """What is said in a history, in order."""
    return [each.rendered for each in history]
