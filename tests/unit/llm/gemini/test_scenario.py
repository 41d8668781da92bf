"""Every way in which Gemini fails or ends, over the real SDK: what people read, what is retried, and how it heals."""

from dataclasses import dataclass
from typing import Any

import pytest

from kesoku.errors import (
    ModelAccessDenied,
    ModelError,
    ModelInputTooLong,
    ModelKeyRejected,
    ModelNotFound,
    ModelRateLimited,
    ModelReferenceRefused,
    ModelRequestRefused,
    ModelStreamBroken,
    ModelUnavailable,
)
from kesoku.llm.gemini.model import GeminiModel
from kesoku.messages.turn import Delta, Finish, Reply, Retry, StreamItem
from kesoku.render import duration
from kesoku.testing.gemini import LoopbackGemini
from kesoku.testing.gemini import script as s
from kesoku.testing.gemini.script import (
    Answer,
    Blocked,
    Call,
    ErrorEvent,
    Events,
    Hang,
    Part,
    Raw,
    Refusal,
    Reset,
    Say,
    Scripted,
    Think,
)
from kesoku.testing.model_contract import listen

from .conftest import HELLO, Make, event

SSE = "text/event-stream"
FINE = Answer(Say("fine"))


@dataclass(frozen=True)
class Told:
    """What comes of a scenario."""

    what: type[ModelError] | Finish
    """How it ends: with this leaf, or with a reply of this finish."""
    reads: str = ""
    """In the error's text, or the detail."""
    requests: int = 1
    text: str = ""
    """The answer's text, if there is a reply."""
    notices: tuple[str, ...] = ()
    """What people are told of the retries."""


def after(failure: Scripted, *notices: str) -> tuple[tuple[Scripted, ...], Told]:
    """One failure, then an answer."""
    return (failure, FINE), Told(Finish.STOP, requests=2, text="fine", notices=notices)


def four(failure: Scripted, what: type[ModelError], reads: str, notice: str) -> tuple[tuple[Scripted, ...], Told]:
    """The failure stays: one attempt and three retries."""
    notices = (f"{notice} in 1 s", f"{notice} in 2 s", f"{notice} in 4 s")
    return (failure,) * 4, Told(what, reads, requests=4, notices=notices)


def once(answer: Scripted, what: Any, reads: str, text: str = "") -> tuple[tuple[Scripted, ...], Told]:
    """No request but the one."""
    return (answer,), Told(what, reads, text=text)


BROKE, OVERLOADED = "the answer broke off; asking again", "the provider is overloaded; asking again"
NO_FINISH = "the stream ended without a finish reason"
PICTURE = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
CODE = {"executableCode": {"language": "PYTHON", "code": "1"}}

