"""Mail and other channels: /mail, /relay, /announce."""

from collections.abc import Iterator
from dataclasses import replace
from uuid import UUID

from kesoku.adapter.command import Argument, Choice, Invocation
from kesoku.agent.past import past
from kesoku.commands.completion import choice, named
from kesoku.commands.here import NO_ANSWER, deed_keys, plain_name, quoted, session_here
from kesoku.commands.registry import SlashCommand, command
from kesoku.errors import CommandMisused, NameInvalid, NoDeadLetter, NotPossible, OwnerUnknown
from kesoku.exchange import Exchange
from kesoku.exchange.announcement import announce
from kesoku.exchange.kin import called, enrolled, is_desk, is_name, place_of
from kesoku.history import History
from kesoku.messages import make
from kesoku.messages.freeze import EMPTY, FrozenDict, thaw
from kesoku.messages.lifecycle import Session
from kesoku.messages.mail import DeadLetter, Report
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Post
from kesoku.ports import Clock, Store, Transaction
from kesoku.render import counted, printable_name

_DEAD, _REDELIVER, _NAME = "dead", "redeliver", "name"
_LISTED = 30
_WORDS = 60
"""Columns of what a letter says in a list."""
_NEAR = 200
"""Records at the end of a conversation among which the last answer is looked for."""


class Mail:
    """What the commands act on."""

    def __init__(self, *, store: Store, clock: Clock) -> None:
        self._store, self._clock = store, clock

    def commands(self) -> tuple[SlashCommand, ...]:
        """All of them."""
        action = Argument(
            name="action",
            description="list what was not delivered, try it again, or name this conversation",
            choices=(_DEAD, _REDELIVER, _NAME),
        )
        what = Argument(name="what", description="the id of a dead letter, or the name", completes=True)
        to = Argument(name="to", description="an owner or a name that shall have the letter instead", completes=True)
        where = Argument(
            name="where", description="bot:channel, or a name of the address book", required=True, completes=True
        )
        letters, places = named(self._store, _letters), named(self._store, _places)
        text = Argument(name="text", description="what to say there; by default the last answer here")
        said = Argument(name="text", description="what everybody shall read", required=True)
        return (
            command(
                "mail", "list the mail that waits for this conversation", self.mail, action, what, to, complete=letters
            ),
            command("relay", "say something in another channel", self.relay, where, text, admin=True, complete=places),
            command("announce", "say something in every channel", self.announce, said, admin=True),
        )

    async def mail(self, invocation: Invocation) -> str:
        """What waits here, dead letters, another attempt, or a name for this conversation."""
        given = {name: str(invocation.arguments.get(name) or "") for name in ("action", "what", "to")}
        match given["action"]:
            case "":
                return await self._store.read(lambda tx: "\n".join(_waiting(tx, invocation)))
            case "dead" if given["what"]:
                raise CommandMisused(usage="/mail dead", why=f"I know nothing to do with {quoted(given['what'])} here.")
            case "dead":
                return await self._store.read(lambda tx: "\n".join(_dead(tx, invocation)))
        if not invocation.admin:
            raise NotPossible(what=f"do /mail {given['action']}", why="only an admin may")
        if not given["what"]:
            raise CommandMisused(usage="/mail redeliver ID [OWNER or NAME], or /mail name NAME", why="Which one?")
        if given["action"] == _NAME:
            if given["to"]:
                raise CommandMisused(usage="/mail name NAME", why="A name is one word.")
            return await self._store.write(lambda tx: self._named(tx, invocation, given["what"]))
        return await self._store.write(lambda tx: self._again(tx, given["what"], given["to"]))

    async def relay(self, invocation: Invocation) -> str:
        """Post a text, or the last answer, as a notice somewhere else."""
        where, text = (str(invocation.arguments.get(name) or "").strip() for name in ("where", "text"))
        return await self._store.write(lambda tx: self._relayed(tx, invocation, where, text))

    async def announce(self, invocation: Invocation) -> str:
        """One broadcast, and a notice in every channel."""
        text, at = str(invocation.arguments["text"]).strip(), self._clock.now()
        bot, keys = invocation.address.chatbot_id, deed_keys(invocation)

        def operation(tx: Transaction) -> str:
            if tx.messages.find(bot, keys):
                return "It is announced."
            done = announce(tx, text, at=at)
            for notice_id in done.notices[:1]:
                tx.messages.add_keys(bot, keys, notice_id)
            return (
                f"Announced in {counted(len(done.destinations), 'channel')} of "
                f"{counted(done.sessions, 'conversation')}."
            )

        return await self._store.write(operation)

    def _named(self, tx: Transaction, invocation: Invocation, name: str) -> str:
        if not is_name(name):
            raise NameInvalid(name=name)
        exchange = Exchange(tx.mail, now=self._clock.now)
        exchange.name(name, enrolled(tx, exchange, session_here(tx, invocation.address)))
        return f"Agents may write to this conversation as `{printable_name(name)}`."

    def _again(self, tx: Transaction, mail_id: str, to: str) -> str:
        try:
            report = Exchange(tx.mail, now=self._clock.now).redeliver(mail_id, to or None)
        except NoDeadLetter as error:
            raise NotPossible(
                what=f"deliver {quoted(mail_id)} again", why="/mail dead lists no letter of this id"
            ) from error
        except OwnerUnknown as error:
            known = ", ".join(tx.mail.names()) or "none"
            raise NotPossible(
                what=f"deliver it to {quoted(to)}", why=f"nobody has this name; there are: {known}"
            ) from error
        return _outcome(report)

    def _relayed(self, tx: Transaction, invocation: Invocation, where: str, text: str) -> str:
        address, bot, keys = _place(tx, where), invocation.address.chatbot_id, deed_keys(invocation)
        if tx.messages.find(bot, keys):
            return _goes_to(address)
        said, metadata = (text, EMPTY) if text else _last_answer(tx, session_here(tx, invocation.address))
        origin = f"From {invocation.address}, by {plain_name(invocation.principal.display_name)}:"
        notice = replace(make.notice(f"{origin}\n\n{said}", reason="reply"), metadata=metadata)
        session = tx.sessions.bound(address)
        if session is None:
            raise NotPossible(what=f"relay to {address}", why="no conversation is bound to it")
        tx.messages.insert(Post(message=notice, address=address), session_id=session.id, at=self._clock.now())
        tx.messages.add_keys(bot, keys, notice.id)
        return _goes_to(address)


