"""Where Kesoku keeps things on this machine."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from kesoku.config import Config


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """The database file; everything else lies beside it."""

    database: Path

    @classmethod
    def of(cls, config: Config, environment: Mapping[str, str]) -> "Place":
        """`store.path`, or kesoku/kesoku.db in the user's data folder."""
        data = Path(environment.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")
        path = config.store.path or data / "kesoku" / "kesoku.db"
        return cls(database=path.expanduser().absolute())

    @property
    def folder(self) -> Path:
        """What holds the database."""
        return self.database.parent

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
