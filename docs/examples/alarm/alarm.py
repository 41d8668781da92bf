"""An event hook: says in another channel that a turn failed. `alarm.py CONFIG CHANNEL`, the event on standard input."""

import json
import subprocess
import sys


def main(config: str, channel: str) -> int:
    """Post into `channel`, such as `discord:1234`; the exit code is that of `kesoku chat`."""
    message = json.load(sys.stdin)["message"]
    where = f"{message['chatbot_id']}:{message['channel_id']}"
    text = f"Tell the people here that a turn failed in {where}: {message['content']['text']}"
    program = [sys.executable, "-m", "kesoku", "chat", "--config", config, "--session", channel, text]
    return subprocess.run(program, check=False).returncode  # noqa: S603  a list of arguments, and no shell


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
