"""What Gemini's API accepts: one normal spelling of a request, and the checks that end in its 400s.

- Names, types and nesting of the body; both spellings of names and both alphabets of base64 are taken.
- Roles, no empty content, no empty text without a signature; neither NUL nor lone surrogates, although some servers
  are more patient.
- Turns: the request ends with the user; calls come after the user, and right after them as many responses in the same
  order, with the ids that the calls had and before other parts.
- Signatures: the first call of every step of the current turn has its own, or a stand-in. A signature proves itself: it
  is a keyed hash of its part, so a moved, merged or altered part is found out. `gemini-2.*` can do without.
- Tools: different valid names, one schema each. Not both a thinking level and a budget; `gemini-2.*` knows no level and
  no files in function responses.
- Files: MIME types that the API takes, and the first bytes of images; files of the Files API must be ACTIVE.
- Caches: what is cached is not sent again, the model is the same, and all of this holds for both parts together.
- Size: 20 MiB a request, and the tokens of `input_limit`. Four bytes of text count as a token, a file as 258.
"""

import base64
import binascii
import hashlib
import hmac
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kesoku.testing.gemini.media import media
from kesoku.testing.gemini.script import Refusal, invalid, signature_refused
from kesoku.testing.gemini.shape import misfits

Json = dict[str, Any]

STAND_INS = frozenset({b"skip_thought_signature_validator", b"context_engineering_is_the_way_to_go"})
_OPAQUE = frozenset({"args", "response", "parameters_json_schema", "response_json_schema", "parameters"})
_BYTES = frozenset({"data", "thought_signature", "continuation_token"})
_DATA = frozenset({"text", "inline_data", "file_data", "function_call", "function_response"})
_PART = _DATA | {"thought", "thought_signature"}
_TOP = frozenset(
    {
        "contents",
        "system_instruction",
        "tools",
        "tool_config",
        "safety_settings",
        "cached_content",
        "generation_config",
        "continuation_token",
        "model",
    }
)
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_BAD = re.compile("[\0\ud800-\udfff]")
_KEY = b"kesoku loopback"


def normal(value: Any, key: str = "") -> Any:
    """`value` with snake_case names at the API's own levels and bytes decoded from either base64 alphabet.

    A null is as good as nothing.
    """
    if key in _OPAQUE:
        return value
    if key in _BYTES and isinstance(value, str):
        return _decoded(value)
    if isinstance(value, dict):
        named = ((_snake(name), item) for name, item in value.items() if item is not None)
        return {name: normal(item, name) for name, item in named}
    if isinstance(value, list):
        return [normal(item) for item in value]
    return value


def sign(part: Mapping[str, Any], model: str = "") -> bytes:
    """The signature that belongs to `part` (normal form): opaque bytes with all kinds of values in them.

    With `model` it is good for that model only.
    """
    call = part.get("function_call")
    said = repr(("call", call["name"], _canonical(call.get("args") or {})) if call else ("text", part.get("text", "")))
    digest = hmac.digest(_KEY + model.encode(), said.encode("utf-8", "surrogatepass"), hashlib.sha256)
    return b"\xfb\xef\xff\x00\n" + digest


def check(body: Json, *, model: str = "", bound: bool = False) -> Refusal | None:
    """The refusal that `model` would answer with, or None. `bound`: signatures are good for their model only."""
    return next(_findings(body, model, model if bound else ""), None)


def held(body: Json) -> Refusal | None:
    """The refusal of what an explicit cache would hold."""
    return next(_values(body, _TOP | {"ttl", "expire_time", "display_name"}), None)


def _findings(body: Json, model: str, signer: str) -> Iterator[Refusal]:
    yield from _values(body, _TOP)
    contents = body.get("contents")
    if not contents:
        yield invalid("* GenerateContentRequest.contents: contents is not specified")
        return
    yield from _order(contents)
    yield from _signatures(contents, signer, needed=not _old(model))
    yield from _family(body, model)


def _values(body: Json, known: frozenset[str]) -> Iterator[Refusal]:
    """What can be said of each value by itself."""
    for name in body.keys() - known:
        yield invalid(f'Invalid JSON payload received. Unknown name "{name}": Cannot find field.')
    if where := next(misfits(body), None):
        yield invalid(f"Invalid value at '{where}'")
    if bad := next(_bad_text(body), None):
        yield invalid(f"Invalid value: text with {bad}")
    yield from _tools(body)
    yield from _generation(body.get("generation_config") or {})
    for index, content in enumerate(body.get("contents") or ()):
        yield from _content(index, content)


def _family(body: Json, model: str) -> Iterator[Refusal]:
    """What older models do not know; a name of no known family may do everything."""
    if not _old(model):
        return
    if "thinking_level" in ((body.get("generation_config") or {}).get("thinking_config") or {}):
        yield invalid("Thinking level is not supported for this model.")
    responses = (response for content in body["contents"] for response in _of(content, "function_response"))
    if any(response.get("parts") for response in responses):
        yield invalid("Multimodal function response is not supported for this model.")


def _old(model: str) -> bool:
    return model.startswith("gemini-2.")


