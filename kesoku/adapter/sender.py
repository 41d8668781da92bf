"""Bring one message out, part by part: what each outcome of a send means, and what follows a restart.

Rows K-152, N-01, N-02 and store rule 9. The state of a part is committed before the network is touched, so that every
moment at which a process may die leads back into the same table.
"""

import asyncio
import logging
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from kesoku.adapter.attempt import Failure, attempt, backoff, within
from kesoku.adapter.core import Core
from kesoku.adapter.health import Health
from kesoku.adapter.in_flight import InFlight
from kesoku.adapter.ledger import Ledger
from kesoku.adapter.manifest import Capabilities
from kesoku.adapter.outgoing import Outgoing
from kesoku.adapter.pace import Pacer
from kesoku.adapter.part import EXTRA, decode, row
from kesoku.adapter.spi import Adapter, Finds
from kesoku.adapter.staging import unreadable
from kesoku.errors import Ambiguous, Hold, LoginNeeded, Refused, RetryLater
from kesoku.messages.enums import MessageStatus
from kesoku.messages.lifecycle import Delivery, DeliveryState
from kesoku.messages.record import Record

DOUBT = "ambiguous: "
"""How the error of a part begins whose outcome is not known."""
BLIND = "ambiguous, sent once more: "
"""How it begins once the one blind retry was used; it stays when that retry arrived, for it may be there twice."""
_FIND_AGAIN = 15.0
_DAY = 86_400.0
_DONE = frozenset({DeliveryState.SENT, DeliveryState.REFUSED})
_log = logging.getLogger(__name__)


class Stale(Exception):
    """The message waited longer than `max_age`."""


class Withdrawn(Exception):
    """The message must not be sent any more; read it again to see why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SendContext:
    """What the sending of a part depends on."""

    record: Record | None = None
    """None for a live status."""
    since: int = 0
    """When the message began to wait."""
    closes: Record | None = None
    """The record that is delivered with this part."""
    spoke: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a person says something in the channel."""
    withdrawn: Callable[[], bool] = bool
    """Asked before each attempt: whether the message must not be sent any more."""


