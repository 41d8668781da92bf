"""What a loopback Gemini says when no script tells it: the offline model's few tricks, and an echo of the rest."""

from typing import Any

from kesoku.llm.offline import UNKNOWN, decide
from kesoku.messages.turn import Block, CallBlock, CompiledRequest, ResultBlock, TextBlock, ToolSpec, Turn
from kesoku.testing.gemini.script import Answer, Call, Say, Think


def think(body: dict[str, Any]) -> Answer:
    """The answer to a request in normal form."""
    plan = decide(_request(body))
    text = _echo(body) if plan.text == UNKNOWN else plan.text
    thoughts = [Think(plan.thoughts)] if plan.thoughts else []
    piece = len(text) // len(text.split()) if plan.tick else max(3, len(text) // 20)
    said = [Say(text, piece=piece)] if text else []
    return Answer(*thoughts, *said, *(Call(name, arguments) for name, arguments in plan.calls), gap=plan.tick)


def _echo(body: dict[str, Any]) -> str:
    last = body["contents"][-1]["parts"]
    heard = " ".join(part["text"] for part in last if part.get("text")) or "no text"
    seen = [part["inline_data"]["mime_type"] for part in last if "inline_data" in part]
    return f"Loopback Gemini heard: {heard}" + (f" (with {', '.join(seen)})" if seen else "")


def _request(body: dict[str, Any]) -> CompiledRequest:
    turns = tuple(
        Turn(role=content["role"], blocks=tuple(block for part in content["parts"] if (block := _block(part))))
        for content in body["contents"]
    )
    declared = (d for tool in body.get("tools") or () for d in tool.get("function_declarations") or ())
    tools = tuple(
        ToolSpec(name=d["name"], description=d.get("description", ""), parameters=d.get("parameters_json_schema", {}))
        for d in declared
    )
    return CompiledRequest(system="", turns=turns, tools=tools)


def _block(part: dict[str, Any]) -> Block | None:
    if call := part.get("function_call"):
        return CallBlock(call_id="", name=call["name"], arguments=call.get("args") or {})
    if response := part.get("function_response"):
        said = response["response"]
        return ResultBlock(call_id="", name=response["name"], output=said.get("output", said), error=said.get("error"))
    return TextBlock(text=part["text"], thought=bool(part.get("thought"))) if part.get("text") else None
