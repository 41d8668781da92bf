"""Routes of application commands."""

from typing import Any

from kesoku.testing.discord.check.command import check_commands
from kesoku.testing.discord.error import Rejected, missing_access, unknown
from kesoku.testing.discord.request import Call, Reply
from kesoku.testing.discord.world.entity import Json
from kesoku.testing.discord.world.world import World

_SHOWN: Json = {
    "default_member_permissions": None,
    "nsfw": False,
    "dm_permission": True,
    "contexts": None,
    "integration_types": [0],
    "name_localizations": None,
    "description_localizations": None,
}


class CommandRoutes:
    """The commands of the bot: those for everywhere and those of single guilds."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._kept: dict[int | None, list[Json]] = {}
        self.syncs = 0
        """How many times a list was accepted."""

    def registered(self, guild_id: int | None = None) -> list[Json]:
        """Those for everywhere, or those of a guild."""
        return self._kept.get(guild_id, [])

    def put(self, call: Call) -> Reply:
        """PUT /applications/{}/commands and /applications/{}/guilds/{}/commands."""
        guild_id = self._scope(call)
        check_commands(call.seen.body)
        before = {(each["type"], each["name"]): each for each in self.registered(guild_id)}
        self._kept[guild_id] = [self._made(each, before, guild_id) for each in call.seen.body]
        self.syncs += 1
        return Reply(body=self._kept[guild_id])

    def get(self, call: Call) -> Reply:
        """GET of the same."""
        return Reply(body=self.registered(self._scope(call)))

    def _scope(self, call: Call) -> int | None:
        if call.id() != self._world.application_id:
            raise Rejected(403, 20012, "You are not authorized to perform this action on this application")
        if len(call.parts) == 1:
            return None
        guild = self._world.guilds.get(call.id(1))
        if guild is None:
            raise unknown("Guild")
        if self._world.bot.id not in guild.members:
            raise missing_access()
        return guild.id

    def _made(self, given: Json, before: dict[tuple[int, str], Json], guild_id: int | None) -> Json:
        kind = given.get("type", 1)
        known: dict[str, Any] = before.get((kind, given["name"]), {})
        made = {**_SHOWN, **given, "type": kind, "options": given.get("options") or []}
        made["application_id"] = str(self._world.application_id)
        made["id"] = known.get("id") or str(self._world.snowflakes.next())
        if guild_id is not None:
            made["guild_id"] = str(guild_id)
        same = {**known, "version": ""} == {**made, "version": ""}
        made["version"] = known["version"] if same else str(self._world.snowflakes.next())
        return made
