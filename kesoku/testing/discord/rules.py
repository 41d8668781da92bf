"""The options of a loopback Discord."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(kw_only=True, eq=False, repr=False)
class Rules:
    """What can be set when a server is made."""

    token: str = "MTE.loopback.token"  # noqa: S105  of no real bot
    """The bot's token."""
    bot_name: str = "Nijika"
    port: int = 0
    """0 takes a free one."""
    rate_limits: bool = False
    """Whether requests are limited as Discord does."""
    compress: bool = True
    """Whether the gateway sends zlib-stream frames to who asks for it, else text."""
    heartbeat_interval: float = 41.25
    """Seconds between the heartbeats that are asked for."""
    heartbeat_grace: float = 5.0
    """Seconds by which one may be late before the connection is closed."""
    shards: int = 1
    """How many are recommended."""
    nonce_window: float = 180.0
    """Seconds for which a nonce is remembered."""
    answer_within: float = 3.0
    """Seconds for the first answer to an interaction."""
    strict: bool = False
    """Whether leaving the context fails if a route was asked for that is not known here."""
    now: Callable[[], float] = time.time
    """The clock, in seconds of the epoch."""
    gateway_url: str = field(init=False, default="")
    """Where the gateway is, once the context is entered."""
    intents_allowed: bool = field(init=False, default=True)
    """Whether the application has the privileged intents."""
    revoked: bool = field(init=False, default=False)
    """Whether the token is no longer accepted."""
