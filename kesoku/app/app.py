"""Builds everything from a configuration and runs it: store, gateway, agent, bots."""

import asyncio
import logging
import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, nullcontext, suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Self
from zoneinfo import ZoneInfo

from kesoku.adapter.core import Core
from kesoku.adapter.drafts import DraftBoard
from kesoku.adapter.manifest import AdapterConfig, Manifest
from kesoku.adapter.question import Approvals
from kesoku.adapter.staging import Staging
from kesoku.adapter.supervisor import Ending
from kesoku.agent import hook
from kesoku.agent.assistant import Assistant
from kesoku.agent.dispatcher import Dispatcher, DispatchLimits
from kesoku.agent.loop import TurnLoop
from kesoku.agent.view import Viewer
from kesoku.agent.worker import Worker
from kesoku.app import secret
from kesoku.app.bot import Bot
from kesoku.app.budget import budget
from kesoku.app.cast import Cast
from kesoku.app.clock import SystemClock
from kesoku.app.commands import registry
from kesoku.app.consent import Consent
from kesoku.app.place import Place
from kesoku.app.policy import busy_policy, delivery_policy, flood_bounds, intake_policy, turn_limits
from kesoku.app.toolbox import toolbox
from kesoku.commands.registry import Registry
from kesoku.config import Loaded
from kesoku.errors import StoreError
from kesoku.exchange.agents import SessionAgents
from kesoku.exchange.home import HomeApprover, Homes
from kesoku.exchange.kin import desks
from kesoku.exchange.postman import Postman
from kesoku.gateway.gateway import StoreGateway
from kesoku.gateway.presence import Presence
from kesoku.messages.content import Attachment
from kesoku.messages.lifecycle import Serving
from kesoku.messages.profile import Profile
from kesoku.messages.record import EVERY_CHANNEL, Address, Record
from kesoku.messages.turn import MediaBlock
from kesoku.ports import Approver
from kesoku.render.mask import Mask
from kesoku.store import SqlStore
from kesoku.tools.context import ToolContext

