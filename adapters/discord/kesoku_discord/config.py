"""`[adapters.discord]`: what a Discord bot can be told in the config file."""

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr

from kesoku.adapter import AdapterConfig
from kesoku_discord import snowflake

TOKEN_VARIABLE = "DISCORD_TOKEN"  # noqa: S105  the name of a variable
"""Where the token is looked for when the config has none."""
Reason = Literal["mention", "reply", "direct", "thread"]
"""Why a message is meant for the bot."""


def _snowflake(text: str) -> str:
    if not snowflake.parse(text):
        raise ValueError(f"{text!r} is no Discord id; right-click the channel with developer mode on, and copy its id")
    return text


def _address(schemes: tuple[str, ...], example: str) -> AfterValidator:
    def check(text: str) -> str:
        parts = urlsplit(text)
        if parts.scheme not in schemes or not parts.hostname:
            raise ValueError(f"{text!r} is no address such as {example!r}")
        return text.rstrip("/")

    return AfterValidator(check)


Snowflake = Annotated[str, AfterValidator(_snowflake)]


class ChannelConfig(BaseModel):
    """`[adapters.discord.channels.ID]`: what is different in one channel and its threads."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    respond: Literal["always", "addressed", "never"] = "always"
    """Which messages are answered here: all of them, those that the bot's `respond` says, or none."""
    auto_thread: bool | None = None
    """Whether each message here begins a thread; when left out, as the bot's `auto_thread` says."""
    model: str = ""
    """The model that answers here; empty: the bot's."""
    role: str = ""
    """The role that the bot plays here, a `[roles.NAME]` table; empty: the bot's."""


class DiscordConfig(AdapterConfig):
    """`[adapters.discord]`."""

    token: SecretStr | None = None
    """The bot's token; when left out, DISCORD_TOKEN of the environment."""
    respond: tuple[Reason, ...] = ("mention", "reply", "direct", "thread")
    """What is meant for the bot: messages that mention it, that reply to it, direct ones, and all in its threads."""
    channels: dict[Snowflake, ChannelConfig] = Field(default_factory=dict)
    """What is different in single channels, by their ids."""
    auto_thread: bool = False
    """Whether a message in a plain channel begins a thread in which it is answered."""
    thread_archive_minutes: Literal[60, 1440, 4320, 10080] = 1440
    """After how many quiet minutes Discord puts such a thread away."""
    thread_failure: Literal["channel", "refuse"] = "channel"
    """Where no thread can be made: answer in the channel, with one line that says so, or say only why not."""
    catch_up_hours: float = Field(default=24.0, ge=0.0, le=336.0)
    """How old a message may be that was written while the bot was away; 0 reads nothing up."""
    catch_up_messages: int = Field(default=200, ge=0, le=10_000)
    """How many messages of one channel are looked through for that."""
    attachment_bytes: int = Field(default=25_000_000, ge=0)
    """Size of one file that is taken in; `limits.file_bytes` holds, too."""
    stream_answer: bool = True
    """Whether the status message shows the beginning of the answer while it is written."""
    metrics: Literal["footer", "header", "off"] = "footer"
    """Where an answer says what its turn took: tokens, tools, seconds."""
    buttons: bool = True
    """Whether Stop stands under the status message, and Retry, Context and Trace under answers."""
    wide_tables: Literal["picture", "list"] = "picture"
    """How a table is shown that is too wide for a code block."""
    proxy: Annotated[str, _address(("http", "https"), "http://proxy.example.org:3128")] | None = None
    """An HTTP proxy; when left out, HTTPS_PROXY of the environment."""
    api_base_url: Annotated[str, _address(("http", "https"), "https://discord.com/api/v10")] = (
        "https://discord.com/api/v10"
    )
    """Where the REST interface is, version included; where that lacks and nothing is found, `/api/v10` is added."""
    gateway_url: Annotated[str, _address(("ws", "wss"), "wss://gateway.discord.gg")] = "wss://gateway.discord.gg"
    """Where the gateway is; another one than Discord's own is also resumed here, or at what it names on this host."""

    def channel(self, channel_id: str, parent_id: str | None = None) -> ChannelConfig | None:
        """What is configured for a channel, or for the one that its thread belongs to."""
        return self.channels.get(channel_id) or self.channels.get(parent_id or "")
