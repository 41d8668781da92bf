"""What is hidden never reaches a platform, whatever the column and the kind (complaint 79)."""

import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kesoku.adapter import Presentation, Visibility
from kesoku.messages import make
from kesoku.messages.enums import MessageStatus as S
from kesoku.testing.clock import settle
from kesoku.testing.memory import MemoryStore

from .conftest import World

MARKS = {
    "thought": "MARK-thought",
    "tool_call": "MARK-call",
    "tool_result": "MARK-call",
    "notice": "MARK-notice",
    "assistant_text": "MARK-answer",
}
columns = st.builds(
    Visibility,
    user_text=st.just(Presentation.SHOWN),
    **{name: st.sampled_from(list(Presentation)) for name in MARKS},
)


async def a_whole_turn(column: Visibility, folder: Path) -> list[str]:
    world = World(folder, MemoryStore())
    facts: Any = {"live": True, "edits": True, "deletes": True, "drafts": True, "typing": True, "find": True}
    async with world.runner(visibility=column, **facts) as runner:
        world.platform.say("c", "go")
        await settle()
        claim = await runner.claim()
        think = make.thought(MARKS["thought"], provider="p", model="m")
        runner.drafts.publish(claim.prompt.id, claim.prompt.address, step=1, thought=MARKS["thought"], text="")
        waiting = [await runner.say(claim, think)]
        call = await runner.say(claim, make.tool_call(MARKS["tool_call"], {}, provider="p", model="m"))
        await world.clock.advance(2)
        waiting += [call, await runner.respond(claim, call, "output")]
        waiting.append(await runner.notice("c", MARKS["notice"], reason="status"))
        waiting.append(await runner.say(claim, make.notice(MARKS["notice"], reason="status")))
        await runner.say(claim, make.nudge("MARK-nudge"))
        runner.drafts.publish(
            claim.prompt.id, claim.prompt.address, step=2, thought=MARKS["thought"], text=MARKS["assistant_text"]
        )
        await world.clock.advance(2)
        waiting.append(await runner.finish(claim, MARKS["assistant_text"]))
        await settle()
        await world.clock.advance(10)
        await runner.outbox.idle()
        assert {await runner.status(each) for each in waiting} == {S.DELIVERED}
    return [str(entry) for entry in world.platform.entries if entry["op"] != "said"]


@settings(max_examples=40)
@given(columns)
def test_what_a_column_hides_is_never_sent_edited_or_drafted(column: Visibility) -> None:
    # complaint 79
    with TemporaryDirectory() as folder:
        said = "\n".join(asyncio.run(a_whole_turn(column, Path(folder))))
    assert "MARK-nudge" not in said
    for name, mark in MARKS.items():
        shown = getattr(column, name)
        others = [other for other, same in MARKS.items() if same == mark and other != name]
        if shown is Presentation.HIDDEN and all(getattr(column, each) is Presentation.HIDDEN for each in others):
            assert mark not in said, name
        if shown is Presentation.SHOWN:
            assert mark in said, name


def test_the_fuzz_notices_a_leak() -> None:
    everything = Visibility(user_text=Presentation.SHOWN, **dict.fromkeys(MARKS, Presentation.SHOWN))
    with TemporaryDirectory() as folder:
        said: Any = "\n".join(asyncio.run(a_whole_turn(everything, Path(folder))))
    assert all(mark in said for mark in MARKS.values())
