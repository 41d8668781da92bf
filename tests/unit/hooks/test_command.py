"""Running real commands."""

import asyncio
import logging
import os
from pathlib import Path

import pytest

from kesoku.errors import HookCommandFailed, HookLate, HookUnreachable
from kesoku.hooks.call import Call
from kesoku.hooks.command import CommandTarget
from kesoku.testing.waiting import until
from kesoku.tools.process import minimal

CALL = Call(hook="ops", event="answer", event_seq=17, message_id="m-1", body=b'{"event": "answer"}' * 10_000)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


async def run(folder: Path, *command: str, timeout: float = 30, grace: float = 5) -> None:
    target = CommandTarget(command, cwd=folder, environment=minimal(os.environ), timeout=timeout, grace=grace)
    await target.send(CALL)
    await target.aclose()


async def test_a_command_reads_the_event_from_standard_input(tmp_path: Path) -> None:
    await run(tmp_path, "sh", "-c", "cat > event")
    assert (tmp_path / "event").read_bytes() == CALL.body


async def test_a_command_that_reads_nothing_is_no_failure(tmp_path: Path) -> None:
    await run(tmp_path, "true")
    assert names(tmp_path) == []


async def test_arguments_are_no_shell_line(tmp_path: Path) -> None:
    await run(tmp_path, "touch", "a; touch b", "$(c)")
    assert names(tmp_path) == ["$(c)", "a; touch b"]


async def test_an_exit_code_is_a_failure_with_what_the_command_said(tmp_path: Path) -> None:
    with pytest.raises(HookCommandFailed) as caught:
        await run(tmp_path, "sh", "-c", f"echo 'no route'; printf 'bad\\nkey {'x' * 999}' >&2; exit 3")
    assert (caught.value.code, caught.value.said[:11], len(caught.value.said)) == (3, "bad key xxx", 200)
    assert str(caught.value).startswith("sh ended with exit code 3: bad key")


@pytest.mark.parametrize(("command", "code"), [("no-such-program", 127), ("/etc/passwd", 126)])
async def test_a_command_that_is_no_program_is_a_failure(tmp_path: Path, command: str, code: int) -> None:
    with pytest.raises(HookCommandFailed) as caught:
        await run(tmp_path, command)
    assert caught.value.code == code


async def test_a_folder_that_is_not_there_is_a_failure(tmp_path: Path) -> None:
    with pytest.raises(HookUnreachable, match="No such file"):
        await run(tmp_path / "gone", "true")


async def test_nothing_of_ours_is_in_its_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GEMINI_API_KEY", "s3cret-key")
    monkeypatch.setenv("LANG", "s3cret-key.UTF-8")
    environment = minimal(os.environ, frozenset({"s3cret-key"}))
    await CommandTarget(["sh", "-c", "env > seen"], cwd=tmp_path, environment=environment, timeout=30).send(CALL)
    assert "s3cret" not in (tmp_path / "seen").read_text()


async def test_what_it_prints_goes_to_the_log_for_whom_asks_and_is_bounded(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        await run(tmp_path, "echo", "hello")
    assert "hello" not in caplog.text
    with caplog.at_level(logging.DEBUG, "kesoku.hooks"):
        await run(tmp_path, "sh", "-c", "echo hello; head -c 1000000 /dev/zero | tr '\\0' x")
    assert "hello" in caplog.text
    assert len(caplog.text) < 40_000


async def test_a_command_that_is_cancelled_is_gone_with_all_that_it_started(tmp_path: Path) -> None:
    task = asyncio.create_task(run(tmp_path, "sh", "-c", "sleep 987 & echo $! > pid; wait"))
    file = tmp_path / "pid"

    async def started() -> bool:
        return file.exists() and bool(file.read_text().strip())

    await until(started, what="the command starts")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


ENDLESS: dict[str, str] = {
    "one that waits": "exec sleep 987",
    "one that takes no orders": "trap '' TERM INT HUP; while :; do sleep 0.01; done",
    "one that went into the background": "setsid sleep 987 & wait",
    "one that complains without an end": "while :; do echo help >&2; done",
}


@pytest.mark.parametrize("script", ENDLESS.values(), ids=ENDLESS)
async def test_a_command_without_an_end_is_stopped(tmp_path: Path, script: str) -> None:
    with pytest.raises(HookLate):
        await run(tmp_path, "sh", "-c", script, timeout=0.2, grace=0.0)


async def test_what_a_command_leaves_behind_is_gone_when_it_has_succeeded(tmp_path: Path) -> None:
    await run(tmp_path, "sh", "-c", "setsid sleep 987 >/dev/null 2>&1 & echo $! > pid")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
