"""Sessions made up at random, in Gemini's words: accepted, stable from step to step, the same after a restart."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kesoku.history.compile import CompileLimits, compile_turns
from kesoku.llm.gemini.profile import profile_of
from kesoku.llm.gemini.wire import Json, files_of, to_contents
from kesoku.messages.lifecycle import Step
from kesoku.messages.turn import CompiledRequest, TurnRequest
from kesoku.ports import Transaction
from kesoku.testing.gemini.grammar import check
from kesoku.testing.grammar import violations
from kesoku.testing.random_talk import RandomTalk
from kesoku.testing.store_material import store_talk
from kesoku.testing.sync_store import SyncStore

pytestmark = pytest.mark.no_cover

TALES = 120
PROFILES = [profile_of("gemini-3.5-flash"), profile_of("gemini-2.5-flash")]


def compiled(talk: RandomTalk, **choice: Any) -> CompiledRequest:
    return compile_turns(talk.records, talk.steps, TurnRequest(), provider="gemini", **choice)


def wired(request: CompiledRequest, number: int = 0) -> list[Json]:
    """The contents; pictures as bytes, other files as words."""
    picture, words = {"inline_data": {"mime_type": "image/png", "data": b"\x89PNG"}}, {"text": "[a file]"}
    files = (file for turn in request.turns for file in files_of(turn))
    media = {file: (picture if file.mime_type == "image/png" else words,) for file in files}
    return to_contents(request.turns, PROFILES[number], media)


def parts(contents: list[Json]) -> list[str]:
    """What a cache of prefixes sees, part by part."""
    return [f"{content['role']} {part!r}" for content in contents for part in content["parts"]]


def continues(before: list[Json], after: list[Json]) -> bool:
    """Whether `after` is `before` with contents added, and perhaps parts at the end of the last one."""
    *whole, last = before
    grown = after[len(whole) : len(before)]
    return repr(after[: len(whole)]) == repr(whole) and all(
        repr(each["parts"][: len(last["parts"])]) == repr(last["parts"]) and each["role"] == last["role"]
        for each in grown
    )


def test_a_seed_tells_one_tale() -> None:
    talks = [RandomTalk(7), RandomTalk(7)]
    for talk in talks:
        talk.grow()
    one, other = ([(each.kind, each.round, each.message.rendered) for each in talk.records] for talk in talks)
    assert one == other


def test_gemini_accepts_whatever_happened_to_a_session() -> None:
    refused = {}
    for seed in range(TALES):
        talk = RandomTalk(seed)
        talk.grow()
        request = compiled(talk, **talk.choice())
        refusal = check({"contents": wired(request)})
        if problems := violations(request) + ([refusal.message] if refusal else []):
            refused[seed] = problems
    assert not refused


@pytest.mark.parametrize("number", [0, 1], ids=["pictures in results", "pictures beside them"])
def test_each_request_of_a_turn_begins_with_the_one_before(number: int) -> None:
    # D-X12
    for seed in range(TALES // 8):
        talk = RandomTalk(seed)
        for limits in (CompileLimits(), CompileLimits(tokens=300, tool_output=50), CompileLimits(tokens=30)):
            before: list[Json] = []
            for _ in talk.turn():
                after = wired(compiled(talk, active_turn=talk.talk.turn, limits=limits), number)
                assert not before or continues(before, after), f"talk {seed}"
                before = after


def test_what_a_turn_leaves_behind_never_changes() -> None:
    for seed in range(TALES // 8):
        talk = RandomTalk(seed)
        left: list[str] = []
        for _ in range(6):
            for _ in talk.turn():
                assert parts(wired(compiled(talk, active_turn=talk.talk.turn)))[: len(left)] == left, f"talk {seed}"
            if not talk.is_interrupted:
                left = _without_last_words(wired(compiled(talk, active_turn="none")))


def _without_last_words(contents: list[Json]) -> list[str]:
    """Without the line that asks the model to go on where nobody has asked anything."""
    return parts(contents[:-1] if contents[-1]["parts"][0] == {"text": "[System Notification]\nGo on."} else contents)


def test_a_session_reads_the_same_after_a_restart(tmp_path: Path) -> None:
    # complaints 57 and 58
    told = {}
    sync_store = SyncStore(tmp_path / "kesoku.db")
    for seed in range(TALES // 4):
        talk = told[f"s{seed}"] = RandomTalk(seed)
        talk.grow()
        sync_store.run(lambda tx: store_talk(tx, talk.talk, session=f"s{seed}"))  # noqa: B023
    sync_store.close()
    sync_store = SyncStore(tmp_path / "kesoku.db")
    for session, talk in told.items():
        records, steps = sync_store.run(lambda tx: (tx.messages.session(session), list(_steps(tx, talk))))  # noqa: B023
        choice = talk.choice()
        again = compile_turns(records, steps, TurnRequest(), provider="gemini", **choice)
        assert again.digest() == compiled(talk, **choice).digest()
        assert parts(wired(again)) == parts(wired(compiled(talk, **choice)))
    sync_store.close()


def _steps(tx: Transaction, talk: RandomTalk) -> Iterator[Step]:
    for turn_id in {step.turn_id for step in talk.steps}:
        yield from tx.steps.of(turn_id)
