"""A loopback Discord for the real client library: strict about requests, scriptable in its faults, all recorded.

async with LoopbackDiscord() as server:
    guild = server.guild("Band")
    general, ada = server.channel("general", guild=guild), server.user("Ada")
    server.join(guild, ada)
    ...  # the client, with server.token, server.api_base_url, server.gateway_url
    await server.say(general, ada, "hello <@BOT>")
    assert [each.content for each in server.messages(general)] == ["hello <@1>", "Hello, Ada."]
"""

import contextlib
from dataclasses import dataclass, field
from typing import Self

from aiohttp import web

from kesoku.testing.discord.error import Rejected, old_edits, unauthorized, unknown_route
from kesoku.testing.discord.gateway.connection import Connection
from kesoku.testing.discord.gateway.control import GatewayControl
from kesoku.testing.discord.gateway.session import Sessions
from kesoku.testing.discord.people.people import People
from kesoku.testing.discord.people.using import Using
from kesoku.testing.discord.request import Call, Reply, Seen, read
from kesoku.testing.discord.rest.limits import EDIT, RENAME, Excess, Limits, Standing
from kesoku.testing.discord.rest.response import refusal, response, silence
from kesoku.testing.discord.rest.route import Routes, open_to_all
from kesoku.testing.discord.script import Broken, Fault, Hang, Limited, Lost, Refusal, Script
from kesoku.testing.discord.world.entity import Channel, Guild, Json
from kesoku.testing.discord.world.world import World

_API = "/api/v10"
_LARGEST = 64 * 1024 * 1024


