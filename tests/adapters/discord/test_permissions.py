"""What the bot needs, what it has, and the link that asks for it."""

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from kesoku_discord.config import ChannelConfig, DiscordConfig
from kesoku_discord.permissions import ALL, effective, invite, missing, needed, of_roles, optional, wished

VIEW, SEND, ATTACH, HISTORY, THREADS, IN_THREADS = 1 << 10, 1 << 11, 1 << 15, 1 << 16, 1 << 35, 1 << 38
EVERYBODY, HELPER, ME = "1", "2", "9"


def guild(everybody: int, helper: int = 0, owner: str = "5") -> dict[str, Any]:
    roles = [{"id": EVERYBODY, "permissions": str(everybody)}, {"id": HELPER, "permissions": str(helper)}]
    return {"id": EVERYBODY, "owner_id": owner, "roles": roles}


def overwrite(target: str, *, allow: int = 0, deny: int = 0) -> dict[str, Any]:
    return {"id": target, "type": 0, "allow": str(allow), "deny": str(deny)}


def held(server: dict[str, Any], *overwrites: dict[str, Any]) -> int:
    return effective(server, member_id=ME, held=[HELPER], overwrites=overwrites)


def test_a_bot_without_threads_does_not_ask_to_make_them() -> None:
    assert sorted(needed(DiscordConfig())) == [
        "Attach Files",
        "Read Message History",
        "Send Messages",
        "Send Messages in Threads",
        "View Channels",
    ]


def test_auto_threads_need_the_permission_that_invites_forget() -> None:
    """Complaint 100."""
    assert needed(DiscordConfig(auto_thread=True))["Create Public Threads"] == THREADS
    config = DiscordConfig(channels={"5": ChannelConfig(auto_thread=True)})
    assert "Create Public Threads" in needed(config, config.channel("5"))
    assert wished(config) & THREADS
    assert "Create Public Threads" not in needed(DiscordConfig(auto_thread=True), ChannelConfig(auto_thread=False))


def test_roles_add_up_and_an_administrator_has_all() -> None:
    assert of_roles(guild(VIEW, SEND), [HELPER]) == VIEW | SEND
    assert of_roles(guild(VIEW, SEND), []) == VIEW
    assert of_roles(guild(VIEW, 1 << 3), [HELPER]) == ALL


def test_the_owner_may_do_all() -> None:
    assert held(guild(0, owner=ME), overwrite(ME, deny=VIEW)) == ALL


@pytest.mark.parametrize(
    ("overwrites", "bits"),
    [
        ((), VIEW | SEND),
        ((overwrite(EVERYBODY, deny=SEND),), VIEW),
        ((overwrite(EVERYBODY, deny=SEND), overwrite(HELPER, allow=SEND)), VIEW | SEND),
        ((overwrite(HELPER, allow=SEND), overwrite(ME, deny=SEND)), VIEW),
        ((overwrite(ME, allow=ATTACH), overwrite(HELPER, deny=ATTACH)), VIEW | SEND | ATTACH),
        ((overwrite(EVERYBODY, deny=VIEW),), 0),
        ((overwrite(EVERYBODY, allow=ATTACH | 1 << 46, deny=SEND),), VIEW),
        ((overwrite("77", deny=VIEW),), VIEW | SEND),
    ],
    ids=["none", "everybody", "role", "own", "order", "hidden", "mute", "others"],
)
def test_a_channel_says_otherwise(overwrites: tuple[dict[str, Any], ...], bits: int) -> None:
    assert held(guild(VIEW | SEND), *overwrites) == bits


def test_what_lacks_is_named() -> None:
    assert missing(needed(DiscordConfig()), VIEW | SEND | HISTORY) == ["Attach Files", "Send Messages in Threads"]
    assert missing(needed(DiscordConfig()), ALL) == []


def test_the_link_asks_for_exactly_what_is_of_use() -> None:
    config = DiscordConfig(auto_thread=True)
    link = urlsplit(invite("42", wished(config)))
    assert (link.hostname, link.path) == ("discord.com", "/oauth2/authorize")
    bits = VIEW | SEND | ATTACH | HISTORY | IN_THREADS | THREADS | optional()["Send Voice Messages"]
    assert parse_qs(link.query) == {
        "client_id": ["42"],
        "permissions": [str(bits)],
        "scope": ["bot applications.commands"],
    }
