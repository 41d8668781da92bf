"""Commands about the conversation itself: /help, /stop, /new, /status, /system."""

from collections.abc import Container, Iterable, Mapping, Sequence

from kesoku.adapter.command import Invocation
from kesoku.agent.budget import Budget
from kesoku.commands.bill import bill
from kesoku.commands.registry import SlashCommand, command, usage
from kesoku.exchange import Exchange, rest
from kesoku.exchange.kin import descendants, hand_names_on
from kesoku.messages.lifecycle import Interruption, Lease, Session
from kesoku.messages.record import Address, Record
from kesoku.ports import Clock, Gateway, Store, Transaction

_NO_MORE: Mapping[str, Sequence[SlashCommand]] = {}


class Conversation:
    """What the commands act on."""

    def __init__(
        self,
        *,
        gateway: Gateway,
        store: Store,
        clock: Clock,
        model: str,
        system: Record,
        budget: Budget | None = None,
    ) -> None:
        self._gateway, self._store, self._clock, self._model = gateway, store, clock, model
        self._system, self._budget = system, budget or Budget()

    def commands(self, more: Mapping[str, Sequence[SlashCommand]] = _NO_MORE) -> tuple[SlashCommand, ...]:
        """All of them, and `more` behind them by what they are about; /help lists exactly these."""
        mine = (
            command("stop", "stop what is running here", self.stop),
            command("new", "start a new conversation", self.new),
            command("status", "say what is going on", self.status),
            command("system", "show the system prompt", self.system, admin=True),
        )

        async def show_help(_: Invocation) -> str:
            return _help({"This conversation": (helping, *mine), **more})

        helping = command("help", "list the commands", show_help)
        return (helping, *mine, *(each for section in more.values() for each in section))

    async def stop(self, invocation: Invocation) -> str:
        """End the running turn of this channel, with what was queued behind it and the agents that work for it."""
        session = await self._store.read(lambda tx: tx.sessions.bound(invocation.address))
        if session is None:
            return "Nothing is running here."
        by = invocation.principal.user_id
        ended, agents = await self._end(session, by, reason="stopped", queued=True)
        if not ended.interrupted and not ended.withdrawn and not agents:
            await self._store.write(lambda tx: rest.wake_again(tx, session.id))
            return "Nothing is running here."
        waited = f", and {len(ended.withdrawn)} waiting message(s) cancelled" if ended.withdrawn else ""
        return f"Stopped{f', with {agents} agent(s)' if agents else ''}{waited}."

    async def _end(self, session: Session, by: str, *, reason: str, queued: bool) -> tuple[Interruption, int]:
        """End what a conversation does, and what agents do that were given work there, directly or not; and how many
        of these did anything. Mail begins no turn of theirs until somebody speaks: else it would at once."""
        stopped: dict[str, bool] = {}
        agents = await self._store.write(lambda tx: _silenced(tx, session.id, stopped))
        ended = await self._gateway.interrupt(session.id, by=by, reason=reason, queued=queued)
        while agents:
            for each in agents:  # one of them may have given work to another one meanwhile
                work = await self._gateway.interrupt(each, by=by, reason=reason, queued=True)
                stopped[each] = bool(work.interrupted or work.withdrawn)
            agents = await self._store.write(lambda tx: _silenced(tx, session.id, stopped))
        return ended, sum(stopped.values())

    async def new(self, invocation: Invocation) -> str:
        """Bind a fresh session to the channel, which takes its names over; the old one stays as it is."""
        at = self._clock.now()
        address = invocation.address
        previous = await self._store.read(lambda tx: tx.sessions.bound(address))
        if previous is not None:
            await self._end(previous, invocation.principal.user_id, reason="new conversation", queued=False)
        session = await self._store.write(lambda tx: _fresh(tx, address, at, previous))
        return f"A new conversation begins: `{session.id}`."

    async def status(self, invocation: Invocation) -> str:
        """Session, model, what runs and what waits, and what was used."""
        session, lease, queued = await self._store.read(lambda tx: _look(tx, invocation.address))
        if session is None:
            return f"No conversation yet. Model: {self._model}."
        running = "a turn is running" if lease is not None and lease.owner is not None else "nothing is running"
        used = await bill(self._store, session.id, budget=self._budget, now=self._clock.now())
        return f"Conversation `{session.id}`: {running}, {queued} waiting. Model: {self._model}.{used}"

    async def system(self, _: Invocation) -> str:
        """The system prompt, a virtual entry that no session holds."""
        return f"{self._system.message.author}:\n\n{self._system.message.rendered}"


def _help(sections: Mapping[str, Iterable[SlashCommand]]) -> str:
    return "\n\n".join(f"**{title}**\n\n" + "\n".join(map(_line, listed)) for title, listed in sections.items())


def _line(listed: SlashCommand) -> str:
    return f"- `{usage(listed.spec)}`: {listed.spec.description}{' (admins)' if listed.admin else ''}"


def _fresh(tx: Transaction, address: Address, at: int, previous: Session | None) -> Session:
    session = tx.sessions.create(at=at)
    tx.sessions.bind(address, session.id)
    if previous is not None:
        hand_names_on(tx, Exchange(tx.mail, now=lambda: at), previous, session)
    return session


def _silenced(tx: Transaction, session_id: str, known: Container[str]) -> list[str]:
    """The agents of a session that are not known yet; mail wakes neither them nor the session itself."""
    agents = [each for each in descendants(tx, session_id) if each not in known]
    for each in (session_id, *agents):
        rest.stop(tx, each)
    return agents


def _look(tx: Transaction, address: Address) -> tuple[Session | None, Lease | None, int]:
    session = tx.sessions.bound(address)
    if session is None:
        return None, None, 0
    return session, tx.leases.get(session.id), len(tx.messages.queued(session.id))