@dataclass(kw_only=True, eq=False, repr=False)
class LoopbackDiscord(GatewayControl, People, Using):
    """An async context manager around a REST server and a gateway on 127.0.0.1."""

    api_base_url: str = field(init=False, default="")
    """Where the REST interface is, once the context is entered."""
    requests: list[Seen] = field(init=False, default_factory=list)
    """What came in, in order, refused or not; without fetched attachments."""
    unknown: list[Seen] = field(init=False, default_factory=list)
    """The requests of these for which there is no route here."""
    limited: int = field(init=False, default=0)
    """How many requests were too many; scripted ones do not count."""
    scripted_limits: int = field(init=False, default=0)
    """How many 429 the script gave."""

    def __post_init__(self) -> None:
        """Nothing is served before the context is entered."""
        self._gateway = Sessions(self)
        self._connections: set[Connection] = set()
        self.world = World(now=self.now, bot_name=self.bot_name, emit=self._emit)
        self._routes = Routes(self.world, self)
        self._limits, self._script = Limits(self.now), Script()
        self._runner: web.AppRunner | None = None

    @property
    def bot_id(self) -> int:
        """Id of the bot."""
        return self.world.bot.id

    @property
    def application_id(self) -> int:
        """Id of its application."""
        return self.world.application_id

    def script(self, *faults: Fault, on: str, channel: Channel | None = None) -> None:
        """Plan faults: one for each next request of a route, in one channel or in any.

        Raises ValueError for a route that is not known here.
        """
        if not self._routes.known(on):
            raise ValueError(f"there is no route {on!r}")
        self._script.add(faults, on, channel.id if channel else None)

    @property
    def unused(self) -> int:
        """How many scripted faults nobody met."""
        return len(self._script)

    def asked(self, route: str) -> list[Seen]:
        """The requests of a route, in the order in which they came. Raises ValueError for an unknown one."""
        if not self._routes.known(route):
            raise ValueError(f"there is no route {route!r}")
        return [each for each in self.requests if each.route == route]

    def registered(self, guild: Guild | None = None) -> list[Json]:
        """The commands for everywhere, or of one guild."""
        return self._routes.commands.registered(guild.id if guild else None)

    @property
    def commands(self) -> list[Json]:
        """The commands for everywhere."""
        return self.registered()

    @property
    def command_syncs(self) -> int:
        """How many times a list of commands was accepted."""
        return self._routes.commands.syncs

    @property
    def doubled(self) -> int:
        """How many messages were not written because of their nonce."""
        return self._routes.messages.doubled

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=_LARGEST)
        app.router.add_get("/gw", self._socket)
        app.router.add_get(r"/attachments/{channel:\d+}/{attachment:\d+}/{name}", self._attached)
        app.router.add_route("*", "/{tail:.*}", self._handle)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.1, access_log=None)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()
        host, port = self._runner.addresses[0][:2]
        self.world.files_url = f"http://{host}:{port}"
        self.api_base_url = f"{self.world.files_url}{_API}"
        self.gateway_url = f"ws://{host}:{port}/gw"
        return self

    async def __aexit__(self, kind: object, *_: object) -> None:
        await self.drop()
        if self._runner is not None:
            await self._runner.cleanup()
        if self.strict and self.unknown and kind is None:
            raise AssertionError(f"unknown routes: {[f'{each.method} {each.path}' for each in self.unknown]}")

    def _emit(self, name: str, data: Json, *, channel: Channel | None = None, guild: Guild | None = None) -> None:
        self._gateway.emit(self.world, name, data, channel=channel, guild=guild)

    async def _socket(self, request: web.Request) -> web.StreamResponse:
        connection = Connection(self.world, self, self._gateway)
        self._connections.add(connection)
        try:
            return await connection.serve(request)
        finally:
            self._connections.discard(connection)

    async def _attached(self, request: web.Request) -> web.Response:
        channel = self.world.channels.get(int(request.match_info["channel"]))
        for message in channel.messages if channel else ():
            for each in message.attachments:
                if str(each.id) == request.match_info["attachment"] and not message.deleted:
                    return web.Response(body=each.data, content_type=each.content_type.partition(";")[0])
        return web.Response(status=404, text="This content is no longer available.")

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        begin, _, path = request.raw_path.partition("?")[0].partition(_API)
        route, parts = ("", ()) if begin else self._routes.find(request.method, path)
        seen = Seen(
            method=request.method,
            route=route,
            path=path,
            at=self.now(),
            query=dict(request.query),
            headers={name.lower(): value for name, value in request.headers.items()},
        )
        self.requests.append(seen)
        call = Call(seen=seen, parts=parts)
        try:
            reply = await self._reply(request, call)
        except Rejected as error:
            reply = Reply(body=error.body, status=error.status)
        if isinstance(reply, web.Response):
            seen.status = reply.status
            return reply
        seen.status = reply.status
        return response(reply)

    async def _reply(self, request: web.Request, call: Call) -> Reply | web.Response:
        seen = call.seen
        self._enter(seen)
        await read(request, seen)
        standing = self._limit(call)
        if isinstance(standing, Excess):
            self.limited += 1
            return Reply(body=standing.body, status=429, headers=standing.headers)
        fault = self._script.next(seen.route, lambda: self._channel_of(call))
        seen.scripted = fault is not None
        if isinstance(fault, Lost | Hang):
            if fault.done:
                with contextlib.suppress(Rejected):
                    self._routes.handle(call)
            return await silence(request, fault)
        if isinstance(fault, Refusal | Limited | Broken):
            self.scripted_limits += isinstance(fault, Limited)
            return refusal(fault)
        reply = self._routes.handle(call)
        return reply if standing is None else Reply(body=reply.body, status=reply.status, headers=standing.headers)

    def _enter(self, seen: Seen) -> None:
        """Raises Rejected for a wrong token and for an unknown route."""
        given = seen.headers.get("authorization")
        if not open_to_all(seen.route) and (given != f"Bot {self.token}" or self.revoked):
            raise unauthorized()
        if not seen.route:
            self.unknown.append(seen)
            raise unknown_route(path=self._routes.has(seen.path))

    def _limit(self, call: Call) -> Standing | Excess | None:
        if not self.rate_limits:
            return None
        seen = call.seen
        if seen.route == EDIT and not self._limits.takes_old(call.parts[0], call.id(1)):
            self.limited += 1
            raise old_edits()
        renames = seen.route == RENAME and "name" in call.body
        return self._limits.take(
            seen.route, call.parts[0] if call.parts else "", renames=renames, exempt=open_to_all(seen.route)
        )

    def _channel_of(self, call: Call) -> int | None:
        """The channel that a request is about."""
        if " /channels/" in call.seen.route:
            return int(call.parts[0]) if call.parts[0].isdecimal() else None
        made = self.world.interactions.get(call.parts[1]) if len(call.parts) > 1 else None
        return made.channel.id if made else None
