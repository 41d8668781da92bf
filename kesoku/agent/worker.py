"""The last stop of whatever goes wrong in a turn: the person is told, the log knows, the process lives on."""

import logging
from collections.abc import Iterable
from contextlib import suppress

from kesoku.agent.loop import TurnLoop
from kesoku.errors import Deposed, KesokuError
from kesoku.messages import make
from kesoku.messages.lifecycle import Claim
from kesoku.ports import Drafts
from kesoku.render.mask import Mask

_log = logging.getLogger(__name__)


class Worker:
    """Runs claims to their ends, any number at once. None of `secrets` leaves by an error's text."""

    def __init__(self, loop: TurnLoop, drafts: Drafts, *, secrets: Iterable[str] = ()) -> None:
        self._loop, self._drafts, self._mask = loop, drafts, Mask(secrets)

    async def __call__(self, claim: Claim) -> None:
        """Answer the claimed prompt. Raises only if not even the failure could be stored."""
        turn_id = claim.prompt.id
        try:
            await self._loop.run(claim)
        except Deposed:
            _log.info("turn %s was ended elsewhere; nothing more is written", turn_id)
        except Exception as error:  # noqa: BLE001 - any bug must reach the person as an error, not as silence
            self._log(turn_id, error)
            await self._fail(claim, error)
        finally:
            self._drafts.clear(turn_id)

    def _log(self, turn_id: str, error: Exception) -> None:
        """A failure that explains itself in one line, anything else with its traceback."""
        if isinstance(error, KesokuError):
            _log.warning("turn %s failed: %s", turn_id, self._mask.text(str(error)))
        else:
            _log.error("turn %s failed by a bug", turn_id, exc_info=error)

    async def _fail(self, claim: Claim, error: Exception) -> None:
        text = str(error) if isinstance(error, KesokuError) else f"an unexpected {type(error).__name__} in the program"
        text = self._mask.text(text).encode("utf-8", "replace").decode()
        answer = make.error_answer(text, error=type(error).__name__)
        with suppress(Deposed):
            try:
                await self._loop.fail(claim, answer)
            except Exception:  # noqa: BLE001 - what the turn stored may itself be what cannot be read
                await self._loop.abandon(claim, answer)
