"""What the Discord adapter says about itself."""

from collections.abc import Sequence

from kesoku.adapter import Adapter, Address, Capabilities, Finding, Manifest, Pace, Presentation, Visibility
from kesoku.render import Unit
from kesoku_discord.config import DiscordConfig
from kesoku_discord.limits import MAX_FILE, MAX_TEXT

VISIBILITY = Visibility(
    user_text=Presentation.SHOWN,
    assistant_text=Presentation.SHOWN,
    thought=Presentation.LIVE,
    tool_call=Presentation.LIVE,
    tool_result=Presentation.LIVE,
    notice=Presentation.LIVE,
)
"""The Discord column of seed 004 section 5.3: replies are messages, the rest is in the status of the turn."""


def pace(address: Address) -> Pace:
    """A channel takes about five messages in five seconds, and says so in headers that the library obeys; this keeps
    single writers from bunching."""
    return Pace(scope=address.channel_id, interval=0.2)


def _create(chatbot_id: str, config: DiscordConfig) -> Adapter:
    from kesoku_discord.adapter import DiscordAdapter

    return DiscordAdapter(chatbot_id, config)


async def _doctor(chatbot_id: str, config: DiscordConfig) -> Sequence[Finding]:
    from kesoku_discord.doctor import examine, library

    return (*library(chatbot_id), *await examine(chatbot_id, config))


MANIFEST = Manifest(
    name="discord",
    title="Discord",
    extra="discord",
    config=DiscordConfig,
    capabilities=Capabilities(
        max_text=MAX_TEXT,
        unit=Unit.UTF16,
        max_file=MAX_FILE,
        edits=True,
        deletes=True,
        buttons=True,
        typing=True,
        drafts=True,
        live=True,
        media_out=True,
        key_window=60.0,
        find=True,
        catch_up=True,
        pace=pace,
    ),
    visibility=VISIBILITY,
    create=_create,
    doctor=_doctor,
)
