"""One HTTP request for an answer, within the limits of silence: the only place that awaits the SDK's stream."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

from kesoku.llm.gemini.call import Call
from kesoku.llm.gemini.client import Sockets
from kesoku.llm.gemini.failure import foreign_errors
from kesoku.llm.gemini.wire import Json


async def chunks(
    client: Any, wire: Json, *, token: bytes | None, first: Call, idle: Callable[[], Call]
) -> AsyncGenerator[Any, None]:
    """The SDK's chunks, from the continuation `token` on. Leaving early closes the socket at once.

    `first` limits the silence before the first chunk, connecting included. `idle` is asked for the limit before each
    further one.
    Raises leaves of ModelError. The SDK would follow continuations by itself, without end and within no limit of ours.
    """
    config = {**wire["config"], "automatic_continuation": False, "continuation_token": token}
    with foreign_errors(first):
        opened = await client.aio.models.generate_content_stream(**{**wire, "config": config})
    call = first
    async with aclosing(Sockets()) as sockets, aclosing(opened) as stream:
        while True:
            sockets.watch()
            with foreign_errors(call):
                async with asyncio.timeout(call.seconds):
                    chunk = await anext(stream, None)
            if chunk is None:
                return
            yield chunk
            call = idle()
