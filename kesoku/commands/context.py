"""What the model reads: /context, /clear, /pin, /forget. Nothing is deleted by any of them (C-16)."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from kesoku.adapter.command import Argument, Invocation
from kesoku.agent.replay import last_read
from kesoku.agent.view import View, Viewer
from kesoku.commands.completion import is_said, messages
from kesoku.commands.here import first_words, label, message_here, session_here, what
from kesoku.commands.registry import SlashCommand, command
from kesoku.errors import NotPossible
from kesoku.history.block import is_blocked
from kesoku.history.compile import withheld_turns
from kesoku.history.weight import tokens_of
from kesoku.messages.branch import Branch
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Session
from kesoku.messages.masked import masked_record
from kesoku.messages.record import Address, Record
from kesoku.ports import Clock, Gateway, Store, Transaction
from kesoku.render import counted
from kesoku.render.mask import NOTHING, Mask

UNSEEN = frozenset({"notice", "system_prompt", "message"})
"""Kinds that stand in a conversation and not in what is read of it."""
_LISTED = 40
"""Messages that /context names, the latest ones."""
_PINS = 20
"""Turns that can be pinned at once: all of them are in every request."""
_MESSAGE = Argument(name="message", description="its number, as /context shows it", required=True, completes=True)


class Context:
    """What the commands act on."""

    def __init__(self, *, gateway: Gateway, store: Store, clock: Clock, viewer: Viewer, mask: Mask = NOTHING) -> None:
        self._gateway, self._store, self._clock, self._viewer, self._mask = gateway, store, clock, viewer, mask

    def commands(self) -> tuple[SlashCommand, ...]:
        """All of them."""
        undo = Argument(name="undo", description="read again what was cleared", choices=("undo",))
        read = messages(self._store, lambda _, record: record.kind not in UNSEEN, self._mask)
        then = replace(_MESSAGE, description="a message of the turn to look at; without one, now", required=False)
        said = messages(self._store, is_said)
        pinned = replace(_MESSAGE, description="its number; without one the pinned ones are listed", required=False)
        return (
            command("context", "list what the model reads, with tokens", self.context, then, complete=said),
            command("clear", "let the model begin anew here", self.clear, undo),
            command("pin", "keep a message in what the model reads", self.pin, pinned, complete=read),
            command("forget", "take a message out of what the model reads", self.forget, _MESSAGE, complete=read),
        )

    async def context(self, invocation: Invocation) -> str:
        """What the model reads now, or what it read last in the turn of a message. Raises NotPossible."""
        here, given = invocation.address, str(invocation.arguments.get("message") or "")
        if given:
            view, when = await self._store.read(lambda tx: self._read_in(tx, here, given))
            return "\n".join(_described(view, None, when, self._mask))
        view = await self._store.read(lambda tx: self._viewer.view(tx, session_here(tx, here), here))
        budget = self._viewer.limits.history_tokens
        when = f"On the branch {view.branch.name} the model reads"
        return "\n".join(_described(view, budget, when, self._mask))

    def _read_in(self, tx: Transaction, here: Address, given: str) -> tuple[View, str]:
        """What was read in the last step of a turn, and when that was, in words."""
        session = session_here(tx, here)
        record = message_here(tx, session, given)
        opener = tx.messages.get(record.turn_id or record.id) or record
        read, branch = last_read(tx, opener.id)
        if read.request is None:
            raise NotPossible(what="show what was read", why="not enough of it was noted then")
        sources = dict.fromkeys(source for turn in read.request.turns for source, _ in turn.sources)
        records = tuple(found for each in sources if (found := tx.messages.get(each)) is not None)
        model = self._viewer.assistant(tx, session, here).model
        tokens = model.count(read.request)
        view = View(branch=branch, records=records, request=read.request, model=model, tokens=tokens)
        return (
            view,
            f"In step {read.step.n} of the turn of {label(opener)}, on the branch {branch.name}, the model read",
        )

    async def clear(self, invocation: Invocation) -> str:
        """Select nothing of what was said, or what was selected before the last clearing."""
        session = await self._store.read(lambda tx: session_here(tx, invocation.address))
        back = bool(invocation.arguments.get("undo"))

        def choose(_: Transaction, branch: Branch, last: int) -> Branch:
            if back and not branch.cleared:
                why = f"nothing was cleared on the branch {branch.name}, or it was undone already"
                raise NotPossible(what="undo this", why=why)
            return branch.restoring(last) if back else branch.clearing(last)

        by = invocation.principal.user_id
        done = await self._gateway.select(session.id, choose, by=by, reason="cleared")
        stopped = " What was running or waiting here is stopped." if done.interrupted else ""
        if back:
            return f"The model reads again what the last /clear or /compact took away.{stopped}"
        pinned = len(done.branch.pinned)
        kept = f" What is pinned stays: {counted(pinned, 'turn')}." if pinned else ""
        return (
            f"The model begins anew and reads nothing of what was said here.{kept}{stopped} /clear undo takes it back."
        )

    async def pin(self, invocation: Invocation) -> str:
        """Keep the turn of a message through clearing and budgets."""
        given = str(invocation.arguments.get("message") or "")
        return await (self._store.write if given else self._store.read)(lambda tx: self._pin(tx, invocation, given))

    def _pin(self, tx: Transaction, invocation: Invocation, given: str) -> str:
        session = session_here(tx, invocation.address)
        branch = tx.branches.current(session.id)
        if not given:
            openers = [found for each in branch.pinned if (found := tx.messages.get(each)) is not None]
            return (
                "\n".join(map(_line, openers))
                or "Nothing is pinned here. /pin MESSAGE keeps the turn of a message in what the model reads."
            )
        record, turn = _turn(tx, session, given)
        root = record.turn_id or record.id
        if any(each.kind == "summary" for each in turn):
            raise NotPossible(what=f"pin {label(record)}", why="a summary is read as long as it stands for something")
        if root in branch.pinned:
            return f"{label(record)} is pinned already."
        if len(branch.pinned) >= _PINS:
            raise NotPossible(what="pin more", why=f"{_PINS} turns are pinned; /forget takes one of them back")
        self._put(tx, branch.keeping(root, ids=(each.id for each in turn)))
        return (
            f"Pinned: the turn of {label(record)} stays in what the model reads. /forget {label(record)} takes it back."
        )

    async def forget(self, invocation: Invocation) -> str:
        """Leave a message out: of a prompt its whole turn, of a call or a result both. Of what is pinned, the pin."""
        return await self._store.write(lambda tx: self._forget(tx, invocation))

    def _forget(self, tx: Transaction, invocation: Invocation) -> str:
        session = session_here(tx, invocation.address)
        record, turn = _turn(tx, session, str(invocation.arguments["message"]))
        branch = tx.branches.current(session.id)
        root = record.turn_id or record.id
        if root in branch.pinned:
            self._put(tx, branch.without((), turns=[root]))
            if not branch.covers(record.session_n):  # only the pin had it read
                return f"The turn of {label(record)} is pinned no more, and so not read any more."
            return f"The turn of {label(record)} is pinned no more. /forget {label(record)} again leaves it out."
        ids = _together(record, turn)
        if ids <= branch.forgotten:
            return f"{label(record)} is left out already."
        self._put(tx, branch.without(ids))
        also = f", with {counted(len(ids) - 1, 'message')} of its turn" if len(ids) > 1 else ""
        summed = any(each.kind == "summary" for each in turn)
        back = " It stays in the archive." if summed else f" /pin {label(record)} brings it back."
        return f"The model does not read {what(record)} {label(record)} any more{also}.{back}"

    def _put(self, tx: Transaction, branch: Branch) -> None:
        tx.branches.select(replace(branch, at=self._clock.now()))


def _turn(tx: Transaction, session: Session, given: str) -> tuple[Record, list[Record]]:
    """A message and all of its turn, which must be over."""
    record = message_here(tx, session, given)
    if record.kind in UNSEEN:
        raise NotPossible(what=f"change what is read of {label(record)}", why=f"no model ever reads a {record.kind}")
    opener = tx.messages.get(record.turn_id or record.id) or record
    why = {
        MessageStatus.PROCESSING: "its turn is still running; /stop ends it",
        MessageStatus.PENDING_AGENT: "it has not been answered yet; /cancel withdraws it",
    }.get(opener.status)
    if why is not None:
        raise NotPossible(what=f"change what is read of {label(record)}", why=why)
    return record, tx.messages.turn(opener.id) or [record]


def _together(record: Record, turn: Iterable[Record]) -> frozenset[str]:
    """The ids of what cannot be read without this message. Without the answer that says why a prompt was blocked, it
    would be sent to the provider again."""
    if record.id == (record.turn_id or record.id) or is_blocked(record):
        return frozenset({record.id, *(each.id for each in turn)})
    content = record.message.content
    pair = getattr(content, "request_id", None) or getattr(content, "response_id", None)
    return frozenset({record.id, *([pair] if pair else [])})


def _described(view: View, budget: int | None, when: str, mask: Mask) -> Iterator[str]:
    request = view.request
    shown = [source for turn in request.turns for source, _ in turn.sources]
    known = {record.id: record for record in view.records}
    listed = [known[each] for each in dict.fromkeys(shown) if each in known]
    of = "" if budget is None else f" (the history may have {budget:,})"
    size = f"{counted(len(listed), 'message')}, about {view.tokens:,} tokens{of}"
    yield f"{when} {size}:"
    yield ""
    yield f"- system prompt, {tokens_of(request.system):,} tokens"
    yield f"- {counted(len(request.tools), 'tool')}" if request.tools else "- no tools"
    if len(listed) > _LISTED:
        yield f"- {counted(len(listed) - _LISTED, 'earlier message')}"
    withheld = withheld_turns(listed)
    for record in listed[-_LISTED:]:
        if (record.turn_id or record.id) in withheld and record.kind != "answer":
            yield f"- {label(record)} {what(record)}: left out, for the model's provider refused to read it"
            continue
        pinned = " 📌" if (record.turn_id or record.id) in view.branch.pinned else ""
        yield f"{_line(masked_record(record, mask))}, {counted(tokens_of(record.message.text), 'token')}{pinned}"


def _line(record: Record) -> str:
    return f"- {label(record)} {what(record)}: {first_words(record)}"
