"""Which messages a history has, and the order of all of them: the system prompt first, the others as they came."""

from collections.abc import Iterator

from kesoku.errors import ClassChanged, NotAMember, NotAMessage
from kesoku.history.progression import Progression
from kesoku.history.views import Views
from kesoku.messages.kinds import SystemPrompt
from kesoku.messages.message import Message


class Members:
    """Messages by id beside the order of their ids. At most one is a system prompt, and that one stands first."""

    def __init__(self) -> None:
        self._by_id: dict[str, Message] = {}
        self._order: list[str] = []
        self._progression: Progression | None = None
        self.views = Views()
        self.system: SystemPrompt | None = None

    def put(self, message: Message) -> Message | None:
        """Take in a message: at the place of the one with its id, else behind all others.

        A system prompt takes the first place, and the one before it is no member any more; that one is returned.

        Raises:
            NotAMessage: it is none.
            ClassChanged: its id is that of a member of another class.
        """
        if not isinstance(message, Message):
            raise NotAMessage(given=message)
        before = self._by_id.get(message.id)
        if before is not None:
            self._replace(before, message)
            return None
        if isinstance(message, SystemPrompt):
            return self._begin_with(message)
        self._insert(len(self._order), message)
        return None

    def clear(self) -> None:
        """Leave out all but the system prompt."""
        system, self.system = self.system, None
        self._by_id, self._order, self._progression = {}, [], None
        self.views.clear()
        if system is not None:
            self._begin_with(system)

    @property
    def progression(self) -> Progression:
        """The order of all messages; made once for every order that is asked for."""
        if self._progression is None:
            self._progression = Progression(ids=tuple(self._order))
        return self._progression

    def __getitem__(self, message_id: str) -> Message:
        try:
            return self._by_id[message_id]
        except KeyError:
            raise NotAMember(message_id=message_id) from None

    def __contains__(self, message_id: object) -> bool:
        return message_id in self._by_id

    def __len__(self) -> int:
        return len(self._by_id)

    def __iter__(self) -> Iterator[Message]:
        return map(self._by_id.__getitem__, self._order)

    def _begin_with(self, system: SystemPrompt) -> SystemPrompt | None:
        before, self.system = self.system, system
        if before is not None:
            self._order.remove(before.id)
            del self._by_id[before.id]
            self.views.drop(before)
        self._insert(0, system)
        return before

    def _insert(self, place: int, message: Message) -> None:
        self._order.insert(place, message.id)
        self._by_id[message.id] = message
        self._progression = None
        self.views.put(message)

    def _replace(self, before: Message, message: Message) -> None:
        if type(before) is not type(message):
            raise ClassChanged(message_id=message.id, before=type(before), after=type(message))
        self._by_id[message.id] = message
        self.views.put(message)
        if isinstance(message, SystemPrompt):
            self.system = message
