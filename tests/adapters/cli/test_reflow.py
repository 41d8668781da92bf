"""Getting narrower in a terminal that wraps its old rows: a real tmux."""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from kesoku.testing.waiting import becomes

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="needs tmux")

PROGRAM = Path(__file__).with_name("played.py")
TYPED = "a long line " * 12 + "to its end"


class Tmux:
    """One window of a tmux server of its own."""

    def __init__(self, socket: Path, *command: str) -> None:
        self.socket = socket
        self.call("new-session", "-d", "-x", "100", "-y", "30", *command)

    def call(self, *arguments: str) -> str:
        """Run a tmux command."""
        command = ["tmux", "-S", str(self.socket), "-f", "/dev/null", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout

    def text(self) -> str:
        """Scrollback and screen, wrapped rows joined."""
        return "\n".join(line.rstrip() for line in self.call("capture-pane", "-p", "-J", "-S", "-").split("\n"))

    def wait_for(self, text: str) -> str:
        """Wait until this stands there; everything that stands there."""
        becomes(lambda: text in self.text(), told=self.text)
        return self.text()


@pytest.fixture
def tmux(tmp_path: Path) -> Iterator[Tmux]:
    window = Tmux(tmp_path / "tmux", sys.executable, str(PROGRAM), "talk", str(tmp_path / "notes"), "100")
    yield window
    window.call("kill-server")


def test_no_row_is_lost_or_left_behind(tmux: Tmux) -> None:
    """The input takes two rows, which the terminal wraps to up to eight; what stands above them stays as it was."""
    tmux.wait_for("›")
    tmux.call("send-keys", "-l", "stream")
    tmux.call("send-keys", "Enter")
    before = tmux.wait_for("1,042 tokens")
    finished = before[: before.index("1,042 tokens")]
    tmux.call("send-keys", "-l", TYPED)
    tmux.wait_for("end")
    for columns in (60, 40, 100, 50, 120, 45):
        tmux.call("resize-window", "-x", str(columns), "-y", "30")
        first_row = f"› {TYPED}"[:columns].rstrip()
        seen = tmux.wait_for(f"\n{first_row}\n")
        assert seen.startswith(finished)
        region = "".join(seen[len(finished) :].split())
        assert (region.count("›"), region.count("toitsend")) == (1, 1), seen
