"""How the connection of one adapter stands: said by the adapter, or found out while sending."""

import asyncio
import logging
from collections.abc import Callable

OnHealth = Callable[[bool, str], None]


class Health:
    """The last word about one adapter. `watch` is called at each change."""

    def __init__(self, chatbot_id: str, watch: OnHealth | None = None) -> None:
        self._chatbot_id, self._watch = chatbot_id, watch
        self._well = asyncio.Event()
        self._well.set()
        self.text = ""

    @property
    def healthy(self) -> bool:
        """Whether the last word was a good one."""
        return self._well.is_set()

    def report(self, healthy: bool, text: str = "") -> None:
        """Say how it stands. The same word again is not passed on."""
        known = (self.healthy, self.text)
        (self._well.set if healthy else self._well.clear)()
        self.text = text
        if known == (healthy, text):
            return
        level = logging.INFO if healthy else logging.WARNING
        logging.getLogger(__name__).log(level, "%s: %s", self._chatbot_id, text or ("well" if healthy else "unwell"))
        if self._watch:
            self._watch(healthy, text)

    async def recovered(self) -> None:
        """Wait for a good word."""
        await self._well.wait()
