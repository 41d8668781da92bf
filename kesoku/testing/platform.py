"""A platform that remembers what was done on it, in memory or in a journal file that several processes share."""

import asyncio
import fcntl
import json
import os
from collections import defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kesoku.adapter import Outgoing

_POLL = 0.02
_INCOMING = frozenset({"said", "edited", "deleted", "pressed", "command"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """How the next call fails. Kinds: none, retry, refuse, hold, login, lost, arrived, bug, slow, hang, stuck.

    `lost` and `arrived` look the same to the caller: the connection breaks. So do `hang` and `stuck`: no answer comes,
    but what is stuck was shown. `none` is a call that works. `seconds` belongs to retry, hold and slow.
    """

    kind: str
    seconds: float | None = None


@dataclass(slots=True, kw_only=True)
class Shown:
    """A message as people see it."""

    id: str
    channel: str
    key: str
    text: str
    files: tuple[str, ...] = ()
    buttons: tuple[str, ...] = ()
    tokens: tuple[str, ...] = ()
    reply_to: str | None = None
    deleted: bool = False
    edits: int = 0


@dataclass(slots=True, eq=False)
class RecordedPlatform:
    """The journal is one JSON object a line, appended and synced under a lock; what is shown follows from it.

    `honours_keys`: a second send with a known key shows nothing new and returns the first one's id. `keeps_keys`: a key
    can be looked up later.
    """

    journal: Path | None = None
    honours_keys: bool = False
    keeps_keys: bool = True
    entries: list[dict[str, Any]] = field(default_factory=list)
    faults: dict[str, deque[Fault]] = field(default_factory=lambda: defaultdict(deque))
    _offset: int = 0
    _spoken: asyncio.Event = field(default_factory=asyncio.Event)
    _release: asyncio.Event = field(default_factory=asyncio.Event)

    def script(self, where: str, *faults: Fault) -> None:
        """Make the next sends in a channel fail; `where` may also be `run`, `edit C`, `delete C` or `find C`."""
        self.faults[where].extend(faults)

    def next_fault(self, where: str) -> Fault | None:
        """The fault that is due, taken off the script."""
        return self.faults[where].popleft() if self.faults[where] else None

    async def wait(self, fault: Fault) -> None:
        """Slow: the given real seconds. Hang and stuck: until `release`."""
        if fault.kind == "slow":
            await asyncio.sleep(fault.seconds or 0.0)
        elif fault.kind != "none":
            await self._release.wait()

    def release(self) -> None:
        """Let every call go on that hangs."""
        self._release.set()

    def say(self, channel: str, text: str, *, by: str = "ada", key: str | None = None, **facts: bool) -> str:
        """A person writes; returns the message's key. `bot`: a bot does; `direct`: nobody else reads the channel."""
        return self._do("said", channel, text=text, by=by, key=key, **facts)

    def change(self, op: str, channel: str, key: str, *, by: str = "ada", **facts: Any) -> str:
        """A person edits, deletes, presses or gives a command (`edited`, `deleted`, `pressed`, `command`)."""
        return self._do(op, channel, key=key, by=by, **facts)

    def send(self, channel: str, outgoing: Outgoing, key: str) -> str:
        """The bot sends; returns the platform's id."""
        with self._locked():
            known = self._by_key(key) if self.honours_keys else None
            if known:
                self._append({"op": "repeat", "channel": channel, "key": key, "id": known})
                return known
            number = f"m{len(self.entries)}"
            self._append(
                {
                    "op": "send",
                    "channel": channel,
                    "key": key,
                    "id": number,
                    "text": outgoing.text,
                    "files": [each.name for each in outgoing.files],
                    "buttons": [each.value for each in outgoing.buttons],
                    "tokens": [each.token for each in outgoing.buttons],
                    "reply_to": outgoing.reply_to,
                }
            )
            return number

    def edit(self, channel: str, platform_id: str, outgoing: Outgoing) -> None:
        """The bot edits a message of its own."""
        buttons = [each.value for each in outgoing.buttons]
        self.note("edit", channel, id=platform_id, text=outgoing.text, buttons=buttons)

    def delete(self, channel: str, platform_id: str) -> None:
        """The bot deletes a message of its own."""
        self.note("delete", channel, id=platform_id)

    def note(self, op: str, channel: str, **facts: Any) -> None:
        """Anything else that the bot does."""
        with self._locked():
            self._append({"op": op, "channel": channel, **facts})

    def said(self, position: int) -> list[tuple[int, dict[str, Any]]]:
        """(position, entry) of what people did behind a position."""
        self._refresh()
        new = enumerate(self.entries[position:], start=position + 1)
        return [(number, entry) for number, entry in new if entry["op"] in _INCOMING]

    async def more_said(self, position: int) -> None:
        """Wait until someone does something behind a position."""
        while not self.said(position):
            self._spoken.clear()
            if self.journal is None:
                await self._spoken.wait()
            else:
                await asyncio.sleep(_POLL)

    def alike(self, channel: str, outgoing: Outgoing, key: str) -> list[str]:
        """The ids of what was sent with this key; without `keeps_keys`, of what shows the same in the channel."""
        self._refresh()
        sent = [each for each in self.entries if each["op"] == "send"]
        if self.keeps_keys:
            return [each["id"] for each in sent if each["key"] == key]
        return [each["id"] for each in sent if (each["channel"], each["text"]) == (channel, outgoing.text)]

    def shown(self, channel: str | None = None) -> list[Shown]:
        """What people see now, in order; deleted messages are left out."""
        return [each for each in self.everything(channel) if not each.deleted]

    def texts(self, channel: str | None = None) -> list[str]:
        """The texts that people see now, without the blank lines around them."""
        return [each.text.strip("\n") for each in self.shown(channel)]

    def everything(self, channel: str | None = None) -> list[Shown]:
        """What was ever sent, in order."""
        self._refresh()
        found: dict[str, Shown] = {}
        for entry in self.entries:
            match entry["op"]:
                case "send":
                    found[entry["id"]] = Shown(
                        id=entry["id"],
                        channel=entry["channel"],
                        key=entry["key"],
                        text=entry["text"],
                        files=tuple(entry["files"]),
                        buttons=tuple(entry["buttons"]),
                        tokens=tuple(entry["tokens"]),
                        reply_to=entry["reply_to"],
                    )
                case "edit":
                    found[entry["id"]].text = entry["text"]
                    found[entry["id"]].buttons = tuple(entry["buttons"])
                    found[entry["id"]].edits += 1
                case "delete":
                    found[entry["id"]].deleted = True
        return [each for each in found.values() if channel in {None, each.channel}]

    def ops(self, *wanted: str, channel: str | None = None) -> list[dict[str, Any]]:
        """The journal's entries of these kinds, in order."""
        self._refresh()
        return [entry for entry in self.entries if entry["op"] in wanted and channel in {None, entry["channel"]}]

    def _do(self, op: str, channel: str, **facts: Any) -> str:
        with self._locked():
            key = facts.pop("key") or f"p{len(self.entries)}"
            self._append({"op": op, "channel": channel, "key": key, **facts})
        self._spoken.set()
        return str(key)

    def _by_key(self, key: str) -> str | None:
        return next((e["id"] for e in self.entries if e["op"] == "send" and e["key"] == key), None)

    @contextmanager
    def _locked(self) -> Iterator[None]:
        if self.journal is None:
            yield
            return
        with self.journal.with_suffix(".lock").open("a") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self._refresh()
            yield

    def _append(self, entry: dict[str, Any]) -> None:
        self.entries.append(entry)
        if self.journal is None:
            return
        line = json.dumps(entry).encode() + b"\n"
        handle = os.open(self.journal, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(handle, line)
            os.fsync(handle)
        finally:
            os.close(handle)
        self._offset += len(line)

    def _refresh(self) -> None:
        """Read what other processes appended; a line without its end is not there yet."""
        if self.journal is None or not self.journal.exists():
            return
        with self.journal.open("rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self.entries.append(json.loads(line))
                self._offset += len(line)
