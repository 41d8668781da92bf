"""What the bot does in channels: sends, edits, deletes, types, and looks up what it has sent."""

import asyncio
import contextlib
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import discord
from discord.http import Route

from kesoku.adapter import Address, DeliveryError, Outgoing, Receipt, Refused, RetryLater
from kesoku_discord import snowflake
from kesoku_discord.channels import is_post
from kesoku_discord.drawing.controls import rows_of
from kesoku_discord.wire.client import Gateway
from kesoku_discord.wire.errors import foreign_errors
from kesoku_discord.wire.http import Passage, rank_of
from kesoku_discord.wire.old_edits import OldEdits
from kesoku_discord.wire.upload import Upload, as_listed, names, upload_of

_SEND, _EDIT, _TYPING, _FIND = 50.0, 20.0, 4.0, 30.0
"""Seconds for a request, waiting for its turn included; the core allows 60."""
_CONNECTING = 5.0
_SILENT = discord.MessageFlags(suppress_notifications=True).value
_NOBODY = {"parse": [], "replied_user": False}
"""Whom a message of the bot may ping: its text comes from a model."""
_NO_VOICE = frozenset({50013, 50159, 50160, 50161, 50173})
"""Discord does not take it as a voice message; it may still be a file."""
_NO_REPLY = 160002
"""A message that refers to another one needs Read Message History; without a reference it goes out."""
_BACK = 10.0
"""Seconds by which a clock may differ from Discord's, when a message is looked for."""
_PAGE, _PAGES = 100, 10


