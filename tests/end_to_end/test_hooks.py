"""Event hooks of real processes: commands, a receiver over HTTP, kills and restarts."""

import json
import signal
import sqlite3
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from kesoku.testing.waiting import becomes

from .conftest import Home, RemoteBot

pytestmark = pytest.mark.slow

APPEND = 'command = ["sh", "-c", "cat >> heard; echo >> heard"]'
"""Runs beside the config file."""


def configure(home: Home, *tables: str) -> None:
    path = home.work / "config.toml"
    known = path.read_text(encoding="utf-8") if path.exists() else ""
    path.write_text("\n".join([known, *(f"[[hooks]]\n{table}\n" for table in tables)]), encoding="utf-8")


def heard(home: Home) -> list[tuple[str, str]]:
    """What the command of `APPEND` was told: events and texts."""
    file = home.work / "heard"
    calls = map(json.loads, file.read_text(encoding="utf-8").splitlines()) if file.exists() else ()
    return [(call["event"], text(call)) for call in calls]


def text(call: dict[str, Any]) -> str:
    content = call["message"]["content"]
    return str(content["text"]) if isinstance(content, dict) else str(content)


@dataclass
class Receiver:
    """An HTTP server that keeps each post. `hold` keeps it from answering; it says so with `holds`."""

    port: int
    status: int = 200
    posts: list[tuple[dict[str, str], dict[str, Any]]] = field(default_factory=list)
    hold: threading.Event = field(default_factory=threading.Event)
    holds: threading.Event = field(default_factory=threading.Event)

    @property
    def keys(self) -> list[tuple[str, str]]:
        return [(headers["Idempotency-Key"], headers["Kesoku-Event-Seq"]) for headers, _ in self.posts]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            made.posts.append((dict(self.headers), body))
            made.holds.set()
            made.hold.wait(60)
            try:
                self.send_response(made.status)
                self.send_header("Content-Length", "0")
                self.end_headers()
            except OSError:
                self.close_connection = True  # the process that posted was killed

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        made = Receiver(port=server.server_address[1])
        made.hold.set()
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield made
        made.hold.set()
        server.shutdown()
        thread.join()


def test_a_command_hears_of_a_whole_one_shot_question(home: Home) -> None:
    configure(home, f'name = "diary"\nevents = ["prompt", "started", "answer", "delivered"]\n{APPEND}')
    assert "42" in home.run("chat", "what is 6 * 7?").stdout
    question, answer = "what is 6 * 7?", heard(home)[2][1]
    assert heard(home) == [("prompt", question), ("started", question), ("answer", answer), ("delivered", answer)]
    assert "42" in answer
    home.run("chat", "what is 1 + 1?")
    assert [event for event, _ in heard(home)] == ["prompt", "started", "answer", "delivered"] * 2


def test_a_failing_hook_costs_no_answer_is_shown_and_is_tried_again_after_a_restart(home: Home) -> None:
    configure(
        home,
        f'name = "ops"\nevents = ["prompt"]\nfirst_pause = 1\n{APPEND.replace("cat", "test -e up || exit 1; cat")}',
    )
    assert "42" in home.run("chat", "what is 6 * 7?").stdout
    shown = home.run("chat", "/hooks").stderr
    assert "ops: no success yet; 1 waiting, 0 given up" in shown.replace("**", "")
    assert "event 1, message " in shown
    assert "sh ended with exit code 1" in shown
    found = map(json.loads, home.run("doctor", "--offline", "--json").stdout.splitlines())
    (line,) = [each for each in found if each["check"] == "hooks.ops"]
    assert (line["severity"], line["figures"]) == ("warning", {"waiting": 1, "given_up": 0})
    (home.work / "up").touch()
    chat = home.start("chat", "slow 60")
    becomes(lambda: ("prompt", "what is 6 * 7?") in heard(home))
    chat.send_signal(signal.SIGTERM)
    assert chat.wait(timeout=120) == 143
    assert heard(home).count(("prompt", "what is 6 * 7?")) == 1


