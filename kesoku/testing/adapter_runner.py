"""One adapter with its inbox and outbox over a gateway, wired as the app does it, for tests."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from kesoku.adapter import CommandRegistry, Manifest
from kesoku.adapter.access import Access
from kesoku.adapter.attempt import stop
from kesoku.adapter.command import NoCommands
from kesoku.adapter.core import Core
from kesoku.adapter.drafts import DraftBoard
from kesoku.adapter.health import Health
from kesoku.adapter.inbox import GatewayInbox
from kesoku.adapter.outbox import Outbox
from kesoku.adapter.policy import DeliveryPolicy, IntakePolicy
from kesoku.adapter.staging import Staging
from kesoku.adapter.supervisor import Ending, supervise
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Claim, Serving
from kesoku.messages.record import Address, Post, Record
from kesoku.messages.source import NoticeReason
from kesoku.ports import Clock, Gateway, Store
from kesoku.render.mask import NOTHING, Mask


class AdapterRunner:
    """Runs while it is entered. Leave it and enter another one over the same store to restart the process."""

    def __init__(
        self,
        *,
        manifest: Manifest,
        store: Store,
        gateway: Gateway,
        clock: Clock,
        folder: Path,
        chatbot_id: str | None = None,
        adapter: Any = None,
        access: Access | None = None,
        commands: CommandRegistry | None = None,
        policy: DeliveryPolicy | None = None,
        intake: IntakePolicy | None = None,
        mask: Mask = NOTHING,
        outbox: Callable[..., Outbox] = Outbox,
    ) -> None:
        self.chatbot_id = chatbot_id or manifest.name
        self.manifest, self.store, self.gateway, self.clock = manifest, store, gateway, clock
        self.workspace = folder / "workspace"
        self.workspace.mkdir(parents=True, exist_ok=True)
        self.staging = Staging(folder / "staging")
        self.adapter: Any = adapter or manifest.create(self.chatbot_id, manifest.config())
        self.healthy: list[tuple[bool, str]] = []
        self.health = Health(self.chatbot_id, lambda well, text: self.healthy.append((well, text)))
        self.drafts = DraftBoard()
        self.serving = Serving(addresses=frozenset({self.address("*")}))
        core = Core(
            store=store,
            gateway=gateway,
            clock=clock,
            staging=self.staging,
            roots=self._roots,
            drafts=self.drafts,
            commands=commands or NoCommands(),
            delivery=policy or DeliveryPolicy(),
            intake=intake or IntakePolicy(),
            mask=mask,
        )
        self.outbox = outbox(
            chatbot_id=self.chatbot_id,
            adapter=self.adapter,
            manifest=manifest,
            serving=self.serving,
            health=self.health,
            core=core,
        )
        self.inbox = GatewayInbox(
            chatbot_id=self.chatbot_id,
            access=access or Access(allow=("everyone",), local=manifest.capabilities.local),
            health=self.health,
            core=core,
            spoke=self.outbox.spoke,
            noticed=self.outbox.noticed,
            answers=self.adapter,
        )
        self._tasks: list[asyncio.Task[Any]] = []

    async def __aenter__(self) -> Self:
        running = supervise(self.adapter, self.inbox, clock=self.clock, health=self.health)
        self._tasks = [asyncio.create_task(self.outbox.run()), asyncio.create_task(running)]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            await stop(task)
        if error is not None:
            return
        for task in self._tasks:
            if not task.done():
                raise AssertionError("the adapter or its outbox did not end when it was cancelled")
            if not task.cancelled() and task.exception() is not None:
                raise AssertionError("a part of the runner failed") from task.exception()

    @property
    def supervisor(self) -> "asyncio.Task[Ending]":
        """The task that keeps the adapter running."""
        return self._tasks[1]

    def address(self, channel: str) -> Address:
        """A channel of this chatbot."""
        return Address(chatbot_id=self.chatbot_id, channel_id=channel)

    async def answer(self, channel: str, text: str = "done", **facts: Any) -> Record:
        """Post an answer that belongs to no turn."""
        message = make.answer(text, provider="offline", model="m", **facts)
        return await self.gateway.post(Post(message=message, address=self.address(channel)))

    async def notice(self, channel: str, text: str, *, reason: NoticeReason = "reply") -> Record:
        """Post a notice."""
        return await self.gateway.post(Post(message=make.notice(text, reason=reason), address=self.address(channel)))

    async def claim(self, owner: str = "worker") -> Claim:
        """Claim the next prompt, which must be there."""
        claim = await self.gateway.claim(owner, self.serving)
        if claim is None:
            raise AssertionError("nothing to claim")
        return claim

    async def say(self, claim: Claim, message: Any, round: int = 1) -> Record:  # noqa: A002
        """Post a thought or a call of a running turn."""
        post = Post(
            message=message,
            address=claim.prompt.address,
            parent_id=claim.prompt.id,
            turn_id=claim.prompt.id,
            session_id=claim.prompt.session_id,
            round=round,
        )
        return await self.gateway.post(post, fence=claim.fence)

    async def respond(self, claim: Claim, call: Record, output: str = "ok", error: str | None = None) -> Record:
        """Answer a call of a running turn."""
        next_call, result = make.respond(call.message, output, error=error)  # type: ignore[arg-type]
        return await self.gateway.respond(claim.fence, call, result, next_call)

    async def finish(
        self, claim: Claim, text: str = "done", *, status: MessageStatus = MessageStatus.PROCESSED
    ) -> Record:
        """End a running turn with its answer."""
        message = make.answer(text, provider="offline", model="m")
        post = Post(message=message, address=claim.prompt.address)
        return await self.gateway.finish(claim.fence, post, status=status, metrics={})

    async def status(self, record: Record) -> MessageStatus:
        """Where a record stands now."""
        found = await self.store.read(lambda tx: tx.messages.get(record.id))
        if found is None:
            raise AssertionError(f"{record.id} is not stored")
        return found.status

    def _roots(self, session_id: str) -> Sequence[Path]:
        return (self.workspace,)