class Sender:
    """Sends for one adapter. All that must be remembered is in the ledger."""

    def __init__(
        self,
        *,
        adapter: Adapter,
        capabilities: Capabilities,
        ledger: Ledger,
        core: Core,
        pacer: Pacer,
        health: Health,
    ) -> None:
        self._adapter, self._capabilities, self._ledger = adapter, capabilities, ledger
        self._clock, self._policy, self._pacer, self._health = core.clock, core.delivery, pacer, health
        self._in_flight = InFlight()

    def open(self) -> None:
        """Sends may begin."""
        self._in_flight.open()

    async def drain(self) -> None:
        """Begin no send any more, and give those under way a moment to end, so that none is left in doubt."""
        await self._in_flight.drain(self._policy.drain_seconds)

    def stale(self, record: Record, since: int) -> bool:
        """Whether a message waited too long to be sent."""
        return record.status is MessageStatus.PENDING and self._clock.now() - since > self._policy.max_age * 1e6

    def check(self, context: SendContext) -> None:
        """Raises Stale if the message waited too long, Withdrawn if it must not be sent any more."""
        if context.withdrawn():
            raise Withdrawn
        if context.record and self.stale(context.record, context.since):
            raise Stale

    async def deliver(self, context: SendContext, record: Record, parts: Sequence[Delivery]) -> Record | None:
        """Send what is not out yet, in order; the record once it is delivered, else None.

        A text that is refused ends the message in `error`, and the rest stays unsent. A refused file does not take the
        rest along: another part names it, and then the message ends in `error` (complaints 80 and 81). So it does when
        nobody can know whether a part is there. Raises Stale, Withdrawn.
        """
        planned = [part for part in parts if part.part < EXTRA]
        trouble: list[Delivery] = []
        for part in planned:
            closes = record if part is planned[-1] and not trouble else None
            after, delivered = await self.carry(replace(context, closes=closes), part)
            if delivered:
                return delivered
            if after.state is DeliveryState.REFUSED and not decode(after.body).files:
                trouble = [after]
                break
            if after.state is not DeliveryState.SENT:
                trouble.append(after)
        if not trouble:
            return await self._ledger.close(record, MessageStatus.DELIVERED, "sent" if parts else "nothing to show")
        await self._explain(context, record, trouble)
        await self._fail(record, "; ".join(part.error or "" for part in trouble))
        return None

    async def _explain(self, context: SendContext, record: Record, trouble: Sequence[Delivery]) -> None:
        """Name the files that were refused, in parts of their own."""
        notes = [
            row(
                Outgoing(text=f"⚠️ {decode(part.body).files[0].name} was not sent: {part.error}"[:300]),
                message_id=record.id,
                address=part.address,
                part=EXTRA + part.part,
            )
            for part in trouble
            if part.state is DeliveryState.REFUSED and decode(part.body).files
        ]
        for part in await self._ledger.plan(notes):
            await self.carry(context, part)

    async def _fail(self, record: Record, reason: str) -> None:
        _log.warning("message %s for %s was not delivered: %s", record.id, record.address, reason)
        await self._ledger.close(record, MessageStatus.ERROR, reason)

    async def carry(self, context: SendContext, part: Delivery) -> tuple[Delivery, Record | None]:
        """Go on until the part is sent, refused, or given up because nobody can know. Raises Stale, Withdrawn."""
        delivered = None
        while part.state not in _DONE and not _given_up(part):
            part, delivered = await self._advance(context, part)
        return part, delivered

    async def _advance(self, context: SendContext, part: Delivery) -> tuple[Delivery, Record | None]:
        match part.state:
            case DeliveryState.SENDING:  # left behind by a process that ended, or by a ledger that failed
                return await self._cut_off(part), None
            case DeliveryState.AMBIGUOUS:
                return await self._resolve(context, part)
            case DeliveryState.HELD:
                await self._released(context, part)
            case _:
                await self._due(part)
        self.check(context)
        return await self._send(context, part)

    async def _cut_off(self, part: Delivery) -> Delivery:
        """A send that nobody saw end. At this machine a line that is there twice does no harm, and a lost one does."""
        reason = "sending was cut off"
        if self._capabilities.local:
            return await self._ledger.move(part, DeliveryState.PLANNED, error=reason)
        return await self._ledger.move(part, DeliveryState.AMBIGUOUS, error=_doubt(part, reason))

    async def _resolve(self, context: SendContext, part: Delivery) -> tuple[Delivery, Record | None]:
        """The same key again, else a look, else one blind retry (N-02)."""
        await self._due(part)
        since = part.first_sent_at or 0
        if self._clock.now() - since < self._capabilities.key_window * 1e6:
            return await self._send(context, part)
        if not isinstance(self._adapter, Finds) or not self._capabilities.find:
            return await self._once_more(context, part)
        look = self._adapter.find(part.address, decode(part.body), part.send_key, since / 1e6)
        found = await attempt(within(self._clock, self._policy.send_timeout, look))
        if isinstance(found, Failure) and isinstance(found.error, Refused):  # it may not look there, now or later
            return await self._once_more(context, part)
        if isinstance(found, Failure):
            _log.warning("cannot look up part %s of message %s: %s", part.part, part.message_id, found)
            await self._clock.sleep(_FIND_AGAIN)
            return part, None
        arrived = await self._ledger.first_free(part.address, found)
        if arrived is not None:
            return await self._ledger.sent(part, arrived, closes=context.closes)
        return await self._send(context, part)

    async def _once_more(self, context: SendContext, part: Delivery) -> tuple[Delivery, Record | None]:
        """The blind retry."""
        return await self._send(context, part, error=BLIND + (part.error or "").removeprefix(DOUBT))

    async def _send(self, context: SendContext, part: Delivery, **changes: str) -> tuple[Delivery, Record | None]:
        await self._pacer.slot(part.address)
        async with self._in_flight:
            return await self._attempt(context, part, changes)

    async def _attempt(
        self, context: SendContext, part: Delivery, changes: dict[str, str]
    ) -> tuple[Delivery, Record | None]:
        for each in decode(part.body).files:
            if why := await asyncio.to_thread(unreadable, each.path):
                return await self._ledger.move(part, DeliveryState.REFUSED, error=why), None
        if part.state is not DeliveryState.AMBIGUOUS or part.first_sent_at is None:
            first = self._clock.now()  # whatever was tried before surely did not arrive
        else:
            first = part.first_sent_at
        attempts = part.attempts + 1
        part = await self._ledger.move(
            part, DeliveryState.SENDING, attempts=attempts, first_sent_at=first, next_attempt_at=None, **changes
        )
        context.spoke.clear()
        # As it stands in the ledger at this moment: its words may have been redacted since it was read.
        call = self._adapter.send(part.address, decode(part.body), part.send_key)
        result = await attempt(within(self._clock, self._policy.send_timeout, call))
        if isinstance(result, Failure):
            return await self._set_back(part, result.error), None
        if not result.platform_ids:
            return await self._set_back(part, Ambiguous(reason="the platform returned no id")), None
        return await self._ledger.sent(part, result, closes=context.closes)

    async def _set_back(self, part: Delivery, error: Exception) -> Delivery:
        now = self._clock.now()
        mark = BLIND if _blind(part) else ""
        due: int | None
        match error:
            case RetryLater():
                due = now + _micros(self._wait(part) if error.after is None else error.after)
                to, changes = DeliveryState.PLANNED, {"error": mark + error.reason, "next_attempt_at": due}
            case Refused():
                to, changes = DeliveryState.REFUSED, {"error": mark + error.reason}
            case Hold():
                due = None if error.until is None else now + _micros(error.until - now / 1e6)
                to, changes = DeliveryState.HELD, {"error": mark + error.reason, "next_attempt_at": due}
            case LoginNeeded():
                self._health.report(False, str(error))
                to, changes = DeliveryState.HELD, {"error": mark + str(error), "next_attempt_at": now}
            case _:
                doubt, due = _doubt(part, _reason(error)), now + _micros(self._wait(part))
                to, changes = DeliveryState.AMBIGUOUS, {"error": doubt, "next_attempt_at": due}
        return await self._ledger.move(part, to, **changes)

    async def _due(self, part: Delivery) -> None:
        if part.next_attempt_at is not None:
            await self._clock.sleep(self._left(part, part.next_attempt_at))

    def _left(self, part: Delivery, due: int) -> float:
        """Seconds until a part is due; a clock that stands before the last attempt was set back."""
        return (due - max(self._clock.now(), part.first_sent_at or 0)) / 1e6

    async def _released(self, context: SendContext, part: Delivery) -> None:
        """Until the person speaks, or the time that was named has come and the adapter is logged in."""
        if part.next_attempt_at is None:
            await context.spoke.wait()
            return
        seconds = self._left(part, part.next_attempt_at)
        if seconds > 0:
            result = await attempt(within(self._clock, seconds, context.spoke.wait()))
            if not isinstance(result, Failure):
                return
        if not self._health.healthy:
            await self._health.recovered()

    def _wait(self, part: Delivery) -> float:
        return backoff(part.attempts, first=self._policy.first_retry, longest=self._policy.longest_retry)


def _blind(part: Delivery) -> bool:
    return (part.error or "").startswith(BLIND)


def _given_up(part: Delivery) -> bool:
    return part.state is DeliveryState.AMBIGUOUS and _blind(part)


def _doubt(part: Delivery, reason: str) -> str:
    return (BLIND if _blind(part) else DOUBT) + reason


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, Ambiguous) else f"{type(error).__name__}: {error}"[:500]


def _micros(seconds: float) -> int:
    """A wait that a platform named, within a day; what is no number is no wait."""
    return 0 if math.isnan(seconds) else round(min(max(seconds, 0.0), _DAY) * 1e6)
