"""Commands about the conversation itself: /help, /stop, /new, /status, /system."""

from collections.abc import Iterable

from kesoku.adapter.command import CommandSpec, Invocation
from kesoku.agent.budget import Budget
from kesoku.commands.bill import bill
from kesoku.commands.registry import SlashCommand, command, usage
from kesoku.exchange.kin import descendants
from kesoku.messages.lifecycle import Lease, Session
from kesoku.messages.record import Address, Record
from kesoku.ports import Clock, Gateway, Store, Transaction


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

    def commands(self, *more: SlashCommand) -> tuple[SlashCommand, ...]:
        """All of them, and `more` behind them; /help lists exactly these."""
        listed = (
            command("stop", "stop what is running here", self.stop),
            command("new", "start a new conversation", self.new),
            command("status", "say what is going on", self.status),
            command("system", "show the system prompt", self.system, admin=True),
            *more,
        )

        async def show_help(_: Invocation) -> str:
            return _help(each.spec for each in (helping, *listed))

        helping = command("help", "list the commands", show_help)
        return (helping, *listed)

    async def stop(self, invocation: Invocation) -> str:
        """End the running turn of this channel, with what was queued behind it and the agents that work for it."""
        session = await self._store.read(lambda tx: tx.sessions.bound(invocation.address))
        if session is None:
            return "Nothing is running here."
        by = invocation.principal.user_id
        ended = await self._gateway.interrupt(session.id, by=by, reason="stopped", queued=True)
        agents = await self._stop_agents(session, by)
        if not ended.interrupted and not ended.withdrawn and not agents:
            return "Nothing is running here."
        waited = f", and {len(ended.withdrawn)} waiting message(s) cancelled" if ended.withdrawn else ""
        return f"Stopped{f', with {agents} agent(s)' if agents else ''}{waited}."

    async def _stop_agents(self, session: Session, by: str) -> int:
        """End what agents do that were given work here, directly or not; how many did anything."""
        agents = await self._store.read(lambda tx: descendants(tx, session.id))
        stopped = [await self._gateway.interrupt(each, by=by, reason="stopped", queued=True) for each in agents]
        return sum(bool(each.interrupted or each.withdrawn) for each in stopped)

    async def new(self, invocation: Invocation) -> str:
        """Bind a fresh session to the channel; the old one stays as it is."""
        at = self._clock.now()
        address = invocation.address
        previous = await self._store.read(lambda tx: tx.sessions.bound(address))
        if previous is not None:
            await self._gateway.interrupt(previous.id, by=invocation.principal.user_id, reason="new conversation")
        session = await self._store.write(lambda tx: _fresh(tx, address, at))
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


def _help(specs: Iterable[CommandSpec]) -> str:
    return "\n".join(f"- `{usage(spec)}`: {spec.description}" for spec in specs)


def _fresh(tx: Transaction, address: Address, at: int) -> Session:
    session = tx.sessions.create(at=at)
    tx.sessions.bind(address, session.id)
    return session


def _look(tx: Transaction, address: Address) -> tuple[Session | None, Lease | None, int]:
    session = tx.sessions.bound(address)
    if session is None:
        return None, None, 0
    return session, tx.leases.get(session.id), len(tx.messages.queued(session.id))
