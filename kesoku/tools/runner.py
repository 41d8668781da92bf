"""Runs one tool call. Whatever happens, there is an Outcome in the end; only a cancellation comes through.

Limits of what can be promised: a coroutine is cancelled, and with it every process that it started through
`kesoku.tools.process`. A plain function runs in a thread, and nothing can stop a thread: after a timeout or a
cancellation it is left behind, and what it returns later is dropped (complaint 47).
"""

import asyncio
import inspect
import json
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic_core import PydanticSerializationError, to_jsonable_python

from kesoku.errors import KesokuError, ToolReturn, ToolTimeout, ToolUnknown
from kesoku.messages.turn import MediaBlock
from kesoku.render.ends import clip
from kesoku.render.mask import Mask
from kesoku.tools.context import ToolContext
from kesoku.tools.patience import Late, within
from kesoku.tools.thread import in_thread
from kesoku.tools.tool import Output, Tool

DEFAULT_LIMIT = 1024 * 1024
"""Bytes that one tool call may return (decision C-33 calls it the runner's own bound)."""
SUMMARY = 200
"""Characters of a summary (decision N-12)."""

_THREAD_GRACE = 0.2
"""Seconds that the thread of a cancelled tool has for its end; most likely it does not even know."""
_FRAMES = 4
_ERROR_LIMIT = 8 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a call: always something that the model can read. No known secret is in it."""

    output: Any
    """Text or a JSON value; what there was if the tool failed."""
    summary: str
    """The cell `tool_result` of the result's metadata."""
    error: str | None
    """Set if the tool failed: what happened, and a short traceback if it was no refusal (K-012)."""
    media: tuple[MediaBlock, ...]
    """Files for the model."""
    seconds: float
    """How long it took."""


async def call(
    tools: Mapping[str, Tool],
    name: str,
    arguments: Mapping[str, Any],
    context: ToolContext,
    *,
    limit: int = DEFAULT_LIMIT,
) -> Outcome:
    """Run the tool of that name, as `run` does; the outcome of an unknown one names those that there are."""
    if (tool := tools.get(name)) is not None:
        return await run(tool, arguments, context, limit=limit)
    return _outcome(_failed(ToolUnknown(tool=name, known=tuple(tools))), context, limit, 0.0)


async def run(tool: Tool, arguments: Mapping[str, Any], context: ToolContext, *, limit: int = DEFAULT_LIMIT) -> Outcome:
    """Run `tool` within its timeout. The output has at most `limit` bytes, in text or as JSON."""
    loop = asyncio.get_running_loop()
    start = loop.time()
    try:
        output = _plain(tool, await within(_invoke(tool, arguments, context), tool.timeout))
        return _outcome(output, context, limit, loop.time() - start)
    except Late:
        late = ToolTimeout(tool=tool.name, seconds=tool.timeout)
        return _outcome(_failed(late), context, limit, loop.time() - start)
    except Exception as error:  # noqa: BLE001 - a tool may raise anything, and the turn goes on
        return _outcome(_failed(error), context, limit, loop.time() - start)


async def _invoke(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> Any:
    if inspect.iscoroutinefunction(tool.run):
        return await tool.run(arguments, context)
    return await in_thread(lambda: tool.run(arguments, context), name="kesoku-tool", grace=_THREAD_GRACE)


def _plain(tool: Tool, value: Any) -> Output:
    """`value` as an Output whose own output is text or JSON. Raises ToolReturn."""
    output = value if isinstance(value, Output) else Output(output=value)
    try:
        plain = to_jsonable_python(output.output)
        json.dumps(plain, allow_nan=False)
    except (PydanticSerializationError, ValueError) as error:
        raise ToolReturn(tool=tool.name, reason=str(error)) from error
    if not all(isinstance(each, MediaBlock) for each in output.media):
        raise ToolReturn(tool=tool.name, reason="its media are no MediaBlocks")
    return Output(output=plain, summary=output.summary, error=output.error, media=tuple(output.media))


def _failed(error: BaseException) -> Output:
    """A refusal says what to do; anything else shows where it happened."""
    if isinstance(error, KesokuError):
        return Output(output="", error=str(error))
    headline = "".join(traceback.format_exception_only(error))
    trace = "".join(traceback.format_exception(error, limit=-_FRAMES))
    return Output(output="", error=f"{headline}\n{trace}".rstrip())


def _outcome(output: Output, context: ToolContext, limit: int, seconds: float) -> Outcome:
    """Masked first and cut after, so that no half of a secret is left at a cut."""
    mask = Mask(context.secrets)
    masked = mask.value(output.output)
    text = masked if isinstance(masked, str) else json.dumps(masked, ensure_ascii=False)
    error = None if output.error is None else _bounded(mask.text(output.error), _ERROR_LIMIT)
    summary = mask.text(output.summary) if output.summary is not None else text or (error or "")
    bounded = _bounded(text, limit)
    return Outcome(
        output=bounded if isinstance(masked, str) or bounded != text else masked,
        summary=_bounded(summary[:SUMMARY]),
        error=error,
        media=output.media,
        seconds=seconds,
    )


def _bounded(text: str, limit: int = DEFAULT_LIMIT) -> str:
    """At most `limit` bytes of what a database takes: without lone surrogates and NUL."""
    return clip(text.replace("\0", "\ufffd").encode("utf-8", "replace").decode("utf-8"), limit)
