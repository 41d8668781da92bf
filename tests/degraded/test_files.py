"""Files that are gone, are something else, or find no room: the text arrives, and the person learns of the file."""

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from kesoku.adapter.staging import Staging
from kesoku.messages.enums import MessageStatus as S
from kesoku.testing.disk import fill
from kesoku.testing.memory import MemoryStore
from kesoku.testing.platform import Fault

from .conftest import ROOM, Bot, bot_at_work


def delete(path: Path) -> None:
    path.unlink()


def become_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def become_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def become_a_circle(path: Path) -> None:
    path.unlink()
    path.symlink_to(path)


spoilers = pytest.mark.parametrize("spoil", [delete, become_a_folder, become_a_pipe, become_a_circle])


def workspace(bot: Bot) -> Path:
    assert bot.runner is not None
    return bot.runner.workspace


@spoilers
async def test_a_file_that_is_gone_between_plan_and_send(tmp_path: Path, spoil: Callable[[Path], None]) -> None:
    # complaints 80 and 81
    async with bot_at_work(MemoryStore(), tmp_path, "Here is your report.\n\n[file: report.pdf]") as bot:
        (workspace(bot) / "report.pdf").write_bytes(b"%PDF")
        bot.platform.script(ROOM, Fault(kind="retry", seconds=20.0))
        bot.platform.say(ROOM, "my report, please")
        await bot.waits_for_a_retry()
        for staged in (tmp_path / "staging").rglob("*report.pdf"):
            spoil(staged)
        shown = await bot.shows(ROOM, "was not sent", advance=10.0)
        assert shown[0] == "Here is your report."
        assert "report.pdf was not sent: it cannot be read" in shown[1]
        await bot.settled(advance=1.0)
        assert len(bot.platform.shown(ROOM)) == 2
        assert [each.status for each in await bot.records() if each.kind == "answer"] == [S.ERROR]


def files_below(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path.is_file()]


async def test_an_attachment_for_which_there_is_no_room_costs_no_text(disk: Path) -> None:
    async def stream() -> AsyncIterator[bytes]:
        for _ in range(8):
            yield b"x" * 500_000

    staged = await Staging(disk).save("s1", "film.mp4", stream(), mime_type="video/mp4", limit=10_000_000)
    assert staged.path is None
    assert staged.skipped == "it could not be saved (No space left on device)"
    assert files_below(disk) == [], "nothing half is left"
    fill(disk)
    staged = await Staging(disk / "deep").save("s1", "note.txt", stream(), mime_type="text/plain", limit=10_000_000)
    assert staged.skipped is not None
