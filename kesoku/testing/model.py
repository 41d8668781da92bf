"""A chat model that says what a test wrote down for it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from typing import Any

from kesoku.errors import ModelError
from kesoku.messages.turn import CallBlock, CompiledRequest, Delta, Finish, Reply, StreamItem, TextBlock, Usage
from kesoku.testing.grammar import violations

PROVIDER = "scripted"


def thought(text: str, *, signature: bytes | None = None) -> TextBlock:
    """Reasoning."""
    return TextBlock(text=text, thought=True, signature=signature)


def call(tool: str, *, signature: bytes | None = None, wire_id: str | None = None, **arguments: Any) -> CallBlock:
    """A tool call."""
    return CallBlock(call_id=f"wire-{tool}", name=tool, arguments=arguments, signature=signature, wire_id=wire_id)


def reply(
    *blocks: str | TextBlock | CallBlock,
    finish: Finish = Finish.STOP,
    detail: str | None = None,
    cure: str = "",
    hint: str = "",
    usage: Usage | None = None,
    provider: str = PROVIDER,
) -> Reply:
    """One reply; plain strings are text."""
    return Reply(
        blocks=tuple(TextBlock(text=block) if isinstance(block, str) else block for block in blocks),
        provider=provider,
        model="m",
        finish=finish,
        detail=detail,
        cure=cure,
        hint=hint,
        usage=usage or Usage(),
    )


class Held:
    """A reply that does not come before `release` is set. `entered` says that the model was asked."""

    def __init__(self, then: Reply | None = None) -> None:
        self.then = then or reply("late")
        self.entered, self.release, self.gone = asyncio.Event(), asyncio.Event(), asyncio.Event()

    @property
    def cancelled(self) -> bool:
        """Whether the caller went away before the reply came."""
        return self.gone.is_set()


Line = str | Reply | Held | ModelError | Callable[[CompiledRequest], Reply]
"""What a script holds for one step; a plain string is an answer."""


class ScriptedModel:
    """Says its lines one after the other, streamed a word at a time; keeps every request.

    Raises AssertionError for a request outside of the grammar, and when the script is over.
    """

    def __init__(self, *lines: Line, name: str = "scripted", provider: str = PROVIDER) -> None:
        self.name, self.provider = name, provider
        self.lines = list(lines)
        self.requests: list[CompiledRequest] = []

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """The next line of the script."""
        if wrong := violations(request):
            raise AssertionError(f"the request is outside of the grammar: {wrong}")
        self.requests.append(request)
        if not self.lines:
            raise AssertionError(f"{self.name} was asked once more than its script has lines")
        said = await self._said(self.lines.pop(0), request)
        for block in said.blocks:
            for word in block.text.splitlines(keepends=True) if isinstance(block, TextBlock) else ():
                await asyncio.sleep(0)
                yield Delta(text=word, thought=getattr(block, "thought", False))
        yield said

    def count(self, request: CompiledRequest) -> int:
        """The number of blocks."""
        return sum(len(turn.blocks) for turn in request.turns)

    async def aclose(self) -> None:
        """Nothing is held."""

    async def _said(self, line: Line, request: CompiledRequest) -> Reply:
        if isinstance(line, ModelError):
            raise line
        if isinstance(line, Held):
            return await _wait(line)
        if isinstance(line, str):
            return reply(line, provider=self.provider)
        return line if isinstance(line, Reply) else line(request)


async def _wait(held: Held) -> Reply:
    held.entered.set()
    try:
        await held.release.wait()
    except asyncio.CancelledError:
        held.gone.set()
        raise
    return held.then
