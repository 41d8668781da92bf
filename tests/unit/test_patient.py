"""The loop that the tests run on."""

import asyncio
import os
import signal
import subprocess
import sys
import time

import pytest

from tests.patient import SLICE, PatientLoop


async def test_tests_run_on_it() -> None:
    assert isinstance(asyncio.get_running_loop(), PatientLoop)


async def test_a_timer_waits_as_long_as_it_should() -> None:
    before = time.monotonic()
    await asyncio.sleep(3 * SLICE)
    assert time.monotonic() - before >= 3 * SLICE


PAUSE = f"""
import os, time
print(flush=True), input()
os.kill({{me}}, {signal.SIGSTOP:d})
time.sleep(0.6)
os.kill({{me}}, {signal.SIGCONT:d})
"""


async def test_a_stop_of_the_machine_ends_no_limit() -> None:
    """Somebody stops this process for longer than the limit is."""
    command = (sys.executable, "-IS", "-c", PAUSE.format(me=os.getpid()))
    other = await asyncio.create_subprocess_exec(*command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert other.stdin is not None
    assert other.stdout is not None
    await other.stdout.readline()
    async with asyncio.timeout(0.5):
        other.stdin.write(b"go\n")
        await other.wait()


async def test_a_limit_is_kept() -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(2 * SLICE):
            await asyncio.Event().wait()
