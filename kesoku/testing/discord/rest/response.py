"""How answers leave the server, also broken ones and none."""

import asyncio
import json
import socket
import struct
from http import HTTPStatus
from typing import Any

from aiohttp import web

from kesoku.testing.discord.request import Reply
from kesoku.testing.discord.rest.limits import Excess
from kesoku.testing.discord.script import Broken, Hang, Limited, Lost, Refusal


def response(reply: Reply) -> web.Response:
    """An answer in JSON. Discord's content type has no charset, and its client compares the whole."""
    headers = dict(reply.headers)
    if reply.status == HTTPStatus.NO_CONTENT:
        return web.Response(status=reply.status, headers=headers)
    headers["Content-Type"] = "application/json"
    return web.Response(body=json.dumps(reply.body).encode(), status=reply.status, headers=headers)


def refusal(fault: Refusal | Limited | Broken) -> Reply | web.Response:
    """The scripted error."""
    if isinstance(fault, Refusal):
        return Reply(body={"message": fault.message, "code": fault.code}, status=fault.status)
    if isinstance(fault, Broken):
        text = f"<html><body><h1>Error {fault.status}</h1></body></html>"
        return web.Response(status=fault.status, text=text, content_type="text/html")
    excess = Excess(seconds=fault.seconds, everywhere=fault.everywhere, scope=fault.scope)
    return Reply(body=excess.body, status=429, headers=excess.headers)


async def silence(request: web.Request, fault: Lost | Hang) -> web.Response:
    """No answer: the connection is reset, or stays open until the client leaves."""
    if isinstance(fault, Hang):
        await asyncio.Event().wait()
    transport: Any = request.transport
    if transport is not None:
        linger = struct.pack("ii", 1, 0)
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        transport.abort()
    return web.Response()
