"""Routes of the bot itself and of its guilds."""

from kesoku.testing.discord.error import missing_access, unknown
from kesoku.testing.discord.request import Call, Reply
from kesoku.testing.discord.rules import Rules
from kesoku.testing.discord.wire import entity as wire_entity
from kesoku.testing.discord.world.entity import Guild, Json
from kesoku.testing.discord.world.permission import in_guild
from kesoku.testing.discord.world.world import World

_CONTENT, _CONTENT_LIMITED = 1 << 18, 1 << 19


class IdentityRoutes:
    """Who the bot is and where it is."""

    def __init__(self, world: World, rules: Rules) -> None:
        self._world, self._rules = world, rules

    def me(self, call: Call) -> Reply:
        """GET /users/@me."""
        return Reply(
            body={**wire_entity.user(self._world.bot), "mfa_enabled": False, "locale": "en-US", "verified": True}
        )

    def application(self, call: Call) -> Reply:
        """GET /oauth2/applications/@me and /applications/@me."""
        flags = _CONTENT_LIMITED if self._rules.intents_allowed else 0
        return Reply(body=wire_entity.application(self._world, flags=flags))

    def guilds(self, call: Call) -> Reply:
        """GET /users/@me/guilds."""
        bot = self._world.bot
        shown: list[Json] = [
            {
                "id": str(each.id),
                "name": each.name,
                "icon": None,
                "owner": each.owner is bot,
                "permissions": str(in_guild(each, each.members[bot.id])),
                "features": [],
            }
            for each in self._world.guilds.values()
            if bot.id in each.members
        ]
        return Reply(body=shown)

    def guild(self, call: Call) -> Reply:
        """GET /guilds/{}."""
        return Reply(body=wire_entity.guild(self._world, self._guild(call)))

    def channels(self, call: Call) -> Reply:
        """GET /guilds/{}/channels: without threads."""
        found = [each for each in self._world.of_guild(self._guild(call)) if not each.kind.is_thread]
        return Reply(body=[wire_entity.channel(self._world, each) for each in found])

    def threads(self, call: Call) -> Reply:
        """GET /guilds/{}/threads/active."""
        found = self._world.threads(self._guild(call))
        return Reply(body={"threads": [wire_entity.channel(self._world, each) for each in found], "members": []})

    def roles(self, call: Call) -> Reply:
        """GET /guilds/{}/roles."""
        guild = self._guild(call)
        return Reply(body=[wire_entity.role(guild, each) for each in guild.roles.values()])

    def member(self, call: Call) -> Reply:
        """GET /guilds/{}/members/{}."""
        found = self._guild(call).members.get(call.id(1))
        if found is None:
            raise unknown("Member")
        return Reply(body=wire_entity.member(found))

    def user(self, call: Call) -> Reply:
        """GET /users/{}."""
        found = self._world.users.get(call.id())
        if found is None:
            raise unknown("User")
        return Reply(body=wire_entity.user(found))

    def gateway(self, call: Call) -> Reply:
        """GET /gateway."""
        return Reply(body={"url": self._rules.gateway_url})

    def gateway_bot(self, call: Call) -> Reply:
        """GET /gateway/bot."""
        limit = {"total": 1000, "remaining": 999, "reset_after": 14_400_000, "max_concurrency": 1}
        return Reply(body={"url": self._rules.gateway_url, "shards": self._rules.shards, "session_start_limit": limit})

    def _guild(self, call: Call) -> Guild:
        found = self._world.guilds.get(call.id())
        if found is None:
            raise unknown("Guild")
        if self._world.bot.id not in found.members:
            raise missing_access()
        return found
