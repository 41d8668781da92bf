"""What a bot needs to get in: its token, and the proxy on the way. Pure but for the environment."""

import os
import urllib.request
from urllib.parse import urlsplit

from kesoku.adapter import LoginNeeded
from kesoku_discord.config import TOKEN_VARIABLE, DiscordConfig


def token_of(config: DiscordConfig) -> str:
    """The bot's token, of the config or the environment. Raises LoginNeeded where there is none."""
    configured = config.token.get_secret_value() if config.token else os.environ.get(TOKEN_VARIABLE, "")
    token = configured.strip().removeprefix("Bot ")
    if not token:
        raise LoginNeeded(adapter="discord", reason=f"there is no token; set {TOKEN_VARIABLE}")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise LoginNeeded(adapter="discord", reason=f"the token has characters that none has; check {TOKEN_VARIABLE}")
    return token


def proxy_of(config: DiscordConfig) -> str | None:
    """The proxy that leads to Discord: of the config, else as the environment says, NO_PROXY included."""
    if config.proxy:
        return config.proxy
    address = urlsplit(config.api_base_url)
    named = urllib.request.getproxies_environment()
    if urllib.request.proxy_bypass_environment(address.netloc, named):  # type: ignore[attr-defined]
        return None
    found = named.get(address.scheme) or named.get("all")
    return found if found and urlsplit(found).scheme in {"http", "https"} else None


def shown(address: str) -> str:
    """An address without the name and the password that may stand in it."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
