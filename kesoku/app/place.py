"""Where Kesoku keeps things on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kesoku.config import Config
from kesoku.errors import StoreUnreachable


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The database file; everything else lies beside it."""

    database: Path

    @classmethod
    def of(cls, config: Config, environment: Mapping[str, str]) -> "Place":
        """`store.path`, or kesoku/kesoku.db in the user's data folder. Raises StoreUnreachable if there is none."""
        if config.store.path is not None:
            return cls(database=config.store.path.absolute())
        data = Path(environment.get("XDG_DATA_HOME", ""))
        if not data.is_absolute():  # left out, or to be ignored by the standard
            data = Path("~/.local/share")
        path = data / "kesoku" / "kesoku.db"
        try:
            return cls(database=path.expanduser())
        except RuntimeError as error:
            raise StoreUnreachable(path=path, reason="this user has no home folder") from error

    def prepare(self) -> None:
        """Make the folder that holds the database, for this user alone. Raises StoreUnreachable."""
        try:
            self.database.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise StoreUnreachable(path=self.database, reason=error.strerror or str(error)) from error

    @property
    def run(self) -> Path:
        """Locks of living processes."""
        return self._beside("run")

    @property
    def staging(self) -> Path:
        """Files that came in."""
        return self._beside("files")

    @property
    def workspaces(self) -> Path:
        """Folders in which the tools of a session work, unless another is configured."""
        return self._beside("workspaces")

    @property
    def log(self) -> Path:
        """The log of `kesoku chat`."""
        return self._beside("log")

    def _beside(self, name: str) -> Path:
        return self.database.with_name(f"{self.database.name}.{name}")
