"""The folders and files of one round of the crash kit."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Layout:
    """A folder with a database, journals of platforms, traces, logs and attachments."""

    folder: Path

    def prepare(self) -> None:
        """Make the folders."""
        for each in (self.traces, self.files, self.run, self.logs, self.platforms, self.workspace):
            each.mkdir(parents=True, exist_ok=True)

    @property
    def database(self) -> Path:
        """The file that all actors share."""
        return self.folder / "kesoku.db"

    @property
    def traces(self) -> Path:
        """`<actor>.jsonl` of each process, and `harness.jsonl`."""
        return self.folder / "traces"

    @property
    def files(self) -> Path:
        """The root of Staging."""
        return self.folder / "staging"

    @property
    def run(self) -> Path:
        """Locks of living processes."""
        return self.folder / "run"

    @property
    def logs(self) -> Path:
        """`<actor>.log`: what each process wrote to its standard streams."""
        return self.folder / "logs"

    @property
    def workspace(self) -> Path:
        """Where tools work."""
        return self.folder / "workspace"

    @property
    def platforms(self) -> Path:
        """The journals of the platforms."""
        return self.folder / "platforms"

    def journal(self, bot: str) -> Path:
        """What was said and shown on the platform of one bot."""
        return self.platforms / f"{bot}.jsonl"
