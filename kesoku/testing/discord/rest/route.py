"""The routes that are known here."""

import re
from collections.abc import Callable, Mapping

from kesoku.testing.discord.request import Call, Reply
from kesoku.testing.discord.rest.channel import ChannelRoutes
from kesoku.testing.discord.rest.command import CommandRoutes
from kesoku.testing.discord.rest.history import HistoryRoutes
from kesoku.testing.discord.rest.identity import IdentityRoutes
from kesoku.testing.discord.rest.interaction import InteractionRoutes
from kesoku.testing.discord.rest.message import MessageRoutes
from kesoku.testing.discord.rest.reaction import ReactionRoutes
from kesoku.testing.discord.rules import Rules
from kesoku.testing.discord.world.world import World

Handler = Callable[[Call], Reply]


class Routes:
    """All of them, by names such as "POST /channels/{}/messages"."""

    def __init__(self, world: World, rules: Rules) -> None:
        self.messages = MessageRoutes(world, nonce_window=rules.nonce_window)
        self.commands = CommandRoutes(world)
        channels, identity = ChannelRoutes(world), IdentityRoutes(world, rules)
        history, reactions = HistoryRoutes(world), ReactionRoutes(world)
        answers = InteractionRoutes(world, rules)
        self._table: Mapping[str, Handler] = {
            "GET /users/@me": identity.me,
            "GET /users/@me/guilds": identity.guilds,
            "POST /users/@me/channels": channels.open_direct,
            "GET /users/{}": identity.user,
            "GET /oauth2/applications/@me": identity.application,
            "GET /applications/@me": identity.application,
            "GET /gateway": identity.gateway,
            "GET /gateway/bot": identity.gateway_bot,
            "GET /guilds/{}": identity.guild,
            "GET /guilds/{}/channels": identity.channels,
            "GET /guilds/{}/roles": identity.roles,
            "GET /guilds/{}/threads/active": identity.threads,
            "GET /guilds/{}/members/{}": identity.member,
            "GET /channels/{}": channels.one,
            "PATCH /channels/{}": channels.change,
            "POST /channels/{}/typing": channels.typing,
            "POST /channels/{}/threads": channels.thread,
            "PUT /channels/{}/thread-members/@me": channels.join,
            "GET /channels/{}/messages": history.some,
            "POST /channels/{}/messages": self.messages.create,
            "GET /channels/{}/messages/{}": history.one,
            "PATCH /channels/{}/messages/{}": self.messages.edit,
            "DELETE /channels/{}/messages/{}": self.messages.delete,
            "POST /channels/{}/messages/{}/threads": channels.thread_from_message,
            "PUT /channels/{}/messages/{}/reactions/{}/@me": reactions.react,
            "DELETE /channels/{}/messages/{}/reactions/{}/@me": reactions.unreact,
            "GET /applications/{}/commands": self.commands.get,
            "PUT /applications/{}/commands": self.commands.put,
            "GET /applications/{}/guilds/{}/commands": self.commands.get,
            "PUT /applications/{}/guilds/{}/commands": self.commands.put,
            "POST /interactions/{}/{}/callback": answers.callback,
            "POST /webhooks/{}/{}": answers.follow,
            "GET /webhooks/{}/{}/messages/@original": answers.original,
            "PATCH /webhooks/{}/{}/messages/@original": answers.edit,
            "DELETE /webhooks/{}/{}/messages/@original": answers.delete,
            "PATCH /webhooks/{}/{}/messages/{}": answers.edit,
            "DELETE /webhooks/{}/{}/messages/{}": answers.delete,
        }
        self._patterns = [(re.compile(re.escape(name).replace(r"\{\}", "([^/]+)")), name) for name in self._table]

    def known(self, name: str) -> bool:
        """Whether there is such a route."""
        return name in self._table

    def find(self, method: str, path: str) -> tuple[str, tuple[str, ...]]:
        """The name of the route and what stands in its places; "" for none."""
        for pattern, name in self._patterns:
            if found := pattern.fullmatch(f"{method} {path}"):
                return name, found.groups()
        return "", ()

    def has(self, path: str) -> bool:
        """Whether the path is one of a route, with any method."""
        return any(self.find(method, path)[0] for method in ("GET", "POST", "PUT", "PATCH", "DELETE"))

    def handle(self, call: Call) -> Reply:
        """Do the work; raises Rejected."""
        return self._table[call.seen.route](call)


def open_to_all(route: str) -> bool:
    """Whether a route wants no Authorization."""
    return route == "GET /gateway" or " /interactions/" in route or " /webhooks/" in route
