"""The default credentials of Google Cloud (ADC): every request of a transport is signed with a token that is valid.

google-auth refreshes tokens in blocking calls. They run in threads of their own, which hold up neither the event loop
nor the end of the process: who waits for one may leave at any time.
"""

import functools
import threading
from collections.abc import AsyncGenerator
from http import HTTPStatus
from typing import Any

from kesoku.tools.thread import in_thread

_SCOPE = "https://www.googleapis.com/auth/cloud-platform"
_SECONDS = 30.0
"""How long a thread waits for a token, whether or not anyone still waits for the thread."""


def signing() -> Any:
    """The `auth` of an httpx2 client: puts a token into the headers, and a new one if that is refused.

    A request raises google-auth's errors. Every request is signed, so the client must not follow redirects.
    """
    import httpx2

    class Signing(httpx2.Auth):
        def __init__(self) -> None:
            self._login = _Login()

        async def async_auth_flow(self, request: httpx2.Request) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
            await in_thread(functools.partial(self._login.sign, request), name="kesoku-login")
            response = yield request
            if response.status_code == HTTPStatus.UNAUTHORIZED:
                self._login.forget()
                await in_thread(functools.partial(self._login.sign, request), name="kesoku-login")
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
