"""What is said into another bot's channel is answered there as it was before."""

from pathlib import Path
from typing import Any

from kesoku.adapter import Address, Principal, Prompt
from kesoku.gateway import BusyPolicy, StoreGateway
from kesoku.messages.profile import Profile, profile_of
from kesoku.messages.record import Record
from kesoku.testing.adapter_runner import AdapterRunner
from kesoku.testing.clock import VirtualClock
from kesoku.testing.fakes import FakePresence
from kesoku.testing.memory import MemoryStore
from kesoku.testing.recording import recording_manifest

ROOM = Address(chatbot_id="room", channel_id="kitchen")
COOK = Profile(model="pro", role="cook")
ADA = Principal(user_id="ada", display_name="Ada")


def prompt(key: str, **facts: Any) -> Prompt:
    return Prompt(keys=(key,), address=ROOM, principal=ADA, text="hi", **facts)


async def asked(store: MemoryStore, record: Record) -> Profile:
    return await store.read(lambda tx: profile_of(record, tx.messages))


async def test_a_visitor_asks_for_what_was_asked_for_there_last(tmp_path: Path) -> None:
    store, clock = MemoryStore(), VirtualClock()
    gateway = StoreGateway(store, clock, BusyPolicy(), FakePresence())
    room, visitor = (
        AdapterRunner(
            manifest=recording_manifest(), store=store, gateway=gateway, clock=clock, folder=tmp_path, chatbot_id=name
        ).inbox
        for name in ("room", "visitor")
    )
    (first,) = await visitor.accept([prompt("v1")])
    assert await asked(store, first) == Profile()
    (own,) = await room.accept([prompt("r1", model="pro", role="cook")])
    (second,) = await visitor.accept([prompt("v2")])
    (third,) = await visitor.accept([prompt("v3", model="mine")])
    (plain,) = await room.accept([prompt("r2")])
    assert [await asked(store, each) for each in (own, second)] == [COOK, COOK]
    assert await asked(store, third) == Profile(model="mine", role="cook")
    assert await asked(store, plain) == Profile()
