"""One run of a client, from its login to its end."""

import asyncio
import logging

import discord

from kesoku.adapter import LoginNeeded
from kesoku_discord.login import shown
from kesoku_discord.wire.client import Gateway
from kesoku_discord.wire.errors import FOREIGN, reason_of, translate

_AGAIN = 0.05
"""Seconds until what does not end is cancelled once more."""


async def serve(client: Gateway, token: str) -> None:
    """Log in and stay connected until cancelled; afterwards the client is closed and cannot be used again.

    Raises LoginNeeded when somebody has to act, ConnectionError in words for people when the login may work later, and
    whatever the library raises when the connection may.
    """
    logging.getLogger("discord.client").addFilter(_soften)
    try:
        with client.http.here():
            await _log_in(client, token)
            await _stay(client)
    except tuple(FOREIGN) as error:
        meant = translate(error)
        if isinstance(meant, LoginNeeded):
            raise meant from error
        raise
    finally:
        await client.shut()


async def _log_in(client: Gateway, token: str) -> None:
    try:
        await client.login(token)
    except discord.NotFound as error:
        address = shown(client.http.base)
        raise ConnectionError(f"what answers at {address} is not Discord; check api_base_url") from error
    except tuple(FOREIGN) as error:
        if isinstance(translate(error), LoginNeeded):
            raise
        raise ConnectionError(reason_of(error)) from error


async def _stay(client: Gateway) -> None:
    """Stay connected. Raises the library's errors, and ConnectionError after `Timing.outage`."""
    tasks = {asyncio.create_task(client.dial()), asyncio.create_task(client.connection.watch())}
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        await ended(tasks)


async def ended(tasks: set[asyncio.Task[None]]) -> None:
    """Cancel until all are over: the library may take a cancellation for one more failed attempt (Python < 3.12)."""
    while tasks:
        for task in tasks:
            task.cancel()
        _, tasks = await asyncio.wait(tasks, timeout=_AGAIN)


def _soften(record: logging.LogRecord) -> bool:
    """A drop is no error: the library logs each one as such, with a traceback, before it connects again."""
    if record.msg == "Attempting a reconnect in %.2fs" and record.exc_info and record.exc_info[1]:
        error = record.exc_info[1]
        why = reason_of(error) if isinstance(error, tuple(FOREIGN)) else type(error).__name__
        record.msg = "there is no connection: %s; the next attempt is in %.2f s"
        record.args = (why, *(record.args or ()))
        record.levelno, record.levelname, record.exc_info = logging.WARNING, "WARNING", None
    return True
