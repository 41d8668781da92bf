"""/redact: the words of a message are gone, wherever they stand (C-16)."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kesoku.adapter.command import Argument, Invocation
from kesoku.adapter.part import decode, is_damaged
from kesoku.commands.completion import messages
from kesoku.commands.copies import Copies, copies
from kesoku.commands.here import is_own, label, message_ever_here, own, plain_name, session_here
from kesoku.commands.registry import SlashCommand, command
from kesoku.commands.wipe import Wiped, wipe
from kesoku.errors import NotPossible, StoreError
from kesoku.exchange.kin import kin_of
from kesoku.messages.record import Record
from kesoku.messages.redaction import is_redacted
from kesoku.ports import Clock, Store, Transaction
from kesoku.render import counted, printable_name
from kesoku.render.mask import NOTHING, Mask

_SEARCHES = 3
"""How often everything is searched, if somebody writes meanwhile; then what was found is overwritten."""
Folder = Callable[[str], Path]
"""The folder in which the files of a session are kept."""
_REST = (
    "Not gone is what the platform already shows (delete it there), what the provider of the model and event hooks "
    "were sent, and what other messages took over from it: redact those too. A log file has it only if an error quoted "
    "it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    record: Record
    name: str
    """How people know it: by its number, unless that is the number in a conversation that the channel has left."""
    copies: Copies
    files: frozenset[str]
    """Those that no other message holds."""
    head: int
    """The last event that the search knew of."""

    @property
    def is_done(self) -> bool:
        return all(is_redacted(each.message) for each in self.copies.records)


class Redact:
    """What the command acts on."""

    def __init__(self, *, store: Store, clock: Clock, folder: Folder, mask: Mask = NOTHING) -> None:
        self._store, self._clock, self._folder, self._mask = store, clock, folder, mask

    def commands(self) -> tuple[SlashCommand, ...]:
        """The one."""
        message = Argument(
            name="message", description="its number, as /context shows it", required=True, completes=True
        )
        own_ones = messages(self._store, is_own, self._mask)
        return (
            command("redact", "take the words of a message away, everywhere", self.redact, message, complete=own_ones),
        )

    async def redact(self, invocation: Invocation) -> str:
        """Overwrite a message, and whatever repeats it; by its id also one of a conversation that the channel has left.

        Whoever wrote it may, and admins. Raises NotPossible.
        """
        found, wiped, removed, left = await self._overwritten(invocation)
        traces = left + await self._scrubbed(str(invocation.arguments["message"]))
        if found.is_done:
            return f"{found.name} was redacted before. {traces}".strip()
        gone = ", ".join(_counted(wiped, files=removed))
        also = "".join(
            f"The summary {label(each)} was made of it, look at that too. " for each in found.copies.summaries
        )
        return f"{found.name} is redacted. Overwritten: {gone}. {traces}{also}{_REST}"

    async def _overwritten(self, invocation: Invocation) -> tuple[_Found, Wiped, int, str]:
        """What was found and overwritten, how many files were deleted, and what is to be said of others."""
        actor, at = f"user:{invocation.principal.user_id}", self._clock.now()
        deleted = searches = 0
        while True:
            searches += 1
            found = await self._store.read(lambda tx: self._found(tx, invocation))
            # Files first: once the message is overwritten, nothing says any more which they were.
            removed, left = await asyncio.to_thread(self._remove, found)
            deleted += removed
            wiped = await self._store.write(_wiping(found, last=searches == _SEARCHES, actor=actor, at=at))
            if wiped is not None:
                return found, wiped, deleted, left

    def _found(self, tx: Transaction, invocation: Invocation) -> _Found:
        session = session_here(tx, invocation.address)
        record = message_ever_here(tx, session, str(invocation.arguments["message"]))
        own(invocation, record, "redact")
        if record.is_damaged:
            raise NotPossible(what=f"redact {label(record)}", why="its row in the database is damaged")
        everything = copies(tx, record, self._mask)
        _check_idle(tx, record, everything.records)
        mine = {each.id for each in everything.records}
        kept = everything.files.union(*(_sent(tx, each) for each in mine))
        files = frozenset(path for path in kept if mine.issuperset(tx.archive.holding(path)))
        name = label(record) if record.session_id == session.id else "This message of an earlier conversation"
        return _Found(record=record, name=name, copies=everything, files=files, head=tx.events.head())

    def _remove(self, found: _Found) -> tuple[int, str]:
        """Delete the files that were kept for these messages: how many there were, and what is to be said of others.
        Those of a workspace stay."""
        folders = {self._folder(each.session_id).resolve() for each in found.copies.records}
        removed, left = 0, ""
        for path in sorted(found.files):
            try:
                removed += _unlinked(Path(path), folders)
            except OSError as error:
                left += f"⚠️ `{printable_name(path, 200)}` could not be deleted ({error.strerror}): do it by hand. "
        return removed, left

    async def _scrubbed(self, given: str) -> str:
        """Nothing, or what is to be done for the traces in the file."""
        try:
            await self._store.scrub()
        except StoreError as error:
            return (
                f"⚠️ The database file may still hold traces of it, for it could not be cleaned: {error}. "
                f"Give /redact {printable_name(given)} again later. "
            )
        return ""


def _wiping(found: _Found, *, last: bool, actor: str, at: int) -> Callable[[Transaction], Wiped | None]:
    """Overwrite everything that was found, unless a turn began meanwhile; None if there may be more by now."""

    def operation(tx: Transaction) -> Wiped | None:
        if not last and tx.events.head() != found.head:
            return None
        _check_idle(tx, found.record, found.copies.records)
        return wipe(tx, found.copies, actor=actor, at=at)

    return operation


def _sent(tx: Transaction, message_id: str) -> Iterator[str]:
    """The files that a message names, as they were kept to be sent."""
    parts = (part for part in tx.deliveries.of(message_id) if not is_damaged(part))
    return (str(file.path) for part in parts for file in decode(part.body).files)


def _check_idle(tx: Transaction, record: Record, affected: Iterable[Record]) -> None:
    """A turn that runs has read its past, and would send it once more."""
    for session_id in {each.session_id for each in affected}:
        lease = tx.leases.get(session_id)
        if lease is not None and lease.owner is not None:
            raise NotPossible(what=f"redact {label(record)}", why=_busy(tx, record, session_id))


def _busy(tx: Transaction, record: Record, session_id: str) -> str:
    """What runs in a session, as it is seen from where the message stands."""
    agent = kin_of(tx, session_id)
    if session_id == record.session_id:
        return "a turn is running here; wait for its end, or /stop it"
    if agent is not None and agent.root == record.session_id:
        return f"the agent {plain_name(agent.name)} works with a copy of it; wait for its end, or /stop it"
    return "a copy of it stands in another conversation, in which a turn runs; wait for its end, or /stop it there"


def _unlinked(path: Path, folders: Iterable[Path]) -> bool:
    if path.parent.resolve() not in folders:
        return False
    try:
        path.unlink()
    except FileNotFoundError:
        return False
    return True


def _counted(wiped: Wiped, *, files: int) -> Iterator[str]:
    counts = (
        (wiped.messages, "message", ""),
        (wiped.versions, "earlier version", ""),
        (wiped.steps, "reply of the model", "replies of the model"),
        (wiped.parts, "part of a delivery", "parts of a delivery"),
        (wiped.questions, "question", ""),
        (wiped.mail, "letter", ""),
        (files, "file", ""),
    )
    return (counted(number, one, more) for number, one, more in counts if number)
