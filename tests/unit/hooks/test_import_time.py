"""What a hook needs is imported beside the event loop, which answers people meanwhile."""

import subprocess
import sys

FIRST_POST = """
import asyncio, sys, threading
from kesoku.errors import HookUnreachable
from kesoku.hooks.call import Call
from kesoku.hooks.http import HttpTarget

class Watcher:
    seen = []

    def find_spec(self, name, path=None, target=None):
        if threading.current_thread() is threading.main_thread():
            self.seen.append(name)

async def main():
    target = HttpTarget("http://127.0.0.1:1/", {}, timeout=5)
    await asyncio.to_thread(int)  # threads of the loop are needed for everything
    sys.meta_path.insert(0, Watcher())
    try:
        await target.send(Call(hook="x", event="answer", event_seq=1, message_id="m", body=b""))
    except HookUnreachable:
        print(Watcher.seen)
    await target.aclose()

asyncio.run(main())
"""


def test_the_first_post_imports_nothing_on_the_event_loop() -> None:
    done = subprocess.run([sys.executable, "-c", FIRST_POST], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