def _waiting(tx: Transaction, invocation: Invocation) -> Iterator[str]:
    """What lies in the inbox of this conversation, and what it has sent that is still on its way."""
    session = session_here(tx, invocation.address)
    owner = UUID(session.owner)
    unread, sent = tx.mail.inbox(owner), tx.mail.outbox(owner)
    for each in unread[:_LISTED]:
        yield f"- from {printable_name(_who(tx, session.id, each))}{_about(each)}: {_beginning(each)}"
    for letter in sent[:_LISTED]:
        tries = f", refused {counted(letter.attempts, 'time')}" if letter.attempts else ""
        yield f"- to {_to(letter.message)}{_about(letter.message)}, on its way{tries}: {_beginning(letter.message)}"
    if not unread and not sent:
        yield "No mail waits for this conversation."
    elif (more := max(0, len(unread) - _LISTED) + max(0, len(sent) - _LISTED)) > 0:
        yield f"- and {more} more"


def _dead(tx: Transaction, invocation: Invocation) -> Iterator[str]:
    """Dead letters: of everybody for an admin, else of this conversation."""
    owner = None if invocation.admin else UUID(session_here(tx, invocation.address).owner)
    letters = tx.mail.dead(owner)
    for each in letters[-_LISTED:]:
        yield f"- `{each.id}` to {_to(each.letter.message)}: {_why(each)}; {_beginning(each.letter.message)}"
    if len(letters) > _LISTED:
        yield f"- and {counted(len(letters) - _LISTED, 'older one')}"
    if not letters:
        yield "There are no dead letters."


def _letters(tx: Transaction, invocation: Invocation, argument: str) -> Iterator[Choice]:
    """Who may have a letter, or the dead letters themselves; only admins name either."""
    if not invocation.admin or invocation.arguments.get("action") == _NAME:
        return
    if argument == "to":
        yield from map(choice, tx.mail.names())
        return
    for each in reversed(tx.mail.dead()[-_LISTED:]):
        yield choice(each.id, f"to {_to(each.letter.message)}, {each.reason.value.replace('_', ' ')}")


def _places(tx: Transaction, invocation: Invocation, _: str) -> Iterator[Choice]:
    """Names of the address book whose conversation is somewhere, then every channel but this one."""
    yield from map(choice, tx.mail.names())
    for address, _session in tx.sessions.channels():
        if not is_desk(address) and address != invocation.address:
            yield choice(str(address))


def _goes_to(address: Address) -> str:
    return f"It goes to {address}, and is shown there as soon as that bot runs."


def _why(dead: DeadLetter) -> str:
    error = f" ({dead.error})" if dead.error else ""
    return f"{dead.reason.value.replace('_', ' ')}{error}"


def _outcome(report: Report) -> str:
    if report.delivered:
        return f"Delivered to {counted(len(report.delivered), 'mailbox', 'mailboxes')}."
    if report.failed:
        return f"Not yet: {report.failed[0][2]}. It is tried again by itself."
    return f"It was not delivered, and is a dead letter again: {report.dead[0][1].value.replace('_', ' ')}."


def _place(tx: Transaction, where: str) -> Address:
    """A bound channel, or where the conversation of a name is. Raises NotPossible, with those that there are."""
    places = {str(each): each for each, _ in tx.sessions.channels() if not is_desk(each)}
    owner = tx.mail.named(where)
    box = tx.mail.mailbox(owner) if owner else None
    named = place_of(tx, box.session_id) if box and box.session_id else None
    found = places.get(where) or places.get(str(named))
    if found is None:
        known = ", ".join([*tx.mail.names(), *places]) or "none"
        raise NotPossible(what=f"relay to {quoted(where)}", why=f"no conversation is there; there are: {known}")
    return found


def _last_answer(tx: Transaction, session: Session) -> tuple[str, FrozenDict]:
    """The last answer that stands in what the model reads, with its files by name, and what says where it comes from.

    An answer on a branch that was left, or that was cleared or forgotten, is nothing to be shown to others.
    """
    records = past(tx, tx.branches.current(session.id), n=session.last_n + 1, records=_NEAR)
    answer = History.of(records).last_response
    if answer is None:
        raise NotPossible(what="relay the last answer", why=NO_ANSWER)
    files = [printable_name(each.name) for each in answer.content.attachments]
    named = f"\n\nFiles: {', '.join(f'`{each}`' for each in files)}" if files else ""
    return f"{answer.text}{named}", FrozenDict(relayed=answer.id)


def _who(tx: Transaction, reader: str, message: Message) -> str:
    sender = message.sender.plain()
    return called(tx, reader, sender) if isinstance(sender, UUID) else str(sender)


def _to(message: Message) -> str:
    recipient = message.recipient.plain()
    return "everybody" if recipient is None else printable_name(str(recipient))


def _about(message: Message) -> str:
    return f" on {printable_name(message.channel)}" if message.channel else ""


def _beginning(message: Message) -> str:
    return f"`{printable_name(str(thaw(message.content)), _WORDS)}`"
