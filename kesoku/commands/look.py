"""Quick answers about what was said: /last, /tools, /replay."""

from collections.abc import Iterator, Mapping

from kesoku.adapter.command import Argument, Invocation
from kesoku.agent.past import past
from kesoku.agent.replay import Replay, replay
from kesoku.agent.view import Viewer
from kesoku.commands.completion import is_said, messages
from kesoku.commands.here import NO_ANSWER, given_to, label, message_here, plain_name, session_here
from kesoku.commands.registry import SlashCommand, command
from kesoku.errors import NotPossible
from kesoku.history import History
from kesoku.messages.lifecycle import Session
from kesoku.messages.masked import masked
from kesoku.messages.message import Message
from kesoku.messages.record import Record
from kesoku.ports import ChatModel, Store, Transaction
from kesoku.render import counted, duration
from kesoku.render.mask import NOTHING, Mask

_CALLS = 15
"""Calls that /tools lists, the latest ones."""


class Look:
    """What the commands act on."""

    def __init__(self, *, store: Store, viewer: Viewer, mask: Mask = NOTHING) -> None:
        self._store, self._viewer, self._mask = store, viewer, mask

    def commands(self) -> tuple[SlashCommand, ...]:
        """All of them."""
        message = Argument(
            name="message", description="a message of that turn; by default the last one", completes=True
        )
        said = messages(self._store, is_said)
        return (
            command("last", "say the last answer again", self.last),
            command("tools", "list the latest tool calls and how they ended", self.tools),
            command(
                "replay", "compare what the model was sent in a turn with the log", self.replay, message, complete=said
            ),
        )

    async def last(self, invocation: Invocation) -> str:
        """The last answer on this branch."""
        history, places = await self._store.read(lambda tx: self._read(tx, session_here(tx, invocation.address)))
        answer = history.last_response
        if answer is None:
            raise NotPossible(what="say it again", why=NO_ANSWER)
        model = getattr(answer.source, "model", "")
        by = f", {plain_name(model)}" if model else ""
        return f"{label(places[answer.id])}{by}:\n\n{answer.rendered}"

    async def tools(self, invocation: Invocation) -> str:
        """The latest calls with state, arguments, and time."""
        history, places = await self._store.read(lambda tx: self._read(tx, session_here(tx, invocation.address)))
        calls = list(history.action_requests)
        if not calls:
            raise NotPossible(what="list tool calls", why="what the model reads here holds none; /context lists it")
        more = [f"- {counted(len(calls) - _CALLS, 'earlier call')}"] if len(calls) > _CALLS else []
        return "\n".join([*more, *(_call(masked(call, self._mask), places) for call in calls[-_CALLS:])])

    async def replay(self, invocation: Invocation) -> str:
        """Every request of a turn once more, from the log."""
        given = str(invocation.arguments.get("message") or "")
        found, model = await self._store.read(lambda tx: self._replay(tx, invocation, given))
        return "\n".join(_replayed(found, model))

    def _replay(self, tx: Transaction, invocation: Invocation, given: str) -> tuple[list[Replay], ChatModel]:
        session = session_here(tx, invocation.address)
        record = message_here(tx, session, given) if given else self._last(tx, session)
        model = self._viewer.assistant(tx, session, invocation.address).model
        return replay(tx, record.turn_id or record.id), model

    def _last(self, tx: Transaction, session: Session) -> Record:
        """The last answer. Raises NotPossible."""
        history, places = self._read(tx, session)
        if history.last_response is None:
            raise NotPossible(what="replay a turn", why=f"{NO_ANSWER}. /replay MESSAGE takes any turn")
        return places[history.last_response.id]

    def _read(self, tx: Transaction, session: Session) -> tuple[History, dict[str, Record]]:
        """What is read on the current branch, and the record of each message."""
        branch = tx.branches.current(session.id)
        records = past(tx, branch, n=session.last_n + 1, records=self._viewer.limits.history_records)
        return History.of(records), {record.id: record for record in records}


def _call(call: Message, places: Mapping[str, Record]) -> str:
    """⏳ without a result, ✅ or ❌ with one."""
    answered = places.get(call.content.response_id or "")
    result = None if answered is None else answered.message
    mark = "⏳" if result is None else "✅" if result.content.success else "❌"
    given = given_to(call)
    took = "" if result is None else f", {duration(max(0.0, result.created_at - call.created_at))}"
    arguments = f"`{given}`" if given else "no arguments"
    return f"- {label(places[call.id])} {mark} {plain_name(call.content.tool)}, {arguments}{took}"


def _replayed(found: list[Replay], model: ChatModel) -> Iterator[str]:
    """A line a request; `model` counts their tokens."""
    same = sum(each.is_same for each in found)
    yield f"Requests of this turn that come out of the log as they were sent: {same} of {len(found)}."
    yield ""
    for each in found:
        digest = f"`{each.logged[:12]}`"
        if each.request is None:
            yield f"- step {each.step.n}: not enough was noted to compile it again (sent: {digest})"
            continue
        messages = len({source for turn in each.request.turns for source, _ in turn.sources})
        size = f"{counted(messages, 'message')}, about {model.count(each.request):,} tokens"
        if each.is_same:
            yield f"- step {each.step.n}: the same bytes, {digest}; {size}"
        elif each.redacted:
            gone = ", ".join(map(label, each.redacted))
            yield f"- step {each.step.n}: cannot be made again, for what it was sent was redacted since: {gone}; {size}"
        else:
            yield f"- step {each.step.n}: NOT the same, sent {digest}, now `{each.request.digest()[:12]}`; {size}"
