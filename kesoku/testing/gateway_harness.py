"""A gateway over a store with a virtual clock, and short words for what tests do with them."""

from collections.abc import Sequence
from typing import Any

from kesoku.gateway import BusyPolicy, FloodBounds, StoreGateway
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.freeze import EMPTY, FrozenDict
from kesoku.messages.lifecycle import Change, Claim, Serving, Session, Step
from kesoku.messages.record import Address, Mode, Post, Record
from kesoku.ports import Store
from kesoku.testing.clock import VirtualClock
from kesoku.testing.fakes import FakePresence

ROOM = Address(chatbot_id="discord", channel_id="room")
"""The channel where everything happens unless a test says otherwise."""

EVERYTHING = Serving(
    addresses=frozenset(Address(chatbot_id=bot, channel_id="*") for bot in ("discord", "wechat", "cli", "agent"))
)

UNBOUNDED = FloodBounds(
    per_person_per_minute=10**9, per_channel_per_minute=10**9, queued_per_channel=10**9, queued_total=10**9
)
"""No prompt is refused."""


def prompt(
    text: str = "hello", *, by: str = "Ada", at: Address = ROOM, keys: Sequence[str] = (), mode: Mode = "followup"
) -> Post:
    """What a person says in a channel."""
    message = make.user_prompt(text, author=by, user_id=f"id-{by}")
    return Post(message=message, address=at, keys=tuple(keys), mode=mode)


def answer_to(claim: Claim, text: str = "done") -> Post:
    """The final answer of a claimed turn."""
    return Post(message=make.answer(text, provider="offline", model="m"), address=claim.prompt.address)


class GatewayHarness:
    """Several gateways on one bench are several processes on one database."""

    def __init__(
        self,
        store: Store,
        *,
        policy: BusyPolicy | None = None,
        bounds: FloodBounds | None = None,
        clock: VirtualClock | None = None,
        poll: float = 1.0,
    ) -> None:
        """`poll`: real seconds until a listener that nobody woke looks by itself."""
        self.store, self.policy = store, policy or BusyPolicy()
        self.bounds = bounds or FloodBounds(queued_per_channel=50)
        self.clock, self.poll = clock or VirtualClock(), poll
        self.presence = FakePresence()
        self.gateway = self.process()

    def process(self) -> StoreGateway:
        """One more gateway over the same store."""
        return StoreGateway(self.store, self.clock, self.policy, self.presence, bounds=self.bounds, poll=self.poll)

    async def say(self, text: str = "hello", **facts: Any) -> Record:
        """One prompt through `accept`."""
        catch_up = facts.pop("catch_up", False)
        (record,) = await self.gateway.accept([prompt(text, **facts)], catch_up=catch_up)
        return record

    async def claim(self, owner: str = "w1", serving: Serving = EVERYTHING) -> Claim:
        """A claim that must succeed."""
        claim = await self.gateway.claim(owner, serving)
        if claim is None:
            raise AssertionError("nothing to claim")
        return claim

    async def call(self, claim: Claim, tool: str = "clock", *, n: int = 1) -> Record:
        """One step of the model that asks for a tool."""
        message = make.tool_call(tool, {}, provider="offline", model="m")
        post = Post(
            message=message, address=claim.prompt.address, parent_id=claim.prompt.id, turn_id=claim.prompt.id, round=n
        )
        step = Step(turn_id=claim.prompt.id, n=n, request=FrozenDict(digest=message.id), reply=EMPTY)
        (record,) = await self.gateway.step(claim.fence, step, [post])
        return record

    async def result(self, claim: Claim, call: Record, output: str = "noon") -> Record:
        """The result of a call."""
        next_call, result = make.respond(call.message, output)  # type: ignore[arg-type]
        return await self.gateway.respond(claim.fence, call, result, next_call)

    async def finish(self, claim: Claim, text: str = "done") -> Record:
        """The end of a turn that went well."""
        return await self.gateway.finish(
            claim.fence, answer_to(claim, text), status=MessageStatus.PROCESSED, metrics={"session_turns": 1}
        )

    async def record(self, record: Record | str) -> Record:
        """A record as it stands now."""
        message_id = record if isinstance(record, str) else record.id
        found = await self.store.read(lambda tx: tx.messages.get(message_id))
        if found is None:
            raise AssertionError(f"{message_id} is not stored")
        return found

    async def status(self, record: Record | str) -> MessageStatus:
        """Where a record stands now."""
        return (await self.record(record)).status

    async def session(self, record: Record | str) -> list[Record]:
        """Everything in the session of a record."""
        session_id = (await self.record(record)).session_id
        return await self.store.read(lambda tx: tx.messages.session(session_id))

    async def bound(self, address: Address = ROOM) -> Session | None:
        """The session of a channel."""
        return await self.store.read(lambda tx: tx.sessions.bound(address))

    async def events(self) -> list[Change]:
        """The whole log."""
        return await self.store.read(lambda tx: tx.events.after(0, 100_000))

    async def notices(self) -> list[str]:
        """The texts of all notices, in order."""
        changes = await self.events()
        return [e.record.message.rendered for e in changes if e.kind == "inserted" and e.record.kind == "notice"]