def test_killed_between_the_post_and_its_commit_it_posts_again_with_the_same_key(
    remote: RemoteBot, receiver: Receiver
) -> None:
    """At least once, with the message id as the idempotency key."""
    configure(remote.home, f'name = "ops"\nevents = ["prompt"]\nurl = "http://127.0.0.1:{receiver.port}/in"')
    run = remote.home.start("run")
    becomes(lambda: "kesoku.db-wal" in {path.name for path in remote.home.database.parent.glob("*")})
    receiver.hold.clear()
    remote.platform.say("kitchen", "what is 6 * 7?")
    assert receiver.holds.wait(60)
    assert "42" in remote.shows("kitchen", "42")[-1]  # the answer waits for no hook
    run.kill()
    run.wait(timeout=120)
    receiver.hold.set()
    again = remote.home.start("run")
    becomes(lambda: len(receiver.posts) == 2, told=lambda: receiver.keys)
    remote.platform.say("kitchen", "what is 1 + 1?")
    becomes(lambda: len(receiver.posts) == 3, told=lambda: receiver.keys)
    again.send_signal(signal.SIGTERM)
    assert again.wait(timeout=120) == 143
    first, second, third = receiver.keys
    assert first == second != third
    assert [body["message"]["id"] for _, body in receiver.posts] == [key for key, _ in receiver.keys]
    assert len([each for each in remote.platform.texts("kitchen") if "42" in each]) == 1


def test_several_processes_tell_a_hook_of_everything_once(remote: RemoteBot, receiver: Receiver) -> None:
    configure(remote.home, f'name = "ops"\nevents = ["prompt"]\nurl = "http://127.0.0.1:{receiver.port}/in"')
    run = remote.home.start("run")
    remote.platform.say("kitchen", "what is 6 * 7?")
    remote.shows("kitchen", "42")
    for number in range(3):
        remote.home.run("chat", f"what is {number} + 1?")
    run.kill()
    run.wait(timeout=120)
    remote.home.run("chat", "what is 3 + 1?")  # nobody else runs the hook now
    becomes(lambda: len(receiver.posts) >= 5, told=lambda: receiver.keys)
    said = [text(body) for _, body in receiver.posts]
    assert said == ["what is 6 * 7?", *(f"what is {number} + 1?" for number in range(4))]


def test_what_is_secret_is_posted_and_written_nowhere(home: Home, receiver: Receiver) -> None:
    home.environment |= {
        "OPS_HEADER": "Bearer s3cret-header",
        "OPS_URL": f"http://127.0.0.1:{receiver.port}/s3cret-path",
    }
    receiver.status = 500
    configure(
        home,
        'name = "ops"\nurl = { env = "OPS_URL" }\nheaders = { Authorization = { env = "OPS_HEADER" } }',
        'name = "shell"\ncommand = ["sh", "-c", "env >&2; exit 1"]',
    )
    home.run("chat", "hello")
    assert receiver.posts[0][0]["Authorization"] == "Bearer s3cret-header"
    shown = home.run("chat", "/hooks").stderr
    assert f"http://127.0.0.1:{receiver.port} answered 500 Internal Server Error" in shown
    files = [path.read_bytes() for path in home.database.parent.rglob("*") if path.is_file()]
    assert len(files) > 1
    assert not any(b"s3cret" in each for each in (shown.encode(), *files))


ALARM = Path(__file__).parents[2] / "docs" / "examples" / "alarm" / "alarm.py"


def test_a_hook_may_post_elsewhere_with_the_same_program(remote: RemoteBot) -> None:
    """The rule "when a turn fails, tell the people in charge", as the documentation has it."""
    home = remote.home
    given = [f"{name}={home.environment[name]}" for name in ("XDG_DATA_HOME", "PYTHONPATH")]
    command = ["env", *given, sys.executable, str(ALARM), "config.toml", "room:ops"]
    config = home.work / "config.toml"
    config.write_text(config.read_text().replace("[agent]", "[agent]\nmax_seconds = 1"), encoding="utf-8")
    configure(home, f'name = "alarm"\nevents = ["failed"]\ncommand = {json.dumps(command)}\ntimeout = 60')
    run = home.start("run")
    remote.platform.say("kitchen", "slow 60")
    becomes(lambda: remote.platform.texts("ops"), told=lambda: remote.home.run("chat", "/hooks").stderr)
    run.send_signal(signal.SIGTERM)
    assert run.wait(timeout=120) == 143
    with closing(sqlite3.connect(home.database)) as connection:
        found = connection.execute("SELECT content FROM messages WHERE channel_id = 'ops' AND kind = 'user_prompt'")
        (prompt,) = [json.loads(content)["text"] for (content,) in found]
    assert prompt == "Tell the people here that a turn failed in room:kitchen: slow 60"
    assert len(remote.platform.texts("kitchen")) == 1
