"""The contract over the recording adapter, in the shapes of the platforms to come; and the guards of the contract."""

import inspect
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from kesoku.adapter import Address, Manifest, Outgoing, Pace
from kesoku.render import Unit
from kesoku.store import SqlStore
from kesoku.testing.adapter_contract import AdapterContract, weakened, without_contract
from kesoku.testing.platform import Fault, RecordedPlatform
from kesoku.testing.recording import LIVE, PLAIN, RecordingAdapter, recording_manifest
from kesoku.testing.rig import Rig, Stage


class RecordingRig:
    """People on a recorded platform."""

    person, stranger = "ada", "eve"

    def __init__(self, **facts: Any) -> None:
        self.platform = RecordedPlatform(honours_keys=facts.get("key_window", 0) > 0)
        self.manifest: Manifest = recording_manifest(platform=self.platform, **facts)
        self.chatbot_id = "recording"

    def adapter(self) -> Any:
        return self.manifest.create(self.chatbot_id, self.manifest.config())

    def address(self, room: str) -> Address:
        return Address(chatbot_id=self.chatbot_id, channel_id=room)

    async def say(self, room: str, text: str, *, by: str, key: str | None = None, bot: bool = False) -> str:
        return self.platform.say(room, text, by=by, key=key, bot=bot)

    async def choose(self, room: str, label: str, *, by: str) -> None:
        shown = self.platform.shown(room)
        if buttons := [each for each in shown if each.buttons]:  # a live status may stand below them
            self.platform.change("pressed", room, "press-1", by=by, token=buttons[-1].tokens[0], value=label)
        else:
            lines = "\n".join(each.text for each in shown).splitlines()
            number = [line.split(".")[0] for line in lines if line.endswith(label)][-1]
            self.platform.say(room, number, by=by)

    async def shown(self, room: str) -> list[str]:
        return [" ".join((each.text, *each.files)) for each in self.platform.shown(room)]

    async def typing(self, room: str) -> list[bool]:
        return [each["on"] for each in self.platform.ops("typing", channel=room)]

    async def fail(self, room: str, kind: str) -> None:
        self.platform.script(room, Fault(kind=kind))


def shape(**facts: Any) -> Any:
    """A contract class over one set of capabilities."""

    class Shape(AdapterContract):
        adapter_name = "recording"

        @pytest.fixture
        def rig(self) -> Rig:
            return RecordingRig(**facts)

    return Shape


TestBare = shape()
TestLikeDiscord = shape(
    visibility=LIVE,
    live=True,
    edits=True,
    deletes=True,
    buttons=True,
    typing=True,
    catch_up=True,
    media_out=True,
    max_file=10_000_000,
    key_window=180.0,
    unit=Unit.UTF16,
)
TestLikeGoogleChat = shape(
    visibility=LIVE,
    live=True,
    edits=True,
    deletes=True,
    buttons=True,
    key_window=3600.0,
    max_text=4000,
    pace=lambda address: Pace(scope=address.channel_id, interval=0.02),
)
TestLikeWeChat = shape(visibility=PLAIN, typing=True, media_out=True, max_file=100_000, max_text=2000)
TestWithALookUp = shape(find=True, drafts=True, unit=Unit.BYTES, max_text=64)


class TestOnADatabase(shape(visibility=LIVE, live=True, edits=True, deletes=True, find=True, typing=True)):  # type: ignore[misc]
    """The same over SQLite."""

    @pytest_asyncio.fixture
    async def runner(self, rig: Rig, tmp_path: Path) -> AsyncIterator[Stage]:
        store = await SqlStore.open(tmp_path / "kesoku.db")
        yield Stage(rig, tmp_path, store)
        await store.aclose()


TestLocal = shape(local=True, drafts=True, buttons=True)


class TooLong(RecordingAdapter):
    """Knows no limit."""

    def render(self, record: Any, context: Any) -> tuple[Outgoing, ...]:
        return (Outgoing(text=record.message.rendered),)


class Moody(RecordingAdapter):
    """Renders differently each time."""

    def render(self, record: Any, context: Any) -> tuple[Outgoing, ...]:
        self.runs += 1
        return (Outgoing(text=str(self.runs)),)


class Doubling(RecordingAdapter):
    """Sends everything twice."""

    async def send(self, address: Any, outgoing: Outgoing, key: str) -> Any:
        await super().send(address, outgoing, key)
        return await super().send(address, outgoing, f"{key}-")


class Chatty(RecordingAdapter):
    """Shows what is hidden, when it is told that it was delivered."""

    async def delivered(self, record: Any, receipts: Any) -> None:
        self.platform.send(record.address.channel_id, Outgoing(text=record.message.rendered), "x")


class Restless(RecordingAdapter):
    """Goes on typing after the answer."""

    async def delivered(self, record: Any, receipts: Any) -> None:
        await self.typing(record.address, True)


@pytest.mark.parametrize(
    ("kind", "facts", "test"),
    [
        (TooLong, {}, "rendering_is_pure_and_within_the_limit"),
        (Moody, {}, "rendering_is_pure_and_within_the_limit"),
        (Doubling, {}, "an_answer_is_shown_and_then_delivered"),
        (Doubling, {"key_window": 9.0}, "a_key_is_honoured_or_can_be_looked_up"),
        (Chatty, {"visibility": PLAIN}, "each_kind_is_presented_as_the_column_says"),
        (Restless, {"typing": True}, "typing_is_on_during_a_turn_and_off_before_its_answer"),
    ],
)
async def test_the_contract_catches_a_broken_adapter(tmp_path: Path, kind: Any, facts: Any, test: str) -> None:
    rig: Any = RecordingRig(kind=kind, **facts)
    given: dict[str, Any] = {"rig": rig, "runner": Stage(rig, tmp_path), "text": "x" * 5000, "kind": "thought"}
    method = getattr(TestBare(), f"test_{test}")
    asked = inspect.signature(method).parameters
    with pytest.raises(AssertionError):
        await method(**{name: given[name] for name in asked})


def test_a_contract_whose_test_is_replaced_is_refused() -> None:
    with pytest.raises(TypeError, match="test_answers_come_in_order"):
        type("Weak", (AdapterContract,), {"test_answers_come_in_order": lambda self: None})
    mixin = type("Mixin", (), {"test_answers_come_in_order": None})
    with pytest.raises(TypeError, match="test_answers_come_in_order"):
        type("Weak", (mixin, AdapterContract), {})
    with pytest.raises(TypeError, match="pytestmark"):
        type("Weak", (AdapterContract,), {"pytestmark": [pytest.mark.skip]})


def test_a_contract_that_is_weakened_later_is_noticed() -> None:
    late: Any = type("Late", (AdapterContract,), {})
    assert weakened(late) == []
    late.test_answers_come_in_order = None
    assert weakened(late) == ["test_answers_come_in_order"]


def test_an_installed_adapter_without_a_contract_is_named() -> None:
    assert without_contract([TestBare], ["recording", "telegram", "irc"]) == ["irc", "telegram"]
    assert without_contract([TestBare], ["recording"]) == []
    assert "cli" in without_contract([])  # the entry points are read
