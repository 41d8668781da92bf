"""Where a command was given: the conversation of its channel, and messages of it by number or id."""

import re

from kesoku.adapter.command import Invocation
from kesoku.errors import EarlierConversation, NoConversation, NoSuchMessage, NotPossible
from kesoku.messages.freeze import thaw
from kesoku.messages.lifecycle import Session
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Record
from kesoku.ports import Transaction
from kesoku.render import printable_name
from kesoku.render.header import without_header

NO_ANSWER = "what the model reads here holds no answer; /context lists it"
"""Why there is no last answer. Answers may stand elsewhere: on another branch, or cleared."""
_WORDS = 60
"""Columns of the first words of a message in a list."""
_ARGUMENTS = 50
"""Columns of what a call is given."""
_PLAIN = re.compile(r"[^\W_]+(?:(?:[.,] | |[_.'-])[^\W_]+)*")
_NUMBER = re.compile(r"#?([0-9]{1,9})")


def session_here(tx: Transaction, address: Address) -> Session:
    """The session of a channel. Raises NoConversation."""
    session = tx.sessions.bound(address)
    if session is None:
        raise NoConversation
    return session


def message_here(tx: Transaction, session: Session, given: str) -> Record:
    """A message of a session by its number there (`12`, `#12`) or its id; no other session's is ever found.

    Raises NoSuchMessage; EarlierConversation for the id of one that this channel has left.
    """
    found = message_ever_here(tx, session, given)
    if found.session_id != session.id:
        raise EarlierConversation(given=given)
    return found


def message_ever_here(tx: Transaction, session: Session, given: str) -> Record:
    """The same, also of an earlier conversation of a channel in which this session goes on, by its id.

    Raises NoSuchMessage.
    """
    number = number_in(given)
    found = tx.messages.get(given.strip()) if number is None else tx.messages.nth(session.id, number)
    now = tx.sessions.bound(found.address) if found is not None and found.session_id != session.id else session
    if found is None or now is None or now.id != session.id:
        raise NoSuchMessage(given=quoted(given), last=session.last_n)
    return found


def number_in(given: str) -> int | None:
    """The number of a message, as people write it: `12`, `#12`."""
    found = _NUMBER.fullmatch(given.strip())
    return int(found[1]) if found else None


def label(record: Record) -> str:
    """How people name a message of the conversation in which they are."""
    return f"#{record.session_n}"


def plain_name(text: str, limit: int = 64) -> str:
    """A name in a sentence: as it is, or as code where Markdown or a platform would make something else of it."""
    name = printable_name(text, limit)
    return name if _PLAIN.fullmatch(name) else f"`{name}`"


def what(record: Record) -> str:
    """What a message is, in words: `prompt of Ada`, `call of read_file`."""
    message = record.message
    match record.kind:
        case "user_prompt":
            return f"prompt of {plain_name(message.author)}"
        case "tool_call":
            return f"call of {plain_name(message.content.tool)}"
        case "tool_result":
            return f"result of {plain_name(message.content.tool)}"
    return record.kind.replace("_", " ")


def said_in(record: Record) -> str:
    """What a message says: of a prompt the words alone, without the line that says who wrote it and when."""
    message = record.message
    text = getattr(message.content, "summary", "") or message.text
    return without_header(text, message.author) if record.kind == "user_prompt" else text


def first_words(record: Record) -> str:
    """The beginning of what a message says, in one line that Markdown leaves alone."""
    text = said_in(record)
    return quoted(text) if text.strip() else "(no text)"


def quoted(text: str) -> str:
    """The beginning of what somebody wrote, in one line that Markdown leaves alone."""
    return f"`{printable_name(text, _WORDS)}`"


def given_to(call: Message) -> str:
    """What a call is given, as lists show it: in one line, and not the whole of it; empty for nothing."""
    given = thaw(getattr(call.content, "arguments", {}))
    return printable_name(", ".join(f"{name}={value!r}" for name, value in given.items()), _ARGUMENTS) if given else ""


def deed_keys(invocation: Invocation) -> tuple[str, ...]:
    """The platform ids under which what a command does is stored, so that a redelivered one does it once (N-07).

    They are not the invocation's own: those belong to the reply.
    """
    return tuple(f"{key}#deed" for key in invocation.keys)


def is_own(invocation: Invocation, record: Record) -> bool:
    """Whether the person wrote this message, or is an admin."""
    return invocation.admin or record.message.user_id == invocation.principal.user_id


def own(invocation: Invocation, record: Record, verb: str) -> None:
    """Raise NotPossible unless the person wrote this message, or is an admin."""
    if not is_own(invocation, record):
        raise NotPossible(what=f"{verb} {label(record)}", why="somebody else wrote it; an admin can")
