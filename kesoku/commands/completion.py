"""What fits as an argument while a command is typed: messages of the conversation, and names."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from kesoku.adapter.command import Choice, Invocation
from kesoku.commands.here import is_own, label, number_in, said_in, session_here
from kesoku.commands.registry import Complete
from kesoku.messages.enums import MessageStatus
from kesoku.messages.masked import masked_record
from kesoku.messages.record import Record
from kesoku.ports import Store, Transaction
from kesoku.render import printable_name
from kesoku.render.mask import NOTHING, Mask

_NEAR = 200
"""Messages at the end of a conversation among which those that fit are looked for."""
_WORDS, _NAME, _LABEL = 60, 24, 100
"""Columns of what a message says, of a name, and characters of a whole line."""

Fits = Callable[[Invocation, Record], bool]
"""Whether a message is one that this person may name here."""


def messages(store: Store, fits: Fits, mask: Mask = NOTHING) -> Complete:
    """Offers messages of the conversation by number, the latest first: those that fit, and begin with the number or
    hold the words that were typed. `mask` is for where tool calls fit."""

    async def complete(invocation: Invocation, argument: str) -> Sequence[Choice]:
        typed = str(invocation.arguments.get(argument) or "").strip()
        return await store.read(lambda tx: list(_offered(tx, invocation, typed, fits, mask)))

    return complete


def named(store: Store, names: Callable[[Transaction, Invocation, str], Iterable[Choice]]) -> Complete:
    """Offers what `names` gives for (transaction, what is given so far, argument), where it holds what was typed."""

    async def complete(invocation: Invocation, argument: str) -> Sequence[Choice]:
        typed = str(invocation.arguments.get(argument) or "").strip().casefold()
        found = await store.read(lambda tx: list(names(tx, invocation, argument)))
        return [each for each in found if typed in f"{each.label} {each.value}".casefold()]

    return complete


def choice(value: str, about: str = "") -> Choice:
    """A choice that is shown as its value, with a word about it."""
    return Choice(label=f"{printable_name(value, _WORDS)}{f': {about}' if about else ''}"[:_LABEL], value=value)


def is_own_prompt(invocation: Invocation, record: Record) -> bool:
    """A prompt that this person may change."""
    return record.kind == "user_prompt" and is_own(invocation, record)


def is_said(_: Invocation, record: Record) -> bool:
    """A prompt or an answer: what people mean when they name a turn."""
    return record.kind in {"user_prompt", "answer"}


def waits(invocation: Invocation, record: Record) -> bool:
    """A prompt that has not started and that this person may withdraw."""
    return record.status is MessageStatus.PENDING_AGENT and is_own(invocation, record)


def runs(_: Invocation, record: Record) -> bool:
    """A prompt that is answered now, or will be."""
    return record.status in {MessageStatus.PENDING_AGENT, MessageStatus.PROCESSING}


def _offered(tx: Transaction, invocation: Invocation, typed: str, fits: Fits, mask: Mask) -> Iterator[Choice]:
    session = session_here(tx, invocation.address)
    number = number_in(typed)
    near = tx.messages.tail(session.id, _NEAR)
    older = None if number is None else tx.messages.nth(session.id, number)
    if older is not None and near and older.session_n < near[0].session_n:
        near.insert(0, older)
    for record in (masked_record(each, mask) for each in reversed(near)):
        if fits(invocation, record) and _is_meant(record, number, typed.casefold()):
            yield Choice(label=_line(record), value=str(record.session_n))


def _is_meant(record: Record, number: int | None, words: str) -> bool:
    if number is not None:
        return str(record.session_n).startswith(str(number))
    return words in f"{record.message.author} {said_in(record)}".casefold()


def _line(record: Record) -> str:
    """`#12 Ada: first words`."""
    who = record.message.author if record.kind == "user_prompt" else record.kind.replace("_", " ")
    text = said_in(record)
    said = printable_name(text, _WORDS) if text.strip() else "(no text)"
    return f"{label(record)} {printable_name(who, _NAME)}: {said}"[:_LABEL]
