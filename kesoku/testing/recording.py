"""An adapter for tests: it shows everything on a platform that remembers, and does what a script tells it to.

It is no installed adapter: hand `recording_manifest()` to whatever takes adapters by argument. With a journal file the
platform outlives its process, so that tests may kill and restart the side of the bot.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field

from kesoku.adapter import (
    AdapterConfig,
    Address,
    Ambiguous,
    Button,
    Capabilities,
    Command,
    Deleted,
    Draft,
    Edited,
    Event,
    Finding,
    Hold,
    Inbox,
    LoginNeeded,
    Manifest,
    Outgoing,
    OutgoingFile,
    Presentation,
    Pressed,
    Principal,
    Prompt,
    Question,
    Receipt,
    Record,
    Refused,
    RenderContext,
    RetryLater,
    Tick,
    TurnEnd,
    Visibility,
)
from kesoku.render import File, Voice, chunk, parse, unparse
from kesoku.testing.platform import Fault, RecordedPlatform

SHOW_ALL = Visibility(
    user_text=Presentation.SHOWN,
    assistant_text=Presentation.SHOWN,
    thought=Presentation.SHOWN,
    tool_call=Presentation.SHOWN,
    tool_result=Presentation.SHOWN,
    notice=Presentation.SHOWN,
)
LIVE = replace(
    SHOW_ALL,
    thought=Presentation.LIVE,
    tool_call=Presentation.LIVE,
    tool_result=Presentation.LIVE,
    notice=Presentation.LIVE,
)
"""The column of a platform with a status bar."""
PLAIN = replace(
    SHOW_ALL,
    thought=Presentation.HIDDEN,
    tool_call=Presentation.HIDDEN,
    tool_result=Presentation.HIDDEN,
    notice=Presentation.HIDDEN,
)
"""The column of a platform without one."""


class RecordingChannel(BaseModel):
    """What is different in one channel."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = ""
    """The model that answers here; empty: the bot's."""
    role: str = ""
    """The role that the bot plays here; empty: the bot's."""


class RecordingConfig(AdapterConfig):
    """Settings of the recording adapter."""

    journal: Path | None = None
    """The file that the platform is kept in; without one it lives in memory."""
    channels: dict[str, RecordingChannel] = Field(default_factory=dict)
    """What is different in single channels."""


