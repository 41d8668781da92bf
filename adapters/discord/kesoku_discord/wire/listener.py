"""Who hears of what happens on Discord."""

from typing import Protocol

import discord


class Listener(Protocol):
    """Events of one channel come one after the other; what is raised is only logged."""

    async def ready(self) -> None:
        """A new session, not one that goes on: events may have been missed. Comes once for each."""
        ...

    def arrived(self, message_id: int) -> None:
        """A message came; `message` follows once those before it in its channel are done."""
        ...

    def left_out(self, message_id: int) -> None:
        """It does not follow: too much waits in that channel."""
        ...

    async def message(self, message: discord.Message) -> None:
        """Somebody wrote something, the bot itself included."""
        ...

    async def edited(self, payload: discord.RawMessageUpdateEvent) -> None:
        """A message changed, or only its link previews did."""
        ...

    async def deleted(self, payload: discord.RawMessageDeleteEvent) -> None:
        """A message is gone."""
        ...

    async def gone(self, channel_id: int) -> None:
        """A channel or thread was deleted, or is in a server that the bot was removed from."""
        ...

    async def interaction(self, interaction: discord.Interaction) -> None:
        """A command, a press or a completion; waits for nothing else, since Discord wants an answer within 3 s."""
        ...
