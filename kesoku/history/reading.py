"""What can be read of a history: its messages by id, in order and by class, chosen orders, and what a model is sent."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from kesoku.errors import ProjectionRefused, SelectionInvalid
from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.history.members import Members
from kesoku.history.placements import Placements
from kesoku.history.progression import MAIN, Progression
from kesoku.history.projection import Dialect, projected
from kesoku.history.selection import Progressions
from kesoku.messages.kinds import Answer, SystemPrompt, ToolCall, ToolResult, UserPrompt
from kesoku.messages.lifecycle import Step
from kesoku.messages.message import Message
from kesoku.messages.record import Record
from kesoku.messages.turn import CompiledRequest, TurnRequest

_NO_REQUEST = TurnRequest()


class Reading:
    """The readable side of a `History`. Iteration goes over all messages in order, the system prompt first."""

    def __init__(self) -> None:
        self._members = Members()
        self._placements = Placements()
        self._chosen = Progressions()

    def __len__(self) -> int:
        return len(self._members)

    def __iter__(self) -> Iterator[Message]:
        return iter(self._members)

    def __contains__(self, message: object) -> bool:
        """Whether a message, or one with this id, is a member."""
        return (message.id if isinstance(message, Message) else message) in self._members

    def __getitem__(self, message_id: str) -> Message:
        """The member with this id, in its latest version. Raises NotAMember."""
        return self._members[message_id]

    @property
    def system(self) -> SystemPrompt | None:
        """The system prompt, which stands first."""
        return self._members.system

    @property
    def instructions(self) -> tuple[UserPrompt, ...]:
        """The prompts, in order; a message of a subclass belongs to no view."""
        return self._members.views.of(UserPrompt)

    @property
    def assistant_responses(self) -> tuple[Answer, ...]:
        """The answers, in order."""
        return self._members.views.of(Answer)

    @property
    def action_requests(self) -> tuple[ToolCall, ...]:
        """The calls of tools, in order."""
        return self._members.views.of(ToolCall)

    @property
    def action_responses(self) -> tuple[ToolResult, ...]:
        """The results of calls, in order."""
        return self._members.views.of(ToolResult)

    @property
    def actions(self) -> tuple[ToolCall | ToolResult, ...]:
        """The calls and the results, in order."""
        return self._members.views.actions

    @property
    def last_instruction(self) -> UserPrompt | None:
        """The last prompt, or None."""
        return self._members.views.last(UserPrompt)

    @property
    def last_response(self) -> Answer | None:
        """The last answer, or None."""
        return self._members.views.last(Answer)

    @property
    def progression(self) -> Progression:
        """The order that is read: the selected one, else that of all messages."""
        chosen = self._chosen.selected
        return self._members.progression if chosen is None else chosen

    @property
    def progressions(self) -> Mapping[str, Progression]:
        """All orders that have a name; `main` is that of all messages."""
        return {MAIN: self._members.progression, **self._chosen.named}

    def to_chat_msgs(
        self, progression: Iterable[str] | None = None, *, dialect: Dialect = "kesoku"
    ) -> list[dict[str, Any]]:
        """One entry with role and content for each message of an order; for None or `()` for all messages.

        Raises:
            ProjectionRefused: an id is unknown, or a message cannot be rendered.
            SelectionInvalid: an id stands there twice.
        """
        if progression is None or progression == ():
            return projected(self, dialect=dialect)
        ids = Progression(ids=tuple(progression))
        if unknown := self._unknown(ids):
            raise ProjectionRefused(unknown=unknown)
        return projected(map(self._members.__getitem__, ids), dialect=dialect)

    def compile(
        self,
        steps: Iterable[Step] = (),
        request: TurnRequest = _NO_REQUEST,
        *,
        selection: Iterable[str] | None = None,
        limits: CompileLimits | None = None,
        provider: str | None = None,
        active_turn: str | None = None,
    ) -> CompiledRequest:
        """What a model is sent, by `compile_turns`: `selection` or the selected order literally, which costs nothing
        for the rest of a long session; without either, all messages in the default order of their records (C-14).

        Raises:
            SelectionInvalid: an id of `selection` is unknown, or stands there twice.
        """
        chosen = self._chosen.selected if selection is None else self._known(selection)
        return compile_turns(
            self._placements.all() if chosen is None else self._placed(chosen),
            steps,
            request,
            selection=None if chosen is None else chosen.ids,
            limits=limits,
            provider=provider,
            active_turn=active_turn,
        )

    def to_dict(self) -> dict[str, Any]:
        """The JSON-able form: all messages in order, and the chosen orders."""
        return {"messages": [each.to_dict() for each in self], **self._chosen.to_dict()}

    def _placed(self, chosen: Sequence[str]) -> tuple[Record, ...]:
        system = self._members.system
        return self._placements.around((*chosen, system.id) if system else chosen)

    def _known(self, ids: Iterable[str]) -> Progression:
        progression = Progression(ids=tuple(ids))
        if unknown := self._unknown(progression):
            raise SelectionInvalid(missing=unknown, repeated=())
        return progression

    def _unknown(self, ids: Iterable[str]) -> tuple[str, ...]:
        return tuple(each for each in ids if each not in self._members)
