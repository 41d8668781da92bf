"""Commands in JSON to a server in another process: one object a line, one answer a line.

{"do": "say", "channel": 1, "by": 2, "text": "hello"}   ->  {"id": 3}
{"do": "nothing known"}                                 ->  {"error": "..."}
"""

import json
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from kesoku.testing.discord import script
from kesoku.testing.discord.process.stats import shown, stats
from kesoku.testing.discord.server import LoopbackDiscord
from kesoku.testing.discord.world.entity import Channel, Json, User

_FAULTS: Mapping[str, type] = {
    each.__name__: each for each in (script.Refusal, script.Limited, script.Broken, script.Lost, script.Hang)
}


class Control:
    """Does what a line says."""

    def __init__(self, server: LoopbackDiscord) -> None:
        self._server = server
        self._guild = server.guild("Loopback")
        self._does: Mapping[str, Callable[..., Awaitable[Any]]] = {
            "channel": self._channel,
            "user": self._user,
            "direct": self._direct,
            "say": self._say,
            "press": self._press,
            "command": self._command,
            "messages": self._messages,
            "everything": self._everything,
            "typing": self._typing,
            "stats": self._stats,
            "script": self._script,
            "drop": server.drop,
            "reconnect": server.reconnect,
            "invalid": server.invalid,
        }

    def greeting(self) -> Json:
        """The first line: where the server is, and who the bot is."""
        server = self._server
        return {
            "api_base_url": server.api_base_url,
            "gateway_url": server.gateway_url,
            "token": server.token,
            "bot_id": server.bot_id,
            "application_id": server.application_id,
            "guild_id": self._guild.id,
        }

    async def answer(self, line: str) -> str:
        """The answer to a line, as a line without its end."""
        try:
            asked = json.loads(line)
            does = self._does[asked.pop("do")]
            result = await does(**asked)
        except (ValueError, LookupError, TypeError, AttributeError, AssertionError) as error:
            result = {"error": f"{type(error).__name__}: {error}"}
        return json.dumps(result)

    async def _channel(self, name: str) -> Json:
        return {"id": self._server.channel(name, guild=self._guild).id}

    async def _user(self, name: str) -> Json:
        user = self._server.user(name)
        self._server.join(self._guild, user)
        return {"id": user.id}

    async def _direct(self, user: int) -> Json:
        return {"id": self._server.direct(self._who(user)).id}

    async def _say(self, channel: int, by: int, text: str, reply_to: int | None = None, ago: float = 0.0) -> Json:
        answered = self._server.world.messages[reply_to] if reply_to else None
        said = await self._server.say(self._where(channel), self._who(by), text, reply_to=answered, ago=ago)
        return {"id": said.id}

    async def _press(self, message: int, label: str, by: int, answers: int = 1, seconds: float = 5.0) -> Json:
        pressed = await self._server.press(self._server.world.messages[message], label, by=self._who(by))
        return {"answers": [each.text for each in await pressed.answered(answers, seconds=seconds)]}

    async def _command(
        self, name: str, by: int, at: int, arguments: Json | None = None, answers: int = 1, seconds: float = 5.0
    ) -> Json:
        made = await self._server.command(name, arguments, by=self._who(by), at=self._where(at))
        return {"answers": [each.text for each in await made.answered(answers, seconds=seconds)]}

    async def _messages(self, channel: int) -> list[Json]:
        return shown(self._server, self._where(channel))

    async def _everything(self, channel: int) -> list[Json]:
        found = self._server.everything(self._where(channel))
        return [{"id": each.id, "content": each.content, "deleted": each.deleted} for each in found]

    async def _typing(self, channel: int) -> list[float]:
        return self._server.typing(self._where(channel))

    async def _stats(self) -> Json:
        return stats(self._server)

    async def _script(self, fault: str, on: str, channel: int | None = None, **facts: Any) -> Json:
        self._server.script(_FAULTS[fault](**facts), on=on, channel=self._where(channel) if channel else None)
        return {"waiting": self._server.unused}

    def _where(self, channel_id: int) -> Channel:
        return self._server.world.channels[channel_id]

    def _who(self, user_id: int) -> User:
        return self._server.world.users[user_id]