def recording_manifest(
    *,
    name: str = "recording",
    platform: RecordedPlatform | None = None,
    visibility: Visibility = SHOW_ALL,
    kind: "Callable[..., RecordingAdapter] | None" = None,
    **capabilities: Any,
) -> Manifest:
    """A manifest with just these capabilities. `platform` is shared by all adapters that it creates; `kind` makes
    them."""
    can = Capabilities(**{"max_text": 2000, **capabilities})

    def create(chatbot_id: str, config: RecordingConfig) -> RecordingAdapter:
        shown = platform or RecordedPlatform(journal=config.journal, honours_keys=can.key_window > 0)
        made = (kind or RecordingAdapter)(chatbot_id=chatbot_id, platform=shown, capabilities=can)
        made.channels = config.channels
        return made

    async def doctor(chatbot_id: str, config: RecordingConfig) -> Sequence[Finding]:
        return ()

    return Manifest(
        name=name,
        title="Recording",
        extra=None,
        config=RecordingConfig,
        capabilities=can,
        visibility=visibility,
        create=create,
        doctor=doctor,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Lines:
    """The drawing of a turn: one line an item, found again by key."""

    lines: tuple[tuple[str, str], ...] = ()

    def with_line(self, key: str, line: str) -> "_Lines":
        if any(known == key for known, _ in self.lines):
            return _Lines(lines=tuple((known, line if known == key else old) for known, old in self.lines))
        return _Lines(lines=(*self.lines, (key, line)))


class RecordingAdapter:
    """Every required method and every optional one; the core calls only what the capabilities declare."""

    def __init__(self, *, chatbot_id: str, platform: RecordedPlatform, capabilities: Capabilities) -> None:
        self.chatbot_id, self.platform, self.capabilities = chatbot_id, platform, capabilities
        self.channels: Mapping[str, RecordingChannel] = {}
        self.hooks: list[tuple[str, str]] = []
        self.runs = 0

    async def run(self, inbox: Inbox) -> None:
        """Hand in what people did, from where the last run stopped."""
        self.runs += 1
        if fault := self.platform.next_fault("run"):
            raise _error(fault)
        inbox.report(True)
        position = await inbox.state.get("position") or 0
        old = self.capabilities.catch_up
        while True:
            said = self.platform.said(position)
            if said:
                position = said[-1][0]
                events = [await self._event(inbox, entry) for _, entry in said]
                await inbox.accept(events, cursor=("position", position), catch_up=old)
            old = False
            await self.platform.more_said(position)

    def render(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        """One line for what is short, chunks for an answer, a part of its own for each file."""
        if record.kind != "answer":
            return self._line(record, context)
        files: list[OutgoingFile] = []
        kept = []
        for segment in parse(record.message.content.text):
            path = context.files.get(segment.path) if isinstance(segment, File | Voice) else None
            if path is not None:
                files.append(OutgoingFile(path=path, name=path.name, voice=isinstance(segment, Voice)))
            else:
                kept.append(segment)
        text = "\n\n".join(
            f"⚠️ {each.path} was not sent" if isinstance(each, File | Voice) else unparse((each,)) for each in kept
        )
        attached = [context.files.get(each.path or "") for each in record.message.content.attachments]
        files += [OutgoingFile(path=path, name=path.name) for path in attached if path]
        texts = self._texts(text, context.reply_to)
        return (*texts, *((Outgoing(files=tuple(files)),) if files else ()))

    async def send(self, address: Address, outgoing: Outgoing, key: str) -> Receipt:
        """Show one part, or fail as the script says."""
        fault = self.platform.next_fault(address.channel_id)
        if fault is None:
            return Receipt(platform_ids=(self.platform.send(address.channel_id, outgoing, key),))
        shown = None
        if fault.kind in {"arrived", "stuck"}:
            shown = self.platform.send(address.channel_id, outgoing, key)
        if fault.kind not in {"none", "slow", "hang", "stuck"}:
            raise _error(fault)
        await self.platform.wait(fault)
        return Receipt(platform_ids=(shown or self.platform.send(address.channel_id, outgoing, key),))

    async def edit(self, address: Address, platform_id: str, outgoing: Outgoing) -> None:
        """Replace what a message shows."""
        if fault := self.platform.next_fault(f"edit {address.channel_id}"):
            raise _error(fault)
        self.platform.edit(address.channel_id, platform_id, outgoing)

    async def delete(self, address: Address, platform_id: str) -> None:
        """Take a message away."""
        if fault := self.platform.next_fault(f"delete {address.channel_id}"):
            raise _error(fault)
        self.platform.delete(address.channel_id, platform_id)

    async def typing(self, address: Address, on: bool) -> None:
        """Note that typing is shown, or not any more."""
        self.platform.note("typing", address.channel_id, on=on)

    async def find(self, address: Address, outgoing: Outgoing, key: str, since: float) -> Sequence[Receipt]:
        """Look a key up among what was sent; a platform that keeps no keys is searched for the same text."""
        if fault := self.platform.next_fault(f"find {address.channel_id}"):
            raise _error(fault)
        return [Receipt(platform_ids=(each,)) for each in self.platform.alike(address.channel_id, outgoing, key)]

    def closed(self, shown: Outgoing, question: Question, answer: str | None, by: str) -> Outgoing | None:
        """The question, with its answer in the place of the buttons."""
        return replace(shown, text=f"{shown.text}\n→ {answer or 'over'} ({by or 'the turn ended'})", buttons=())

    async def draft(self, address: Address, draft: Draft) -> None:
        """Note a running reply."""
        self.platform.note("draft", address.channel_id, thought=draft.thought, text=draft.text)

    async def delivered(self, record: Record, receipts: Sequence[Receipt]) -> None:
        """Note the hook."""
        self.hooks.append(("delivered", record.id))

    async def interrupted(self, turn_id: str, address: Address) -> None:
        """Note the hook."""
        self.hooks.append(("interrupted", turn_id))

    def fold(self, state: Any, item: Record | Draft | Tick) -> Any:
        """A line an item; the result of a call replaces the call's line."""
        lines: _Lines = state or _Lines()
        match item:
            case Record():
                key = item.message.content.request_id if item.kind == "tool_result" else item.id
                return lines.with_line(key, _line(item))
            case Draft():
                return lines.with_line("draft", f"… {item.thought}{item.text}")
            case _:
                return lines

    def draw(self, state: Any, now: float) -> Outgoing:
        """All lines."""
        lines: _Lines = state or _Lines()
        return Outgoing(text="\n".join(line for _, line in lines.lines))

    def close(self, state: Any, end: TurnEnd) -> Outgoing | None:
        """Nothing stays."""
        return None

    def _line(self, record: Record, context: RenderContext) -> tuple[Outgoing, ...]:
        shown = f" {record.message.rendered}" if record.kind == "tool_result" else ""
        text, buttons = _asked(_line(record) + shown, context, buttons=self.capabilities.buttons)
        texts = self._texts(text, None)
        return (*texts[:-1], *(replace(last, buttons=buttons) for last in texts[-1:]))

    def _texts(self, text: str, reply_to: str | None) -> tuple[Outgoing, ...]:
        parts = chunk(text, self.capabilities.max_text, self.capabilities.unit)
        return tuple(Outgoing(text=part, reply_to=None if n else reply_to) for n, part in enumerate(parts))

    async def _event(self, inbox: Inbox, said: dict[str, Any]) -> Event:
        address = Address(chatbot_id=self.chatbot_id, channel_id=said["channel"])
        facts = {"is_bot": said.get("bot", False), "direct": said.get("direct", False)}
        person = Principal(user_id=said["by"], display_name=said["by"].title(), **facts)
        what, key = said["op"], said["key"]
        if what == "edited":
            return Edited(key=key, address=address, principal=person, text=said["text"])
        if what == "deleted":
            return Deleted(key=key, address=address, principal=person)
        if what == "pressed":
            pressed = {name: said[name] for name in ("value", "index") if name in said}
            return Pressed(key=key, address=address, principal=person, token=said["token"], **pressed)
        if what == "command":
            arguments = said.get("arguments", {})
            return Command(key=key, address=address, principal=person, name=said["name"], arguments=arguments)
        here = self.channels.get(address.channel_id, RecordingChannel())
        return Prompt(
            keys=(key,),
            address=address,
            principal=person,
            text=said["text"],
            platform_ids={"recording_message_id": key},
            model=here.model,
            role=here.role,
        )


def _line(record: Record) -> str:
    match record.kind:
        case "thought":
            return f"💭 {record.message.rendered}"
        case "tool_call":
            return f"🛠️ {record.message.content.tool} ⏳"
        case "tool_result":
            return f"🛠️ {record.message.content.tool} {'✅' if record.message.content.success else '❌'}"
        case _:
            return record.message.text


def _asked(line: str, context: RenderContext, *, buttons: bool) -> tuple[str, tuple[Button, ...]]:
    question = context.question
    if question is None:
        return line, ()
    if buttons:
        return line, tuple(Button(label=each, token=question.id, value=each) for each in question.choices)
    numbered = "\n".join(f"{number}. {each}" for number, each in enumerate(question.choices, start=1))
    return f"{line}\n{numbered}", ()


def _error(fault: Fault) -> Exception:
    match fault.kind:
        case "retry":
            return RetryLater(reason="busy", after=fault.seconds)
        case "refuse":
            return Refused(reason="forbidden")
        case "hold":
            return Hold(reason="quota", until=fault.seconds)
        case "login":
            return LoginNeeded(adapter="recording", reason="the token was revoked")
        case "lost" | "arrived":
            return Ambiguous(reason="the connection broke")
        case _:
            return ZeroDivisionError("a bug in a library")


MANIFEST = recording_manifest(key_window=300.0)
"""For programs that take a manifest by name; set `journal` in its config so that the platform outlives them."""
