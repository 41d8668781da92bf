"""A `CompiledRequest` in the words of Gemini: `contents` and `config` as plain data, no SDK, no network.

Grammar: https://ai.google.dev/gemini-api/docs/function-calling and .../thought-signatures. What must hold:

- a signature goes back byte for byte on the very part that it came with; signed parts are never merged or dropped;
- a step whose first call carries no signature (another provider made it, or it was cut away) gets the documented
  stand-in there, in every turn, so that old history stays the same bytes and the provider's prefix cache hits;
- a wire id is echoed only if the provider gave one;
- results, then their media, come before any text of the same content, so that a content grows at its end only;
- the last content is the user's;
- NUL, lone surrogates and numbers that JSON lacks never leave.
"""

import hashlib
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from kesoku.llm.gemini.profile import Profile
from kesoku.messages.turn import Block, CallBlock, CompiledRequest, MediaBlock, ResultBlock, TextBlock, ToolSpec, Turn
from kesoku.render.sanitise import printable_name

STAND_IN = b"skip_thought_signature_validator"
"""The documented signature for calls that Gemini did not make itself."""

GO_ON = "[System Notification]\nGo on."
"""Said after words of the model that nobody has answered."""

_LEGAL_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")

Json = dict[str, Any]
Media = Mapping[MediaBlock, tuple[Json, ...]]
"""What each file of a request becomes: bytes, the reference of an upload, or words."""
Show = Callable[[MediaBlock], tuple[Json, ...]]
"""What stands for a file where it is named next."""
Files = Sequence[tuple[str, tuple[Json, ...]]]
"""The files of a result: name, and what stands for it."""


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


def to_contents(turns: Iterable[Turn], profile: Profile, media: Media) -> list[Json]:
    """The history, with `media` in the place of its files. A turn without any part is left out.

    A file goes out once, under its name, as people speak of it. After that a line says that it is the same one, so that
    a request never has more of it than its limits were held against.
    """
    given: set[MediaBlock] = set()

    def show(file: MediaBlock) -> tuple[Json, ...]:
        if file in given:
            return ({"text": f"[File {printable_name(file.name, 120)} again, the same as before]"},)
        given.add(file)
        return _named(file, media[file])

    written = ((turn.role, _parts(turn, profile, show)) for turn in turns)
    contents = [{"role": role, "parts": parts} for role, parts in written if parts]
    if not contents or contents[-1]["role"] == "model":
        contents.append({"role": "user", "parts": [{"text": GO_ON}]})
    return contents


def files_of(turn: Turn) -> Iterator[MediaBlock]:
    """The files of a turn, those of its results included."""
    for block in turn.blocks:
        if isinstance(block, MediaBlock):
            yield block
        elif isinstance(block, ResultBlock):
            yield from block.media


def to_config(request: CompiledRequest, profile: Profile, settings: Mapping[str, Any]) -> Json:
    """Everything beside the history. `settings`: thinking, temperature, max_output_tokens; request.options override,
    but never allow a longer reply than is configured or possible."""
    options = {key: value for key, value in request.options.items() if key in settings and value is not None}
    chosen = {**settings, **options}
    if "max_output_tokens" in options:
        longest = settings["max_output_tokens"] or profile.output
        chosen["max_output_tokens"] = min(options["max_output_tokens"], longest)
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


def _parts(turn: Turn, profile: Profile, show: Show) -> list[Json]:
    blocks = sorted(turn.blocks, key=lambda block: turn.role == "user" and not isinstance(block, ResultBlock))
    results = [
        (block, [(file.name, show(file)) for file in block.media]) for block in blocks if isinstance(block, ResultBlock)
    ]
    parts = [_response(block, profile, files) for block, files in results]
    parts += [part for block, files in results for part in _beside(block, profile, files)]
    parts += [part for block in blocks for part in _of_block(block, show)]
    calls = [block for block in blocks if isinstance(block, CallBlock)]
    if profile.signatures and calls and calls[0].signature is None:
        first = next(part for part in parts if "function_call" in part)
        first["thought_signature"] = STAND_IN
    return parts


def _named(file: MediaBlock, parts: tuple[Json, ...]) -> tuple[Json, ...]:
    """`parts` under the name of the file; words about it begin with that already."""
    if any("text" in part for part in parts):
        return parts
    return ({"text": f"[File {printable_name(file.name, 120)}]"}, *parts)


def _of_block(block: Block, show: Show) -> Iterable[Json]:
    """The parts of anything but a result."""
    if isinstance(block, TextBlock):
        return _text(block)
    if isinstance(block, MediaBlock):
        return show(block)
    if isinstance(block, CallBlock):
        call = {"name": wire_name(block.name), "args": clean(block.arguments), **_id(block.wire_id)}
        return [{"function_call": call, **_signed(block.signature)}]
    return ()


def _text(block: TextBlock) -> list[Json]:
    if not block.text and block.signature is None:
        return []
    thought = {"thought": True} if block.thought else {}
    return [{"text": clean_text(block.text), **thought, **_signed(block.signature)}]


def _response(block: ResultBlock, profile: Profile, files: Files) -> Json:
    """A result, with the pictures that the family takes there; words about its files are part of what it says."""
    said: Json = {"output": clean(block.output)}
    if block.error is not None:
        said = {"error": clean_text(block.error), **(said if block.output else {})}
    parts = [part for _, shown in files for part in shown]
    if notes := [part["text"] for part in parts if "text" in part]:
        said["notes"] = notes
    within = [part for part in parts if profile.in_result(part)]
    response: Json = {"name": wire_name(block.name), "response": said, **_id(block.wire_id)}
    return {"function_response": response | ({"parts": within} if within else {})}


def _beside(block: ResultBlock, profile: Profile, files: Files) -> Iterable[Json]:
    """The files of a result that cannot be in it, each under a line that says whose it is."""
    for name, shown in files:
        parts = [part for part in shown if "text" not in part and not profile.in_result(part)]
        if parts:
            yield {"text": f"[File {printable_name(name, 120)} from the result of {wire_name(block.name)}]"}
            yield from parts


def _id(wire_id: str | None) -> Json:
    return {} if wire_id is None else {"id": wire_id}


def _signed(signature: bytes | None) -> Json:
    return {} if signature is None else {"thought_signature": signature}
