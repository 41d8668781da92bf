"""Prompts that have not started: /queue, /cancel, /steer."""

from kesoku.adapter.command import Argument, Invocation
from kesoku.commands.completion import messages, waits
from kesoku.commands.here import deed_keys, first_words, label, message_here, own, plain_name, session_here, what
from kesoku.commands.registry import SlashCommand, command
from kesoku.errors import NotPossible
from kesoku.exchange.kin import agents_at_work
from kesoku.gateway.turn import joins, running
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.profile import profile_at
from kesoku.messages.record import Post, Record
from kesoku.ports import Clock, Gateway, Store, Transaction
from kesoku.render import duration, printable_name

_LISTED = 30
_MODES = {"steer": ", joins the running turn", "inject": ", rides along with the next turn", "followup": ""}


class Queue:
    """What the commands act on."""

    def __init__(self, *, gateway: Gateway, store: Store, clock: Clock) -> None:
        self._gateway, self._store, self._clock = gateway, store, clock

    def commands(self) -> tuple[SlashCommand, ...]:
        """All of them."""
        message = Argument(name="message", description="its number, as /queue shows it", required=True, completes=True)
        waiting = messages(self._store, waits)
        text = Argument(name="text", description="what the running turn should take into account", required=True)
        return (
            command("queue", "list what runs and waits here", self.queue),
            command("cancel", "withdraw a message that has not started", self.cancel, message, complete=waiting),
            command("steer", "say something to the turn that runs", self.steer, text),
        )

    async def queue(self, invocation: Invocation) -> str:
        """What runs and what waits, in order."""
        return await self._store.read(lambda tx: "\n".join(self._listed(tx, invocation)))

    def _listed(self, tx: Transaction, invocation: Invocation) -> list[str]:
        session = session_here(tx, invocation.address)
        active = running(tx, session.id)
        lines = [f"- {label(active)} {what(active)} is being answered: {first_words(active)}"] if active else []
        queued = tx.messages.queued(session.id)
        for record in queued[:_LISTED]:
            age = duration(max(0.0, self._clock.now() / 1e6 - record.message.created_at))
            lines.append(f"- {label(record)} {what(record)}, for {age}{_MODES[record.mode]}: {first_words(record)}")
        if len(queued) > _LISTED:
            lines.append(f"- and {len(queued) - _LISTED} more")
        agents = [plain_name(each.name) for each in agents_at_work(tx, session.id)]
        lines += [f"- agent {each} works for this conversation; /stop ends that, too" for each in agents]
        return lines or ["Nothing runs and nothing waits here."]

    async def cancel(self, invocation: Invocation) -> str:
        """Withdraw a prompt, once, if it has not started (N-11)."""
        record = await self._store.read(lambda tx: self._named(tx, invocation))
        own(invocation, record, "cancel")
        if await self._gateway.withdraw(record.id, by=f"user:{invocation.principal.user_id}"):
            return f"{label(record)} is cancelled."
        now = await self._store.read(lambda tx: self._named(tx, invocation))
        runs = now.status is MessageStatus.PROCESSING
        why = "it is being answered; /stop ends that" if runs else "it does not wait; /queue lists what does"
        raise NotPossible(what=f"cancel {label(record)}", why=why)

    @staticmethod
    def _named(tx: Transaction, invocation: Invocation) -> Record:
        return message_here(tx, session_here(tx, invocation.address), str(invocation.arguments["message"]))

    async def steer(self, invocation: Invocation) -> str:
        """A prompt for the next step of the running turn; without one it gets a turn of its own (C-42)."""
        person, here = invocation.principal, invocation.address
        profile = await self._store.read(lambda tx: profile_at(here, tx.messages))
        message = make.user_prompt(
            str(invocation.arguments["text"]),
            author=printable_name(person.display_name),
            user_id=person.user_id,
            model=profile.model,
            role=profile.role,
        )
        post = Post(message=message, address=here, mode="steer", keys=deed_keys(invocation))
        (record,) = await self._gateway.accept([post])
        return await self._store.read(lambda tx: _steered(tx, record))


def _steered(tx: Transaction, record: Record) -> str:
    """What becomes of what was said to the running turn."""
    if record.kind != "user_prompt":  # refused, and this says why
        return record.message.text
    now, active = tx.messages.get(record.id) or record, running(tx, record.session_id)
    if now.turn_id not in {None, now.id}:
        return "The running turn has read it."
    if active is None or active.id == now.id:
        return "No turn is running here, so I answer it as a message of its own."
    if joins(now, active):
        return "The running turn reads it before its next step. If there is none, I answer it right after."
    return "What runs now is for another channel. I answer this after it."
