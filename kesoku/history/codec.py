"""Replies of a model as JSON and back, signatures included, byte for byte (N-09, C-34).

`Step.reply` holds the form of a whole reply, `ModelSource.replay_state` of a tool call what belongs to that one call.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from kesoku.messages.freeze import FrozenDict, thaw
from kesoku.messages.turn import CallBlock, Finish, Reply, TextBlock, Usage

Said = TextBlock | CallBlock


def reply_to_json(reply: Reply) -> FrozenDict:
    """Everything but the usage, which a step stores beside it."""
    return FrozenDict(
        {
            "provider": reply.provider,
            "model": reply.model,
            "finish": reply.finish.value,
            **({} if reply.detail is None else {"detail": reply.detail}),
            **({"cure": reply.cure} if reply.cure else {}),
            **({"hint": reply.hint} if reply.hint else {}),
            "blocks": [_block_to_json(block) for block in reply.blocks],
        }
    )


def reply_from_json(data: Mapping[str, Any], usage: Usage | None = None) -> Reply:
    """The reply that `reply_to_json` wrote."""
    return Reply(
        blocks=tuple(_block_from_json(block) for block in data["blocks"]),
        provider=data["provider"],
        model=data["model"],
        finish=Finish(data["finish"]),
        detail=data.get("detail"),
        cure=data.get("cure", ""),
        hint=data.get("hint", ""),
        usage=usage or Usage(),
    )


def replay_state(call: CallBlock) -> dict[str, str] | None:
    """What the provider of a call must get back with it; None if it gave nothing."""
    return _opaque(call) or None


def call_block(call_id: str, name: str, arguments: Mapping[str, Any], state: Any) -> CallBlock:
    """A call as the provider that gave `state` made it; pass None for any other provider (D-053).

    What is no state of ours, as rows of others may hold, counts as none.
    """
    return CallBlock(call_id=call_id, name=name, arguments=arguments, **_clear(state))


def _block_to_json(block: Said) -> dict[str, Any]:
    if isinstance(block, CallBlock):
        return {
            "call_id": block.call_id,
            "name": block.name,
            "arguments": thaw(block.arguments),
            **_opaque(block),
        }
    return {"text": block.text, **({"thought": True} if block.thought else {}), **_opaque(block)}


def _block_from_json(data: Mapping[str, Any]) -> Said:
    if "call_id" in data:
        return call_block(data["call_id"], data["name"], data["arguments"], data)
    return TextBlock(text=data["text"], thought=data.get("thought", False), **_signature(data))


def _opaque(block: Said) -> dict[str, str]:
    signed = {} if block.signature is None else {"signature": b64encode(block.signature).decode()}
    wire_id = getattr(block, "wire_id", None)
    return signed | ({} if wire_id is None else {"wire_id": wire_id})


def _clear(state: Any) -> dict[str, Any]:
    data = state if isinstance(state, Mapping) else {}
    wire_id = data.get("wire_id")
    return _signature(data) | ({"wire_id": wire_id} if isinstance(wire_id, str) else {})


def _signature(data: Mapping[str, Any]) -> dict[str, bytes]:
    try:
        return {"signature": b64decode(data["signature"], validate=True)}
    except (KeyError, TypeError, ValueError):
        return {}
