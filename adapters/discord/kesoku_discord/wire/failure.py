"""What can be raised where Discord is asked for something."""

import aiohttp
import discord

REMOTE: tuple[type[Exception], ...] = (discord.DiscordException, aiohttp.ClientError, OSError)
"""Refusals, and a line that fails; TimeoutError is an OSError."""
UNREADABLE: tuple[type[Exception], ...] = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What the library raises for an event or an answer in a form that it does not know."""
UNSURE: tuple[type[Exception], ...] = (discord.DiscordServerError, aiohttp.ClientError, OSError, *UNREADABLE)
"""After these nobody knows whether it was done."""
