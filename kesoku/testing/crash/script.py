"""The model and the tools of the crash kit. The model does what its prompt says.

A prompt is a list of steps, `look 1 draw 2 then look 3 wait 20`: the calls of each step, made at once, and how
many milliseconds the model takes for it. Then comes the answer. `poison` kills the process that reads it. The first
process that comes to `halt 7` stops there, in the model, or in the tool that is called so for `pause 7`. `alter 8`
needs somebody's yes.
"""

import asyncio
import re
from collections.abc import AsyncGenerator, Sequence

from kesoku.messages.turn import CompiledRequest, MediaBlock, StreamItem, TextBlock
from kesoku.testing.crash.watch import Action, Point, Side, Watch
from kesoku.testing.model import PROVIDER, call, reply
from kesoku.tools import Effect, Output, Tool, ToolContext, tool

POISON = Point("poison", Side.ASKED)
"""Where the prompt of that name ends its worker."""
HALT = Point("halt", Side.ASKED)
"""Where a worker stops in a turn."""
_ANSWER = "{asked}: I looked, I drew, and this is the first line of what I found.\n\nThe second part is no longer."
_WAIT, _HALT, _CALL = re.compile(r"wait (\d+)"), re.compile(r"halt (\d+)"), re.compile(r"(look|draw|alter|pause) (\d+)")


class PromptDrivenModel:
    """The model: no state, so that any process goes on where another one ended."""

    name, provider = "prompt-driven", PROVIDER

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """Calls, or the answer."""
        said, done = _said(request)
        if any(text.startswith(POISON.name) for text in said):
            self._watch.end(POISON)
        asked = said[-1] if said else ""
        steps = asked.split(" then ")
        step = steps[done] if done < len(steps) else ""
        if found := _WAIT.search(step):
            await asyncio.sleep(int(found[1]) / 1000)
        self._watch.passing("model", Side.AFTER)
        if (found := _HALT.search(step)) and self._watch.first(found[0]):
            self._watch.end(HALT, Action.STOP)
        calls = [call(word, n=int(n)) for word, n in _CALL.findall(step)]
        yield reply(*calls) if calls else reply(_ANSWER.format(asked=asked))

    def count(self, request: CompiledRequest) -> int:
        """The number of blocks."""
        return sum(len(turn.blocks) for turn in request.turns)

    async def aclose(self) -> None:
        """Nothing is held."""


def tools(watch: Watch) -> Sequence[Tool]:
    """`look` returns a text, `draw` a file, `alter` asks first; `pause` stops its process. All tell when they begin."""

    def begin(context: ToolContext, **facts: str) -> None:
        watch.trace.write("ran", call=context.call_id, **facts)
        watch.passing("tool", Side.AFTER)

    @tool(effect=Effect.READ)
    async def look(n: int, context: ToolContext) -> str:
        """Look."""
        begin(context)
        return f"saw {n}"

    @tool(effect=Effect.READ)
    async def draw(n: int, context: ToolContext) -> Output:
        """Draw."""
        begin(context)
        path = context.workspace / f"{context.call_id}.txt"
        path.write_text(f"drawing {n} of {context.call_id}", encoding="utf-8")
        return Output(output="drawn", media=(MediaBlock(path=str(path), mime_type="text/plain", name=path.name),))

    @tool(effect=Effect.WRITE)
    async def alter(n: int, context: ToolContext) -> str:
        """Alter."""
        begin(context, how="allowed")
        return f"altered {n}"

    @tool(effect=Effect.READ)
    async def pause(n: int, context: ToolContext) -> str:
        """Pause."""
        begin(context)
        watch.end(HALT, Action.STOP)
        return f"paused {n}"

    return (look, draw, alter, pause)


def _said(request: CompiledRequest) -> tuple[list[str], int]:
    """The last things that people said, and how many steps the model has answered to them since."""
    done = 0
    for turn in reversed(request.turns):
        said = [block.text for block in turn.blocks if isinstance(block, TextBlock)]
        if turn.role == "user" and said:
            return said, done
        done += turn.role == "model"
    return [], done
