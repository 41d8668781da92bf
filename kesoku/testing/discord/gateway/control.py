"""The gateway as a test sees and disturbs it."""

from kesoku.testing.discord.gateway.connection import Connection
from kesoku.testing.discord.gateway.session import Session, Sessions
from kesoku.testing.discord.rules import Rules


class GatewayControl(Rules):
    """What happens to connections and sessions; the server is one of these."""

    _gateway: Sessions
    _connections: set[Connection]

    @property
    def connections(self) -> int:
        """How many gateway connections are open and past IDENTIFY or RESUME."""
        return sum(each.session is not None and each.session.line is each for each in self._connections)

    @property
    def sessions(self) -> list[Session]:
        """The sessions that could be resumed, connected or not."""
        return list(self._gateway.known.values())

    @property
    def identifies(self) -> int:
        """How many sessions were begun."""
        return self._gateway.identifies

    @property
    def resumes(self) -> int:
        """How many were resumed."""
        return self._gateway.resumes

    async def drop(self, code: int | None = None) -> None:
        """End all gateway connections: broken off, or with a close code."""
        for each in list(self._connections):
            each.end(code)

    async def reconnect(self) -> None:
        """Ask all connections to come again."""
        for each in self._connections:
            each.push({"op": 7})

    async def invalid(self, *, resumable: bool = False) -> None:
        """Tell all connections that their session is invalid; not `resumable` ones are forgotten, too."""
        for each in list(self._connections):
            if not resumable and each.session is not None:
                self._gateway.left(each.session, over=True)
            each.push({"op": 9, "d": resumable})

    def forget_sessions(self) -> None:
        """No session can be resumed any more."""
        self._gateway.forget()

    def mute_acks(self, *, muted: bool = True) -> None:
        """Heartbeats are not answered from now on."""
        self._gateway.acknowledges = not muted

    def revoke(self) -> None:
        """The token is not accepted from now on, and connections are closed."""
        self.revoked = True
        for each in list(self._connections):
            each.end(4004)

    def restore(self) -> None:
        """The token is accepted again, and privileged intents are."""
        self.revoked, self.intents_allowed = False, True

    def disallow_intents(self) -> None:
        """The application has no privileged intents from now on."""
        self.intents_allowed = False
