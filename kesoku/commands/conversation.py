"""Commands about the conversation itself: /help, /stop, /new, /status, /system."""

from collections.abc import Iterable, Mapping, Sequence

from kesoku.adapter.command import Invocation
from kesoku.agent.assistant import Assistant
from kesoku.agent.budget import Budget
from kesoku.agent.view import Viewer
from kesoku.commands.bill import bill
from kesoku.commands.registry import SlashCommand, command, usage
from kesoku.commands.stop import Stop
from kesoku.exchange import Exchange
from kesoku.exchange.kin import agents_at_work, hand_names_on
from kesoku.messages.lifecycle import Lease, Session
from kesoku.messages.record import Address
from kesoku.messages.virtual import system_entry
from kesoku.ports import Clock, Gateway, Store, Transaction
from kesoku.render import counted

_NO_MORE: Mapping[str, Sequence[SlashCommand]] = {}


class Conversation:
    """What the commands act on."""

    def __init__(
        self,
        *,
        gateway: Gateway,
        store: Store,
        clock: Clock,
        viewer: Viewer,
        budget: Budget | None = None,
    ) -> None:
        self._store, self._clock = store, clock
        self._stop = Stop(gateway=gateway, store=store)
        self._viewer, self._budget = viewer, budget or Budget()

    def commands(self, more: Mapping[str, Sequence[SlashCommand]] = _NO_MORE) -> tuple[SlashCommand, ...]:
        """All of them, and `more` behind them by what they are about; /help lists exactly these."""
        mine = (
            self._stop.command(),
            command("new", "start a new conversation", self.new),
            command("status", "say what is going on", self.status),
            command("system", "show the system prompt", self.system, admin=True),
        )

        async def show_help(_: Invocation) -> str:
            return _help({"This conversation": (helping, *mine), **more})

        helping = command("help", "list the commands", show_help)
        return (helping, *mine, *(each for section in more.values() for each in section))

    async def new(self, invocation: Invocation) -> str:
        """Bind a fresh session to the channel, which takes its names over; the old one stays as it is."""
        at = self._clock.now()
        address = invocation.address
        previous = await self._store.read(lambda tx: tx.sessions.bound(address))
        stopped = ""
        if previous is not None:
            by = invocation.principal.user_id
            ended, agents = await self._stop.end(previous, by, reason="new conversation", queued=False)
            stopped = " What was running here is stopped." if ended.interrupted or agents else ""
        session = await self._store.write(lambda tx: _fresh(tx, address, at, previous))
        return f"A new conversation begins: `{session.id}`.{stopped}"

    async def status(self, invocation: Invocation) -> str:
        """Session, model, what runs and what waits, and what was used."""
        session, lease, queued, who = await self._store.read(lambda tx: self._look(tx, invocation.address))
        if session is None:
            return f"No conversation yet. Model: {who.model.name}."
        running = "a turn is running" if lease is not None and lease.owner is not None else "nothing is running"
        agents = await self._store.read(lambda tx: len(agents_at_work(tx, session.id)))
        running += f", {counted(agents, 'agent')} at work" if agents else ""
        used = await bill(self._store, session.id, budget=self._budget, now=self._clock.now())
        return f"Conversation `{session.id}`: {running}, {queued} waiting. Model: {who.model.name}.{used}"

    def _look(self, tx: Transaction, address: Address) -> tuple[Session | None, Lease | None, int, Assistant]:
        session = tx.sessions.bound(address)
        who = self._viewer.assistant(tx, session, address)
        if session is None:
            return None, None, 0, who
        return session, tx.leases.get(session.id), len(tx.messages.queued(session.id)), who

    async def system(self, invocation: Invocation) -> str:
        """The system prompt of this channel, a virtual entry that no session holds."""
        *_, who = await self._store.read(lambda tx: self._look(tx, invocation.address))
        entry = system_entry(who.request.system).message
        return f"{entry.author}:\n\n{entry.rendered}"


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
