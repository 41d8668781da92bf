"""Sessions written down by hand: records as a store would return them, without a store."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from kesoku.history.codec import replay_state, reply_to_json
from kesoku.messages import make
from kesoku.messages.content import Attachment
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY
from kesoku.messages.kinds import category_of
from kesoku.messages.lifecycle import Step
from kesoku.messages.message import Message
from kesoku.messages.record import Address, Record
from kesoku.messages.turn import CallBlock, Reply, TextBlock

HERE = Address(chatbot_id="discord", channel_id="1")


@dataclass(slots=True)
class Talk:
    """Appends records in the order of commits. `stamped` False leaves out turn ids and rounds, as old rows do."""

    stamped: bool = True
    address: Address = HERE
    provider: str = "scripted"
    records: list[Record] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    turn: str = ""
    round: int = 0

    def prompt(
        self,
        text: str,
        *,
        author: str = "Ada",
        files: tuple[Attachment, ...] = (),
        status: MessageStatus = MessageStatus.PROCESSED,
    ) -> Record:
        """A person asks; a turn begins."""
        return self.opens(make.user_prompt(text, author=author, attachments=files), status=status)

    def opens(self, message: Message, *, status: MessageStatus = MessageStatus.PROCESSED) -> Record:
        """Any message that begins a turn."""
        self.turn, self.round = message.id, 0
        return self.add(message, status=status)

    def thought(self, text: str, *, interim: bool = False) -> Record:
        """The model thinks."""
        return self.add(make.thought(text, provider=self.provider, model="m", interim=interim))

    def call(self, tool: str, arguments: Mapping[str, Any] = EMPTY, *, signature: bytes | None = None) -> Record:
        """The model asks for a tool."""
        state = replay_state(CallBlock(call_id="", name=tool, arguments=arguments, signature=signature))
        return self.add(make.tool_call(tool, arguments, provider=self.provider, model="m", replay_state=state))

    def result(self, call: Record, output: Any = "done", **said: Any) -> Record:
        """A tool returns."""
        message: Any = call.message
        changed, result = make.respond(message, output, **said)
        self.records = [replace(each, message=changed) if each.id == call.id else each for each in self.records]
        return self.add(result, parent=call.id, turn=call.turn_id, round=call.round)

    def answer(self, text: str) -> Record:
        """The model answers."""
        return self.add(make.answer(text, provider=self.provider, model="m"))

    def error(self, text: str) -> Record:
        """The turn fails."""
        return self.add(make.error_answer(text))

    def nudge(self, text: str = make.EMPTY_REPLY) -> Record:
        """The machinery speaks to the model, which opens the next round."""
        self.round += 1
        return self.add(make.nudge(text))

    def step(self, *said: TextBlock | CallBlock) -> list[Record]:
        """A stored reply of the model with the thoughts and calls that belong to it; returns the calls."""
        self.round += 1
        blocks: list[TextBlock | CallBlock] = []
        calls = []
        for block in said:
            if isinstance(block, CallBlock):
                message = make.tool_call(
                    block.name,
                    block.arguments,
                    provider=self.provider,
                    model="m",
                    replay_state=replay_state(block),
                )
                calls.append(self.add(message))
                block = replace(block, call_id=message.id)  # noqa: PLW2901 - the stored form carries our id
            elif block.thought:
                self.thought(block.text)
            blocks.append(block)
        reply = Reply(blocks=tuple(blocks), provider=self.provider, model="m")
        self.steps.append(Step(turn_id=self.turn, n=self.round, request=EMPTY, reply=reply_to_json(reply)))
        return calls

    def add(
        self,
        message: Message,
        *,
        status: MessageStatus | None = None,
        parent: str | None = None,
        turn: str | None = None,
        round: int | None = None,  # noqa: A002
    ) -> Record:
        """Any message, where the talk stands now unless it is placed."""
        opens = message.id == self.turn
        record = Record(
            message=message,
            address=self.address,
            session_id="session",
            status=status or category_of(message).status,
            seq=len(self.records) + 1,
            session_n=len(self.records) + 1,
            parent_id=parent or (None if opens else self.turn),
            turn_id=(turn or self.turn) if self.stamped else None,
            round=(self.round if round is None else round) if self.stamped and not opens else 0,
        )
        self.records.append(record)
        return record
