"""Keep one adapter running: start it again when it fails, stop it alone when its login is gone."""

import logging
from enum import StrEnum

from kesoku.adapter.attempt import STEADY, backoff
from kesoku.adapter.health import Health
from kesoku.adapter.spi import Adapter, Inbox
from kesoku.errors import LoginNeeded
from kesoku.ports import Clock
from kesoku.tools.patience import contained

_log = logging.getLogger(__name__)


class Ending(StrEnum):
    """Why an adapter does not run any more."""

    CLOSED = "closed"
    """It returned on purpose."""
    LOGIN_NEEDED = "login_needed"
    """Its credentials are no longer valid; the others go on, and the exit code says so."""


async def supervise(
    adapter: Adapter,
    inbox: Inbox,
    *,
    clock: Clock,
    health: Health,
    first: float = 1.0,
    longest: float = 60.0,
) -> Ending:
    """Run until it returns or must be logged in again. After `STEADY` seconds without a failure the waits start over.

    Cancelling this cancels the adapter.
    """
    failures = 0
    while True:
        started = clock.monotonic()
        try:
            await contained(adapter.run(inbox))
        except LoginNeeded as error:
            health.report(False, str(error))
            return Ending.LOGIN_NEEDED
        except Exception as error:  # noqa: BLE001  whatever a platform's library raises
            failures = 1 if clock.monotonic() - started >= STEADY else failures + 1
            wait = backoff(failures, first=first, longest=longest)
            shown = None if isinstance(error, ConnectionError) else error  # a line that fails is no fault of the code
            _log.warning("an adapter failed and starts again in %.1f s: %s", wait, error, exc_info=shown)
            health.report(False, f"{type(error).__name__}: {error}"[:500])
            await clock.sleep(wait)
        else:
            return Ending.CLOSED