SCENARIOS: dict[str, tuple[tuple[Scripted, ...], Told]] = {
    # the key, the account, the place
    "key unknown": once(s.key_unknown(), ModelKeyRejected, "give it a valid one"),
    "key expired": once(s.key_expired(), ModelKeyRejected, "API key expired"),
    "key of no account": once(Refusal(401, "UNAUTHENTICATED", "No such."), ModelKeyRejected, "No such."),
    "key leaked": once(s.key_leaked(), ModelKeyRejected, "reported as leaked"),
    "api disabled": once(s.api_disabled(), ModelAccessDenied, "enable generativelanguage.googleapis.com"),
    "region": once(s.region_refused(), ModelAccessDenied, "this region is not served"),
    "billing": once(Refusal(400, "FAILED_PRECONDITION", "Billing."), ModelAccessDenied, "enable billing"),
    "no right": once(Refusal(403, "PERMISSION_DENIED", "No."), ModelAccessDenied, "a right is missing (No.)"),
    "model gone": once(Refusal(404, "NOT_FOUND", "models/x is not found"), ModelNotFound, "no 'gemini-3.5-flash'"),
    # the request
    "bad body": once(s.invalid("Unknown name"), ModelRequestRefused, "400 INVALID_ARGUMENT: Unknown name"),
    "bad type": once(s.invalid("Unsupported MIME type: a/b"), ModelRequestRefused, "Unsupported MIME type: a/b"),
    "too long": once(
        s.invalid("The input token count (12) exceeds the maximum number of tokens allowed (9)."),
        ModelInputTooLong,
        "12 tokens, at most 9",
    ),
    "file twice": ((s.file_refused("x"),) * 2, Told(ModelReferenceRefused, "refused a file", requests=2)),
    "signature": after(s.signature_refused()),
    "signature twice": ((s.signature_refused(),) * 2, Told(ModelReferenceRefused, "signature", requests=2)),
    "signature missing": after(Answer(finish="MISSING_THOUGHT_SIGNATURE")),
    "signature missing late": once(
        Answer(Say("so"), finish="MISSING_THOUGHT_SIGNATURE"), Finish.OTHER, "a signature of an earlier step", "so"
    ),
    "cache unasked": once(s.cache_refused(), ModelReferenceRefused, "refused a cache of an earlier request"),
    # limits: complaints 70 and 76
    "429 for a while": after(s.rate_limited(seconds=31), "rate limit; asking again in 32 s"),
    "429 without a word": after(s.exhausted(), "rate limit; asking again in 4 s"),
    "429 for long": once(s.rate_limited(seconds=600), ModelRateLimited, "try again in 10 min"),
    "429 for today": once(s.rate_limited(daily=True), ModelRateLimited, "resets at 2027-01-01 08:00 UTC, in 8 h"),
    # the provider
    "500": four(s.internal(), ModelUnavailable, "status 500", "the provider failed with status 500; asking again"),
    "503": four(s.overloaded(), ModelUnavailable, "status 503 (The model is overloaded", OVERLOADED),
    "504": after(s.too_slow(), "the provider failed with status 504; asking again in 1 s"),
    "499": after(Refusal(499, "CANCELLED", "Cancelled."), "the provider failed with status 499; asking again in 1 s"),
    "gateway's html": four(
        s.HTML_502,
        ModelUnavailable,
        "status 502 (502 Bad Gateway)",
        "the provider failed with status 502; asking again",
    ),
    "error in a list": after(Refusal(503, "UNAVAILABLE", "Busy.", array=True), f"{OVERLOADED} in 1 s"),
    # the stream: complaints 71 and 72
    "reset before headers": after(Reset(), f"{BROKE} in 1 s"),
    "reset before a chunk": after(Answer(then=Reset()), f"{BROKE} in 1 s"),
    "reset after thoughts": after(Answer(Think("hm"), then=Reset()), f"{BROKE} in 1 s"),
    "reset after a call": after(Answer(Call("f"), then=Reset()), f"{BROKE} in 1 s"),
    "reset after blanks": after(Answer(Say("\n "), then=Reset()), f"{BROKE} in 1 s"),
    "reset after text": once(Answer(Say("so"), then=Reset()), Finish.BROKEN, "the answer broke off (", "so"),
    "error before text": after(Answer(then=ErrorEvent()), f"{OVERLOADED} in 1 s"),
    "error after text": once(Answer(Say("so"), then=ErrorEvent()), Finish.BROKEN, "status 503", "so"),
    "bad error after text": once(
        Answer(Say("so"), then=ErrorEvent(400, "INVALID_ARGUMENT", "No.")), ModelRequestRefused, "400 INVALID_ARGUMENT"
    ),
    "silence at first": after(Hang(), "no answer for 1 s; asking again in 1 s"),
    "silence later": once(Answer(Say("so"), then=Hang()), Finish.BROKEN, "stopped in the middle", "so"),
    "no chunk": four(Events(), ModelStreamBroken, f"{NO_FINISH}, no chunk", BROKE),
    "no candidate": after(s.NO_CANDIDATE, f"{BROKE} in 1 s"),
    "list of no text": after(Events(([], "text", None)), f"{BROKE} in 1 s"),
    "no content": once(s.NO_CONTENT, Finish.STOP, "no content"),
    "no parts": once(s.NO_PARTS, Finish.STOP, "no part"),
    "no finish": after(Events(({"candidates": [{"index": 0}]},)), f"{BROKE} in 1 s"),
    "no finish after text": once(Answer(Say("so"), finish=None), Finish.BROKEN, NO_FINISH, "so"),
    "no finish after calls": once(Answer(Call("f"), finish=None), Finish.STOP, f"{NO_FINISH}, after complete calls"),
    "torn json": after(s.BROKEN_JSON, f"{BROKE} in 1 s"),
    "event line": after(Raw(b"event: message\ndata: {}\n\n", content_type=SSE), f"{BROKE} in 1 s"),
    "no space": after(Raw(b"data:{}\n\n", content_type=SSE), f"{BROKE} in 1 s"),
    "one newline": after(Raw(b"data: {}\ndata: {}\n\n", content_type=SSE), f"{BROKE} in 1 s"),
    "comment": after(Raw(b": keepalive\n\n", content_type=SSE), f"{BROKE} in 1 s"),
    "page of a portal": after(Raw(b"<html>fine</html>"), f"{BROKE} in 1 s"),
    "wrong shape": after(Events(({"candidates": 5},)), f"{BROKE} in 1 s"),
    "wrong content": after(Events(({"candidates": [{"content": "x"}]},)), f"{BROKE} in 1 s"),
    "wrong signature": after(Events((event({"thoughtSignature": "é"}),)), f"{BROKE} in 1 s"),
    # the model
    "cut": once(Answer(Say("par*tial"), finish="MAX_TOKENS"), Finish.CUT, "the output limit was reached", "par*tial"),
    "all thought": once(Answer(Think("hm"), finish="MAX_TOKENS", sign=False), Finish.CUT, "the output limit"),
    "blocked prompt": once(Blocked("PROHIBITED_CONTENT"), Finish.REFUSED, "the request holds prohibited content"),
    "blocked answer": once(Answer(Say("so"), finish="SAFETY"), Finish.BLOCKED, "a safety filter stopped", "so"),
    "recitation": once(Answer(finish="RECITATION"), Finish.BLOCKED, "repeated a protected text (RECITATION)"),
    "malformed call": once(Answer(finish="MALFORMED_FUNCTION_CALL"), Finish.MALFORMED, "a tool call that cannot be"),
    "unknown tool": once(Answer(finish="UNEXPECTED_TOOL_CALL"), Finish.MALFORMED, "a tool that it was not given"),
    "other": once(Answer(finish="OTHER"), Finish.OTHER, "the provider gave no closer reason (OTHER)"),
    "left out": once(
        Answer(Say("so"), Part(PICTURE), Part(CODE), Part({"newPart": {}}), sign=False),
        Finish.STOP,
        "left out: inline data (image/png), executable code, a part of an unknown kind",
        "so",
    ),
}


