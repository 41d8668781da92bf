"""The entry point of a process of the crash kit, in a fork of the fork server."""

import asyncio
import ctypes
import logging
import os
import signal
import sys
import traceback
from typing import NoReturn

from kesoku.testing.crash.actor import Actor, ProcessSpec
from kesoku.testing.crash.role import ROLES

_PR_SET_PDEATHSIG = 1


def run_process(spec: ProcessSpec) -> NoReturn:
    """Run a role until killed, with the standard streams in a log file. Never returns: the fork ends here."""
    code = 1
    try:
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        log = os.open(spec.layout.logs / f"{spec.name}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        for stream in (1, 2):
            os.dup2(log, stream)
        logging.basicConfig(level=logging.INFO, force=True)
        asyncio.run(_run(spec))
        code = 0
    finally:
        if code:
            traceback.print_exc()
        os._exit(code)


async def _run(spec: ProcessSpec) -> None:
    async with Actor.open(spec) as actor:
        await ROLES[spec.role](actor)
