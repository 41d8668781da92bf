"""What a bot needs to get in: its token, the address and the proxy on the way. Pure but for the environment."""

import os
import re
import urllib.request
from urllib.parse import urlsplit

from kesoku.adapter import LoginNeeded
from kesoku_discord.config import TOKEN_VARIABLE, DiscordConfig

_API, _VERSION = "/api", "/v10"
"""What the path of the REST interface ends with."""


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


def completed(base: str) -> str | None:
    """An address of the REST interface with the end that it lacks, `/api` and the version; None if it has a version."""
    path = urlsplit(base).path
    if re.search(r"/v\d+$", path):
        return None
    return base + (_VERSION if path.endswith(_API) else _API + _VERSION)


def shown(address: str) -> str:
    """An address without the name and the password that may stand in it."""
    parts = urlsplit(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
