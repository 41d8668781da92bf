"""Everything that repeats what a message says: what /redact has to overwrite with it."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from kesoku.commands.here import given_to
from kesoku.exchange.announcement import ANNOUNCED
from kesoku.exchange.kin import kin_of
from kesoku.exchange.occasion import derived_id
from kesoku.messages.masked import masked
from kesoku.messages.message import Message
from kesoku.messages.party import Direct
from kesoku.messages.record import Record
from kesoku.messages.redaction import REDACTED
from kesoku.ports import Transaction
from kesoku.render import printable_name
from kesoku.render.mask import NOTHING, Mask

EXPORT = "kesoku-export-"
"""How the names of exported conversations begin."""
_ORIGINS = ("clone_from", "answer", "relayed")
"""Names under which the metadata of a copy, a letter and a relayed notice tell what they were made of."""
_WORDS, _FIRST = 60, 40
"""Columns of a message that lists of messages quote, and how many of their letters stand in every list."""
_TELLING = 8
"""Letters that a quotation must have to be taken for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Copies:
    """A message and its copies. Ids of messages may name what is redacted already."""

    records: tuple[Record, ...]
    """The message itself, clones in both directions, the parts of a cut answer, the question about a call, notes made
    of mail, notices that quote it; of all sessions."""
    mail: tuple[Message, ...]
    """The mail that it came from or went out as."""
    summaries: tuple[Record, ...] = ()
    """What was written in the place of it, in other words or in the same; no copies."""
    files: frozenset[str] = frozenset()
    """Paths of the files that came or went along, with any version of a message."""


def copies(tx: Transaction, record: Record, mask: Mask = NOTHING) -> Copies:
    """All copies of a message. Searches everything that is stored, so it is slow and no part of a write.

    `mask` is the one with which calls were shown: what quotes them is known by what it showed.
    """
    search = _Search(tx)
    search.follow([record.id])
    quoting, summaries = _behind(tx, tuple(search.records.values()), mask)
    # What else they quote, and what they were made of, is somebody else's.
    found = {**{each.id: each for each in quoting}, **search.records}
    records = sorted(found.values(), key=lambda each: each.seq)
    files = frozenset(_files(tx, records))
    return Copies(records=tuple(records), mail=tuple(search.mail.values()), summaries=summaries, files=files)


def _files(tx: Transaction, records: Iterable[Record]) -> Iterator[str]:
    for body in (body for each in records for body in tx.archive.versions(each.id)):
        yield from (file.path for file in getattr(body.content, "attachments", ()) if file.path)


class _Search:
    """What is found by following who names whom, in both directions."""

    def __init__(self, tx: Transaction) -> None:
        self._tx = tx
        self.records: dict[str, Record] = {}
        self.mail: dict[str, Message] = {}

    def follow(self, ids: Iterable[str]) -> None:
        """Find these, and all that hangs on them."""
        todo = list(ids)
        while todo:
            id_ = todo.pop()
            if id_ not in self.records and id_ not in self.mail:
                todo += self._found(id_)

    def _found(self, id_: str) -> list[str]:
        tx, todo = self._tx, list[str]()
        record, letter = tx.messages.get(id_), tx.mail.message(id_)
        if letter is not None:
            self.mail[id_] = letter
            todo += [*_named_by(letter), *_written(tx, letter), *_read(tx, letter)]
        if record is not None:
            self.records[id_] = record
            todo += [*_named_by(record.message), *_parts(tx, record), *_asking(tx, record), *_ordered(tx, record)]
            todo += _beside(tx, record)
            self._announced(record)
        if record is None and letter is None:
            return []
        return [*todo, *tx.archive.naming(id_), *(each.id for each in tx.archive.letters(id_))]

    def _announced(self, notice: Record) -> None:
        """The mail of an announcement, which nobody reads. The notices of other channels stay: each stands alone."""
        letter = self._tx.mail.message(str(notice.message.metadata.get(ANNOUNCED, "")))
        if letter is not None:
            self.mail[letter.id] = letter


def _named_by(message: Message) -> Iterator[str]:
    """The message of which this one is a copy."""
    origins = (*map(message.metadata.get, _ORIGINS), getattr(message.source, "mail_id", None))
    return (each for each in origins if isinstance(each, str))


