"""A loopback Discord for tests of your own: see `LoopbackDiscord`, and `DiscordProcess` for one in another process.

`server.py` is the server, `rules.py` its options. What people do on it is in `people.py` and `using.py`, what happens
to the gateway in `gateway_control.py`, what can be told to fail in `script.py`. `entity.py` and `world.py` are what
there is, `snowflake.py` makes its ids, `wire.py` and `wire_*.py` are its forms on the wire, `permission.py` says who
may do what, `mention.py` who is told of a message. A request comes in by `request.py` and `route.py`, is held against
`limits.py` and `check_*.py`, `rest_*.py` do the work with `posting.py` and `revision.py`, and `answering.py` answers;
`error.py` is how it is refused. `interaction.py` and `interactions.py` keep
what was pressed and typed. `gateway.py` is one connection to
the gateway, `session.py` what outlives it. `control.py`, `process.py` and `stats.py` drive it from outside.
"""

from kesoku.testing.discord.entity import (
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
from kesoku.testing.discord.interaction import Answer, Interaction
from kesoku.testing.discord.process import DiscordProcess
from kesoku.testing.discord.request import Seen, Upload
from kesoku.testing.discord.script import Broken, Fault, Hang, Limited, Lost, Refusal, Usual
from kesoku.testing.discord.server import LoopbackDiscord
from kesoku.testing.discord.session import Session

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
