"""What Gemini streams, in our words: chunks in, `Delta`s out, one `Reply` at the end.

Chunks are `google.genai.types.GenerateContentResponse` or anything of that shape. Part order is kept; neighbouring
unsigned texts of one kind are joined, a signed part stays a block of its own, even with empty text. Each kind of
emptiness has its own `detail`.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from uuid_utils import uuid7

from kesoku.messages.turn import CallBlock, Delta, Finish, Reply, TextBlock, Usage

FINISHES: Mapping[str, Finish] = {
    "STOP": Finish.STOP,
    "MAX_TOKENS": Finish.CUT,
    "CONTINUATION": Finish.CUT,
    "SAFETY": Finish.BLOCKED,
    "RECITATION": Finish.BLOCKED,
    "BLOCKLIST": Finish.BLOCKED,
    "PROHIBITED_CONTENT": Finish.BLOCKED,
    "SPII": Finish.BLOCKED,
    "MODEL_ARMOR": Finish.BLOCKED,
    "IMAGE_SAFETY": Finish.BLOCKED,
    "IMAGE_PROHIBITED_CONTENT": Finish.BLOCKED,
    "IMAGE_RECITATION": Finish.BLOCKED,
    "MALFORMED_FUNCTION_CALL": Finish.MALFORMED,
    "MALFORMED_RESPONSE": Finish.MALFORMED,
    "UNEXPECTED_TOOL_CALL": Finish.MALFORMED,
    "TOO_MANY_TOOL_CALLS": Finish.MALFORMED,
    "LANGUAGE": Finish.OTHER,
    "OTHER": Finish.OTHER,
    "MISSING_THOUGHT_SIGNATURE": Finish.OTHER,
    "ESCALATION": Finish.OTHER,
    "PUP_LIMITED_DISABLED": Finish.OTHER,
    "IMAGE_OTHER": Finish.OTHER,
    "NO_IMAGE": Finish.OTHER,
}
"""Every finish reason of the API; one that is not here is OTHER and named in the detail."""

_NO_REASON = ("", "FINISH_REASON_UNSPECIFIED")


class ReplyBuilder:
    """Collects one stream. `names`: wire name -> our tool name."""

    def __init__(self, *, provider: str, model: str, names: Mapping[str, str]) -> None:
        self._provider, self._model, self._names = provider, model, names
        self._blocks: list[TextBlock | CallBlock] = []
        self._usage = Usage()
        self._reason: str | None = None
        self._message: str | None = None
        self._block: str | None = None
        self._stage = "no candidate"

    def feed(self, chunk: Any) -> Iterator[Delta]:
        """Take one chunk; what it adds for people who watch."""
        self._usage = _usage(chunk.usage_metadata) or self._usage
        self._model = chunk.model_version or self._model
        if (feedback := chunk.prompt_feedback) and feedback.block_reason:
            self._block = _why(_word(feedback.block_reason), feedback.block_reason_message)
        for candidate in (chunk.candidates or ())[:1]:
            if (reason := _word(candidate.finish_reason or "")) not in _NO_REASON:
                self._reason, self._message = reason, candidate.finish_message
            yield from self._content(candidate.content)

    def reply(self) -> Reply:
        """Everything together, after the last chunk."""
        finish, detail = self._finish()
        return Reply(
            blocks=tuple(self._blocks),
            provider=self._provider,
            model=self._model,
            finish=finish,
            detail=detail,
            usage=self._usage,
        )

    def _content(self, content: Any) -> Iterator[Delta]:
        if self._stage == "no candidate":
            self._stage = "no content"
        if content is None:
            return
        self._stage = "no part" if self._stage == "no content" else self._stage
        for part in content.parts or ():
            self._stage = ""
            yield from self._part(part)

    def _part(self, part: Any) -> Iterator[Delta]:
        signature: bytes | None = part.thought_signature or None
        if call := part.function_call:
            name = self._names.get(call.name or "", call.name or "")
            self._blocks.append(
                CallBlock(
                    call_id=f"call_{uuid7().hex}",
                    name=name,
                    arguments=call.args or {},
                    signature=signature,
                    wire_id=call.id,
                )
            )
        elif part.text or signature is not None:
            text, thought = part.text or "", bool(part.thought)
            self._text(TextBlock(text=text, thought=thought, signature=signature))
            if text:
                yield Delta(text=text, thought=thought)

    def _text(self, block: TextBlock) -> None:
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, TextBlock) and _unsigned(last) and _unsigned(block) and last.thought == block.thought:
            self._blocks[-1] = TextBlock(text=last.text + block.text, thought=block.thought)
        else:
            self._blocks.append(block)

    def _finish(self) -> tuple[Finish, str | None]:
        if self._block is not None:
            return Finish.BLOCKED, f"prompt blocked: {self._block}"
        if self._reason is None:
            empty = f", {self._stage}" if self._stage else ""
            return Finish.CUT, f"the stream ended without a finish reason{empty}"
        finish = FINISHES.get(self._reason, Finish.OTHER)
        if finish is Finish.STOP:
            return finish, self._stage or None
        return finish, _why(self._reason, self._message)


def _unsigned(block: TextBlock) -> bool:
    return block.signature is None


def _word(value: Any) -> str:
    return str(getattr(value, "value", value))


def _why(reason: str, message: str | None) -> str:
    return f"{reason}: {message}" if message else reason


def _usage(counted: Any) -> Usage | None:
    if counted is None:
        return None
    return Usage(
        prompt=(counted.prompt_token_count or 0) + (counted.tool_use_prompt_token_count or 0),
        cached=counted.cached_content_token_count or 0,
        thoughts=counted.thoughts_token_count or 0,
        answer=counted.candidates_token_count or 0,
    )