def _ordered(tx: Transaction, record: Record) -> Iterator[str]:
    """What a call wrote: a letter, or the task of another agent."""
    if record.kind == "tool_call":
        yield derived_id(record.id)
        yield from (
            each.id for each in tx.messages.session(derived_id(record.id), limit=2) if each.kind == "user_prompt"
        )


def _beside(tx: Transaction, record: Record) -> list[str]:
    """What an agent read, thought and said with it: nobody can enter its conversation to look there."""
    if kin_of(tx, record.session_id) is None:
        return []
    return [each.id for each in tx.messages.turn(record.turn_id or record.id)]


def _written(tx: Transaction, letter: Message) -> list[str]:
    """The call that wrote a letter."""
    box = tx.mail.mailbox(letter.sender.id) if isinstance(letter.sender, Direct) else None
    said = tx.messages.session(box.session_id) if box and box.session_id else ()
    return [each.id for each in said if each.kind == "tool_call" and derived_id(each.id) == letter.id]


def _read(tx: Transaction, letter: Message) -> list[str]:
    """What was told about a letter: the results of looking into a mailbox, and notices."""
    found = map(tx.messages.get, tx.archive.holding(letter.id))
    return [each.id for each in found if each is not None and each.kind in {"tool_result", "notice"}]


def _parts(tx: Transaction, record: Record) -> list[str]:
    """An answer or a summary that was cut and went on is stored whole, and in pieces as thoughts: all of them, for each
    of them."""
    if record.kind not in {"answer", "summary", "thought"} or record.turn_id is None:
        return []
    for run in _runs(tx.messages.turn(record.turn_id)):
        if record.id in run:
            return run
    return []


def _runs(turn: Iterable[Record]) -> Iterator[list[str]]:
    run: list[str] = []
    for each in turn:
        source = each.message.source
        if each.kind == "thought" and getattr(source, "cut", False):
            run.append(each.id)
        elif run and (each.kind in {"answer", "summary"} or getattr(source, "interim", False)):
            yield [*run, each.id]
            run = []
    yield run


def _asking(tx: Transaction, record: Record) -> list[str]:
    """The notice that asked people about a call; the question has the call's id."""
    asked = tx.questions.get(record.id) if record.kind == "tool_call" else None
    notice = asked.purpose.get("notice") if asked else None
    return [notice] if isinstance(notice, str) else []


def _behind(tx: Transaction, records: Sequence[Record], mask: Mask) -> tuple[list[Record], tuple[Record, ...]]:
    """What stands behind messages in their conversations: notices that quote one, as replies to commands do, or export
    it; and summaries of one."""
    quoting, summaries = list[Record](), list[Record]()
    ids = {each.id for each in records}
    for session_id in {each.session_id for each in records}:
        here = [each for each in records if each.session_id == session_id]
        said = {word for each in here for body in tx.archive.versions(each.id) for word in _shown(body, mask)}
        for later in tx.messages.session(session_id, after_n=min(each.session_n for each in here)):
            if later.kind == "notice" and (_exports(later) or any(word in later.message.text for word in said)):
                quoting.append(later)
            if not ids.isdisjoint(getattr(later.message.source, "covered", ())):
                summaries.append(later)
    return quoting, tuple(summaries)


def _exports(notice: Record) -> bool:
    return any(file.name.startswith(EXPORT) for file in getattr(notice.message.content, "attachments", ()))


def _shown(message: Message, mask: Mask) -> Iterator[str]:
    yield from _quotations(message)
    if (other := masked(message, mask)) is not message:
        yield from _quotations(other)


def _quotations(message: Message) -> Iterator[str]:
    """A text as it is quoted: whole, or its first words in one line; of a call also what it is given. What is too short
    to be known by itself is known by the marks around it. A notice is quoted by no list, and many begin alike."""
    given = tuple(str(value) for value in getattr(message.content, "arguments", {}).values())
    listed = (message.text, getattr(message.content, "summary", ""), given_to(message), *given)
    for text in filter(str.strip, listed if message.kind != "notice" else ()):
        words = printable_name(text, _WORDS)
        yield from (quoted for quoted in (words[:_FIRST], f"`{words}`") if _tells(quoted))
    yield from (text for text in (message.text, *given) if _tells(text))


def _tells(quoted: str) -> bool:
    marked = quoted.startswith("`") and len(quoted) > len("``")
    return (marked or len(quoted.strip()) >= _TELLING) and quoted.strip("`") != REDACTED
