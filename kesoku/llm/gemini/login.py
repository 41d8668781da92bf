"""The default credentials of Google Cloud (ADC): every request of a transport is signed with a token that is valid.

google-auth refreshes tokens in blocking calls. They run in threads of their own, which hold up neither the event loop
nor the end of the process: who waits for one may leave at any time.
"""

import asyncio
import functools
import threading
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import Future
from http import HTTPStatus
from typing import Any

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_SECONDS = 30.0
"""How long a thread waits for a token, whether or not anyone still waits for the thread."""


def signing() -> Any:
    """The `auth` of an httpx2 client: puts a token into the headers, and a new one if that is refused.

    A request raises google-auth's errors. A redirect to elsewhere takes no token along; the client sees to that.
    """
    import httpx2

    class Signing(httpx2.Auth):
        def __init__(self) -> None:
            self._login = _Login()

        async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            await _in_thread(functools.partial(self._login.sign, request))
            response = yield request
            if response.status_code == HTTPStatus.UNAUTHORIZED:
                self._login.forget()
                await _in_thread(functools.partial(self._login.sign, request))
                yield request

    return Signing()


class _Login:
    """The credentials, read when they are first needed, and anew after they have failed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._credentials: Any = None

    def sign(self, request: Any) -> None:
        """Blocks while a token is fetched."""
        import google.auth
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request

        with self._lock:
            try:
                if self._credentials is None:
                    self._credentials, _ = google.auth.default(scopes=[_SCOPE])
                send = functools.partial(Request(), timeout=_SECONDS)
                self._credentials.before_request(send, request.method, str(request.url), request.headers)
            except GoogleAuthError:
                self.forget()
                raise

    def forget(self) -> None:
        """The next request reads them anew: somebody may have logged in meanwhile."""
        self._credentials = None


async def _in_thread(function: Callable[[], None]) -> None:
    outcome: Future[None] = Future()

    def body() -> None:
        try:
            function()
            outcome.set_result(None)
        except BaseException as error:  # noqa: BLE001 - raised again where it is awaited
            outcome.set_exception(error)

    outcome.set_running_or_notify_cancel()
    threading.Thread(target=body, name="kesoku-login", daemon=True).start()
    await asyncio.wrap_future(outcome)
