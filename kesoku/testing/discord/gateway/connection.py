"""One connection to the gateway, from HELLO to its end."""

import asyncio
import contextlib
import json
import time
import zlib
from collections import deque
from typing import Any

import aiohttp
from aiohttp import web

from kesoku.testing.discord.gateway.session import MEMBERS, PRIVILEGED, Session, Sessions, intents_of
from kesoku.testing.discord.rules import Rules
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.world.entity import Json
from kesoku.testing.discord.world.world import World

UNKNOWN_OPCODE, DECODE_ERROR, NOT_AUTHENTICATED, AUTHENTICATION_FAILED = 4001, 4002, 4003, 4004
ALREADY_AUTHENTICATED, INVALID_SEQUENCE, RATE_LIMITED, TIMED_OUT = 4005, 4007, 4008, 4009
INVALID_SHARD, INVALID_VERSION, INVALID_INTENTS, DISALLOWED_INTENTS = 4010, 4012, 4013, 4014
_EVENTS, _WINDOW = 120, 60.0
_BYTES = 4096
_GONE = {1000, 1001}
"""Codes with which a client ends its session, too."""
_OVER = {AUTHENTICATION_FAILED, INVALID_SEQUENCE, TIMED_OUT, INVALID_INTENTS, DISALLOWED_INTENTS}
"""Codes with which the server does."""


class Closed(Exception):
    """The server ends the connection with a close code."""

    def __init__(self, code: int, reason: str) -> None:
        super().__init__(reason)
        self.code, self.reason = code, reason


