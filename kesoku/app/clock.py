"""The real clock."""

import asyncio
import time


class SystemClock:
    """Time as this machine has it; implements the port Clock."""

    def now(self) -> int:
        """Wall clock, microseconds since 1970."""
        return time.time_ns() // 1000

    def monotonic(self) -> float:
        """Seconds that never go back."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait."""
        await asyncio.sleep(seconds)
