"""What an adapter is told that wants to hear it: its messages are out, turns were interrupted."""

import logging
from collections.abc import Coroutine, Sequence
from typing import Any

from kesoku.adapter.attempt import Failure, attempt, within
from kesoku.adapter.core import Core
from kesoku.adapter.outgoing import Receipt
from kesoku.adapter.spi import HearsDelivered, HearsInterrupted
from kesoku.messages.masked import masked_record
from kesoku.messages.record import Address, Record

_log = logging.getLogger(__name__)


class Hearing:
    """The hooks of one adapter. One that fails, or takes too long, is logged."""

    def __init__(self, *, chatbot_id: str, adapter: Any, core: Core) -> None:
        self._chatbot_id, self._adapter, self._clock = chatbot_id, adapter, core.clock
        self._seconds, self._mask = core.delivery.send_timeout, core.mask
        self.delivery = isinstance(adapter, HearsDelivered)
        """Whether it wants to hear of what is out."""

    async def delivered(self, record: Record | None, receipts: Sequence[Receipt]) -> None:
        """A message is out. It is told once: only the move that won has the record (K-154)."""
        if record and self.delivery:
            await self._run(self._adapter.delivered(masked_record(record, self._mask), receipts))

    async def interrupted(self, turn_id: str, address: Address) -> None:
        """A turn was interrupted."""
        if isinstance(self._adapter, HearsInterrupted):
            await self._run(self._adapter.interrupted(turn_id, address))

    async def _run(self, hook: Coroutine[Any, Any, None]) -> None:
        result = await attempt(within(self._clock, self._seconds, hook))
        if isinstance(result, Failure):
            _log.warning("a hook of the adapter %s failed: %s", self._chatbot_id, result)
