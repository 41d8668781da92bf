"""One running bot: an adapter with its inbox and its outbox."""

import asyncio
from contextlib import suppress
from typing import Any

from kesoku.adapter.access import Access
from kesoku.adapter.core import Core
from kesoku.adapter.health import Health
from kesoku.adapter.inbox import GatewayInbox
from kesoku.adapter.manifest import AdapterConfig, Manifest
from kesoku.adapter.outbox import Outbox
from kesoku.adapter.spi import Adapter
from kesoku.adapter.supervisor import Ending, supervise
from kesoku.errors import ExtraMissing
from kesoku.messages.lifecycle import Serving


def adapter_of(manifest: Manifest, chatbot_id: str, config: AdapterConfig) -> Adapter:
    """A fresh adapter. Raises ExtraMissing where its library is not installed."""
    try:
        return manifest.create(chatbot_id, config)
    except ModuleNotFoundError as error:
        if manifest.extra is None or not error.name:
            raise
        raise ExtraMissing(adapter=manifest.name, extra=manifest.extra, module=error.name) from error


class Bot:
    """Made before it is needed, started by `run`."""

    def __init__(
        self, *, chatbot_id: str, manifest: Manifest, config: AdapterConfig, serving: Serving, core: Core
    ) -> None:
        self.chatbot_id, self.manifest = chatbot_id, manifest
        self.adapter: Any = adapter_of(manifest, chatbot_id, config)
        self.health = Health(chatbot_id)
        self._clock = core.clock
        self._outbox = Outbox(
            chatbot_id=chatbot_id,
            adapter=self.adapter,
            manifest=manifest,
            serving=serving,
            health=self.health,
            core=core,
        )
        self._inbox = GatewayInbox(
            chatbot_id=chatbot_id,
            access=Access(
                allow=config.allow, deny=config.deny, admins=config.admins, local=manifest.capabilities.local
            ),
            health=self.health,
            core=core,
            spoke=self._outbox.spoke,
            noticed=self._outbox.noticed,
            answers=self.adapter,
        )

    async def run(self, *, linger: float) -> Ending:
        """Serve until the adapter ends on purpose, or until cancelled; then deliver the rest for `linger` seconds.

        The adapter goes on meanwhile, for without its connection nothing would go out.
        """
        delivery = asyncio.create_task(self._outbox.run(), name=f"outbox {self.chatbot_id}")
        serving = asyncio.create_task(self._serve(), name=f"adapter {self.chatbot_id}")
        try:
            await asyncio.wait({serving})
            return serving.result()
        finally:
            # Cancelled once more while it lingers, it still must not leave its outbox to a store that is closed.
            try:
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._outbox.drained(), linger)
            finally:
                delivery.cancel()
                await asyncio.wait({delivery})
                serving.cancel()
                await asyncio.wait({serving})

    async def _serve(self) -> Ending:
        if self.manifest.capabilities.local:
            # A person sits there: a failure of the terminal is theirs to see, not something to start over.
            await self.adapter.run(self._inbox)
            return Ending.CLOSED
        return await supervise(self.adapter, self._inbox, clock=self._clock, health=self.health)
