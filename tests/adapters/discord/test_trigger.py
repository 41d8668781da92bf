"""Which messages are meant for the bot."""

from typing import Any, get_args

import pytest

from kesoku_discord.channels import configured
from kesoku_discord.config import ChannelConfig, DiscordConfig, Reason
from kesoku_discord.inbound.heard import facts_of
from kesoku_discord.inbound.trigger import Facts, why

from .made import ADA, BOB, GENERAL, ME, MESSAGE, OWN_ROLE, THREAD, Library, facts_on_the_wire, replying, user

ALL: tuple[Reason, ...] = get_args(Reason)
PING = [user(ME, "Kesoku", bot=True)]


@pytest.mark.parametrize("reason", ALL)
def test_each_reason_counts_where_the_bot_responds_to_it(reason: Reason) -> None:
    """And nowhere else."""
    facts = Facts(**{reason: True})
    assert why(facts, ALL, None) == reason
    assert why(facts, [each for each in ALL if each != reason], None) is None


def test_what_nobody_says_to_the_bot_is_not_heard() -> None:
    """K-113: people may talk beside it."""
    assert why(Facts(), ALL, None) is None


@pytest.mark.parametrize("facts", [Facts(mine=True, mention=True, direct=True), Facts(written=False, mention=True)])
def test_its_own_messages_and_those_of_discord_are_never_heard(facts: Facts) -> None:
    """Not even where all are."""
    assert why(facts, ALL, ChannelConfig(respond="always")) is None


def test_of_a_bot_only_a_mention_in_the_text_is_heard() -> None:
    """Complaints 105 and 107: also in threads of the bot, and where every message is answered."""
    always = ChannelConfig(respond="always")
    assert why(Facts(machine=True, reply=True, thread=True, direct=True), ALL, None) is None
    assert why(Facts(machine=True, thread=True), ALL, always) is None
    assert why(Facts(machine=True, mention=True, thread=True), ALL, always) == "mention"


def test_a_channel_says_otherwise() -> None:
    """`respond` of one channel."""
    assert why(Facts(), (), ChannelConfig(respond="always")) == "channel"
    assert why(Facts(mention=True), ALL, ChannelConfig(respond="always")) == "mention"
    assert why(Facts(mention=True), ALL, ChannelConfig(respond="never")) is None
    assert why(Facts(), ALL, ChannelConfig(respond="addressed")) is None


def test_facts_of_a_plain_message() -> None:
    """Somebody talks."""
    assert facts_of(Library().message(), Library().me) == Facts()


@pytest.mark.parametrize(
    ("text", "facts", "expected"),
    [
        (f"<@{ME}> hi", {"mentions": PING}, True),
        (f"hi <@!{ME}>", {"mentions": PING}, True),
        (f"<@&{OWN_ROLE}> hi", {"mention_roles": [str(OWN_ROLE)]}, True),
        (f"`<@{ME}>`", {}, False),
        ("@everyone", {"mention_everyone": True}, False),
        (f"<@{BOB}>", {"mentions": [user(BOB, "Bob")]}, False),
    ],
)
def test_a_mention_is_one_that_stands_in_the_text(text: str, facts: dict[str, Any], expected: bool) -> None:
    """What Discord itself takes for one, and the bot's own role."""
    library = Library()
    assert facts_of(library.message(text, **facts), library.me).mention is expected


def test_the_ping_of_a_reply_is_no_mention() -> None:
    """Complaint 105."""
    library = Library()
    ours = facts_on_the_wire("hi", by=ME, name="Kesoku", id=str(MESSAGE - 1))
    facts = facts_of(library.message("thanks", mentions=PING, **replying(ours)), library.me)
    assert facts == Facts(reply=True)
    theirs = facts_on_the_wire("hi", by=BOB, name="Bob")
    assert not facts_of(library.message("thanks", **replying(theirs)), library.me).reply


@pytest.mark.parametrize("kind", [1, 6, 7, 18, 20, 21, 46])
def test_what_discord_writes_is_marked(kind: int) -> None:
    """Joins, pins, the start of a thread."""
    library = Library()
    assert not facts_of(library.message(type=kind), library.me).written


def test_machines_and_places_are_told_apart() -> None:
    """Webhooks, direct chats, threads of the bot and of others."""
    library = Library()
    assert facts_of(library.message(webhook_id="7"), library.me).machine
    assert facts_of(library.message(direct=True, channel_id="77"), library.me).direct
    assert facts_of(library.message(by=ME), library.me).mine
    assert not facts_of(library.message(channel_id=str(THREAD)), library.me).thread
    own = Library(thread_owner=ME)
    assert facts_of(own.message(channel_id=str(THREAD)), own.me).thread


def test_a_thread_goes_by_what_its_channel_says() -> None:
    """Unless it has a table of its own."""
    library = Library()
    message = library.message(channel_id=str(THREAD))
    channel, thread = ChannelConfig(model="a"), ChannelConfig(model="b")
    config = DiscordConfig(channels={str(GENERAL): channel})
    assert configured(config, THREAD, message.channel) == channel
    both = DiscordConfig(channels={str(GENERAL): channel, str(THREAD): thread})
    assert configured(both, THREAD, message.channel) == thread
    assert configured(DiscordConfig(), GENERAL, library.message(by=ADA).channel) is None
