"""What can be raised where Discord is asked for something."""

import aiohttp
import discord

REMOTE: tuple[type[Exception], ...] = (discord.DiscordException, aiohttp.ClientError, OSError)
"""Refusals, and a line that fails; TimeoutError is an OSError."""
UNSURE: tuple[type[Exception], ...] = (discord.DiscordServerError, aiohttp.ClientError, OSError)
"""After these nobody knows whether it was done."""
