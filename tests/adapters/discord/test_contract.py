"""Discord keeps the contract of adapters: the real discord.py against the loopback Discord."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from kesoku.adapter import Address, Manifest
from kesoku.testing.adapter_contract import AdapterContract
from kesoku.testing.discord import Fault, Limited, LoopbackDiscord, Lost, Refusal
from kesoku.testing.rig import Rig
from kesoku.testing.waiting import until
from kesoku_discord.adapter import DiscordAdapter
from kesoku_discord.manifest import MANIFEST

from .wire_stage import QUICK, configured

SENDING = "POST /channels/{}/messages"
FAULTS: dict[str, Fault] = {
    "retry": Limited(0.05),
    "refuse": Refusal(403, 50013, "Missing Permissions"),
    "lost": Lost(done=False),
    "arrived": Lost(done=True),
}


class DiscordRig:
    """People in a channel of a guild; whoever writes mentions the bot."""

    manifest: Manifest = MANIFEST
    chatbot_id = "discord"

    def __init__(self, server: LoopbackDiscord) -> None:
        self._server = server
        self._guild = server.guild("Band")
        self._room = server.channel("room", guild=self._guild)
        self._users = {str(user.id): user for user in (server.user("Ada"), server.user("Bob"))}
        self._robot = server.user("Robot", bot=True)
        for each in (*self._users.values(), self._robot):
            server.join(self._guild, each)
        self.person, self.stranger = self._users
        self._said: dict[str, Any] = {}

    def adapter(self) -> Any:
        """One more client."""
        return DiscordAdapter(self.chatbot_id, configured(self._server), timing=QUICK)

    def address(self, room: str) -> Address:
        """There is one."""
        return Address(chatbot_id=self.chatbot_id, channel_id=str(self._room.id))

    async def say(self, room: str, text: str, *, by: str, key: str | None = None, bot: bool = False) -> str:
        """Write into the channel."""
        if key is not None:
            await self._server.redeliver(self._said[key])
            return key
        await until(self._known, what="the bot connects for the first time")
        message = await self._server.say(
            self._room, self._robot if bot else self._users[by], f"<@{self._server.bot_id}> {text}"
        )
        self._said[str(message.id)] = message
        return str(message.id)

    async def _known(self) -> bool:
        """Whether the bot was ever there: what was written before is not its business."""
        return self._server.identifies > 0

    async def choose(self, room: str, label: str, *, by: str) -> None:
        """Press the button in the newest message that has it."""
        asked = [each for each in self._server.messages(self._room) if each.components]
        await self._server.press(asked[-1], label, by=self._users[by])

    async def shown(self, room: str) -> list[str]:
        """What stands in the channel."""
        return [
            " ".join([each.content, *(file.name for file in each.attachments)])
            for each in self._server.messages(self._room)
            if each.author_id == self._server.bot_id
        ]

    async def typing(self, room: str) -> list[bool]:
        """Typing is shown from a call of it until the bot writes."""
        changes: list[bool] = []
        for seen in self._server.requests:
            if seen.method == "POST" and seen.path.endswith(f"/{self._room.id}/typing"):
                changes.append(True)
            elif seen.method == "POST" and seen.path.endswith(f"/{self._room.id}/messages") and changes[-1:] == [True]:
                changes.append(False)
        return changes

    async def fail(self, room: str, kind: str) -> None:
        """Make the next message fail."""
        self._server.script(FAULTS[kind], on=SENDING, channel=self._room)


class TestDiscord(AdapterContract):
    adapter_name = "discord"

    @pytest.fixture
    async def rig(self) -> AsyncIterator[Rig]:
        async with LoopbackDiscord() as server:
            yield DiscordRig(server)
