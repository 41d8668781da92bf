"""Other ways that a conversation could have gone on: /branch, /fork, /edit, /retry (C-16, D-031).

The messages stay where they are. A branch selects those that came before, and what is said on it; /edit and /retry say
the prompt once more, as a new message that names the old one as its origin.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from kesoku.adapter.command import Argument, Choice, Invocation
from kesoku.commands.completion import choice, is_own_prompt, is_said, messages, named
from kesoku.commands.here import deed_keys, first_words, label, message_here, own, quoted, session_here
from kesoku.commands.registry import SlashCommand, command
from kesoku.commands.start import Start, read_before, read_until, said_by_a_person, start_of
from kesoku.errors import CommandMisused, NotPossible
from kesoku.history.block import is_compaction
from kesoku.messages.branch import Branch
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Session
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post, Record
from kesoku.ports import Clock, Gateway, Store, Transaction
from kesoku.render.header import is_headed

_SHOWN = 20
"""Branches that are listed."""
_NEAR = 100
"""Records at the end of a branch among which the last one that somebody said is looked for."""
_MESSAGE = Argument(name="message", description="its number, as /context shows it", completes=True)
_LIST, _SWITCH = "list", "switch"


class Branching:
    """What the commands act on."""

    def __init__(self, *, gateway: Gateway, store: Store, clock: Clock) -> None:
        self._gateway, self._store, self._clock = gateway, store, clock

    def commands(self) -> tuple[SlashCommand, ...]:
        """All of them."""
        action = Argument(name="action", description="list them or switch to one", choices=(_LIST, _SWITCH))
        name = Argument(name="name", description="the branch to switch to", completes=True)
        text = Argument(name="text", description="what it should have said", required=True)
        needed = replace(_MESSAGE, required=True)
        others, said = named(self._store, _others), messages(self._store, is_said)
        own_ones = messages(self._store, is_own_prompt)
        return (
            command(
                "branch",
                "list the branches of this conversation, or switch",
                self.branch,
                action,
                name,
                complete=others,
            ),
            command(
                "fork", "go on from here, or from a message, on a branch of its own", self.fork, _MESSAGE, complete=said
            ),
            command(
                "edit",
                "say differently what you said, and go on from there",
                self.edit,
                needed,
                text,
                complete=own_ones,
            ),
            command(
                "retry", "answer the last message, or another one, once more", self.retry, _MESSAGE, complete=own_ones
            ),
        )

    async def branch(self, invocation: Invocation) -> str:
        """List the branches, or select one."""
        action, name = (str(invocation.arguments.get(each) or "") for each in ("action", "name"))
        if action != _SWITCH:
            if name:
                raise CommandMisused(usage="/branch switch NAME", why=f"A list takes no name. To go to {quoted(name)}?")
            return await self._store.read(lambda tx: "\n".join(_listed(tx, session_here(tx, invocation.address))))
        if not name:
            raise CommandMisused(usage="/branch switch NAME", why="To which branch? /branch lists them.")
        session, current = await self._store.read(lambda tx: _current(tx, invocation))
        if current.name == name:
            return f"This is the branch {name}."

        def choose(tx: Transaction, _: Branch, last: int) -> Branch:
            found = tx.branches.get(session.id, name)
            if found is None:
                known = ", ".join(each.name for each in tx.branches.all(session.id)) or current.name
                raise NotPossible(what=f"switch to {quoted(name)}", why=f"there is no such branch; there are: {known}")
            return found.going_on(last)

        return await self._select(invocation, session, choose, "This conversation goes on on the branch")

    async def fork(self, invocation: Invocation) -> str:
        """Begin a branch behind a turn, by default behind the last one."""
        given = str(invocation.arguments.get("message") or "")
        session, record = await self._store.read(lambda tx: _named(tx, invocation, given))

        def choose(tx: Transaction, branch: Branch, last: int) -> Branch:
            begun, end = (branch, last) if record is None else read_until(tx, session, record)
            return replace(begun.going_on(last), name=_name(tx, session.id, f"fork-{end}"), cleared=())

        where = f"behind the turn of {label(record)}" if record else "here"
        return await self._select(invocation, session, choose, f"A branch begins {where}:")

    async def edit(self, invocation: Invocation) -> str:
        """The next version of a prompt that waits; a new prompt in the place of one that was read (C-44, D-031)."""
        given, text = str(invocation.arguments["message"]), str(invocation.arguments["text"])
        at = self._clock.now()

        def rewrite(tx: Transaction) -> Record | None:
            record = message_here(tx, session_here(tx, invocation.address), given)
            if record.kind != "user_prompt":
                raise NotPossible(what="edit this", why=f"{label(record)} is no message of a person")
            said_by_a_person(record, "edit")
            own(invocation, record, "edit")
            if record.status is not MessageStatus.PENDING_AGENT:
                return None
            message = record.message.update(**_reworded(record, text))
            return tx.messages.rewrite(message, actor=f"user:{invocation.principal.user_id}", at=at)

        waiting = await self._store.write(rewrite)
        if waiting is not None:
            return f"{label(waiting)} waits with the new words."
        return await self._again(invocation, given, "edit", text=text)

    async def retry(self, invocation: Invocation) -> str:
        """Answer a turn once more, without what followed from it."""
        return await self._again(invocation, str(invocation.arguments.get("message") or ""), "retry")

    async def _again(self, invocation: Invocation, given: str, verb: str, *, text: str | None = None) -> str:
        start = await self._store.read(lambda tx: start_of(tx, invocation, given, verb))
        first, *more = _said_again(start, text, at=invocation.address)
        posts = [replace(first, keys=deed_keys(invocation)), *more]

        def choose(tx: Transaction, _: Branch, last: int) -> Branch:
            name = _name(tx, start.session.id, f"{verb}-{start.opener.session_n}")
            return replace(read_before(tx, start).going_on(last), name=name, cleared=())

        told = f"Once more from {label(start.opener)}, on the branch"
        return await self._select(invocation, start.session, choose, told, posts)

    async def _select(
        self,
        invocation: Invocation,
        session: Session,
        choose: Callable[[Transaction, Branch, int], Branch],
        told: str,
        posts: Sequence[Post] = (),
    ) -> str:
        """Select what `choose` says; the reply is `told` with the name of the branch behind it, and the way back."""
        by, left = invocation.principal.user_id, ""

        def chosen(tx: Transaction, branch: Branch, last: int) -> Branch:
            nonlocal left
            left = branch.name
            return choose(tx, branch, last)

        done = await self._gateway.select(session.id, chosen, by=by, reason=f"/{invocation.name}", posts=posts)
        stopped = " What was running or waiting here is stopped." if done.interrupted else ""
        return f"{told} {done.branch.name}.{stopped} /branch switch {left} goes back."


def _current(tx: Transaction, invocation: Invocation) -> tuple[Session, Branch]:
    session = session_here(tx, invocation.address)
    return session, tx.branches.current(session.id)


def _listed(tx: Transaction, session: Session) -> Iterator[str]:
    current = tx.branches.current(session.id)
    others = [each for each in tx.branches.all(session.id) if each.name != current.name]
    for each in (current, *others[: _SHOWN - 1]):
        last = _last_said(tx, session, each)
        here = " (here)" if each is current else ""
        yield f"- {each.name}{here}" + (f", up to {label(last)}: {first_words(last)}" if last else "")
    if len(others) >= _SHOWN:
        yield f"- and {len(others) - _SHOWN + 1} more"


def _others(tx: Transaction, invocation: Invocation, _: str) -> Iterator[Choice]:
    """The branches to switch to."""
    session, current = _current(tx, invocation)
    yield from (choice(each.name) for each in tx.branches.all(session.id) if each.name != current.name)


def _last_said(tx: Transaction, session: Session, branch: Branch) -> Record | None:
    """The last thing that a person or the model said on a branch and that was not forgotten there."""
    begun = (end for first, end in reversed(branch.spans) if first <= session.last_n)
    last = next((min(end or session.last_n, session.last_n) for end in begun), 0)
    behind = tx.messages.session(session.id, after_n=max(0, last - _NEAR), limit=min(last, _NEAR))
    here = (each for each in reversed(behind) if branch.covers(each.session_n) and each.id not in branch.forgotten)
    return next((each for each in here if each.kind in {"user_prompt", "answer"} and not is_compaction(each)), None)


def _named(tx: Transaction, invocation: Invocation, given: str) -> tuple[Session, Record | None]:
    session = session_here(tx, invocation.address)
    return session, message_here(tx, session, given) if given else None


def _name(tx: Transaction, session_id: str, wanted: str) -> str:
    """A name that no branch of the session has."""
    taken = {tx.branches.current(session_id).name, *(each.name for each in tx.branches.all(session_id))}
    return next(name for n in range(1, len(taken) + 2) if (name := wanted if n == 1 else f"{wanted}-{n}") not in taken)


def _said_again(start: Start, text: str | None, *, at: Address) -> Iterator[Post]:
    """New messages that say the same, the one that was named in other words; what had joined the turn rides along.

    They stand where the command was given, and are answered there: where they were first said, nobody may be serving.
    """
    asked = start.asked if any(each.id == start.asked for each in start.prompts) else start.opener.id
    for record in start.prompts:
        message: Message = record.message.clone()
        if text is not None and record.id == asked:
            message = replace(message, content=message.update(**_reworded(record, text)).content)
        yield Post(message=message, address=at, mode="followup" if record is start.opener else "inject")


def _reworded(record: Record, text: str) -> dict[str, Any]:
    """The changed field of a prompt. A header that says who wrote it and when stays above the new words."""
    old = record.message.rendered
    head = old.partition("\n")[0] + "\n" if isinstance(old, str) and is_headed(old, record.message.author) else ""
    return {"text": head + text}
