"""Where another way to go on begins: a turn, and what was read before it or up to its end.

A turn that stands on another branch, or was cleared or summed up, is taken as it was read there.
"""

from dataclasses import dataclass

from kesoku.adapter.command import Invocation
from kesoku.commands.here import label, message_here, own, session_here
from kesoku.errors import NotPossible
from kesoku.history.block import is_compaction
from kesoku.messages.branch import Branch
from kesoku.messages.lifecycle import Session
from kesoku.messages.record import Record
from kesoku.messages.redaction import is_redacted
from kesoku.ports import Transaction

_LATE = 1_000
"""Records behind a prompt among which the end of earlier turns is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Start:
    """Where a new branch begins."""

    session: Session
    opener: Record
    prompts: tuple[Record, ...]
    """The prompts of the turn in question, the one that opened it first."""
    asked: str
    """The id of the one that was named."""


def start_of(tx: Transaction, invocation: Invocation, given: str, verb: str) -> Start:
    """The turn of a message, by default the last one of the branch."""
    session = session_here(tx, invocation.address)
    branch = tx.branches.current(session.id)
    record = message_here(tx, session, given) if given else _last_prompt(tx, session, branch)
    if record is None:
        raise NotPossible(what=f"{verb} the last message", why="what the model reads here holds none of a person")
    opener = _opener(tx, record)
    if opener is None or opener.kind != "user_prompt":
        raise NotPossible(what=f"{verb} this", why="no message of a person opened its turn")
    said_by_a_person(opener, verb)
    own(invocation, opener, verb)
    if verb == "retry" and is_redacted(opener.message):
        why = f"its words were redacted; /edit {label(opener)} TEXT says something in their place"
        raise NotPossible(what=f"retry {label(opener)}", why=why)
    prompts = [each for each in tx.messages.turn(opener.id) if each.kind == "user_prompt" and each.id != opener.id]
    return Start(session=session, opener=opener, prompts=(opener, *prompts), asked=record.id)


def said_by_a_person(prompt: Record, verb: str) -> None:
    """Raise NotPossible for what /compact asked: whatever answers that stands for the whole conversation."""
    if is_compaction(prompt):
        raise NotPossible(what=f"{verb} {label(prompt)}", why="it asked for a summary; /compact asks for another one")


def _last_prompt(tx: Transaction, session: Session, branch: Branch) -> Record | None:
    last = reversed(tx.messages.tail(session.id, _LATE))
    mine = (each for each in last if branch.covers(each.session_n) and each.id not in branch.forgotten)
    return next((each for each in mine if each.kind == "user_prompt" and not is_compaction(each)), None)


def _opener(tx: Transaction, record: Record) -> Record | None:
    """What opened the turn of a record."""
    return tx.messages.get(record.turn_id or record.id)


def _held(tx: Transaction, session: Session, record: Record) -> Branch:
    """The branch on which a record stands, the current one first; as it was before something was cleared with it.

    Raises NotPossible.
    """
    held = tx.branches.current(session.id).holding(record.session_n)
    others = () if held else tx.branches.all(session.id)
    found = held or next((branch for each in others if (branch := each.holding(record.session_n))), None)
    if found is None:
        raise NotPossible(what=f"go on from {label(record)}", why="it stands on no branch any more")
    return found


def read_before(tx: Transaction, start: Start) -> Branch:
    """What was read before a turn began: everything up to its prompt, and what earlier turns said while it waited."""
    opener = start.opener
    branch = _held(tx, start.session, opener)
    behind = tx.messages.session(opener.session_id, after_n=opener.session_n, limit=_LATE)
    begun = _Begun(tx)
    places = [
        each.session_n
        for each in behind
        if branch.covers(each.session_n) and each.turn_id not in {None, each.id} and begun.at(each) < opener.session_n
    ]
    joined = [each.id for each in start.prompts if each.session_n < opener.session_n]
    return _pinned_before(tx, branch, opener.session_n).ending(opener.session_n - 1).adding(places).without(joined)


def read_until(tx: Transaction, session: Session, record: Record) -> tuple[Branch, int]:
    """What was read up to the end of a turn, without what belongs to later ones; and the place where it ends."""
    opener = _opener(tx, record) or record
    end = max(each.session_n for each in (record, *tx.messages.turn(opener.id)))
    size = end - opener.session_n
    between = tx.messages.session(session.id, after_n=opener.session_n, limit=size) if size else []
    begun = _Begun(tx)
    later = [each.id for each in between if begun.at(each) > opener.session_n]
    branch = _pinned_before(tx, _held(tx, session, opener), opener.session_n + 1)
    return branch.ending(end).without(later), end


def _pinned_before(tx: Transaction, branch: Branch, n: int) -> Branch:
    """Without pins of turns that began at a place or later: there they have not been said."""
    openers = (tx.messages.get(each) for each in branch.pinned)
    return branch.without((), turns=[each.id for each in openers if each is not None and each.session_n >= n])


class _Begun:
    """Where turns begin, each looked up once."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self._known: dict[str, int] = {}

    def at(self, record: Record) -> int:
        """The place of the prompt that opened the turn of a record."""
        root = record.turn_id or record.id
        if root not in self._known:
            self._known[root] = (_opener(self._tx, record) or record).session_n
        return self._known[root]
