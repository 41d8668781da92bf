"""What Gemini streams, in our words: chunks in, `Delta`s out, one `Reply` at the end of the step.

Chunks are `google.genai.types.GenerateContentResponse` or anything of that shape. Part order is kept; neighbouring
unsigned texts of one kind are joined, a signed part stays a block of its own, even with empty text.

A step may take several requests. A continuation token is a checkpoint: a request with it goes on after the chunk that
brought it, and says again what came later. Without a token, a step that broke off begins from nothing.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from uuid_utils import uuid7

from kesoku.errors import ModelError
from kesoku.llm.gemini.ending import CONTINUES, UNSIGNED, Ending, blocked, finished, word
from kesoku.llm.gemini.wire import clean
from kesoku.messages.turn import CallBlock, Delta, Finish, Reply, TextBlock, Usage

MOST_HOPS = 8
"""How often one answer may go on in another request."""

_KINDS = (
    "inline_data",
    "file_data",
    "executable_code",
    "code_execution_result",
    "function_response",
    "tool_call",
    "tool_response",
    "audio_transcription",
)
"""Parts that a reply has no block for."""


class ReplyBuilder:
    """Collects one step. `names`: wire name -> our tool name."""

    def __init__(self, *, provider: str, model: str, names: Mapping[str, str]) -> None:
        self._provider, self._model, self._names = provider, model, names
        self._blocks: list[TextBlock | CallBlock] = []
        self._left_out: list[str] = []
        self._kept: tuple[tuple[TextBlock | CallBlock, ...], tuple[str, ...]] = ((), ())
        self._usage, self._spent = Usage(), Usage()
        self._reason, self._hops = "", 0
        self.token: bytes | None = None
        """Where the answer can go on, or None: at its beginning."""
        self.begin()

    def begin(self) -> None:
        """A request is sent, from the token on."""
        self._spent, self._usage = self.usage, Usage()
        self._hops += self._reason == CONTINUES
        self._sent = self.token
        self._reason, self._message = "", None
        self._block: Ending | None = None
        self._stage, self._half = "no chunk", ""

    def feed(self, chunk: Any) -> Iterator[Delta]:
        """Take one chunk; what it adds for people who watch."""
        self._usage = _usage(chunk.usage_metadata) or self._usage
        self._model = chunk.model_version or self._model
        self._stage = "no candidate" if self._stage == "no chunk" else self._stage
        if (feedback := chunk.prompt_feedback) and (reason := word(feedback.block_reason)):
            self._block = blocked(reason, feedback.block_reason_message)
        for candidate in (candidate for candidate in chunk.candidates or () if not candidate.index):
            yield from self._content(candidate.content)
            self._state(candidate)

    @property
    def usage(self) -> Usage:
        """Of all requests: each counts up its own, and says its sum in every chunk."""
        whole = self._spent + self._usage
        return replace(whole, last=self._usage.prompt) if self._spent.total and self._usage.prompt else whole

    @property
    def answered(self) -> bool:
        """Whether people may have seen a part of the answer itself."""
        return any(isinstance(block, TextBlock) and not block.thought and block.text.strip() for block in self._blocks)

    @property
    def resumable(self) -> bool:
        """Whether another request can make this whole without taking back an answer that has no token to go on from."""
        return self.token is not None or not self.answered

    def stands(self, error: ModelError) -> bool:
        """Whether what is there is worth a reply although `error` ended it: the request itself was not at fault."""
        return self.answered and (error.retryable or self.token is not None)

    @property
    def finished(self) -> bool:
        """Whether the model has said that this is all; what breaks afterwards breaks nothing."""
        return self._block is not None or self._reason not in {"", CONTINUES}

    @property
    def continues(self) -> bool:
        """Whether the model wants another request, and may have it: it brings a new token each time."""
        return self._reason == CONTINUES and self.token != self._sent and self._hops < MOST_HOPS

    @property
    def missing(self) -> str | None:
        """What the ended stream lacks to be an answer, or None. Calls come whole and need no finish reason."""
        calls = any(isinstance(block, CallBlock) for block in self._blocks)
        if self._block or self._reason or (calls and self.token is None):
            return None
        return f"the stream ended without a finish reason{f', {self._stage}' if self._stage else ''}"

    @property
    def unsigned(self) -> bool:
        """Whether nothing was said because a signature is missing: the same as a 400 for it."""
        return self._reason == UNSIGNED and not self.answered

    def rewind(self) -> bool:
        """Back to the token, or to the beginning; whether that takes back what people have seen."""
        seen = list(self.deltas())
        self._blocks, self._left_out = list(self._kept[0]), list(self._kept[1])
        return list(self.deltas()) != seen

    def deltas(self) -> Iterator[Delta]:
        """All that is said so far, for people who have to see it again."""
        for block in self._blocks:
            if isinstance(block, TextBlock) and block.text:
                yield Delta(text=block.text, thought=block.thought)

    def reply(self) -> Reply:
        """Everything together, after the last chunk."""
        ending = self._ending()
        left_out = f"left out: {', '.join(dict.fromkeys(self._left_out))}" if self._left_out else ""
        return self._reply(self._blocks, replace(ending, words="; ".join(filter(None, (ending.words, left_out)))))

    def broken(self, why: str) -> Reply:
        """What there is of an answer that will not be finished, without calls: there may have been more of them."""
        said = [block for block in self._blocks if isinstance(block, TextBlock)]
        return self._reply(said, Ending(finish=Finish.BROKEN, words=why))

    def _reply(self, blocks: Iterable[TextBlock | CallBlock], ending: Ending) -> Reply:
        return Reply(
            blocks=tuple(blocks),
            provider=self._provider,
            model=self._model,
            finish=ending.finish,
            detail=ending.words or None,
            cure=ending.cure,
            hint=ending.hint,
            usage=self.usage,
        )

    def _ending(self) -> Ending:
        if self._block:
            return self._block
        if not self._reason:
            return Ending(finish=Finish.STOP, words="the stream ended without a finish reason, after complete calls")
        ending = finished(self._reason, self._message, tuple(self._names.values()))
        return ending if ending.words else replace(ending, words=self._stage)

    def _state(self, candidate: Any) -> None:
        if reason := word(candidate.finish_reason):
            self._reason, self._message = reason, candidate.finish_message
        if self.finished:
            self.token = None
        elif candidate.continuation_token:
            self.token = candidate.continuation_token
            self._kept = (tuple(self._blocks), tuple(self._left_out))

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
                    arguments=clean(call.args or {}),
                    signature=signature,
                    wire_id=call.id,
                )
            )
        elif kind := _foreign_kind(part):
            self._left_out.append(kind)
        elif part.text or signature is not None:
            text, thought = self._whole(part.text or ""), bool(part.thought)
            self._text(TextBlock(text=text, thought=thought, signature=signature))
            if text:
                yield Delta(text=text, thought=thought)

    def _whole(self, text: str) -> str:
        """`text` in whole characters: half of one at the end waits for the next part, half of none is dropped."""
        text = self._half + text
        if text.isascii():
            self._half = ""
            return text
        self._half = text[-1:] if "\ud800" <= text[-1:] <= "\udbff" else ""
        data = text.removesuffix(self._half).encode("utf-16", "surrogatepass")
        return data.decode("utf-16", "ignore")

    def _text(self, block: TextBlock) -> None:
        last = self._blocks[-1] if self._blocks else None
        if isinstance(last, TextBlock) and _unsigned(last) and _unsigned(block) and last.thought == block.thought:
            self._blocks[-1] = TextBlock(text=last.text + block.text, thought=block.thought)
        else:
            self._blocks.append(block)


def _unsigned(block: TextBlock) -> bool:
    return block.signature is None


def _foreign_kind(part: Any) -> str:
    """What a part is that is neither text nor a call; '' for those."""
    for kind in _KINDS:
        if (value := getattr(part, kind, None)) is not None:
            mime_type = getattr(value, "mime_type", None)
            name = kind.replace("_", " ")
            return f"{name} ({mime_type})" if mime_type else name
    told = (part.text, part.thought, part.thought_signature)
    return "a part of an unknown kind" if all(value is None for value in told) else ""


def _usage(counted: Any) -> Usage | None:
    if counted is None:
        return None
    return Usage(
        prompt=_count(counted.prompt_token_count) + _count(counted.tool_use_prompt_token_count),
        cached=_count(counted.cached_content_token_count),
        thoughts=_count(counted.thoughts_token_count),
        answer=_count(counted.candidates_token_count),
    )


def _count(tokens: int | None) -> int:
    return max(0, tokens or 0)
