"""Agents that give work to each other: dispatcher, postman and tools over a store, with a model that follows rules."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import Any
from uuid import UUID

from kesoku.exchange import Exchange, wording
from kesoku.exchange.agents import SessionAgents
from kesoku.exchange.kin import Kin, children_of, desks, enrolled, is_desk
from kesoku.exchange.postman import Postman
from kesoku.exchange.rest import WAKES
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Change
from kesoku.messages.message import Message
from kesoku.messages.record import Record
from kesoku.messages.turn import CompiledRequest, Reply, ResultBlock, StreamItem, TextBlock
from kesoku.ports import Store, Transaction
from kesoku.testing.agent_harness import AgentHarness
from kesoku.testing.clock import VirtualClock
from kesoku.testing.gateway_harness import EVERYTHING
from kesoku.testing.model import ScriptedModel, call, reply
from kesoku.tools.builtin import check_mail, send_message, spawn_agent
from kesoku.tools.context import ToolContext
from kesoku.tools.tool import Tool

Rule = Reply | str | Callable[[CompiledRequest], Reply | str]


class RuleModel(ScriptedModel):
    """Says what the rule says whose word stands in the last thing that it reads. `heard` are these last things."""

    def __init__(self, rules: dict[str, Rule]) -> None:
        super().__init__()
        self.rules = rules
        self.heard: list[str] = []

    async def stream(self, request: CompiledRequest) -> AsyncGenerator[StreamItem, None]:
        """Answer by the first rule that fits; what no rule knows is said back."""
        last = last_read(request)
        self.heard.append(last)
        rule = next((rule for word, rule in self.rules.items() if word in last), f"heard: {last}")
        said = rule(request) if callable(rule) else rule
        self.lines = [said if isinstance(said, Reply) else reply(said)]
        async for item in super().stream(request):
            yield item


def last_read(request: CompiledRequest) -> str:
    """The last text or tool result of a request, but for what an agent is told beside its task."""
    block = next(each for each in reversed(request.turns[-1].blocks) if wording.TASK not in getattr(each, "text", ""))
    if isinstance(block, ResultBlock):
        return f"{block.name} returned {block.output if block.error is None else block.error}"
    return block.text if isinstance(block, TextBlock) else ""


def spawn(name: str, task: str) -> Reply:
    return reply(call("spawn_agent", name=name, task=task))


def write(to: str, text: str, **more: Any) -> Reply:
    return reply(call("send_message", to=to, text=text, **more))


class Office(AgentHarness):
    """One process; several over one store are several processes."""

    def __init__(
        self,
        rules: dict[str, Rule],
        *,
        store: Store | None = None,
        clock: VirtualClock | None = None,
        tools: tuple[Tool, ...] = (),
        wakes: int = WAKES,
    ) -> None:
        self.model = RuleModel(rules)
        super().__init__(
            self.model, tools=(spawn_agent, send_message, check_mail, *tools), store=store, clock=clock, poll=0.02
        )
        self.postman = Postman(self.store, self.gateway, self.clock, desks=desks(EVERYTHING), wakes=wakes)
        self.agents = SessionAgents(self.store, self.clock, self.postman, serving=EVERYTHING)

    @asynccontextmanager
    async def open(self, owner: str = "w1") -> AsyncIterator[None]:
        """Turns run, mail is carried, and people get their answers."""
        tasks = [asyncio.create_task(each) for each in (self.postman.run(), self._deliver())]
        self._carrying = tasks[0]
        try:
            async with self.at_work(owner):
                yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def is_dead(self) -> bool:
        """Whether the postman broke down, after some time that passes here."""
        await self.clock.advance(1)
        return self._carrying.done()

    async def _deliver(self) -> None:
        def waits(change: Change) -> bool:
            record = change.record
            return record.kind == "answer" and record.status is MessageStatus.PENDING and not is_desk(record.address)

        async with self.gateway.listen(waits) as changes:
            async for change in changes:
                await self.gateway.move(change.record.id, MessageStatus.DELIVERED, actor="platform")

    async def texts(self, record: Record) -> list[str]:
        """What people of a conversation were told, in order."""
        return [each.message.text for each in await self.session(record) if each.kind in {"answer", "notice"}]

    async def children(self, session_id: str) -> list[Kin]:
        return await self.store.read(lambda tx: children_of(tx, session_id))

    async def named(self, session_id: str, name: str) -> UUID:
        """Write a session into the address book; the owner of its mailbox."""

        def operation(tx: Transaction) -> UUID:
            session = tx.sessions.get(session_id)
            assert session is not None
            owner = enrolled(tx, Exchange(tx.mail), session)
            tx.mail.name(name, owner)
            return owner

        return await self.store.write(operation)

    async def inbox(self, session_id: str) -> list[Message]:
        def operation(tx: Transaction) -> list[Message]:
            box = tx.mail.mailbox_of(session_id)
            return tx.mail.inbox(box.owner) if box else []

        return await self.store.read(operation)

    def _context(self, call: Record) -> ToolContext:
        return replace(super()._context(call), agents=self.agents)
