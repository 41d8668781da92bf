"""A `CompiledRequest` in the words of Gemini: `contents` and `config` as plain data, no SDK, no network.

Grammar: https://ai.google.dev/gemini-api/docs/function-calling and .../thought-signatures. What must hold:

- a signature goes back byte for byte on the very part that it came with; signed parts are never merged or dropped;
- a step whose calls carry no signature at all (another provider made it) gets the documented stand-in on its first
  call, in every turn, so that old history stays the same bytes and the provider's prefix cache hits;
- a wire id is echoed only if the provider gave one;
- results come before any text of the same content;
- NUL, lone surrogates and numbers that JSON lacks never leave.
"""

import hashlib
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from kesoku.llm.gemini.profile import Profile
from kesoku.messages.turn import Block, CallBlock, CompiledRequest, MediaBlock, ResultBlock, TextBlock, ToolSpec, Turn

STAND_IN = b"skip_thought_signature_validator"
"""The documented signature for calls that Gemini did not make itself."""

INLINE_LIMIT = 15 * 1024 * 1024
"""Raw bytes of all media in one request; base64 then stays below the API's 20 MB."""

_LEGAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Json = dict[str, Any]


def clean(value: Any) -> Any:
    """`value` as JSON that every server takes: strings valid Unicode without NUL, finite numbers, plain containers."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {clean_text(str(key)): clean(item) for key, item in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (bytes, bytearray)):
        return [clean(item) for item in value]
    return clean_text(str(value))


def clean_text(text: str) -> str:
    """`text` with NUL and lone surrogates replaced by U+FFFD; surrogate pairs become the character that they mean."""
    text = text.replace("\0", "\ufffd")
    if text.isascii():
        return text
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def wire_name(name: str) -> str:
    """`name` within Gemini's rule for function names; the same name always gives the same result."""
    if _LEGAL_NAME.fullmatch(name):
        return name
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"_{re.sub('[^A-Za-z0-9_-]', '_', name)[:50]}_{digest}"


def own_names(tools: Iterable[ToolSpec]) -> dict[str, str]:
    """Wire name -> our name, to read the calls of a reply."""
    return {wire_name(tool.name): tool.name for tool in tools}


def to_contents(turns: Iterable[Turn], profile: Profile) -> list[Json]:
    """The history. Reads media from disk, so call it in a thread. A turn without any part is left out."""
    media = _Media(profile)
    contents = ({"role": turn.role, "parts": _parts(turn, profile, media)} for turn in turns)
    return [content for content in contents if content["parts"]]


def to_config(request: CompiledRequest, profile: Profile, settings: Mapping[str, Any]) -> Json:
    """Everything beside the history. `settings`: thinking, temperature, max_output_tokens; request.options override."""
    chosen = {**settings, **{key: value for key, value in request.options.items() if key in settings}}
    config: Json = {"automatic_function_calling": {"disable": True}}
    if request.system:
        config["system_instruction"] = clean_text(request.system)
    if request.tools:
        config["tools"] = [{"function_declarations": [_declaration(tool) for tool in request.tools]}]
    if request.response_format is not None:
        config["response_mime_type"] = "application/json"
        config["response_json_schema"] = clean(request.response_format)
    if thinking := profile.thinking(chosen.get("thinking", "auto")):
        config["thinking_config"] = thinking
    config |= {key: chosen[key] for key in ("temperature", "max_output_tokens") if chosen.get(key) is not None}
    return config


def _declaration(tool: ToolSpec) -> Json:
    return {
        "name": wire_name(tool.name),
        "description": clean_text(tool.description),
        "parameters_json_schema": clean(tool.parameters),
    }


def _parts(turn: Turn, profile: Profile, media: "_Media") -> list[Json]:
    blocks = sorted(turn.blocks, key=lambda block: turn.role == "user" and not isinstance(block, ResultBlock))
    calls = [block for block in blocks if isinstance(block, CallBlock)]
    unsigned = profile.signatures and calls and not any(call.signature for call in calls)
    parts = [part for block in blocks for part in _of_block(block, media)]
    if unsigned:
        first = next(part for part in parts if "function_call" in part)
        first["thought_signature"] = STAND_IN
    if not profile.media_in_results:
        parts += [part for block in blocks if isinstance(block, ResultBlock) for part in media.parts(block.media)]
    return parts


def _of_block(block: Block, media: "_Media") -> list[Json]:
    if isinstance(block, TextBlock):
        return _text(block)
    if isinstance(block, MediaBlock):
        return media.parts((block,))
    if isinstance(block, CallBlock):
        call = {"name": wire_name(block.name), "args": clean(block.arguments), **_id(block.wire_id)}
        return [{"function_call": call, **_signed(block.signature)}]
    return [{"function_response": _response(block, media)}]


def _text(block: TextBlock) -> list[Json]:
    if not block.text and block.signature is None:
        return []
    thought = {"thought": True} if block.thought else {}
    return [{"text": clean_text(block.text), **thought, **_signed(block.signature)}]


def _response(block: ResultBlock, media: "_Media") -> Json:
    said: Json = {"output": clean(block.output)}
    if block.error is not None:
        said = {"error": clean_text(block.error), **(said if block.output else {})}
    response: Json = {"name": wire_name(block.name), "response": said, **_id(block.wire_id)}
    if media.profile.media_in_results and block.media:
        parts = media.parts(block.media)
        if inline := [part for part in parts if "inline_data" in part]:
            response["parts"] = inline
        if notes := [part["text"] for part in parts if "text" in part]:
            said["notes"] = notes
    return response


def _id(wire_id: str | None) -> Json:
    return {} if wire_id is None else {"id": wire_id}


def _signed(signature: bytes | None) -> Json:
    return {} if signature is None else {"thought_signature": signature}


class _Media:
    """Reads the media of one request and keeps count of the bytes."""

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self._left = INLINE_LIMIT

    def parts(self, blocks: Iterable[MediaBlock]) -> list[Json]:
        """One part a block: its bytes, or a text that says why the model cannot see it."""
        return [self._part(block) for block in blocks]

    def _part(self, block: MediaBlock) -> Json:
        mime_type = self.profile.media_type(block.mime_type)
        if mime_type is None:
            return _named(block, "this model does not take this type")
        try:
            if (size := Path(block.path).stat().st_size) > self._left:
                return _named(block, f"{size} bytes are too large to send")
            data = Path(block.path).read_bytes()
        except OSError as error:
            return _named(block, f"it cannot be read: {error.strerror or type(error).__name__}")
        self._left -= len(data)
        if mime_type == "text/plain":
            return {"text": f"[File {clean_text(block.name)}]\n{clean_text(data.decode('utf-8', 'replace'))}"}
        return {"inline_data": {"mime_type": mime_type, "data": data}}


def _named(block: MediaBlock, why: str) -> Json:
    return {"text": f"[File {clean_text(block.name)} ({clean_text(block.mime_type)}) is not shown: {why}]"}
