"""Hooks that post to an address: one JSON body an event, with an idempotency key."""

import asyncio
import email.utils
import time
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from urllib.parse import urlsplit

import httpx

from kesoku.errors import HookRefused, HookUnreachable
from kesoku.hooks.call import Call

_GONE = 410
"""The one answer that says that no event will ever be taken; every other one may be a mistake that is corrected."""
_BODY = 65_536
"""Bytes of an answer that are read, so that the connection can be used again. Nobody looks at them."""
_REST = 1.0
"""Seconds that they may take."""


class HttpTarget:
    """Posts to one address. Redirects are not followed: what is sent goes where it was configured to go.

    An answer 2xx is success. Everything else, and no answer, is tried again; 410 is final.
    """

    def __init__(self, url: str, headers: Mapping[str, str], *, timeout: float) -> None:
        self._url = url
        parts = urlsplit(url)
        self._where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        """Path and query stay out of errors: with many services they are the secret."""
        self._headers, self._timeout = dict(headers), timeout
        self._client: httpx.AsyncClient | None = None

    async def send(self, call: Call) -> None:
        """Post one event. Raises HookUnreachable, HookRefused."""
        headers = {
            "Content-Type": "application/json",
            "Idempotency-Key": call.message_id,
            "Kesoku-Event": call.event,
            "Kesoku-Event-Seq": str(call.event_seq),
            "Kesoku-Hook": call.hook,
        }
        try:
            if self._client is None:
                # Reading certificates takes a while, and fails where this machine is set up wrongly.
                self._client = await asyncio.to_thread(self._connect)
            async with self._client.stream("POST", self._url, content=call.body, headers=headers) as answer:
                status, phrase, wanted = answer.status_code, answer.reason_phrase, answer.headers.get("Retry-After")
                await _drained(answer)
        except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
            reason = str(error) or type(error).__name__
            raise HookUnreachable(where=self._where, reason=reason.replace(self._url, self._where)) from error
        if not 200 <= status < 300:
            raise HookRefused(
                where=self._where,
                status=status,
                phrase=phrase,
                retry_after=seconds(wanted, now=time.time()),
                is_final=status == _GONE,
            )

    async def aclose(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.aclose()

    def _connect(self) -> httpx.AsyncClient:
        with suppress(ImportError):  # else its first use imports this, which holds the event loop up for a moment
            import_module("anyio._backends._asyncio")
        return httpx.AsyncClient(headers=self._headers, timeout=self._timeout, follow_redirects=False)


async def _drained(answer: httpx.Response) -> None:
    """Read a short rest of an answer. The status has been given: what comes of the rest changes nothing."""
    with suppress(httpx.HTTPError, ValueError, TimeoutError):
        if int(answer.headers.get("Content-Length", _BODY + 1)) <= _BODY:
            async with asyncio.timeout(_REST):
                async for _ in answer.aiter_raw():  # as it comes: unpacked it may be of any size
                    pass


def seconds(retry_after: str | None, *, now: float) -> float | None:
    """What a Retry-After header says, as seconds from `now`; None if it says nothing that can be read."""
    if retry_after is None:
        return None
    with suppress(ValueError):
        return float(int(retry_after))
    with suppress(ValueError, TypeError, OverflowError):
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - now)
    return None
