"""How Discord says no."""

from collections.abc import Mapping
from typing import Any


class Rejected(Exception):
    """A request is answered with an error: its status, Discord's code, its words, and the tree of single errors."""

    def __init__(self, status: int, code: int, message: str, errors: Mapping[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.errors = status, code, message, errors

    @property
    def body(self) -> dict[str, Any]:
        """The JSON of the answer."""
        body: dict[str, Any] = {"message": self.message, "code": self.code}
        return {**body, "errors": self.errors} if self.errors else body


class Faults:
    """The single errors of a form, by the path of the field."""

    def __init__(self) -> None:
        self._tree: dict[str, Any] = {}

    def add(self, path: str, code: str, message: str) -> None:
        """Note an error; `path` is such as "embeds.0.title"."""
        at = self._tree
        for name in path.split("."):
            at = at.setdefault(name, {})
        at.setdefault("_errors", []).append({"code": code, "message": message})

    def length(self, path: str, text: Any, low: int, high: int) -> None:
        """Note a text that is none, or has fewer or more characters."""
        if text is None:
            self.add(path, "BASE_TYPE_REQUIRED", "This field is required")
        elif not isinstance(text, str):
            self.add(path, "STRING_TYPE_CONVERT", f'Could not interpret "{text}" as string.')
        elif not low <= len(text) <= high:
            if low == 0:
                self.add(path, "BASE_TYPE_MAX_LENGTH", f"Must be {high} or fewer in length.")
            else:
                self.add(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {low} and {high} in length.")

    def rejection(self) -> Rejected:
        """The error that tells all of them."""
        return Rejected(400, 50035, "Invalid Form Body", self._tree)

    def raise_any(self) -> None:
        """Raise Rejected if there was any."""
        if self._tree:
            raise self.rejection()


def unauthorized() -> Rejected:
    """401: no token, or a wrong one."""
    return Rejected(401, 0, "401: Unauthorized")


def unknown_route(*, path: bool) -> Rejected:
    """404: there is no such path; 405: it is known, but not with this method."""
    return Rejected(405, 0, "405: Method Not Allowed") if path else Rejected(404, 0, "404: Not Found")


_UNKNOWN = {
    "Application": 10002,
    "Channel": 10003,
    "Guild": 10004,
    "Member": 10007,
    "Message": 10008,
    "User": 10013,
    "Emoji": 10014,
    "Webhook": 10015,
    "Interaction": 10062,
    "application command": 10063,
}


def unknown(what: str) -> Rejected:
    """404 for a thing that is not there."""
    return Rejected(404, _UNKNOWN[what], f"Unknown {what}")


def missing_access() -> Rejected:
    """403: the channel is not to be seen."""
    return Rejected(403, 50001, "Missing Access")


def missing_permissions() -> Rejected:
    """403: the channel is to be seen, but this is not allowed."""
    return Rejected(403, 50013, "Missing Permissions")


def invalid(path: str, code: str, message: str) -> Rejected:
    """400 with one single error."""
    faults = Faults()
    faults.add(path, code, message)
    return faults.rejection()


def old_edits() -> Rejected:
    """429: too many edits of messages older than an hour. Such an answer names no time to wait."""
    return Rejected(429, 30046, "Maximum number of edits to messages older than 1 hour reached. Try again later")


def broken_json() -> Rejected:
    """400: the body is no JSON object."""
    return Rejected(400, 50109, "The request body contains invalid JSON.")