@pytest.mark.parametrize("name", SCENARIOS)
async def test_scenario(server: LoopbackGemini, make: Make, pauses: Any, name: str) -> None:
    script, told = SCENARIOS[name]
    silent = name.startswith("silence")
    model = make(first_chunk_seconds=0.6 if silent else 30, idle_seconds=0.3 if silent else 30)
    server.script(*script)
    seen, outcome = await watch(model)
    reply = outcome if isinstance(outcome, Reply) else None
    reads = (reply.detail or "") if reply else str(outcome)
    assert (reply.finish if reply else type(outcome)) == told.what
    assert told.reads in reads
    assert "\n" not in reads
    assert "test-key" not in reads
    assert (len(server.requests), server.unused) == (told.requests, 0)
    assert tuple(notice(item) for item in seen if isinstance(item, Retry)) == told.notices
    assert reply is None or (reply.text, shown(seen)) == (told.text, told.text)
    await pauses.sleep(12 * 3600)
    server.script(Answer(Say("fine again")))
    _, reply = await listen(model, HELLO)
    assert (reply.text, reply.finish, reply.detail) == ("fine again", Finish.STOP, None)


def notice(retry: Retry) -> str:
    """What people read of it."""
    return retry.reason if retry.wait is None else f"{retry.reason} in {duration(retry.wait)}"


async def watch(model: GeminiModel) -> tuple[list[StreamItem], Reply | ModelError]:
    """What a step shows, and how it ends."""
    seen: list[StreamItem] = []
    try:
        async for item in model.stream(HELLO):
            seen.append(item)
    except ModelError as error:
        return seen, error
    reply = seen.pop()
    assert isinstance(reply, Reply)
    return seen, reply


def shown(seen: list[StreamItem]) -> str:
    """The answer's text that stands at the end."""
    last = max((place for place, item in enumerate(seen) if isinstance(item, Retry)), default=-1)
    return "".join(item.text for item in seen[last + 1 :] if isinstance(item, Delta) and not item.thought)
