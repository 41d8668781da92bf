"""Whatever happens to a history, its order and its views are what a look at every message would tell."""

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from kesoku.history.history import History
from kesoku.messages import make
from kesoku.messages.kinds import Answer, SystemPrompt, ToolCall, ToolResult, UserPrompt
from kesoku.messages.message import Message

MADE: dict[str, Callable[[], Message]] = {
    "prompt": lambda: make.user_prompt("ask", author="Ada"),
    "answer": lambda: make.answer("say", provider="p", model="m"),
    "call": lambda: make.tool_call("look", {}, provider="p", model="m"),
    "note": make.nudge,
    "system": lambda: make.system_prompt("be brief"),
}
TEXT = {"tool_call": "tool", "tool_result": "output"}
"""What is rewritten in messages that have no text."""
CHANGES = ("include", "add", "respond", "update", "again", "clear", "select")

changes = st.lists(
    st.tuples(st.sampled_from(CHANGES), st.sampled_from(sorted(MADE)), st.integers(0, 30)), min_size=5, max_size=40
)


class Model:
    """What a history must look like: a list of messages in which everything is searched for."""

    def __init__(self) -> None:
        self.messages: list[Message] = []

    def put(self, message: Message) -> None:
        ids = [each.id for each in self.messages]
        if message.id in ids:
            self.messages[ids.index(message.id)] = message
        elif isinstance(message, SystemPrompt):
            self.messages = [message, *(each for each in self.messages if not isinstance(each, SystemPrompt))]
        else:
            self.messages.append(message)

    def of(self, *kinds: type[Message]) -> tuple[Message, ...]:
        return tuple(each for each in self.messages if type(each) in kinds)


def changed(history: History, model: Model, change: str, kind: str, n: int) -> None:
    """Do one thing to both."""
    chosen: Any = model.messages[n % len(model.messages)] if model.messages else None
    match change:
        case "include" | "add":
            message = MADE[kind]()
            (history.include if change == "include" else lambda each: history.add(message=each))(message)
            model.put(message)
        case "respond" if isinstance(chosen, ToolCall):
            for each in history.respond(chosen.id, n, replace=True):
                model.put(each)
        case "update" if chosen is not None:
            model.put(history.update(chosen.id, **{TEXT.get(chosen.kind, "text"): str(n)}))
        case "again" if chosen is not None:
            history.add(message=chosen)
        case "select":
            history.select([each.id for each in model.messages[: n % 3]])
        case "clear" if n > 20:  # seldom
            history.clear()
            model.messages = list(model.of(SystemPrompt))


@given(changes)
def test_views_and_order_agree_with_a_look_at_every_message(happened: list[tuple[str, str, int]]) -> None:
    history, model = History(), Model()
    for change, kind, n in happened:
        changed(history, model, change, kind, n)
        expected = model.messages
        assert [(each.id, each.version) for each in history] == [(each.id, each.version) for each in expected]
        assert history.progressions["main"].ids == tuple(each.id for each in expected)
        assert len(history) == len(expected)
        assert history.system == next(iter(model.of(SystemPrompt)), None)
        assert history.instructions == model.of(UserPrompt)
        assert history.assistant_responses == model.of(Answer)
        assert history.action_requests == model.of(ToolCall)
        assert history.action_responses == model.of(ToolResult)
        assert history.actions == model.of(ToolCall, ToolResult)
        assert history.last_instruction == next(reversed(model.of(UserPrompt)), None)
        assert history.last_response == next(reversed(model.of(Answer)), None)
        assert all(each in history and history[each.id] is each for each in history)
