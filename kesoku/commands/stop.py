"""/stop: end what runs, or the turn of one message and no other."""

from collections.abc import Container

from kesoku.adapter.command import Argument, Invocation
from kesoku.commands.completion import messages, runs
from kesoku.commands.here import label, message_ever_here
from kesoku.commands.registry import SlashCommand, command
from kesoku.exchange import rest
from kesoku.exchange.kin import descendants
from kesoku.messages.lifecycle import Interruption, Session
from kesoku.messages.record import Record
from kesoku.ports import Gateway, Store, Transaction
from kesoku.render import counted

_NOTHING = "Nothing is running here."
_OVER = "That turn is over."


class Stop:
    """What the command acts on; also for commands that end what runs on their way."""

    def __init__(self, *, gateway: Gateway, store: Store) -> None:
        self._gateway, self._store = gateway, store

    def command(self) -> SlashCommand:
        """The command."""
        meant = "a message of the turn to stop; without one, all that runs and waits"
        message = Argument(name="message", description=meant, completes=True)
        complete = messages(self._store, runs)
        return command("stop", "stop what is running here", self.stop, message, complete=complete)

    async def stop(self, invocation: Invocation) -> str:
        """End the running turn of this channel, with what was queued behind it and the agents that work for it; or the
        turn of a message, with nothing else. A turn that is over stays as it is, whatever runs by now."""
        session = await self._store.read(lambda tx: tx.sessions.bound(invocation.address))
        if session is None:
            return _NOTHING
        given, by = str(invocation.arguments.get("message") or ""), invocation.principal.user_id
        if given:
            return await self._stop_turn(session, given, by)
        ended, agents = await self.end(session, by, reason="stopped", queued=True)
        if not ended.interrupted and not ended.withdrawn and not agents:
            await self._store.write(lambda tx: rest.wake_again(tx, session.id))
            return _NOTHING
        waited = f", and {counted(len(ended.withdrawn), 'waiting message')} cancelled" if ended.withdrawn else ""
        return f"Stopped{_with(agents)}{waited}."

    async def end(self, session: Session, by: str, *, reason: str, queued: bool) -> tuple[Interruption, int]:
        """End what a conversation does, and what agents do that were given work there, directly or not; and how many
        of these did anything. Mail begins no turn of theirs until somebody speaks: else it would at once."""
        await self._store.write(lambda tx: _silenced(tx, session.id, ()))
        ended = await self._gateway.interrupt(session.id, by=by, reason=reason, queued=queued)
        return ended, await self._end_agents(session.id, by, reason=reason)

    async def _end_agents(self, session_id: str, by: str, *, reason: str) -> int:
        stopped: dict[str, bool] = {}
        while agents := await self._store.write(lambda tx: _silenced(tx, session_id, stopped)):
            for each in agents:  # one of them may have given work to another one meanwhile
                work = await self._gateway.interrupt(each, by=by, reason=reason, queued=True)
                stopped[each] = bool(work.interrupted or work.withdrawn)
        return sum(stopped.values())

    async def _stop_turn(self, session: Session, given: str, by: str) -> str:
        """The turn may be one of an earlier conversation of this channel: what waited there is still answered."""
        opener, silenced = await self._store.write(lambda tx: _meant(tx, session, given))
        ended = await self._gateway.interrupt(opener.session_id, by=by, reason="stopped", only=opener.id)
        if ended.interrupted:
            agents = await self._end_agents(opener.session_id, by, reason="stopped")
            return f"Stopped: the turn of {label(opener)}{_with(agents)}."
        if silenced:  # it ended by itself just now
            await self._store.write(lambda tx: _wake(tx, silenced))
        return f"{label(opener)} is cancelled." if ended.withdrawn else _OVER


def _with(agents: int) -> str:
    return f", with {counted(agents, 'agent')}" if agents else ""


def _meant(tx: Transaction, session: Session, given: str) -> tuple[Record, list[str]]:
    """The prompt that opened the turn of a message; while it runs, mail wakes nobody any more: who is that?"""
    record = message_ever_here(tx, session, given)
    opener = tx.messages.get(record.turn_id or record.id) or record
    lease = tx.leases.get(opener.session_id)
    if lease is None or lease.owner is None or lease.message_id != opener.id:
        return opener, []
    return opener, [opener.session_id, *_silenced(tx, opener.session_id, ())]


def _silenced(tx: Transaction, session_id: str, known: Container[str]) -> list[str]:
    """The agents of a session that are not known yet; mail wakes neither them nor the session itself."""
    agents = [each for each in descendants(tx, session_id) if each not in known]
    for each in (session_id, *agents):
        rest.stop(tx, each)
    return agents


def _wake(tx: Transaction, sessions: list[str]) -> None:
    for each in sessions:
        rest.wake_again(tx, each)
