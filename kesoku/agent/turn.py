"""A running turn as the log tells it. Everything that the loop decides by is derived from records and steps."""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any

from kesoku.agent.seam import open_fence
from kesoku.history.block import is_blocked
from kesoku.history.codec import reply_from_json
from kesoku.history.pair import open_calls, results
from kesoku.messages.branch import Branch
from kesoku.messages.lifecycle import Expense, Fence, Step
from kesoku.messages.profile import NONE, Profile
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import Finish, Reply, TextBlock, Usage

_SHOWN = 500
"""Characters of the model's last words in a summary."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One state of a turn; the next read makes the next value."""

    fence: Fence
    prompt: Record
    """The prompt that opened it."""
    past: tuple[Record, ...]
    """The latest records of the session that belong to other turns."""
    branch: Branch
    """What of the session was selected when the turn was read."""
    records: tuple[Record, ...]
    """Everything that belongs to this turn, by seq."""
    steps: tuple[Step, ...]
    """Replies of the model so far."""
    started_at: int
    """When the prompt was first claimed, in microseconds."""
    session_turns: int
    """Finished turns of the session."""
    spent_today: int = 0
    """Nanodollars that all turns of the database cost since midnight, where a budget asks for it."""
    profile: Profile = NONE
    """Which model and role its prompt asks for."""

    @property
    def id(self) -> str:
        """The id of the prompt."""
        return self.prompt.id

    @property
    def address(self) -> Address:
        """Where it was asked, and where the answer goes."""
        return self.prompt.address

    @property
    def next_step(self) -> int:
        """The number of the step that comes next, from 1; it is the round of what is said before it."""
        return len(self.steps) + 1

    @property
    def last_reply(self) -> Reply:
        """What the model said in the last step."""
        return reply_from_json(self.steps[-1].reply, self.steps[-1].usage)

    @property
    def begun(self) -> Reply | None:
        """The reply that was cut and with which the next step goes on."""
        return self.before(self.next_step)

    def before(self, step: int) -> Reply | None:
        """The cut reply with which this step goes on; None if it begins by itself.

        After a prompt that joined in between, another paragraph begins.
        """
        if not any(record.round == step - 1 and _is_cut(record) for record in self.records):
            return None
        reply = reply_from_json(self.steps[step - 2].reply)
        if not self.is_joined(step):
            return reply
        return replace(reply, blocks=(*reply.blocks, TextBlock(text=f"\n{open_fence(reply.text)}\n\n")))

    def is_joined(self, step: int) -> bool:
        """Whether a further prompt is answered from this step on."""
        return any(prompt.round == step for prompt in self.prompts[1:])

    def can_go_on(self, reply: Reply) -> bool:
        """Whether a new reply is the beginning of an answer with which the model may go on; once in a turn."""
        is_part = reply.finish in {Finish.CUT, Finish.BROKEN} and bool(reply.text.strip()) and not reply.calls
        return is_part and not any(map(_is_cut, self.records))

    @property
    def has_news(self) -> bool:
        """Whether the model's last reply still waits for what follows from it; after a crash, too."""
        last = len(self.steps)
        if not last or any(record.round > last for record in self.records):
            return False
        return bool(self.open_calls) or not self.calls_of(last)

    @property
    def prompts(self) -> tuple[Record, ...]:
        """What was asked: the opening prompt and those that joined."""
        return tuple(record for record in self.records if record.kind == "user_prompt")

    @property
    def calls(self) -> tuple[Record, ...]:
        """All tool calls, in order."""
        return tuple(record for record in self.records if record.kind == "tool_call")

    @property
    def open_calls(self) -> tuple[Record, ...]:
        """Tool calls without a result."""
        return open_calls(self.records)

    @property
    def follows_refusal(self) -> bool:
        """Whether the provider refused to read the prompt before this one, too."""
        answers = [record for record in self.past if record.kind == "answer"]
        return bool(answers) and is_blocked(answers[-1])

    @property
    def usage(self) -> Usage:
        """Tokens of all steps."""
        return sum((step.usage for step in self.steps), Usage())

    @property
    def cost(self) -> int | None:
        """Nanodollars of all steps with a price; None if none has one."""
        return Expense.of(self.steps).cost

    @property
    def bound(self) -> str:
        """The budget that kept the last step short, in words."""
        found: str = self.steps[-1].request.get("bound", "")
        return found

    def calls_of(self, step: int) -> tuple[Record, ...]:
        """The tool calls of one step."""
        return tuple(call for call in self.calls if call.round == step)

    def nudges(self, why: str) -> int:
        """How often the model was told this in this turn."""
        sources: list[Any] = [record.message.source for record in self.records if record.kind == "system_note"]
        return sum(source.kind == "nudge" and source.why == why for source in sources)

    def repeats(self, call: Record, *, until: int) -> int:
        """How often this very call brought this very result, up to the step `until`."""
        found = results(self.records)
        wanted = _fingerprint(call, found.get(call.id))
        earlier = (each for each in self.calls if each.round <= until)
        return sum(_fingerprint(each, found.get(each.id)) == wanted for each in earlier)

    def result(self, call: Record) -> Record | None:
        """What a call returned."""
        return results(self.records).get(call.id)

    def done(self) -> str:
        """What was achieved so far, in words."""
        counts = Counter(call.message.content.tool for call in self.calls)
        tools = ", ".join(f"{tool} ({times}×)" for tool, times in counts.items())
        said = [record.message.rendered for record in self.records if _is_interim(record)]
        lines = [f"Until then I had called: {tools}." if tools else "Until then I had called no tool."]
        if said:
            lines.append(f"My last words were: {said[-1][:_SHOWN]}{'…' if len(said[-1]) > _SHOWN else ''}")
        return "\n\n".join(lines)


def _fingerprint(call: Record, result: Record | None) -> tuple[Any, ...]:
    asked, returned = call.message.content, None if result is None else result.message.content
    outcome = None if returned is None else (returned.output, returned.error)
    return asked.tool, asked.arguments, outcome


def _is_cut(record: Record) -> bool:
    source: Any = record.message.source
    return record.kind == "thought" and bool(source.cut)


def _is_interim(record: Record) -> bool:
    source: Any = record.message.source
    return record.kind == "thought" and bool(source.interim)
