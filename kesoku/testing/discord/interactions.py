"""All interactions that there were, and how one begins."""

import secrets

from kesoku.testing.discord import wire_interaction
from kesoku.testing.discord.entity import Channel, Json, Message, User
from kesoku.testing.discord.interaction import Interaction
from kesoku.testing.discord.world import World


class Interactions:
    """All that there were, by token."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.known: dict[str, Interaction] = {}

    def begin(self, kind: int, channel: Channel, by: User, data: Json, message: Message | None = None) -> Interaction:
        """Somebody does something; the bot is told."""
        made = Interaction(
            id=self._world.snowflakes.next(),
            token=secrets.token_urlsafe(60),
            type=kind,
            channel=channel,
            by=by,
            data=data,
            message=message,
            begun=self._world.now(),
        )
        self.known[made.token] = made
        self._world.emit("INTERACTION_CREATE", wire_interaction.created(self._world, made), channel=channel)
        return made
