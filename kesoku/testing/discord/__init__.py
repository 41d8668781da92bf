"""A loopback Discord for tests of your own: see `LoopbackDiscord`, and `DiscordProcess` for one in another process.

`server.py` is the server, `rules.py` its options, `script.py` what can be told to fail. A request comes in by
`request.py`, and `error.py` is how it is refused. The rooms, each of which knows those behind it only:

- `process`: the server in another process;
- `people`: what people do on it;
- `rest`, `gateway`: the two interfaces that the bot talks to;
- `wire`: what there is, in JSON;
- `check`: what a request may say;
- `world`: what there is.
"""

from kesoku.testing.discord.gateway.session import Session
from kesoku.testing.discord.process.process import DiscordProcess
from kesoku.testing.discord.request import Seen, Upload
from kesoku.testing.discord.script import Broken, Fault, Hang, Limited, Lost, Refusal, Usual
from kesoku.testing.discord.server import LoopbackDiscord
from kesoku.testing.discord.world.entity import (
    Attachment,
    Channel,
    Flag,
    Guild,
    Kind,
    Member,
    Message,
    MessageType,
    Role,
    User,
)
from kesoku.testing.discord.world.interaction import Answer, Interaction

__all__ = [
    "Answer",
    "Attachment",
    "Broken",
    "Channel",
    "DiscordProcess",
    "Fault",
    "Flag",
    "Guild",
    "Hang",
    "Interaction",
    "Kind",
    "Limited",
    "LoopbackDiscord",
    "Lost",
    "Member",
    "Message",
    "MessageType",
    "Refusal",
    "Role",
    "Seen",
    "Session",
    "Upload",
    "User",
    "Usual",
]
