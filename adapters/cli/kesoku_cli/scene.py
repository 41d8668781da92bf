"""The terminal's dialect: a record becomes one scene, a JSON object; showing a scene is one call of a front end."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from kesoku import Record
from kesoku.adapter import RenderContext
from kesoku.render import duration
from kesoku_cli.frontend import Choice, FrontEnd

_SHOWN_ARGUMENTS = 2_000


def scene_of(record: Record, context: RenderContext | None = None) -> dict[str, Any]:
    """What to show for a record: `show` names it, the other keys are its facts. Pure."""
    message: Any = record.message
    match message.kind:
        case "user_prompt":
            return {"show": "prompt", "text": message.text, "author": message.author}
        case "thought":
            return {"show": "thought", "text": message.rendered}
        case "tool_call":
            arguments = message.content.arguments
            return {"show": "call", "id": message.id, "name": message.content.tool, "summary": _summary(arguments)}
        case "tool_result":
            content = message.content
            failed = not content.success
            return {
                "show": "result",
                "id": content.request_id or message.id,
                "name": content.tool,
                "text": message.rendered,
                "failed": failed,
            }
        case "answer" if message.source.kind == "error":
            return {"show": "error", "text": message.rendered}
        case "answer":
            return {"show": "answer", "text": message.rendered, "metrics": record.metadata.get("turn_metrics", {})}
        case "notice" if context is not None and context.question is not None:
            asked = context.question
            text = f"{message.rendered}{_waits(asked.deadline, message.created_at)}"
            return {"show": "question", "id": asked.id, "text": text, "choices": list(asked.choices)}
    return {"show": "notice", "text": message.rendered}


def show(scene: Mapping[str, Any], front: FrontEnd, *, thoughts: bool = True) -> None:
    """Show a scene."""
    match scene["show"]:
        case "prompt":
            front.prompt_shown(scene["text"], scene["author"])
        case "thought" if thoughts:
            front.thought(scene["text"])
        case "call":
            front.call(scene["id"], scene["name"], scene["summary"])
        case "result":
            front.result(scene["id"], scene["name"], scene["text"], scene["failed"])
        case "error":
            front.error(scene["text"])
        case "answer":
            front.answer(scene["text"], scene["metrics"])
        case "question":
            choices = choices_of(scene["choices"])
            front.question(scene["id"], scene["text"], choices, default=_default(scene["choices"]))
        case "notice":
            front.notice(scene["text"])


def choices_of(values: Sequence[str]) -> tuple[Choice, ...]:
    """A key for each choice: its first letter that is still free, else its number."""
    taken: dict[str, str] = {}
    for number, value in enumerate(values, 1):
        letters = [letter for letter in value.lower() if letter.isalnum() and letter.isascii() and letter not in taken]
        taken[letters[0] if letters else str(number)] = value
    return tuple(Choice(key=key, label=value, value=value) for key, value in taken.items())


def _waits(deadline: float | None, asked_at: float) -> str:
    """A line that says how long an answer is waited for."""
    return "" if deadline is None else f"\nNo answer within {duration(deadline - asked_at)} is a no."


def _default(values: Sequence[str]) -> str:
    """What counts where nobody can answer: no, if that can be said."""
    return next((value for value in values if value.lower() in {"no", "deny"}), values[-1])


def _summary(arguments: Mapping[str, Any]) -> str:
    """The one argument as it is, several as `name=value`."""
    if len(arguments) == 1:
        (value,) = arguments.values()
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    else:
        text = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in arguments.items())
    return text if len(text) <= _SHOWN_ARGUMENTS else f"{text[:_SHOWN_ARGUMENTS]}…"
