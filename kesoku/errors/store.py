"""The database refused or failed."""

from typing import ClassVar

from kesoku.errors.root import KesokuError


class StoreError(KesokuError):
    """The database refused or failed."""

    passes: ClassVar[bool] = True
    """Whether the same operation may succeed later; it may have been done, too."""


class StoreLocked(StoreError):
    """Somebody else held the database for longer than this store waits. Nothing was written."""

    def __init__(self, *, path: object, seconds: float) -> None:
        self.path, self.seconds = path, seconds
        super().__init__(
            f"{path} was locked by another program for more than {seconds:g} s and nothing was written; "
            f"close the program that holds it, then try again"
        )


class StoreFull(StoreError):
    """No room is left on the disk. What was acknowledged is safe; the write that failed left nothing behind."""

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"the disk of {path} is full and nothing was written; free some space, then try again")


class StoreReadOnly(StoreError):
    """The file, its directory or the transaction does not take writes."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} cannot be written ({reason}); make the file and its directory writable for this user")


class StoreUnreachable(StoreError):
    """The file cannot be opened: no such directory, no permission, or it is a directory itself."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"{path} cannot be opened ({reason}); check that its directory exists and that this user may use it"
        )


class StoreCorrupt(StoreError):
    """The file is damaged."""

    passes = False

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"{path} is damaged ({reason}); stop every program that uses it, keep a copy, then restore a backup "
            f"or rescue what is left with `sqlite3 {path} .recover`"
        )


class StoreForeign(StoreError):
    """The file is no database of Kesoku."""

    passes = False

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"{path} is not a database of Kesoku and was left as it is; name another file")


class StoreNewer(StoreError):
    """A newer version of Kesoku wrote this database; nothing was changed."""

    passes = False

    def __init__(self, *, path: object, found: int, known: int) -> None:
        self.path, self.found, self.known = path, found, known
        super().__init__(
            f"{path} has schema version {found}, this Kesoku knows versions up to {known}; "
            f"upgrade Kesoku, or name another file"
        )


class StoreOutdated(StoreError):
    """The SQLite of this Python is older than Kesoku can use; nothing was changed."""

    passes = False

    def __init__(self, *, path: object, found: str, needed: str) -> None:
        self.path, self.found, self.needed = path, found, needed
        super().__init__(
            f"{path} was not opened: this Python has SQLite {found}, and Kesoku needs {needed} or later; "
            f"install a newer one for Kesoku alone with `pip install 'kesoku[sqlite]'`"
        )


class StoreConflict(StoreError):
    """A write that a rule of the tables forbids, such as a second final answer of one turn."""

    passes = False

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(
            f"{path} refused a write that contradicts what is stored: {reason}; read what is there, then write anew"
        )


class StoreFailed(StoreError):
    """Any other failure of the database or its disk."""

    def __init__(self, *, path: object, reason: str) -> None:
        self.path, self.reason = path, reason
        super().__init__(f"{path} failed: {reason}; check the disk and the system's log, then try again")


class StoreClosed(StoreError):
    """The store was closed before this operation ran."""

    passes = False

    def __init__(self, *, path: object) -> None:
        self.path = path
        super().__init__(f"{path} was closed and the operation did not run; open the store again")


class NotStorable(StoreError, ValueError):
    """A message that has no stored form: no role, content that is no JSON, or metadata beyond the limit (N-14)."""

    passes = False

    def __init__(self, *, message_id: str, reason: str) -> None:
        self.message_id, self.reason = message_id, reason
        super().__init__(f"message {message_id} cannot be stored: {reason}")
