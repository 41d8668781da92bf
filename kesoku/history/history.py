"""One session's view in memory: which messages there are, in which order they are read, and who is told (C-01, C-20).

    history = History(system=make.system_prompt("Be brief."))
    history.add(instruction="Where is the ferry?")
    history.add(assistant_response="At pier 3.")

Nothing is stored here: whoever stores a message does that first and adds its record afterwards (C-21). A history
belongs to one event loop or thread at a time.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Self, TypedDict, Unpack, cast

from kesoku.errors import FieldMistyped, NotACall, NotAMember, NotAMessage, NotASystemPrompt
from kesoku.history import factory
from kesoku.history.beginning import ordered, readable
from kesoku.history.factory import Said
from kesoku.history.observers import Audience, Change, Observer
from kesoku.history.order import placed
from kesoku.history.placements import Placements
from kesoku.history.progression import MAIN
from kesoku.history.reading import Reading
from kesoku.history.selection import Progressions
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.freeze import EMPTY
from kesoku.messages.kinds import SystemPrompt, ToolCall, ToolResult
from kesoku.messages.message import Message
from kesoku.messages.record import Record


class Outcome(TypedDict, total=False):
    """What may be said of a result beside its output; see `make.respond`."""

    error: str | None
    summary: str | None
    attachments: Iterable[Attachment]
    synthetic: bool
    replace: bool
    """Whether the call may have a result already, which is superseded."""


class History(Reading):
    """Messages by id, the order of all of them, chosen orders beside it, and observers of what happens.

    `on_added` and `on_replaced` are lists of callables that are given the message; change them at any time. `add`,
    `update`, `replace` and `respond` tell them once everything is in place. A failing observer undoes nothing: its
    error is raised when all were told, several as a BaseExceptionGroup. Where an observer must be awaited these four
    raise ObserverAsync before they do anything, and their twins with `a_` await it. What has no twin tells nobody.
    """

    def __init__(
        self,
        messages: Mapping[str, Any] | Iterable[Any] | None = None,
        *,
        system: SystemPrompt | None = None,
        progression: Iterable[str] | None = None,
        on_added: Iterable[Observer] = (),
        on_replaced: Iterable[Observer] = (),
    ) -> None:
        """`messages` are messages, records and dicts of messages, and whatever else is among them is left out; or they
        are what `to_dict` gave. `progression` is the order of all of them, if it is another one.

        Raises:
            NotASystemPrompt: `system` is none.
            SelectionInvalid: an order has an id twice, or an unknown one.
            OrderIncomplete: it leaves a message out.
            FieldMistyped: `progressions` of what `to_dict` gave are no mapping.
        """
        super().__init__()
        self.on_added = list(on_added)
        self.on_replaced = list(on_replaced)
        self._lock = asyncio.Lock()
        given = messages.get("messages", ()) if isinstance(messages, Mapping) else messages or ()
        for each in ordered(readable(given), progression):
            self.include(each)
        if isinstance(messages, Mapping):
            for name, ids in _mapping(messages, "progressions").items():
                self.name_progression(name, ids)
            self.select(messages.get("selected", MAIN))
        if system is not None:
            self.set_system(system)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """The history that `to_dict` wrote, without observers."""
        return cls(data)

    @classmethod
    def of(
        cls, records: Iterable[Record], *, on_added: Iterable[Observer] = (), on_replaced: Iterable[Observer] = ()
    ) -> Self:
        """The history of a stored session: its records in the order in which they are read (C-14)."""
        history = cls(on_added=on_added, on_replaced=on_replaced)
        history._load(records)
        return history

    def _load(self, records: Iterable[Record]) -> None:
        order = placed(records)
        self._placements = Placements(order)
        for each in order:
            self._take(each.record.message)

    def include(self, message: Message | Record) -> None:
        """Make a message or a record a member and tell nobody: behind all others, or at the place of the one with its
        id. A system prompt takes the first place, and the one before it leaves.

        Raises:
            NotAMessage: it is neither.
            ClassChanged: the member with its id is of another class.
        """
        if isinstance(message, Record):
            self._take(message.message)
            self._placements.keep(message)
            return
        known = getattr(message, "id", None) in self._members
        self._take(message)
        if known:
            self._placements.change(message)
        else:
            self._placements.wait(message)

    def set_system(self, system: SystemPrompt) -> None:
        """Begin with this system prompt; the one before it leaves. Raises NotASystemPrompt."""
        if not isinstance(system, SystemPrompt):
            raise NotASystemPrompt(given=system)
        self.include(system)

    def clear(self) -> None:
        """Leave out all messages but the system prompt, and all chosen orders. What is stored stays stored (C-16)."""
        self._members.clear()
        self._placements.retain(each.id for each in self)
        self._chosen = Progressions()

    def name_progression(self, name: str, ids: Iterable[str]) -> None:
        """Keep an order of some messages by name, to be selected. Raises SelectionInvalid, ProgressionReserved."""
        self._chosen.name(name, self._known(ids))

    def select(self, choice: str | Iterable[str]) -> None:
        """Read these ids from now on, or the order of this name; `main` is that of all messages. No member leaves.

        Raises:
            ProgressionUnknown: there is no order of this name.
            SelectionInvalid: an id is unknown, or stands there twice.
        """
        self._chosen.select(choice if isinstance(choice, str) else self._known(choice))

    def add(self, **said: Unpack[Said]) -> Message:
        """Make one message of what is said, make it a member as `include` does, and tell `on_added`.

        An output beside the call `action_request` answers that call: see `respond`.

        Raises:
            SeveralKinds, FieldRefused, WrongKind, NotACall, NotAMessage, NotASystemPrompt: what is said makes no
                message.
        """
        given = factory.told(said)
        replaced = tuple(self.on_replaced) if factory.answers(given) else ()
        audience = Audience(added=tuple(self.on_added), replaced=replaced)
        return self._done(partial(self._add, given), audience, "a_add").added[0]

    async def a_add(self, **said: Unpack[Said]) -> Message:
        """`add` for any observers."""
        return (await self._done_and_awaited(partial(self._add, factory.told(said)))).added[0]

    def update(self, message_id: str, **changes: Any) -> Message:
        """Say a member differently, as `Message.update` does, and tell `on_replaced` (R-1). Raises NotAMember."""
        audience = Audience(replaced=tuple(self.on_replaced))
        return self._done(partial(self._update, message_id, changes), audience, "a_update").replaced[0]

    async def a_update(self, message_id: str, **changes: Any) -> Message:
        """`update` for any observers."""
        return (await self._done_and_awaited(partial(self._update, message_id, changes))).replaced[0]

    def replace(self, message: Message | Record) -> Message:
        """Put a member's next version, or its record, in its place, and tell `on_replaced`.

        Raises:
            NotAMember, NotAMessage: no message with its id is a member.
            ClassChanged: the member is of another class.
        """
        audience = Audience(replaced=tuple(self.on_replaced))
        return self._done(partial(self._replace, message), audience, "a_replace").replaced[0]

    async def a_replace(self, message: Message | Record) -> Message:
        """`replace` for any observers."""
        return (await self._done_and_awaited(partial(self._replace, message))).replaced[0]

    def respond(self, call_id: str, output: Any = None, **more: Unpack[Outcome]) -> tuple[ToolCall, ToolResult]:
        """Answer a call: its next version and the new result. `on_added` is told of the result, then `on_replaced` of
        the call (R-5).

        Raises:
            NotAMember: no message has this id.
            NotACall: it is no call.
            AlreadyAnswered: it has a result, and `replace` is not asked for.
        """
        audience = Audience(added=tuple(self.on_added), replaced=tuple(self.on_replaced))
        return _pair(self._done(partial(self._respond, call_id, output, more), audience, "a_respond"))

    async def a_respond(self, call_id: str, output: Any = None, **more: Unpack[Outcome]) -> tuple[ToolCall, ToolResult]:
        """`respond` for any observers."""
        return _pair(await self._done_and_awaited(partial(self._respond, call_id, output, more)))

    def _done(self, work: Callable[[], Change], audience: Audience, twin: str) -> Change:
        audience.admit(instead=twin)
        change = work()
        audience.tell(change, instead=twin)
        return change

    async def _done_and_awaited(self, work: Callable[[], Change]) -> Change:
        """The audience is that of the moment in which the change was made; an observer may change the history again."""
        async with self._lock:
            change = work()
        await Audience(added=tuple(self.on_added), replaced=tuple(self.on_replaced)).tell_and_wait(change)
        return change

    def _add(self, given: Mapping[str, Any]) -> Change:
        if factory.answers(given):
            more = {name: given[key] for key, name in _OUTCOME.items() if key in given}
            return self._respond(factory.answered_call(given).id, given.get("action_output"), cast("Outcome", more))
        message = factory.made(given)
        stored = given.get("message")
        self.include(stored if isinstance(stored, Record) else message)
        return Change(added=(message,))

    def _update(self, message_id: str, changes: Mapping[str, Any]) -> Change:
        return self._replace(self[message_id].update(**changes))

    def _replace(self, message: Message | Record) -> Change:
        value = message.message if isinstance(message, Record) else message
        if not isinstance(value, Message):
            raise NotAMessage(given=value)
        if value not in self:
            raise NotAMember(message_id=value.id)
        self.include(message)
        return Change(replaced=(value,))

    def _respond(self, call_id: str, output: Any, more: Outcome) -> Change:
        call = self[call_id]
        if not isinstance(call, ToolCall):
            raise NotACall(given=call)
        changed, result = make.respond(call, output, **more)
        self.include(changed)
        self.include(result)
        if before := call.content.response_id:
            self._placements.supersede(before, result.id)
        return Change(added=(result,), replaced=(changed,))

    def _take(self, message: Message) -> None:
        left = self._members.put(message)
        if left is not None:
            self._placements.drop(left.id)
            self._chosen.replace(left.id, message.id)


_OUTCOME = {"action_error": "error", "attachments": "attachments", "replace": "replace"}
"""What `add` calls the parts of an outcome."""


def _mapping(data: Mapping[str, Any], field: str) -> Mapping[str, Any]:
    found = data.get(field, EMPTY)
    if not isinstance(found, Mapping):
        raise FieldMistyped(owner="a history", field=field, given=found, wanted="a mapping")
    return found


def _pair(change: Change) -> tuple[ToolCall, ToolResult]:
    return cast("tuple[ToolCall, ToolResult]", (change.replaced[0], change.added[0]))
