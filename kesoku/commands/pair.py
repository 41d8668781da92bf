"""/pair: an admin lets somebody in who was given a code."""

from collections.abc import Iterator

from kesoku.adapter.command import Argument, Choice, Invocation
from kesoku.adapter.pairing import WELCOME, Pairing
from kesoku.commands.completion import choice, named
from kesoku.commands.here import plain_name
from kesoku.commands.registry import SlashCommand, command
from kesoku.errors import CodeExpired, CodeUnknown, NotPossible
from kesoku.messages import make
from kesoku.ports import Clock, Store, Transaction
from kesoku.render import printable_name


class Pair:
    """What the command acts on."""

    def __init__(self, *, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    def commands(self) -> tuple[SlashCommand, ...]:
        """The one."""
        code = Argument(name="code", description="the letters that the bot told them", required=True, completes=True)
        waiting = named(self._store, self._waiting)
        return (command("pair", "let somebody in who was given a code", self.pair, code, admin=True, complete=waiting),)

    async def pair(self, invocation: Invocation) -> str:
        """Let in whoever was given the code by this bot. Raises NotPossible."""
        code, at = str(invocation.arguments["code"]), self._clock.now()
        by, welcome = f"user:{invocation.principal.user_id}", make.notice(WELCOME, reason="reply")

        def admit(tx: Transaction) -> str:
            pairing = Pairing(tx, invocation.address.chatbot_id)
            try:
                guest = pairing.admit(code, by=by, welcome=welcome, at=at)
            except CodeExpired as error:
                why = f"the code of {plain_name(error.name)} has expired; whoever writes to me again gets a new one"
                raise NotPossible(what="let anybody in with this", why=why) from error
            except CodeUnknown as error:
                raise NotPossible(what="let anybody in with this", why="nobody waits with such a code") from error
            return f"{plain_name(guest.name)} (`{printable_name(guest.user_id)}`) may talk to this bot now."

        return await self._store.write(admit)

    def _waiting(self, tx: Transaction, invocation: Invocation, _: str) -> Iterator[Choice]:
        for each in Pairing(tx, invocation.address.chatbot_id).codes(self._clock.now()):
            yield choice(each.code, each.name)