def _content(index: int, content: Json) -> Iterator[Refusal]:
    if content.get("role") not in {"user", "model"}:
        yield invalid("Please use a valid role: user, model.")
    if not content.get("parts"):
        yield invalid(f"* GenerateContentRequest.contents[{index}].parts: contents.parts must not be empty.")
    for place, part in enumerate(content.get("parts") or ()):
        where = f"contents[{index}].parts[{place}]"
        for name in part.keys() - _PART:
            yield invalid(f"Invalid JSON payload received. Unknown name \"{name}\" at '{where}': Cannot find field.")
        if len(part.keys() & _DATA) != 1:
            yield invalid(f"* GenerateContentRequest.{where}.data: required oneof field 'data' must have one value")
        if part.get("text") == "" and "thought_signature" not in part:
            yield invalid(f"Unable to submit request because {where} has an empty text parameter.")
        yield from _function_part(where, content.get("role"), part)
        yield from media(where, part)


def _function_part(where: str, role: Any, part: Json) -> Iterator[Refusal]:
    call, response = part.get("function_call"), part.get("function_response")
    if call is not None and (role != "model" or not _NAME.fullmatch(call.get("name", ""))):
        yield invalid(f"Invalid function call at '{where}'.")
    if response is not None:
        if role != "user" or not isinstance(response.get("response"), dict):
            yield invalid(f"Invalid value at '{where}.function_response.response' (Struct)")
        for inner in response.get("parts") or ():
            if inner.keys() != {"inline_data"}:
                yield invalid(f"Invalid part at '{where}.function_response.parts'")


def _order(contents: list[Json]) -> Iterator[Refusal]:
    """Turn order and pairing of calls with responses."""
    if contents[-1].get("role") != "user":
        yield invalid("Please ensure that multiturn requests end with a user role.")
    before: Json | None = None
    for content in contents:
        calls, asked = _of(content, "function_call"), _of(before, "function_call")
        if calls and (before is None or before.get("role") != "user"):
            yield invalid(
                "Please ensure that function call turn comes immediately after a user turn or after a function "
                "response turn."
            )
        yield from _pairs(asked, content)
        before = content
    if _of(before, "function_call"):
        yield invalid("Please ensure that function response turn comes immediately after a function call turn.")


def _pairs(asked: list[Json], content: Json) -> Iterator[Refusal]:
    answers = _of(content, "function_response")
    if len(asked) != len(answers):
        yield invalid(
            "Please ensure that the number of function response parts is equal to the number of function call parts "
            "of the function call turn."
        )
    if [call.get("name") for call in asked] != [answer.get("name") for answer in answers]:
        yield invalid("Please ensure that the function responses come in the order of the function calls.")
    if [call.get("id") for call in asked] != [answer.get("id") for answer in answers]:
        yield invalid("Please ensure that each function response has the id of its function call.")
    if answers and any("function_response" not in part for part in content["parts"][: len(answers)]):
        yield invalid("Please ensure that function response parts come before other parts.")


def _signatures(contents: list[Json], signer: str, *, needed: bool) -> Iterator[Refusal]:
    """Every signature belongs to its part; every step of the current turn has one on its first call."""
    spoken = [
        i for i, content in enumerate(contents) if content["role"] == "user" and not _of(content, "function_response")
    ]
    current = spoken[-1] if spoken else 0
    for index, content in enumerate(contents):
        calls = 0
        for part in content["parts"]:
            calls += "function_call" in part
            signature = part.get("thought_signature")
            if signature is None:
                if "function_call" in part and calls == 1 and index > current and needed:
                    name = part["function_call"]["name"]
                    yield invalid(
                        f"Function call is missing a thought_signature in functionCall parts: function call `{name}` "
                        f"in the `{index + 1}.` content block."
                    )
            elif not _genuine(part, signature, calls, signer):
                yield signature_refused()


def _genuine(part: Json, signature: Any, calls: int, signer: str) -> bool:
    if signature in STAND_INS:
        return "function_call" in part and calls == 1
    return isinstance(signature, bytes) and hmac.compare_digest(signature, sign(part, signer))


def _tools(body: Json) -> Iterator[Refusal]:
    declared = [d for tool in body.get("tools") or () for d in tool.get("function_declarations") or ()]
    names = [declaration.get("name", "") for declaration in declared]
    if any(not _NAME.fullmatch(name) for name in names) or len(set(names)) != len(names):
        yield invalid("* GenerateContentRequest.tools: function names must be valid and different.")
    for declaration in declared:
        schemas = declaration.keys() & {"parameters", "parameters_json_schema"}
        if len(schemas) != 1 or not isinstance(declaration[schemas.pop()], dict):
            yield invalid(f"Exactly one schema is needed for function {declaration.get('name')}.")


def _generation(config: Json) -> Iterator[Refusal]:
    thinking = config.get("thinking_config") or {}
    if {"thinking_level", "thinking_budget"} <= thinking.keys():
        yield invalid("You can only set only one of thinking budget and thinking level.")


def _of(content: Json | None, kind: str) -> list[Json]:
    return [part[kind] for part in (content or {}).get("parts") or () if kind in part]


def _bad_text(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        if found := _BAD.search(value):
            yield "NUL" if found[0] == "\0" else "a lone surrogate"
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _bad_text(name)
            yield from _bad_text(item)
    elif isinstance(value, list):
        for item in value:
            yield from _bad_text(item)


def _canonical(value: Any) -> Any:
    """A form in which equal JSON values are equal, whatever the order of names; 1 and 1.0 are the same number."""
    if isinstance(value, dict):
        return sorted((name, _canonical(item)) for name, item in value.items())
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 2**53:
        return float(value)
    return value


def _decoded(text: str) -> bytes | str:
    try:
        return base64.b64decode(text.replace("-", "+").replace("_", "/") + "=" * (-len(text) % 4), validate=True)
    except (ValueError, binascii.Error):
        return text


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])([A-Z])", lambda found: "_" + found[1].lower(), name)
