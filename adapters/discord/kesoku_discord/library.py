"""What is used of discord.py that is private to it. All of it stands here, each with its reason.

`pyproject.toml` bounds the version; `test_library.py` fails where another one does these things otherwise.
"""

import asyncio
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import discord
from discord.gateway import DiscordWebSocket, KeepAliveHandler
from discord.http import HTTPClient
from discord.state import ConnectionState

C = TypeVar("C", bound=discord.Client)
Parser = Callable[[Any], None]


class State(ConnectionState[C]):
    """The library's state of a connection, which cannot go on with a session that never was.

    The library resumes whatever has broken off, also before a session had begun, and would do so for ever. And it notes
    the time of a heartbeat after that went out: an answer that is there before looks as late as the last one is old.
    """

    def _update_references(self, ws: DiscordWebSocket) -> None:
        super()._update_references(ws)
        if ws.session_id is None:
            ws.resume = ws.identify  # type: ignore[method-assign]
        send = ws.send_heartbeat

        async def timed(data: Any) -> None:
            if beating := ws._keep_alive:  # noqa: SLF001
                beating.beat()
            await send(data)

        ws.send_heartbeat = timed  # type: ignore[method-assign]


class Client(discord.Client):
    """A client whose HTTP client and parsers of events are its own. The library has no public way to give it either,
    and this is the one place between the making of its own HTTP client and the first use of that."""

    def make_http(self) -> HTTPClient:
        """The HTTP client; called once, before anything else of the client is there."""
        raise NotImplementedError

    def make_parsers(self, parsers: dict[str, Parser]) -> dict[str, Parser]:
        """What events are read with; `parsers` are the library's."""
        raise NotImplementedError

    def _get_state(self, **options: Any) -> Any:
        self.http = self.make_http()
        state: State[Client] = State(
            dispatch=self.dispatch, handlers=self._handlers, hooks=self._hooks, http=self.http, **options
        )
        state.parsers = self.make_parsers(state.parsers)
        return state


def role_ids(user: discord.User | discord.Member) -> tuple[int, ...]:
    """The ids of the roles that Discord sent with somebody. `Member.roles` names only those that the library knows
    already, and would leave out those of a server that it has not heard of yet, also where they are denied."""
    return tuple(user._roles) if isinstance(user, discord.Member) else ()  # noqa: SLF001


def message_from(client: discord.Client, channel: Any, data: Any) -> discord.Message:
    """A message out of its JSON. The library makes one of what it asked for itself, a whole page at once, so one that
    it cannot read would hide the others. Raises whatever that takes."""
    return client._connection.create_message(channel=channel, data=data)  # noqa: SLF001


def end_global_limit(http: HTTPClient) -> None:
    """Let requests go on after a limit over all routes. The library holds them until the one request that met the limit
    has slept; cancelled meanwhile, that one would never let anything go on."""
    http._global_over.set()  # noqa: SLF001


async def end_leftovers(client: discord.Client) -> None:
    """End what a closed client leaves behind: the task that waits for servers, and the thread of a heart that beats for
    a connection which was still being made."""
    state = client._connection  # noqa: SLF001
    for thread in threading.enumerate():
        if isinstance(thread, KeepAliveHandler) and thread.ws._connection is state:  # noqa: SLF001
            thread.stop()
    if waiting := state._ready_task:  # noqa: SLF001
        waiting.cancel()
        await asyncio.wait({waiting})