class Outbound:
    """All of it over REST, so it goes on while the gateway connects anew. Raises kinds of DeliveryError.

    `connecting`: seconds to wait for a bot that is just logging in.
    """

    def __init__(self, *, connecting: float = _CONNECTING, old_edits: OldEdits | None = None) -> None:
        self._connecting = connecting
        self._client: Gateway | None = None
        self._there = asyncio.Event()
        self._old_edits = old_edits or OldEdits()

    @property
    def client(self) -> Gateway | None:
        """The client to send with; None while there is none."""
        return self._client

    @client.setter
    def client(self, client: Gateway | None) -> None:
        self._client = client
        (self._there.set if client else self._there.clear)()

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """Send one part. `key` is the nonce: the same one again within some minutes gives the message that is there."""
        upload = await upload_of(outgoing)
        payload = _payload(outgoing, key, beginning=self._beginning(address))
        while True:
            try:
                return _receipt(await self._post(address, payload, upload))
            except Refused as error:  # what can be left out is, once each
                code = getattr(error.__cause__, "code", None)
                if upload and upload.voice and code in _NO_VOICE:
                    upload = replace(upload, voice=None)
                elif code != _NO_REPLY or payload.pop("message_reference", None) is None:
                    raise

    async def edit(self, address: Address, platform_id: str, outgoing: Outgoing) -> None:
        """Replace the text and the controls of a message."""
        payload = {"content": outgoing.text, "components": rows_of(outgoing), "allowed_mentions": _NOBODY}
        await self._old_edits.turn(_snowflake(address.channel_id), _snowflake(platform_id))
        await self._call(_message_route("PATCH", address, platform_id), _EDIT, json=payload)

    async def delete(self, address: Address, platform_id: str) -> None:
        """Remove a message; one that is gone is fine."""
        client = await self._connected()
        channel, message = _snowflake(address.channel_id), _snowflake(platform_id)
        with foreign_errors():
            async with asyncio.timeout(_EDIT):
                with contextlib.suppress(discord.NotFound):
                    await client.http.delete_message(channel, message)  # knows the limits that go by a message's age

    async def typing(self, address: Address, on: bool) -> None:
        """Show that the bot types; Discord shows it for ten seconds, or until it writes. Never raises DeliveryError."""
        if on and self._client is not None and self._client.logged_in.is_set():
            with contextlib.suppress(DeliveryError):
                await self._call(_channel_route("POST", "typing", address), _TYPING)

    async def find(self, address: Address, outgoing: Outgoing, key: str, since: float) -> Sequence[Receipt]:
        """Our messages since then (Unix seconds) with this text and these files, the oldest first; none where the
        channel is gone."""
        client = await self._connected()
        me = str(client.user.id) if client.user else ""
        wanted = (outgoing.text.strip(), names(outgoing))
        after = snowflake.at(since - _BACK)
        found: list[Receipt] = []
        for _ in range(_PAGES):
            page = await self._history(address, after)
            found += [_receipt(each) for each in page if each["author"]["id"] == me and _look(each) == wanted]
            if len(page) < _PAGE:
                break
            after = int(page[-1]["id"])
        return found

    def _beginning(self, address: Address) -> str:
        """The message with which a thread began, which has its id; only in a forum it can be replied to in there."""
        thread = self._client.get_channel(_snowflake(address.channel_id)) if self._client else None
        return "" if is_post(thread) else address.channel_id

    async def _history(self, address: Address, after: int) -> list[dict[str, Any]]:
        query = {"after": str(after), "limit": str(_PAGE)}
        try:
            page = await self._call(_channel_route("GET", "messages", address), _FIND, params=query)
        except Refused as error:
            if isinstance(error.__cause__, discord.NotFound):
                return []
            raise
        return sorted(page, key=lambda each: int(each["id"]))

    async def _post(self, address: Address, payload: dict[str, Any], upload: Upload | None) -> dict[str, Any]:
        body: dict[str, Any] = {"json": payload}
        if upload is not None:
            flags = payload.get("flags", 0) | upload.flags
            whole = payload | {"attachments": [upload.attachment]} | ({"flags": flags} if flags else {})
            body = upload.form(json.dumps(whole))
        sent: dict[str, Any] = await self._call(_channel_route("POST", "messages", address), _SEND, **body)
        return sent

    async def _call(self, route: Route, seconds: float, **body: Any) -> Any:
        client = await self._connected()
        passage = Passage(rank=rank_of(route))
        with foreign_errors(passage):
            async with asyncio.timeout(seconds):
                return await client.http.request(route, trace_request_ctx=passage, **body)

    async def _connected(self) -> Gateway:
        """The client, once it has logged in."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._connecting):
                await self._there.wait()
                if client := self._client:
                    await client.logged_in.wait()
                    return client
        raise RetryLater(reason="the bot is not connected to Discord")


def _payload(outgoing: Outgoing, key: str, *, beginning: str) -> dict[str, Any]:
    """`beginning` is a message that stands elsewhere, and is not referred to."""
    payload: dict[str, Any] = {"nonce": key, "enforce_nonce": True, "allowed_mentions": _NOBODY}
    if outgoing.text:
        payload["content"] = outgoing.text
    if rows := rows_of(outgoing):
        payload["components"] = rows
    if outgoing.silent:
        payload["flags"] = _SILENT
    if outgoing.reply_to and outgoing.reply_to.isdecimal() and outgoing.reply_to != beginning:
        payload["message_reference"] = {"message_id": outgoing.reply_to, "fail_if_not_exists": False}
    return payload


def _look(message: dict[str, Any]) -> tuple[str, list[str]]:
    return message["content"].strip(), [as_listed(each["filename"]) for each in message.get("attachments", ())]


def _receipt(message: dict[str, Any]) -> Receipt:
    return Receipt(platform_ids=(str(message["id"]),))


def _channel_route(method: str, what: str, address: Address) -> Route:
    return Route(method, f"/channels/{{channel_id}}/{what}", channel_id=_snowflake(address.channel_id))


def _message_route(method: str, address: Address, message_id: str) -> Route:
    path = "/channels/{channel_id}/messages/{message_id}"
    return Route(method, path, channel_id=_snowflake(address.channel_id), message_id=_snowflake(message_id))


def _snowflake(text: str) -> int:
    """Raises Refused for what is no id of Discord's, such as a channel of another platform."""
    if (parsed := snowflake.parse(text)) is None:
        raise Refused(reason=f"{text!r} is no id of a channel or message on Discord")
    return parsed