class Connection:
    """A websocket that speaks the protocol of the gateway."""

    def __init__(self, world: World, rules: Rules, sessions: Sessions) -> None:
        self._world, self._rules, self._sessions = world, rules, sessions
        self._frames: asyncio.Queue[Json | int] = asyncio.Queue()
        self._socket = web.WebSocketResponse(max_msg_size=1 << 20, autoping=True)
        self._transport: asyncio.Transport | None = None
        self._received: deque[float] = deque()
        self._packer: Any = None
        self._beat = time.monotonic()
        self._ended: int | None = None
        self.session: Session | None = None

    async def serve(self, request: web.Request) -> web.WebSocketResponse:
        """Until either side ends it."""
        await self._socket.prepare(request)
        self._transport = request.transport
        if request.query.get("compress") == "zlib-stream" and self._rules.compress:
            self._packer = zlib.compressobj()
        writer = asyncio.create_task(self._write())
        watch = asyncio.create_task(self._watch())
        try:
            if request.query.get("v") not in {"9", "10"} or request.query.get("encoding", "json") != "json":
                self.end(INVALID_VERSION)
            else:
                self.push({"op": 10, "d": {"heartbeat_interval": int(self._rules.heartbeat_interval * 1000)}})
            await self._read()
        finally:
            self._leave()
            for task in (writer, watch):
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError):
                    await task
        return self._socket

    def push(self, frame: Json) -> None:
        """Send a frame after those before it."""
        self._frames.put_nowait({"op": 0, "d": None, "s": None, "t": None, **frame})

    def end(self, code: int | None) -> None:
        """Close with a code after what was pushed; None breaks the connection off at once."""
        self._ended = code or 0
        if self.session is not None and self.session.line is self:
            self.session.line = None
        if code is not None:
            self._frames.put_nowait(code)
        elif self._transport is not None:
            self._transport.abort()

    def _leave(self) -> None:
        session = self.session
        if session is None or session.line not in {self, None}:
            return
        session.line = None
        over = self._socket.close_code in _GONE if self._ended is None else self._ended in _OVER
        self._sessions.left(session, over=over)

    async def _write(self) -> None:
        with contextlib.suppress(ConnectionError):
            while True:
                frame = await self._frames.get()
                if isinstance(frame, int):
                    await self._socket.close(code=frame)
                    return
                text = json.dumps(frame)
                if self._packer is None:
                    await self._socket.send_str(text)
                else:
                    packed = self._packer.compress(text.encode()) + self._packer.flush(zlib.Z_SYNC_FLUSH)
                    await self._socket.send_bytes(packed)

    async def _watch(self) -> None:
        """End a connection whose heartbeats stay away."""
        most = self._rules.heartbeat_interval + self._rules.heartbeat_grace
        while True:
            left = self._beat + most - time.monotonic()
            if left <= 0:
                self.end(TIMED_OUT)
                return
            await asyncio.sleep(left)

    async def _read(self) -> None:
        async for received in self._socket:
            if received.type not in {aiohttp.WSMsgType.TEXT, aiohttp.WSMsgType.BINARY}:
                return
            if self._ended is not None:
                continue
            try:
                self._take(received.data)
            except Closed as closed:
                self.end(closed.code)

    def _take(self, raw: str | bytes) -> None:
        data = raw.encode() if isinstance(raw, str) else raw
        if len(data) > _BYTES:
            raise Closed(DECODE_ERROR, "more than 4096 bytes")
        self._count()
        try:
            frame = json.loads(data)
            op, d = frame["op"], frame.get("d")
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise Closed(DECODE_ERROR, "no frame") from error
        if op == 1:
            self._heartbeat(d)
        elif op in {2, 6}:
            if self.session is not None:
                raise Closed(ALREADY_AUTHENTICATED, "twice")
            (self._identify if op == 2 else self._resume)(d)
        elif op not in {3, 4, 8, 31}:
            raise Closed(UNKNOWN_OPCODE, f"op {op}")
        elif self.session is None:
            raise Closed(NOT_AUTHENTICATED, "not identified")
        elif op == 8:
            self._members(self.session, d)

    def _count(self) -> None:
        now = time.monotonic()
        self._received.append(now)
        while self._received[0] <= now - _WINDOW:
            self._received.popleft()
        if len(self._received) > _EVENTS:
            raise Closed(RATE_LIMITED, "too many events")

    def _heartbeat(self, sequence: Any) -> None:
        if self.session is not None and isinstance(sequence, int) and sequence > self.session.sequence:
            raise Closed(INVALID_SEQUENCE, "a number that was never sent")
        self._beat = time.monotonic()
        if self._sessions.acknowledges:
            self.push({"op": 11})

    def _identify(self, d: Any) -> None:
        if not isinstance(d, dict) or not isinstance(d.get("properties"), dict):
            raise Closed(DECODE_ERROR, "no identify")
        self._authenticate(d)
        intents = intents_of(d.get("intents"))
        if intents is None:
            raise Closed(INVALID_INTENTS, "unknown intents")
        if intents & PRIVILEGED and not self._rules.intents_allowed:
            raise Closed(DISALLOWED_INTENTS, "privileged intents")
        shard = d.get("shard", [0, 1])
        if not (isinstance(shard, list) and len(shard) == 2 and 0 <= shard[0] < shard[1]):
            raise Closed(INVALID_SHARD, "no such shard")
        self.session = self._sessions.begin(self._world, self, intents=intents, shard=(shard[0], shard[1]))

    def _resume(self, d: Any) -> None:
        if not isinstance(d, dict) or not isinstance(d.get("seq"), int):
            raise Closed(DECODE_ERROR, "no resume")
        self._authenticate(d)
        session = self._sessions.find(str(d.get("session_id")))
        if session is None:
            self.push({"op": 9, "d": False})
            return
        if d["seq"] > session.sequence:
            raise Closed(INVALID_SEQUENCE, "a number that was never sent")
        if isinstance(session.line, Connection):
            session.line.end(4000)
        self.session = session
        self._sessions.resume(session, self, d["seq"])

    def _authenticate(self, d: Json) -> None:
        if d.get("token") != self._rules.token or self._rules.revoked:
            raise Closed(AUTHENTICATION_FAILED, "a wrong token")

    def _members(self, session: Session, d: Any) -> None:
        if not isinstance(d, dict) or not str(d.get("guild_id")).isdecimal():
            raise Closed(DECODE_ERROR, "no guild")
        guild = self._world.guilds.get(int(d["guild_id"]))
        if guild is None or (d.get("query") == "" and not session.intents & MEMBERS):
            return
        members = [wire_entity.member(each) for each in guild.members.values()]
        chunk = {"guild_id": str(guild.id), "members": members, "chunk_index": 0, "chunk_count": 1}
        session.tell("GUILD_MEMBERS_CHUNK", {**chunk, "nonce": d.get("nonce")})