_LINGER = 5.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What one process does: which bots it runs, and for whom else it works.

    `bots` maps a chatbot_id to its manifest and settings; `channels` narrows a bot to one channel (default: all).
    `work` are addresses whose prompts are answered here if nobody serves them now; whoever serves them later delivers.
    """

    bots: Mapping[str, tuple[Manifest, AdapterConfig]]
    channels: Mapping[str, str] = field(default_factory=dict)
    work: frozenset[Address] = frozenset()
    workspace: Path | None = None
    """Where tools work for local channels; None, and for remote ones: a folder a session."""
    approve_all: bool = False
    """Run tools without asking the person at a local adapter (`--yes`); remote channels are asked as ever."""

    @property
    def served(self) -> frozenset[Address]:
        """What this process serves alone."""
        return frozenset(Address(chatbot_id=bot, channel_id=self.channels.get(bot, EVERY_CHANNEL)) for bot in self.bots)


class App:
    """An open application: `async with App(...) as app: await app.run()`."""

    def __init__(self, loaded: Loaded, job: Job, cast: Cast) -> None:
        """Raises ConfigInvalid where the configuration contradicts what is installed, or itself."""
        config = loaded.config
        self._loaded, self._config, self._job, self._cast = loaded, config, job, cast
        self._secrets = loaded.secrets | secret.of_environment(os.environ)
        self._mask = Mask(self._secrets)
        self._place = Place.of(config, os.environ)
        self._clock = SystemClock()
        self._staging = Staging(self._place.staging)
        self._drafts = DraftBoard()
        self._budget = budget(loaded, (model.name for model in cast.models))
        self._tools, self._limits = toolbox(loaded), turn_limits(config)
        self._specs = self._tools.specs()
        self._stack = AsyncExitStack()
        self._stop = asyncio.Event()
        self._is_patient = True

    async def __aenter__(self) -> Self:
        try:
            await self._open()
        except BaseException:
            await self._stack.aclose()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _open(self) -> None:
        self._place.prepare()
        self.store = await SqlStore.open(self._place.database, patience=self._config.store.busy_seconds)
        self._stack.push_async_callback(self.store.aclose)
        self._presence = self._stack.enter_context(Presence(self._place.run))
        for model in self._cast.models:
            self._stack.push_async_callback(model.aclose)
        self.gateway = StoreGateway(
            self.store, self._clock, busy_policy(self._config), self._presence, bounds=flood_bounds(self._config)
        )
        self._homes = Homes(self.store, self._clock)
        self._serving = self._presence.serve(self._job.served)
        self.stands_in = frozenset(address for address in self._job.work if not self._is_served(address))
        own = desks(self._serving, self.stands_in)
        self._postman = Postman(self.store, self.gateway, self._clock, desks=own)
        self._agents = SessionAgents(
            self.store, self._clock, self._postman, serving=self._serving, room=self._config.agent.tool_output_limit
        )
        self._dispatcher = Dispatcher(
            self.gateway,
            Serving(addresses=self._serving.addresses | self.stands_in | own.addresses),
            self._homes.before(Worker(self._loop(), self._drafts, secrets=self._secrets)),
            self._clock,
            owner=self._presence.owner,
            limits=DispatchLimits(turns=self._config.agent.concurrent_turns),
        )
        core = self._core()
        self.bots = tuple(
            Bot(chatbot_id=name, manifest=manifest, config=settings, serving=self._serving, core=core)
            for name, (manifest, settings) in self._job.bots.items()
        )

    def _core(self) -> Core:
        return Core(
            store=self.store,
            gateway=self.gateway,
            clock=self._clock,
            staging=self._staging,
            roots=self._roots,
            drafts=self._drafts,
            commands=self._registry(),
            delivery=delivery_policy(self._config),
            intake=intake_policy(self._config),
            mask=self._mask,
        )

    def _registry(self) -> Registry:
        return registry(
            gateway=self.gateway,
            store=self.store,
            clock=self._clock,
            viewer=Viewer(assistants=self._assistant, limits=self._limits),
            budget=self._budget,
            staging=self._staging,
            hooks=[table.name for table in self._config.hooks],
            mask=self._mask,
        )

    def _event_hooks(self) -> AbstractAsyncContextManager[None]:
        if not self._config.hooks:
            return nullcontext()
        from kesoku.app import event_hooks  # with all that they need, for those who have some

        return event_hooks.following(
            self._loaded,
            store=self.store,
            gateway=self.gateway,
            clock=self._clock,
            keys=self._presence,
            secrets=self._secrets,
        )

    def _loop(self) -> TurnLoop:
        return TurnLoop(
            self.gateway,
            self.store,
            self._clock,
            self._assistant,
            self._tools,
            approver=self._approver(),
            drafts=self._drafts,
            context=self._tool_context,
            keep=self._keep,
            hooks=hook.installed(),
            limits=self._limits,
            budget=self._budget,
            admins_only=lambda address: self._is_remote(self._homes.place(address)),
        )

    def _assistant(self, address: Address, profile: Profile) -> Assistant:
        """Who answers in a channel; for an agent who answered where its people are when it was given its task."""
        bot = self._homes.place(address).chatbot_id
        return self._cast.assistant(bot, self._homes.profile(address) or profile, tools=self._specs)

    def _approver(self) -> Approver:
        approvals = Approvals(self.store, self._clock)
        people = HomeApprover(approvals, self._homes)
        return Consent(people, approvals.waive) if self._job.approve_all else people

    def now(self) -> int:
        """Microseconds since 1970."""
        return self._clock.now()

    def stop(self, *, patient: bool = True) -> None:
        """Claim nothing more, let running turns end for a while, deliver, and let `run` return.

        Not `patient`: running turns go back to their queue now, and whoever serves next goes on with them.
        """
        self._is_patient = patient
        self._stop.set()

    async def run(self) -> tuple[Ending, ...]:
        """Serve until `stop`, or until every bot has ended by itself."""
        served = ", ".join(sorted(map(str, self._serving.addresses)))
        _log.info("serving %s with %s", served, ", ".join(model.name for model in self._cast.models))
        # First, so that what people said meanwhile finds the turns of the dead parked.
        with suppress(StoreError):
            await self.gateway.recover()
        async with self._event_hooks(), asyncio.TaskGroup() as group:
            dispatch = group.create_task(self._dispatcher.run(), name="dispatcher")
            postman = group.create_task(self._postman.run(), name="postman")
            bots = [group.create_task(bot.run(linger=_LINGER), name=f"bot {bot.chatbot_id}") for bot in self.bots]
            stopping = group.create_task(self._stop.wait(), name="stop")
            everyone = asyncio.gather(*bots, return_exceptions=True) if bots else self._forever()
            await asyncio.wait({stopping, asyncio.ensure_future(everyone)}, return_when=asyncio.FIRST_COMPLETED)
            self._dispatcher.stop()
            if not self._is_patient:
                dispatch.cancel()
            await asyncio.wait({dispatch})
            for task in (stopping, postman, *bots):
                task.cancel()
        return tuple(task.result() for task in bots if not task.cancelled())

    def _is_served(self, address: Address) -> bool:
        """Whether another process serves this channel, or the whole bot."""
        return any(self._presence.holder(each) is not None for each in (address, address.whole))

    def _tool_context(self, call: Record) -> ToolContext:
        home = self._homes.of(call)
        own = self._staging.folder(call.session_id)
        roots = dict.fromkeys((*self._roots(home.session_id, remote=self._is_remote(home.address)), own))
        return ToolContext(
            session_id=call.session_id,
            call_id=call.id,
            workspace=next(iter(roots)),
            roots=tuple(roots),
            environment=os.environ,
            secrets=self._secrets,
            now=self._now,
            agents=self._agents,
        )

    async def _keep(self, call: Record, file: MediaBlock) -> Attachment:
        return await self._staging.copy(call.session_id, file, limit=self._config.limits.file_bytes)

    def _roots(self, session_id: str, *, remote: bool = False) -> Sequence[Path]:
        """The folders of a session: the workspace first, then what is configured, then what came in."""
        workspace = self._config.agent.workspace or (None if remote else self._job.workspace)
        if workspace is None:
            workspace = self._place.workspaces / self._staging.folder(session_id).name
            workspace.mkdir(parents=True, exist_ok=True)
        return (workspace, *self._config.agent.roots, self._staging.folder(session_id))

    def _now(self) -> datetime:
        return datetime.fromtimestamp(self._clock.now() / 1e6, ZoneInfo(self._config.timezone))

    def _is_remote(self, address: Address) -> bool:
        bot = self._job.bots.get(address.chatbot_id)
        return bot is None or not bot[0].capabilities.local

    async def _forever(self) -> None:
        await asyncio.Event().wait()
