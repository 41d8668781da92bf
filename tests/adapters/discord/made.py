"""Messages as discord.py makes them of what Discord sends, without a connection."""

from typing import Any

import discord

ME = 500_000_000_000_000_001
ADA = 500_000_000_000_000_002
BOB = 500_000_000_000_000_003
GUILD = 600_000_000_000_000_001
GENERAL = 600_000_000_000_000_002
THREAD = 600_000_000_000_000_003
ADMINS = 600_000_000_000_000_004
OWN_ROLE = 600_000_000_000_000_005
MESSAGE = 700_000_000_000_000_001


def user(user_id: int, name: str, *, bot: bool = False) -> dict[str, Any]:
    """A user on the wire."""
    return {
        "id": str(user_id),
        "username": name.lower(),
        "global_name": name,
        "discriminator": "0",
        "avatar": None,
        "bot": bot,
    }


def member(**facts: Any) -> dict[str, Any]:
    """What a server adds to a user."""
    return {"roles": [], "joined_at": "2026-01-01T00:00:00+00:00", "flags": 0, **facts}


def _role(role_id: int, name: str, **facts: Any) -> dict[str, Any]:
    plain = {"permissions": "0", "position": 0, "color": 0, "hoist": False, "managed": False, "mentionable": True}
    return {"id": str(role_id), "name": name, "flags": 0, **plain, **facts}


def _guild(thread_owner: int) -> Any:
    roles = [
        _role(GUILD, "@everyone"),
        _role(ADMINS, "admins"),
        _role(OWN_ROLE, "Kesoku", managed=True, tags={"bot_id": str(ME)}),
    ]
    general = {"id": str(GENERAL), "type": 0, "name": "general", "position": 0, "permission_overwrites": []}
    archived = {"archived": False, "auto_archive_duration": 60, "archive_timestamp": "2026-01-01T00:00:00+00:00"}
    thread = {
        "id": str(THREAD),
        "parent_id": str(GENERAL),
        "owner_id": str(thread_owner),
        "guild_id": str(GUILD),
        "name": "songs",
        "type": 11,
        "message_count": 1,
        "member_count": 1,
        "thread_metadata": archived,
    }
    me = {"user": user(ME, "Kesoku", bot=True), **member()}
    lists = {"roles": roles, "channels": [general], "threads": [thread], "members": [me]}
    return {"id": str(GUILD), "name": "Band", **lists}


class Library:
    """A client that knows one server with a channel and a thread, and was never connected."""

    def __init__(self, *, thread_owner: int = ADA) -> None:
        self.client = discord.Client(intents=discord.Intents.none())
        state = self.client._connection
        state.user = discord.ClientUser(state=state, data=user(ME, "Kesoku", bot=True))  # type: ignore[arg-type]
        self.guild = state._add_guild_from_data(_guild(thread_owner))

    @property
    def me(self) -> discord.ClientUser:
        """The bot."""
        assert self.client.user is not None
        return self.client.user

    def message(
        self, text: str = "hello", *, by: int = ADA, name: str = "Ada", direct: bool = False, **facts: Any
    ) -> discord.Message:
        """A message; `facts` are more fields of it on the wire, or others."""
        data = facts_on_the_wire(text, by=by, name=name, **facts)
        if not direct:
            data = {"guild_id": str(GUILD), "member": member(), **data}
        state = self.client._connection
        channel, _ = state._get_guild_channel(data)  # type: ignore[arg-type]
        return discord.Message(state=state, channel=channel, data=data)  # type: ignore[arg-type]


def facts_on_the_wire(text: str, *, by: int = ADA, name: str = "Ada", **facts: Any) -> dict[str, Any]:
    """A message on the wire."""
    return {
        "id": str(MESSAGE),
        "channel_id": str(GENERAL),
        "author": user(by, name, bot=by == ME),
        "content": text,
        "type": 0,
        "timestamp": "2026-05-27T12:45:00+00:00",
        "edited_timestamp": None,
        "attachments": [],
        "embeds": [],
        "mentions": [],
        "mention_roles": [],
        **facts,
    }


def replying(to: dict[str, Any]) -> dict[str, Any]:
    """The fields of a message that replies to another."""
    reference = {"message_id": to["id"], "channel_id": to["channel_id"], "guild_id": str(GUILD)}
    return {"type": 19, "message_reference": reference, "referenced_message": to}


def file(name: str = "a.png", **facts: Any) -> dict[str, Any]:
    """An attachment on the wire."""
    url = f"http://127.0.0.1:9/{name}"
    return {"id": str(MESSAGE + 1), "filename": name, "size": 3, "url": url, "proxy_url": url, **facts}
